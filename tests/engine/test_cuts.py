"""Three streams cut at every byte: never a success, and all whole units before the cut delivered first."""

import re
from typing import NamedTuple

import pytest

from tests import wire
from tests.codecs.test_documents import CLAUDE, PARIS
from tests.wire import (
    PARIS_MODEL,
    Object,
    attempt,
    blocks,
    broken,
    content,
    delta,
    inline,
    item,
    lines,
    read,
    start,
    stop,
    text_group,
    thinking,
    tool,
    translated,
    usage,
)
from translate import DecodeError, Report, TruncatedStream, UpstreamFailure, check


class Cut(NamedTuple):
    """A whole stream, and how many bytes of it end in each of its units' last."""

    src: str
    dst: str
    stream: bytes
    units: list[Object]

    @property
    def ends(self) -> list[int]:
        """The offset at which each unit's JSON text is complete."""
        texts = rb"^data: (?!\[DONE\])(.*)$" if self.src.endswith("sse") else rb"^(.+)$"
        return [match.end() for match in re.finditer(texts, self.stream, re.MULTILINE)]


ACCENTED = [
    *CLAUDE[:-1],
    *text_group("Où ça ? 🌍", " là"),
    delta(inline("inline_data.delta", "AAEC")),
    delta(inline("inline_data.done", "AAEC")),
    stop("tool_call"),
]
FAILOVER = [
    start(PARIS_MODEL),
    *thinking("Où ?", data={"anthropic.signature": "s"}),
    *content("ça")[:-1],
    broken(PARIS_MODEL),
    start(),
    tool("t", "f", '{"a": "🌍"}'),
    usage(),
]
STREAMS = {
    "a Claude turn": Cut("unievent-sse", "gateway-jsonl", blocks(ACCENTED, done=True), ACCENTED),
    "Paris": Cut("gateway-sse", "unievent-sse", PARIS, read(PARIS, "gateway-sse")),
    "a failover": Cut("gateway-jsonl", "unievent-jsonl", lines(FAILOVER), FAILOVER),
}


def beginnings(cut: Cut) -> list[bytes]:
    """What comes of the first n units, for every n but all."""
    shape = cut.src.partition("-")[2]
    out = []
    for n in range(len(cut.units)):
        units = cut.units[:n]
        stream = blocks(units) if shape == "sse" else lines(units)
        made, error = attempt(stream, cut.src, cut.dst)
        assert isinstance(error, TruncatedStream)
        out.append(made)
    return out


@pytest.mark.parametrize("name", STREAMS)
def test_cut_at_every_byte(name: str) -> None:
    cut = STREAMS[name]
    ends, delivered = cut.ends, beginnings(cut)
    assert len(ends) == len(cut.units)
    whole = translated(cut.stream, cut.src, cut.dst)
    for n in range(len(cut.stream)):
        count = sum(end <= n for end in ends)
        report = Report()
        out, error = attempt(cut.stream[:n], cut.src, cut.dst, report=report)
        if count == len(ends):
            # the terminal unit is whole; only line ends, or the end marker, are missing
            assert (out, error) == (whole, None)
        else:
            assert isinstance(error, TruncatedStream), n
            assert out == delivered[count], n
            assert error.unit == count
            assert error.format == cut.src
            assert error.state
        # said and reported, where the last line end, or the blank line, is missing
        closed = cut.stream[:n].endswith(b"\n\n" if cut.src.endswith("sse") else b"\n")
        lacks = count > 0 and not closed and n <= ends[count - 1] + (1 if cut.src.endswith("sse") else 0)
        assert [finding.field for finding in report.repairs] == ["end of input"] * lacks, n


@pytest.mark.parametrize("name", STREAMS)
def test_cut_at_every_byte_is_encoded_as_a_failure(name: str) -> None:
    cut = STREAMS[name]
    ends, delivered = cut.ends, [read(out, cut.dst) for out in beginnings(cut)]
    for n in range(ends[-1]):
        count = sum(end <= n for end in ends)
        out = translated(cut.stream[:n], cut.src, cut.dst, errors="encode")
        *before, failure = read(out, cut.dst)
        if count == 0 and cut.dst.startswith("gateway"):
            assert before.pop()["value"]["type"] == "streamStart"
        assert before == delivered[count], n
        said = failure.get("error", failure)
        assert said.get("status", said.get("code")) == 502
        if n % 7 == 0:
            assert check(out, cut.dst) == []
            _, error = attempt(out, cut.dst, cut.src)
            assert isinstance(error, UpstreamFailure)


@pytest.mark.parametrize("name", STREAMS)
def test_cut_into_single_bytes(name: str) -> None:
    """Law 5, and every cut at once: the output does not depend on the chunks, whole or not."""
    cut = STREAMS[name]
    single = [cut.stream[i : i + 1] for i in range(len(cut.stream))]
    assert translated(single, cut.src, cut.dst) == translated(cut.stream, cut.src, cut.dst)
    half = len(cut.stream) // 2
    out, error = attempt(single[:half], cut.src, cut.dst)
    whole, _ = attempt(cut.stream[:half], cut.src, cut.dst)
    assert isinstance(error, TruncatedStream)
    assert out == whole


@pytest.mark.parametrize("strict", [True, False])
def test_lenient_mode_takes_no_cut_for_an_end(strict: bool) -> None:
    cut = STREAMS["Paris"]
    for n in range(0, cut.ends[-1], 13):
        _, error = attempt(cut.stream[:n], cut.src, cut.dst, strict=strict)
        assert isinstance(error, TruncatedStream)


def test_an_array_that_is_cut() -> None:
    units = [*text_group("a"), stop()]
    array = b"[" + b", ".join(map(wire.dumps, units)) + b"]"
    assert translated(array, "unievent", "unievent") == units
    for n in range(array.rindex(b"{"), len(array)):
        out, error = attempt(array[:n], "unievent", "unievent")
        if n < len(array) - 1:
            assert isinstance(error, TruncatedStream)
            assert out == units[:-1]
        else:
            assert (out, error) == (units, None)


# ---- bytes that are not UTF-8 ------------------------------------------------------------------------


@pytest.mark.parametrize("src", ["unievent", "unievent-jsonl", "unievent-sse"])
@pytest.mark.parametrize("wrong", [b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xf0\x9f\x8c"])
def test_not_utf8(wrong: bytes, src: str) -> None:
    units = [delta(item("text.delta", "a")), delta(item("text.delta", "@")), stop()]
    stream = (blocks(units, done=True) if src.endswith("sse") else lines(units)).replace(b"@", wrong)
    out, error = attempt(stream, src, "gateway")
    assert isinstance(error, DecodeError)
    assert error.unit == 1
    assert error.offset == stream.index(b"\n") + (2 if src.endswith("sse") else 1)
    assert error.state == "in a text group"
    assert error.excerpt is not None
    assert len(error.excerpt) <= 200
    assert f"0x{wrong[0]:02x}" in error.what
    assert out == attempt(units[:1], "unievent", "gateway")[0]

    report = Report()
    out = translated(stream, src, "gateway", strict=False, report=report, loss="drop")
    text = wrong.decode("utf-8", "replace")
    assert out == [start(), *content("a", text), usage()]
    assert [(finding.unit, finding.field) for finding in report.repairs] == [(1, "utf-8"), (2, ".done")]


@pytest.mark.parametrize("line", [b": \xff", b"event: \xff", b"id: \xff", b"\xff: x", b"retry: \xff"])
def test_not_utf8_beside_the_data(line: bytes) -> None:
    stream = blocks([start()]) + line + b"\n" + b"data: " + wire.dumps(usage()) + b"\n\n"
    _, error = attempt(stream, "gateway-sse", "gateway")
    assert isinstance(error, DecodeError)
    assert translated(stream, "gateway-sse", "gateway", strict=False) == [start(), usage()]
