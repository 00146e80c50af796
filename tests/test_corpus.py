"""Every recorded UniEvent stream goes to each shape of the gateway and comes home equal, or is refused as it deserves.

The recordings are not part of the project: they lie in ``../shared/corpus`` beside it, or where the environment
variable ``TRANSLATE_CORPUS`` says. What is expected of a stream is read off the stream itself (one that reports an
error ends in ``{"error": …}``); the few that break the format are named here.
"""

import os
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import pytest

from translate import (
    DecodeError,
    TranslateError,
    TruncatedStream,
    UpstreamFailure,
    assemble,
    check,
    convert,
    jsontext,
)

Unit: TypeAlias = dict[str, Any]
Chunk: TypeAlias = bytes | Unit

ROOT = Path(__file__).resolve().parents[1]
CORPUS = Path(os.environ.get("TRANSLATE_CORPUS") or ROOT.parent / "shared" / "corpus")
FOLDERS = ("unievent", "unievent-sse", "unievent-ascii", "unievent-cases", "unievent-probes")
FORMATS = {".jsonl": "unievent-jsonl", ".sse": "unievent-sse"}
GATEWAY = ("gateway", "gateway-jsonl", "gateway-sse")

REFUSED: dict[str, type[TranslateError]] = {
    # a text.delta whose text is a list: the reference passes on what some servers say
    "unievent/prism-mistral-stream-reasoning-model-1-1.jsonl": DecodeError,
    "unievent/pydai-test_mistral-test_mistral_model_thinking_part_iter-i0.jsonl": DecodeError,
    "unievent-sse/prism-mistral-stream-reasoning-model-1-1.sse": DecodeError,
    "unievent-sse/pydai-test_mistral-test_mistral_model_thinking_part_iter-i0.sse": DecodeError,
    # a tool_call.delta whose arguments are an object
    "unievent-probes/probe-chat-args-object.jsonl": DecodeError,
    "unievent-probes/probe-chat-args-object.sse": DecodeError,
    # the server could not write the first event, and hung up
    "unievent-probes/probe-text-lone-surrogates.sse": TruncatedStream,
}
"""Streams that are none."""

CARRY_BYTES = 56
"""What the carry of a token stream may cost, a unit on average."""

if not CORPUS.is_dir():
    pytest.skip(
        f"the corpus of recordings is not at {CORPUS}; TRANSLATE_CORPUS names another place", allow_module_level=True
    )
FILES = [f"{folder}/{path.name}" for folder in FOLDERS for path in sorted((CORPUS / folder).iterdir())]


# ---- readers: a careful writer's output needs no more ------------------------------------------------


class Recording(NamedTuple):
    """A stream of the corpus."""

    raw: bytes
    format: str
    units: list[Unit]

    @property
    def failed(self) -> bool:
        """Whether it reports an error."""
        return bool(self.units) and "error" in self.units[-1]

    @property
    def tokens(self) -> bool:
        """Whether the gateway has words for all its parts: no bytes, no vectors."""
        items = [item["type"] for unit in self.units for item in unit.get("content_items", ())]
        return not any(kind.startswith(("inline_", "embedding")) for kind in items)


@cache
def recording(name: str) -> Recording:
    path = CORPUS / name
    raw = path.read_bytes()
    return Recording(raw, FORMATS[path.suffix], units([raw], path.suffix == ".sse"))


def units(chunks: list[Chunk], sse: bool) -> list[Unit]:
    """The units of a stream of any shape."""
    if chunks and isinstance(chunks[0], dict):
        return [chunk for chunk in chunks if isinstance(chunk, dict)]
    lines = joined(chunks).split(b"\n")
    if sse:
        lines = [line.removeprefix(b"data: ") for line in lines if line.startswith(b"data: ")]
    return [jsontext.loads(line) for line in lines if line.strip() and line != b"[DONE]"]


def joined(chunks: list[Chunk]) -> bytes:
    return b"".join(chunk for chunk in chunks if isinstance(chunk, bytes))


@cache
def forward(name: str, target: str) -> list[Chunk]:
    """The stream in a format of the gateway; one that reports an error ends in an ``error``."""
    source = recording(name)
    return list(convert(source.raw, source.format, target, errors="encode"))


def without_carries(chunks: list[Chunk], target: str) -> list[Chunk]:
    """What is left where someone strips all the carries."""
    if target == "gateway-sse":
        blocks = joined(chunks).split(b"\n\n")
        kept = [b"\n".join(line for line in block.split(b"\n") if not line.startswith(b": carry ")) for block in blocks]
        return [b"\n\n".join(block for block, old in zip(kept, blocks, strict=True) if block or not old)]
    bare = [{key: value for key, value in unit.items() if key != "carry"} for unit in units(chunks, sse=False)]
    return [b"".join(jsontext.dumps(unit) + b"\n" for unit in bare)]


def carry_bytes(sse: bytes) -> int:
    return sum(len(line) + 1 for line in sse.split(b"\n") if line.startswith(b": carry "))


# ---- the table below the results ------------------------------------------------------------------------


class Tally:
    """Counts, by folder: streams, units, how they ended, and the bytes of the carries of token streams."""

    def __init__(self) -> None:
        self.counts: dict[str, Counter[str]] = {folder: Counter() for folder in FOLDERS}

    def add(self, name: str, what: str, count: int = 1) -> None:
        self.counts[name.partition("/")[0]][what] += count

    def table(self) -> Iterator[str]:
        columns = ("files", "units", "finished", "failed", "refused")
        yield "corpus          " + "".join(f"{column:>10}" for column in (*columns, "carry"))
        for folder, counts in self.counts.items():
            cost = counts["carry bytes"] / counts["carry units"] if counts["carry units"] else 0
            yield f"{folder:<16}" + "".join(f"{counts[column]:>10}" for column in columns) + f"{cost:>10.1f}"
        yield "carry: bytes a unit in gateway-sse, token streams"


@pytest.fixture(scope="module")
def tally(summary: list[str]) -> Iterator[Tally]:
    tally = Tally()
    yield tally
    summary += tally.table()


# ---- the tests ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FILES)
def test_a_stream_goes_and_comes_home(name: str, tally: Tally) -> None:
    source = recording(name)
    tally.add(name, "files")
    tally.add(name, "units", len(source.units))
    if name in REFUSED:
        refused(name, source)
        tally.add(name, "refused")
        return
    assert check(source.raw, source.format) == []
    home_again = b"".join(convert(source.raw, source.format, source.format, errors="encode"))
    for target in GATEWAY:
        there = forward(name, target)
        back = b"".join(convert(there, target, source.format, errors="encode"))
        assert_same(source.units, units([back], source.format == "unievent-sse"))
        assert plain(back) == plain(home_again), "what is written at home and what comes home differ"
        assert check(there, target) == []
        if target != "gateway":  # without its carries it is as the JSON lines are
            assert check(without_carries(there, target), target) == []
    if source.failed:
        with pytest.raises(UpstreamFailure):
            list(convert(source.raw, source.format, "gateway"))
        tally.add(name, "failed")
    else:
        same_message(source, forward(name, "gateway-sse"))
        tally.add(name, "finished")


def refused(name: str, source: Recording) -> None:
    """All before the fault is delivered, then the error; encoded, the output is a stream that fails."""
    with pytest.raises(REFUSED[name]):
        list(convert(source.raw, source.format, "gateway"))
    assert check(source.raw, source.format) != []
    for target in GATEWAY:
        there = forward(name, target)
        assert check(there, target) == []
        assert units(there, target == "gateway-sse")[-1]["success"] is False


def plain(sse: bytes) -> bytes:
    """Without keep-alives, which only SSE has a place for."""
    return sse.replace(b": keep-alive\n\n", b"")


def assert_same(ours: list[Unit], theirs: list[Unit]) -> None:
    assert len(ours) == len(theirs)
    for a, b in zip(ours, theirs, strict=True):
        assert jsontext.same(a, b), f"{a}\n{b}"


def same_message(source: Recording, there: list[Chunk]) -> None:
    for form in ("unievent", "gateway"):
        message = assemble(source.raw, source.format, form)
        assert jsontext.same(message, assemble(there, "gateway-sse", form)), form
    assert jsontext.same(message, assemble(without_carries(there, "gateway-sse"), "gateway-sse", "gateway"))


def test_no_name_is_of_a_stream_that_is_gone() -> None:
    assert REFUSED.keys() <= set(FILES)


def test_the_carry_of_a_token_stream_is_small(tally: Tally) -> None:
    for name in FILES:
        if name not in REFUSED and recording(name).tokens:
            tally.add(name, "carry bytes", carry_bytes(joined(forward(name, "gateway-sse"))))
            tally.add(name, "carry units", len(recording(name).units))
    recorded = FOLDERS[:3]  # the others hold streams of two or three units
    for folders in (*((folder,) for folder in recorded), FOLDERS):
        size = sum(tally.counts[folder]["carry bytes"] for folder in folders)
        assert size <= CARRY_BYTES * sum(tally.counts[folder]["carry units"] for folder in folders), folders
