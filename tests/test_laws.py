"""The nine laws of a translation, for every pair of formats, over generated streams.

``HYPOTHESIS_PROFILE=long`` looks longer, and not at the same streams every time.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.strategies import FORMATS, OBJECTS, Source, clock, codec_of, sources, to
from translate import (
    Append,
    Close,
    Failure,
    Finish,
    LimitExceeded,
    Limits,
    LossError,
    Open,
    Report,
    State,
    TranslateError,
    Translator,
    TruncatedStream,
    UpstreamFailure,
    assemble,
    check,
    convert,
    decode,
    encode,
    jsontext,
)
from translate.algebra.events import Event
from translate.algebra.json_form import from_json, to_json
from translate.testing import at_home, without_carry

BYTES = tuple(format for format in FORMATS if format not in OBJECTS)
each_format = pytest.mark.parametrize("format", FORMATS)
HUGE = 5_000_000
MESSAGES = ("unievent", "gateway")


def huge(kind: Any, data: Any, cuts: int = 3) -> Source:
    """One part of 5 MB, in fragments."""
    step = len(data) // cuts
    pieces = [data[i : i + step] for i in range(0, len(data), step)]
    mime = "x/y" if kind == "inline_data" else None
    head = Open(kind, "1", "f") if kind == "tool_call" else Open(kind, mime_type=mime)
    return Source("events", [head, *(Append(piece) for piece in pieces), Close(), Finish()])


HUGE_TEXT = huge("text", "a\u2028é😀" * (HUGE // 10))
HUGE_CALL = huge("tool_call", '{"a":"' + "x" * HUGE + '"}')
HUGE_DATA = huge("inline_data", b"\0\xff" * (HUGE // 2))


def plain(source: Source) -> list[Any]:
    """The elements, comparable as JSON values; of bytes the lines, keep-alives left out.

    Of events what nobody made up: an encoder's stamps and a made-up start are for it alone to say again.
    """
    if source.format == "events":
        return [to_json(event) for event in at_home(source.stream, *MESSAGES)]
    if source.format == "events-jsonl":
        events = [from_json(jsontext.from_strict(jsontext.loads(line))) for line in source.joined.splitlines()]
        return [to_json(event) for event in at_home(events, *MESSAGES)]
    if source.format in OBJECTS:
        return source.stream
    return source.joined.replace(b": keep-alive\n\n", b"").splitlines(keepends=True)


def assert_same(found: Source, expected: Source, what: str) -> None:
    ours, theirs = plain(found), plain(expected)
    __tracebackhide__ = True
    assert_begins(expected, found, what)
    if len(ours) != len(theirs):
        pytest.fail(f"{what}: {len(ours)} elements, not {len(theirs)}")


def assert_begins(whole: Source, part: Source, what: str) -> None:
    __tracebackhide__ = True
    ours, theirs = plain(part), plain(whole)
    for i, (a, b) in enumerate(zip(ours, theirs, strict=False)):
        if not jsontext.same(a, b):
            pytest.fail(f"{what}: element {i} is\n{a!r:.1000}\nnot\n{b!r:.1000}")
    assert len(ours) <= len(theirs), what


def native(source: Source) -> Source:
    """The stream without its carries, taken away as a reader who does not know them would."""
    if source.format in ("events", "events-jsonl"):
        return source
    if source.format in OBJECTS:
        return Source(source.format, [without_carry(unit) for unit in source.stream])
    if source.format.endswith("sse"):
        blocks = source.joined.split(b"\n\n")[:-1]
        kept = [b"\n".join(line for line in block.split(b"\n") if not line.startswith(b": carry ")) for block in blocks]
        return Source(source.format, [block + b"\n\n" for block in kept if block])
    units = [without_carry(jsontext.loads(line)) for line in source.joined.split(b"\n")[:-1]]
    return Source(source.format, [jsontext.dumps(unit) + b"\n" for unit in units])


def ended(source: Source, end: type[Event]) -> bool:
    """Whether the stream's last event is such an end."""
    events = list(decode(source.stream, source.format))
    return type(events[-1]) is end


def delivered(machine: Translator, chunks: Sequence[Any]) -> tuple[list[Any], Exception | None]:
    """All the output, and the error that ended it."""
    out: list[Any] = []
    try:
        for chunk in chunks:
            out += machine.feed(chunk)
        out += machine.close()
        out += machine.close()
    except TranslateError as error:
        return out, error
    return out, None


# ---- law 1: round trip, law 2: conformance --------------------------------------------------------


@each_format
@given(source=sources())
def test_there_and_back(format: str, source: Source) -> None:
    there_and_back(format, source)


@pytest.mark.parametrize(
    ("format", "source"),
    [("unievent-jsonl", HUGE_TEXT), ("gateway-sse", HUGE_TEXT), ("gateway", HUGE_CALL), ("unievent-sse", HUGE_DATA)],
    ids=["text-lines", "text-sse", "call", "bytes"],
)
def test_huge_parts_there_and_back(format: str, source: Source) -> None:
    there_and_back(format, source)


def there_and_back(format: str, source: Source) -> None:
    there = to(source, format, errors="encode")
    back = to(there, source.format, errors="encode")
    assert_same(back, source, f"{source.format} → {format} → {source.format}")


@each_format
@given(source=sources())
def test_output_conforms(format: str, source: Source) -> None:
    there = to(source, format, errors="encode")
    assert check(there.stream, format) == []
    assert check(native(there).stream, format) == []


@given(source=sources())
def test_what_is_generated_conforms(source: Source) -> None:
    assert check(source.stream, source.format) == []


# ---- law 3: meaning -------------------------------------------------------------------------------


def message(source: Source, form: str) -> Any:
    """The message, or that there is none. Of usage what counts: the sums, a null being zero."""
    try:
        found = assemble(source.stream, source.format, form)
        if isinstance(found, dict):
            # when it was made is known at home alone
            found.pop("created_at", None)
        if form == "unievent":
            counts = {name: count or 0 for name, count in found.pop("usage_metadata").items()}
            found["input"] = counts["cached_tokens"] + counts["prompt_tokens"]
            found["output"] = counts["thoughts_tokens"] + counts["response_tokens"]
        return found
    except UpstreamFailure as failure:
        return {"failure": failure.message}


@each_format
@given(source=sources())
def test_the_message_stays(format: str, source: Source) -> None:
    there = to(source, format, errors="encode")
    for form in MESSAGES:
        found, expected = message(there, form), message(source, form)
        assert jsontext.same(found, expected), f"{source.format} → {format}, as {form}: {found}, not {expected}"


def states(source: Source) -> int:
    """The most states that any part has."""
    most = now = 0
    for event in decode(source.stream, source.format):
        now = 0 if type(event) is Open else now + (type(event) is Append and event.state is not None)
        most = max(most, now)
    return most


@pytest.mark.parametrize("format", [format for format in FORMATS if codec_of(format) in MESSAGES])
@given(source=sources())
def test_the_message_stays_without_carries(format: str, source: Source) -> None:
    if states(source) > 1 and codec_of(format) == "unievent":
        return  # it has no words for a second state
    there, form = to(source, format, errors="encode", loss="drop"), codec_of(format)
    found, expected = message(there, form), message(source, form)
    assert jsontext.same(found, expected), f"{source.format} → {format}: {found!r:.1000}, not {expected!r:.1000}"


# ---- law 4: promptness, law 5: chunking -----------------------------------------------------------


@each_format
@given(source=sources(OBJECTS))
def test_all_is_said_as_soon_as_it_can_be(format: str, source: Source) -> None:
    """What is said after n units is what is said of those n units alone, and at the end nothing is left to say."""
    machine = Translator(source.format, format, clock=clock, errors="encode")
    out: list[Any] = []
    for unit in source.stream:
        events = list(decode_some([unit], machine))
        out += events
    assert machine.close() == []
    assert_same(Source(format, out), to(source, format, errors="encode"), "in steps")


def decode_some(units: Sequence[Any], machine: Translator) -> list[Any]:
    return [element for unit in units for element in machine.feed(unit)]


@pytest.mark.parametrize("dst", FORMATS)
@pytest.mark.parametrize("src", ["unievent-sse", "gateway-sse", "unievent-jsonl", "gateway-jsonl", "events-jsonl"])
def test_text_comes_through_at_once(src: str, dst: str) -> None:
    """Each fragment of text makes output that holds it, before the next is fed."""
    words = [f"word{i}" for i in range(5)]
    stream = encode([Open("text"), *(Append(word) for word in words), Close(), Finish()], src, clock=clock)
    machine = Translator(src, dst, clock=clock)
    seen: list[str] = []
    for unit in stream:
        out = repr(machine.feed(unit))
        fed = [word for word in words if word.encode() in unit and b"done" not in unit]
        seen += fed
        assert all(word in out for word in fed), f"{fed} was held"
    assert seen == words


@each_format
@given(source=sources(BYTES), cuts=st.lists(st.integers(0, 10**6), max_size=8))
def test_cuts_do_not_matter(format: str, source: Source, cuts: list[int]) -> None:
    data = source.joined
    whole = to(Source(source.format, [data]), format, errors="encode")
    at = sorted(cut % (len(data) + 1) for cut in cuts)
    chunks = [data[a:b] for a, b in zip([0, *at], [*at, len(data)], strict=True)]
    assert_same(to(Source(source.format, chunks), format, errors="encode"), whole, f"cut at {at}")
    singles = [data[i : i + 1] for i in range(len(data))]
    assert_same(to(Source(source.format, singles), format, errors="encode"), whole, "in single bytes")


# ---- law 6: bounds --------------------------------------------------------------------------------


@pytest.mark.parametrize("format", BYTES)
def test_time_is_linear(format: str) -> None:
    """A unit of 5 MB in pieces of 1 KB takes seconds, not the hour that anything quadratic would."""
    data = to(HUGE_TEXT, format).joined
    began = time.perf_counter()
    for _ in decode((data[i : i + 1024] for i in range(0, len(data), 1024)), format):
        pass
    assert time.perf_counter() - began < 20


@each_format
def test_limits_bound_a_part_and_a_unit(format: str) -> None:
    source = to(Source("events", [Open("text"), *[Append("x" * 400)] * 5, Close(), Finish()]), format)
    with pytest.raises(LimitExceeded) as raised:
        list(convert(source.stream, format, "events", limits=Limits(part=1000)))
    assert raised.value.limit == "part"
    if format not in OBJECTS:
        with pytest.raises(LimitExceeded) as raised:
            list(convert(source.stream, format, "events", limits=Limits(unit=100)))
        assert raised.value.limit == "unit"


# ---- law 7: honest ends ---------------------------------------------------------------------------


@each_format
@given(source=sources(), at=st.integers(0, 10**6))
def test_a_stream_cut_short_is_no_success(format: str, source: Source, at: int) -> None:
    cut = Source(source.format, source.stream[: at % len(source.stream)])
    out, error = delivered(Translator(cut.format, format, clock=clock), cut.stream)
    assert isinstance(error, TruncatedStream)
    whole, _ = delivered(Translator(source.format, format, clock=clock), source.stream)
    assert_begins(Source(format, whole), Source(format, out), "before the cut")
    said = to(cut, format, errors="encode")
    assert check(said.stream, format) == []
    assert ended(said, Failure)


@each_format
@given(source=sources(BYTES), at=st.integers(0, 10**6))
def test_bytes_cut_short_are_no_success(format: str, source: Source, at: int) -> None:
    data = source.joined.removesuffix(b"data: [DONE]\n\n")
    cut = Source(source.format, [data[: at % (len(data) - 2)]])
    _, error = delivered(Translator(cut.format, format, clock=clock), cut.stream)
    assert isinstance(error, TruncatedStream)
    assert ended(to(cut, format, errors="encode"), Failure)


@each_format
@given(source=sources())
def test_a_failure_stays_a_failure(format: str, source: Source) -> None:
    end = type(list(decode(source.stream, source.format))[-1])
    assert ended(to(source, format, errors="encode"), end)
    assert ended(to(source, format, errors="encode", loss="drop"), end)
    if end is Failure:
        with pytest.raises(UpstreamFailure):
            to(source, format)


@each_format
@given(source=sources())
def test_nothing_follows_the_end(format: str, source: Source) -> None:
    with pytest.raises(TranslateError):
        to(Source(source.format, source.stream * 2), format, errors="raise")


# ---- law 8: chains, law 9: identity ---------------------------------------------------------------


@each_format
@given(source=sources(), over=st.sampled_from(FORMATS))
def test_chains(format: str, source: Source, over: str) -> None:
    one = to(source, format, errors="encode")
    two = to(one, over, errors="encode")
    three = to(two, format, errors="encode")
    assert_same(three, one, f"{format} → {over} → {format}, of {source.format}")
    assert_same(to(three, source.format, errors="encode"), source, f"{source.format} → {format} → {over} and back")


@each_format
@settings(max_examples=5 * settings().max_examples)
@given(data=st.data())
def test_identity(format: str, data: st.DataObject) -> None:
    source = data.draw(sources((format,)))
    assert_same(to(source, source.format, errors="encode"), source, f"{source.format} → {source.format}")


# ---- policies of loss -----------------------------------------------------------------------------


@each_format
@given(source=sources())
def test_loss_policies(format: str, source: Source) -> None:
    """Dropped: the same native content. Raised: an error, after the same units, just where content would be lost."""
    carried = to(source, format, errors="encode")
    report = Report()
    dropped = to(source, format, errors="encode", loss="drop", report=report)
    assert_same(native(dropped), dropped, "dropped carries leave none")
    assert_same(native(carried), dropped, "dropped carries leave the native content")
    assert not any(finding.carried for finding in report.losses)
    lost = [finding for finding in report.losses if finding.content]
    out, error = delivered(Translator(source.format, format, clock=clock, loss="raise"), source.stream)
    if not isinstance(error, UpstreamFailure):
        assert isinstance(error, LossError) == bool(lost), f"{error!r}: {lost}"
    assert error is None or isinstance(error, (LossError, UpstreamFailure))
    assert_begins(dropped, Source(format, out), "before the loss")
    if error is None:
        assert_same(Source(format, out), dropped, "nothing was lost")
    assert all(finding.field and finding.reason for finding in report.losses)


def test_a_state_on_text_is_lost_to_the_gateway() -> None:
    source = Source("events", [Open("text"), Append("a", State("x", {"s": 1})), Close(), Finish()])
    with pytest.raises(LossError):
        to(source, "gateway", loss="raise")
