"""What the properties once found, as the smallest streams that show it: each round trip was broken."""

from __future__ import annotations

import json
from contextlib import suppress
from functools import partial
from typing import Any

import pytest

from tests.run_streams import cut, same_all_ways, the_long_way
from tests.strategies import FORMATS, Source, to
from tests.test_laws import assert_same, there_and_back
from translate import (
    Annotate,
    Append,
    CarryError,
    Close,
    DecodeError,
    Event,
    Failure,
    Finish,
    Foreign,
    GrammarError,
    Handover,
    LimitExceeded,
    Limits,
    Model,
    Open,
    Reason,
    Start,
    State,
    TokenCounts,
    TranslateError,
    Translator,
    TruncatedStream,
    Usage,
    check,
    convert,
    decode,
    encode,
    jsontext,
)
from translate import assemble as assembled
from translate.jsontext import Beyond

FOUND: dict[str, list[Any]] = {
    "an unknown total beside a known part": [Finish(TokenCounts(cached_tokens=0))],
    "a model named unknown": [Handover(Model("", "unknown")), Finish()],
    "an unknown code": [Failure(None, "")],
    "a null annotation": [Open("text"), Annotate(None, None), Close(), Finish()],
    "a number beyond a double in a vector": [Open("embedding"), Append([Beyond("1e400")]), Close(), Finish()],
    "a namespace with a dot": [Open("thinking"), Append("a", State("a.b", {"k": 1})), Close(), Finish()],
    "a state ahead of its end": [Open("thinking"), Append("", State("", {"k": 1})), Usage(), Close(), Finish()],
    "a call without a fragment": [Open("tool_call", "1", "f"), Close(), Finish()],
    "half a pair in arguments": [Open("tool_call", "1", "f"), Append('{"a":"\ud83d"}'), Close(), Finish()],
}


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("found", FOUND)
def test_there_and_back(found: str, format: str) -> None:
    there_and_back(format, Source("events", FOUND[found]))


def test_an_unknown_member_on_a_later_fragment() -> None:
    def delta(item: dict[str, Any]) -> dict[str, Any]:
        event = {"role": "assistant", "event_type": "delta", "content_items": [item]}
        return {**event, "usage_metadata": None, "finish_reason": None}

    units = [delta({"type": "text.delta", "text": "a"}), delta({"type": "text.delta", "text": "b", "x": 1})]
    stop = {"role": "assistant", "event_type": "stop", "content_items": [], "usage_metadata": {}, "finish_reason": ""}
    source = Source("unievent", [*units, delta({"type": "text.done", "text": "ab"}), stop])
    assert_same(to(source, "unievent"), source, "identity")


def test_a_blank_call_at_home() -> None:
    call = Source("events", [Open("tool_call", "1", "f"), Append("{}"), Close(), Finish()])
    source = to(call, "gateway", loss="drop")
    source.stream[1]["value"]["value"]["arguments"] = " "
    assert_same(to(source, "gateway"), source, "identity")
    assert_same(to(to(source, "unievent-sse"), "gateway"), source, "there and back")


def test_a_group_that_never_began_is_no_item() -> None:
    there = to(Source("events", [Open("text"), Handover(), Finish()]), "unievent")
    assert assembled(there.stream, "unievent", "unievent")["content_items"] == []


def test_a_pair_of_two_fragments_is_one_character_of_the_whole() -> None:
    part = [Open("text"), Append("\ud83d"), Append("\ude00"), Close()]
    there = to(Source("events", [*part, Finish()]), "unievent")
    assert [unit["content_items"][0]["text"] for unit in there.stream[:3]] == ["\ud83d", "\ude00", "\U0001f600"]


# ---- by fuzzing -------------------------------------------------------------------------------


def unievent(text: str) -> bytes:
    item = f'{{"type":"text.delta","text":"{text}"}}'
    unit = f'{{"role":"assistant","event_type":"delta","content_items":[{item}],"usage_metadata":null'
    return f'data: {unit},"finish_reason":null,"created_at":5}}\n\n'.encode()


@pytest.mark.parametrize("marker", [b"data: [DONE]\n\n", b": x\ndata: [DONE]\n\n", b": carry {}\ndata: [DONE]\n\n"])
@pytest.mark.parametrize("after", [unievent("b"), b"data: {}\n\n", b"data: x", b": \xff\n\n", b""])
def test_nothing_is_read_after_an_early_end_marker(marker: bytes, after: bytes) -> None:
    stream = unievent("a") + marker + after
    found = [same_all_ways(each, "unievent-sse", "gateway") for each in (cut(stream, [size]) for size in (9999, 1))]
    found.append(same_all_ways([unievent("a"), marker, after], "unievent-sse", "gateway"))
    assert found[0] == found[1] == found[2]
    assert found[0].error is not None
    assert found[0].error[0] == "TruncatedStream"


def test_nothing_is_read_after_an_array_that_ended_early() -> None:
    for chunks in ([b"[] x"], [b"[]", b" x"]):
        error = same_all_ways(chunks, "unievent", "gateway").error
        assert error is not None
        assert error[0] == "TruncatedStream"


@pytest.mark.parametrize("now", [2**70, -(2**70), 1.5, -1])
@pytest.mark.parametrize("size", [9999, 1, None])
def test_a_clock_at_an_odd_time(now: Any, size: int | None) -> None:
    stream = [unievent(text) for text in "abcd"]
    frames = list(convert(stream, "unievent-sse", "gateway-sse", loss="drop", errors="encode"))
    chunks = cut(b"".join(frames), [size]) if size else frames
    with the_long_way():
        expected = b"".join(convert(chunks, "gateway-sse", "unievent-sse", clock=lambda: now, errors="encode"))
    assert b"".join(convert(chunks, "gateway-sse", "unievent-sse", clock=lambda: now, errors="encode")) == expected
    assert expected.count(str(now).encode()) == 4


def test_an_error_is_raised_again_by_fail() -> None:
    translator = Translator("unievent-sse", "gateway-sse")
    assert translator.feed(unievent("a") + b"data: {\n\n")
    for call in (partial(translator.fail, OSError("x")), translator.close, partial(translator.feed, b"")):
        with pytest.raises(DecodeError, match="not JSON"):
            call()


def test_a_clock_that_fails_in_mid_stream() -> None:
    def clock() -> int:
        ticks.append(1)
        if len(ticks) > 5:
            raise OSError("no clock")
        return len(ticks)

    frames = [b'event: contentStart\ndata: {"success":true,"code":200,"value":{"type":"contentStart"}}\n\n']
    frames += [b'event: content\ndata: {"success":true,"code":200,"value":{"type":"content","value":"a"}}\n\n'] * 9
    start = b'event: streamStart\ndata: {"success":true,"code":200,"value":{"type":"streamStart","model":{}}}\n\n'
    ticks: list[int] = []
    made = Translator("gateway-sse", "unievent-sse", clock=clock)
    out = [made.feed(frame) for frame in (start, *frames[:6])]
    # the carry of the start, and five units
    assert sum(map(len, out)) == 6
    for _ in range(2):
        with pytest.raises(OSError, match="no clock"):
            made.feed(frames[1])


def delta_line(kind: str, grown: str) -> bytes:
    item = {"type": f"{kind}.delta", "name": "", "arguments": grown, "tool_call_id": ""}
    event = {"role": "assistant", "event_type": "delta", "content_items": [item], "usage_metadata": None}
    return json.dumps({**event, "finish_reason": None, "created_at": 5}, separators=(",", ":")).encode() + b"\n"


@pytest.mark.parametrize(
    ("src", "dst", "unit"),
    [
        ("unievent-jsonl", "gateway-jsonl", b'{"event_type":"x"}\n'),
        ("unievent-jsonl", "gateway-sse", delta_line("tool_call", "")),
        ("gateway-jsonl", "unievent-jsonl", b'{"success":true,"code":200,"value":{"type":"streamStart","model":{}}}\n'),
    ],
)
def test_what_is_held_is_bounded(src: str, dst: str, unit: bytes) -> None:
    made = Translator(src, dst, limits=Limits(part=100, carry=3000))
    if dst == "gateway-sse":
        made.feed(unit.replace(b'"name":""', b'"name":"n"').replace(b'"tool_call_id":""', b'"tool_call_id":"i"'))

    def feed_on() -> None:
        for _ in range(1000):
            made.feed(unit)

    with pytest.raises(LimitExceeded):
        feed_on()


def test_a_source_that_fails_after_the_end() -> None:
    made = Translator("unievent-jsonl", "gateway-sse", errors="encode")
    assert made.fail(OSError()) != []
    assert made.fail(OSError()) == []


@pytest.mark.parametrize("errors", ["raise", "encode"])
def test_a_failure_before_a_fault_in_the_same_chunk(errors: Any) -> None:
    start = b'data: {"success":true,"code":200,"value":{"type":"streamStart","model":{}}}\n\n'
    failed = b'data: {"success":false,"code":503,"message":"a"}\n\n'
    seen = []
    for chunks in ([start + failed + failed], [start, failed, failed], [start, failed + failed]):
        machine = Translator("gateway-sse", "unievent", clock=lambda: 1, errors=errors)
        for chunk in chunks:
            with suppress(TranslateError):
                machine.feed(chunk)
        seen.append(str(machine.failure))
    assert len(set(seen)) == 1
    assert ("unit 1" in seen[0]) == (errors == "encode")


def test_what_waits_is_not_shared_with_the_unit_that_brought_it() -> None:
    """A stamp that another codec's carry holds, on a part that is not said before its first fragment."""
    start, ended, stop = (
        {"success": True, "code": 200, "value": value}
        for value in (
            {"type": "streamStart", "model": {"name": "m", "tier": "t", "publisher": "P", "provider": "Q"}},
            {"type": "contentEnd"},
            {"type": "stop", "usage": {"provider": "q", "inputTokens": 1, "outputTokens": 2, "finishReason": "stop"}},
        )
    )
    carry = {"v": 1, "x-1": {"a": 5}}
    opened = {"success": True, "code": 200, "value": {"type": "contentStart"}, "carry": carry}
    machine = Translator("gateway", "unievent", clock=lambda: 1)
    machine.feed(start)
    machine.feed(opened)
    carry["x-1"]["a"] = 6  # type: ignore[index]
    said = [*machine.feed(ended), *machine.feed(stop), *machine.close()]
    assert said[0]["carry"]["x-1"] == {"a": 5}


def test_a_done_is_not_shared_with_a_fragment_that_was_given_out() -> None:
    item = {"type": "text.delta", "text": "a", "fidelity": {"k": 1}}
    event = {"role": "assistant", "event_type": "delta", "usage_metadata": None, "finish_reason": None}
    machine = Translator("unievent", "unievent")
    (said,) = machine.feed({**event, "content_items": [item], "created_at": 5.0})
    said["content_items"][0]["fidelity"]["k"] = 2
    (done,) = machine.feed({**event, "content_items": [{**item, "type": "text.done"}], "created_at": 6.0})
    assert done["content_items"][0]["fidelity"] == {"k": 1}


def test_a_unit_shares_nothing_with_events() -> None:
    note, vector = Annotate("k", {"a": [1]}), Append([1.0])
    events: list[Any] = [Open("embedding"), vector, note, Close(), Finish()]
    for unit in encode(events, "unievent"):
        unit.setdefault("carry", {}).get("events", []).clear()
        for item in unit["content_items"]:
            item.get("embedding", []).append(2.0)
    for unit in encode([Open("text"), note, Append("a"), Close(), Finish()], "gateway"):
        for held in unit.get("carry", {}).get("before", []):
            held["events"][0]["data"]["a"].append(2)
    assert note == Annotate("k", {"a": [1]})
    assert vector == Append([1.0])


def test_what_opens_a_call_is_no_pattern_of_what_grows_it() -> None:
    def fragment(arguments: str, name: str = "", id: str = "") -> bytes:
        item = {"type": "tool_call.delta", "name": name, "arguments": arguments, "tool_call_id": id}
        event = {"role": "assistant", "event_type": "delta", "content_items": [item]}
        return json.dumps({**event, "usage_metadata": None, "finish_reason": None, "created_at": 0}).encode() + b"\n"

    opens, grows = fragment("", "f", "c1"), fragment("{")
    halves = [opens[:50], opens[50:]]
    for chunks in ([opens + grows[:-1], grows[-1:], *halves, grows], [opens, grows, opens, grows]):
        with pytest.raises(GrammarError, match="begins another group"):
            list(convert(chunks, "unievent-jsonl", "unievent-jsonl"))


def test_the_state_before_a_unit_whose_carry_speaks_of_an_end() -> None:
    """The short way of an end with a carry reads the unit first."""
    start = {"success": True, "code": 200, "value": {"type": "streamStart", "model": {"name": "m"}}}
    opened = {"success": True, "code": 200, "value": {"type": "contentStart"}}
    carry = {"v": 1, "events": [{"as": "finish", "usage": {"input_tokens": 1, "cached_tokens": 1}}]}
    lines = [json.dumps(unit).encode() + b"\n" for unit in (start, {**opened, "carry": carry})]
    error = same_all_ways(lines, "gateway-jsonl", "unievent").error
    assert error is not None
    assert error[5] == "between runs"


@pytest.mark.parametrize("member", [float("nan"), float("-inf"), 5, None, [float("nan")]])
@pytest.mark.parametrize("format", ["gateway", "gateway-jsonl", "gateway-sse"])
def test_a_member_in_the_carrys_way_may_be_a_number_that_json_has_not(format: str, member: object) -> None:
    unit = {"success": True, "code": 200, "value": {"type": "x"}, "carry": member}
    events: list[Event] = [Start(Model("m", "t", "p", "q")), Annotate(None, None), Foreign("gateway", unit), Finish()]
    home = list(decode(list(encode(events, format)), format))
    found = next(event for event in home if type(event) is Foreign)
    assert jsontext.same(found.unit, unit)


@pytest.mark.parametrize("format", ["gateway", "unievent", "anthropic", "gemini", "gemini-interactions"])
def test_whole_arguments_nest_as_deeply_as_the_limit_says(format: str) -> None:
    """A call that was cut behind its last brace is a whole one, however deep."""
    deep = '{"a":' + "[" * 300 + "]" * 300 + "}"
    end = Finish(TokenCounts(1, 1), Reason("length"))
    events: list[Event] = [Start(Model("m")), Open("tool_call", "i", "f"), Append(deep), Close(cut=True), end]
    out = list(convert(events, "events", format, limits=Limits(nesting=400), loss="drop"))
    said = [event for event in decode(out, format, limits=Limits(nesting=400)) if type(event) is Open]
    assert [event.name for event in said] == ["f"]


CHAT = b'data: {"id":"c","object":"chat.completion.chunk","created":5,"model":"x","choices":%s}\n\n'


def test_a_reason_that_was_made_up_is_said_again_with_the_end() -> None:
    mark = b': carry {"synthetic":true}\n'
    said = CHAT % b'[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]'
    reason = CHAT % b'[{"index":0,"delta":{},"finish_reason":"length"}]'
    out = list(convert([said, mark, reason, b"data: [DONE]\n\n"], "openai-chat-sse", "openai-chat"))
    assert check(out, "openai-chat") == []
    assert [type(event).__name__ for event in decode(out, "openai-chat")] == ["Start", "Foreign", "Finish"]
    assert out[-1]["choices"][0]["finish_reason"] == "length"


@pytest.mark.parametrize("dst", ["gemini-sse", "gemini"])
def test_what_was_one_unit_comes_apart_where_it_does_not_come_whole(dst: str) -> None:
    # both events of the unit are too large together, so the first is all that is known of it
    call = b'{"functionCall":{"name":"f","willContinue":true}}'
    unit = b'data: {"candidates":[{"content":{"parts":[%s],"role":"model"},"index":0}],"responseId":"r"}\n\n' % call
    piece = unit.replace(b'"name":"f"', b'"partialArgs":[{"jsonPath":"$.a","stringValue":"a"}]')
    for limit in range(60, 300, 5):
        stream = list(convert([unit, piece], "gemini-sse", dst, errors="encode", limits=Limits(part=limit)))
        assert check(stream, dst) == []
        assert [type(event).__name__ for event in decode(stream, dst)][-1] == "Failure"


@pytest.mark.parametrize("shape", ["sse", "jsonl"])
def test_a_carry_that_is_a_number_in_the_form_of_an_object_is_no_carry(shape: str) -> None:
    unit, carry = b'{"success":true,"code":200,"value":{"type":"contentStart"}}', b'{"$number":"NaN"}'
    stream = b": carry %s\ndata: %s\n\n" % (carry, unit) if shape == "sse" else unit[:-1] + b',"carry":%s}\n' % carry
    with pytest.raises(CarryError, match="the carry is a number"):
        list(decode([stream], f"gateway-{shape}"))
    with pytest.raises(TruncatedStream):
        list(decode([stream], f"gateway-{shape}", strict=False))
