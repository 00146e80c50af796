"""The sans-I/O core: what each call returns, and what it raises."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import pytest

from tests.sources import ERROR, FRAMES, Boom
from translate import (
    CodecError,
    DecodeError,
    Event,
    Failure,
    GrammarError,
    LimitExceeded,
    LossError,
    MisuseError,
    Options,
    Report,
    ToolArgumentsError,
    Translator,
    TruncatedStream,
    UpstreamFailure,
    convert,
)
from translate.algebra.failures import failure_of
from translate.codec import Pieces
from translate.engine.translator import EventReader, EventWriter
from translate_codecs.events import Events, EventsEncoder

SSE = list(convert(FRAMES, "gateway", "gateway-sse"))


def translator(**options: Any) -> Translator:
    return Translator("gateway-sse", "gateway", **options)


def test_each_call_returns_all_that_is_sayable() -> None:
    made = translator()
    assert [made.feed(chunk) for chunk in SSE] == [[frame] for frame in FRAMES]
    assert made.close() == []
    whole = translator()
    assert whole.feed(b"".join(SSE)) == FRAMES
    assert whole.close() == []


def test_what_the_end_makes_sayable() -> None:
    made = translator()
    assert made.feed(b"".join(SSE)[:-1]) == FRAMES[:-1]
    assert made.close() == FRAMES[-1:]


@pytest.mark.parametrize("errors", ["raise", "encode"])
def test_input_after_close_is_an_error(errors: str) -> None:
    """It would vanish."""
    made = translator(errors=errors)
    made.feed(b"".join(SSE))
    assert made.close() == []
    assert made.close() == []
    for chunk in (SSE[0], b"", None):
        with pytest.raises(MisuseError, match="input after the end of input"):
            made.close() if chunk is None else made.feed(chunk)


def test_input_after_close_behind_an_error() -> None:
    made = translator()
    with pytest.raises(TruncatedStream):
        made.close()
    with pytest.raises(TruncatedStream):
        made.feed(SSE[0])
    encoding = translator(errors="encode")
    assert encoding.close()[-1]["success"] is False
    with pytest.raises(MisuseError):
        encoding.feed(SSE[0])


def test_an_error_without_output_is_raised_at_once_and_again() -> None:
    made = translator()
    for chunk in (b"data: {\n\n", SSE[0], None, None):
        with pytest.raises(DecodeError) as caught:
            made.close() if chunk is None else made.feed(chunk)
        assert caught.value is made.error


def test_an_error_after_output_is_raised_by_the_next_calls() -> None:
    made = translator()
    assert made.feed(SSE[0] + b"data: {\n\n" + SSE[1]) == FRAMES[:1]
    for chunk in (b"", SSE[1], None):
        with pytest.raises(DecodeError, match="unit 1"):
            made.close() if chunk is None else made.feed(chunk)


def test_an_error_at_the_end() -> None:
    made = translator()
    made.feed(SSE[0])
    for _ in range(2):
        with pytest.raises(TruncatedStream, match="unit 1"):
            made.close()
    with pytest.raises(TruncatedStream):
        made.feed(SSE[1])


def test_units_after_the_terminal_one() -> None:
    for errors in ("raise", "encode"):
        made = translator(errors=errors)
        assert made.feed(b"".join(SSE) + SSE[0]) == FRAMES
        with pytest.raises(GrammarError, match="after the terminal one"):
            made.feed(b"")


def test_encoded_errors_end_the_output() -> None:
    made = translator(errors="encode", loss="drop")
    out = made.feed(SSE[0] + b"data: {\n\n" + SSE[1])
    assert out[:1] == FRAMES[:1]
    assert (out[1]["code"], out[1]["message"][:8]) == (502, "not JSON")
    assert made.feed(SSE[1]) == []
    assert made.close() == []
    made = translator(errors="encode", loss="drop")
    assert made.feed(SSE[0]) == FRAMES[:1]
    assert [unit["message"][:35] for unit in made.close()] == ["the input ended without a terminal "]


def test_a_failure_that_the_stream_reports() -> None:
    data = SSE[0] + b"".join(convert([ERROR], "gateway", "gateway-sse", errors="encode"))
    assert translator(errors="encode").feed(data)[1] == ERROR
    made = Translator("gateway", "gateway")
    with pytest.raises(UpstreamFailure, match="down") as caught:
        made.feed(ERROR)
    assert (caught.value.code, caught.value.message, caught.value.format) == (503, "down", "gateway")


def test_an_error_of_the_source() -> None:
    made = translator()
    boom = Boom("x")
    with pytest.raises(Boom) as caught:
        made.fail(boom)
    assert caught.value is boom
    with pytest.raises(Boom):
        made.feed(SSE[0])
    encoding = translator(errors="encode", loss="drop")
    encoding.feed(SSE[0])
    assert encoding.fail(boom) == [{"success": False, "code": 502, "message": "the source failed: Boom"}]
    assert encoding.feed(SSE[1]) == []


@pytest.mark.parametrize("errors", ["raise", "encode"])
def test_an_error_of_the_source_after_the_terminal_unit_is_no_ones_concern(errors: str) -> None:
    """A proxy whose upstream tears the connection down has said all there was."""
    made = translator(errors=errors)
    assert made.feed(b"".join(SSE)) == FRAMES
    assert made.fail(Boom("x")) == []
    assert (made.error, made.failure, made.finished) == (None, None, True)
    assert made.close() == []


def test_the_same_for_the_halves_of_a_translation() -> None:
    reader = EventReader("gateway-sse")
    events = reader.feed(b"".join(SSE))
    assert reader.fail(Boom("x")) == []
    writer = EventWriter("gateway")
    assert [unit for event in events for unit in writer.feed(event)] == FRAMES
    assert writer.fail(Boom("x")) == []
    early = EventReader("gateway-sse")
    with pytest.raises(Boom):
        early.fail(Boom("x"))


def made_of(encoder: type[EventsEncoder]) -> Any:
    """In place of ``Codec.encoder``."""

    def make(self: Events, options: Options) -> EventsEncoder:
        return encoder(self, options)

    return make


class Deep(EventsEncoder):
    """An encoder that recurses."""

    def write(self, events: Sequence[Event]) -> Pieces:
        return self.write(events)


def test_too_much_recursion_is_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Events, "encoder", made_of(Deep))
    made = Translator("gateway", "events")
    with pytest.raises(LimitExceeded, match="more deeply than this process recurses") as caught:
        made.feed(FRAMES[0])
    assert (caught.value.limit, caught.value.maximum) == ("recursion", sys.getrecursionlimit())


def test_too_much_recursion_of_the_source_is_its_own() -> None:
    own = RecursionError("mine")
    with pytest.raises(RecursionError) as raised:
        Translator("gateway", "events").fail(own)
    assert raised.value is own


def test_an_error_in_saying_an_error_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    class Faulty(EventsEncoder):
        def write(self, events: Sequence[Event]) -> Pieces:
            raise Boom("in the codec")

    monkeypatch.setattr(Events, "encoder", made_of(Faulty))
    made = Translator("gateway", "events", errors="encode")
    for _ in range(2):
        with pytest.raises(Boom, match="in the codec"):
            made.feed(FRAMES[0])
    with pytest.raises(Boom, match="in the codec"):
        made.close()


def tool(raw: str) -> dict[str, Any]:
    value = {"type": "tool", "value": {"id": "i", "name": "n", "arguments": raw}}
    return {"success": True, "code": 200, "value": value}


@pytest.mark.parametrize("chunked", [True, False])
def test_an_error_of_the_encoder_names_its_unit_however_the_input_was_cut(chunked: bool) -> None:
    units = [FRAMES[0], tool("{}"), tool("[1]"), tool("{}"), FRAMES[-1]]
    data = b"".join(convert(units, "gateway", "gateway-sse"))
    chunks = [data[i : i + 1] for i in range(len(data))] if chunked else [data]
    report = Report()
    with pytest.raises(ToolArgumentsError) as caught:
        list(convert(chunks, "gateway-sse", "unievent", report=report))
    assert caught.value.unit == 2
    assert {finding.unit for finding in report.losses} <= {0, 1, 2}


def test_a_loss_names_its_unit_however_the_input_was_cut() -> None:
    item = {"type": "embedding.delta", "embedding": [1.0]}
    unit = {"role": "assistant", "event_type": "delta", "content_items": [item]}
    data = b"".join(convert([unit, unit, unit, unit], "unievent", "unievent-sse", errors="encode"))
    for chunks in ([data], [data[i : i + 1] for i in range(len(data))]):
        with pytest.raises(LossError) as caught:
            list(convert(chunks, "unievent-sse", "gateway", loss="raise"))
        assert caught.value.unit == 0
        report = Report()
        list(convert(chunks, "unievent-sse", "gateway", loss="drop", report=report, errors="encode"))
        assert [finding.unit for finding in report.losses if finding.field == "append"] == [0, 1, 2, 3]


def test_failures_that_errors_become() -> None:
    assert failure_of(Boom("secret")).message == "the source failed: Boom"
    told = failure_of(UpstreamFailure(429, "later", "Busy", {"a": 1}))
    assert told == Failure(429, "later", "Busy", {"a": 1})
    located = DecodeError("not JSON", expected="an object", excerpt="secret")
    assert failure_of(located).message == "not JSON; expected an object"
    error = ToolArgumentsError("what", name="n", id="i", raw="x" * 300, position=1)
    failure = failure_of(error)
    assert failure.kind == "ToolArgumentsError"
    assert failure.details == {
        "tool_name": "n",
        "tool_call_id": "i",
        "raw_arguments_length": 300,
        "raw_arguments_preview": "x" * 200,
    }


class Speechless(EventsEncoder):
    """An encoder that cannot say a failure."""

    def write(self, events: Sequence[Event]) -> Pieces:
        if isinstance(events[-1], Failure):
            raise CodecError("no words")
        return super().write(events)


def test_a_failure_that_cannot_be_encoded_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Events, "encoder", made_of(Speechless))
    made = Translator("gateway", "events", errors="encode")
    assert made.feed(FRAMES[0]) != []
    with pytest.raises(CodecError, match="no words"):
        made.fail(Boom("x"))
    with pytest.raises(CodecError, match="no words"):
        made.close()
