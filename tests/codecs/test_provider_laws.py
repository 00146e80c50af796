"""The laws over generated streams of providers: calls that interleave, parts and ends of any kind, more choices."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.codecs import anthropic_streams as anthropic
from tests.codecs.chat_streams import S as FIRST
from tests.codecs.chat_streams import U, call, chunk, end, more, native, said, say, sse, through
from tests.strategies import clock
from translate import Append, Open, Translator, check, decode
from translate.errors import DecodeError, TruncatedStream
from translate.jsontext import whole
from translate.testing.strategies import AWKWARD, PLAIN, interleaved, object_texts, pieces

WORDS = (*PLAIN, *(word for word in AWKWARD if word.isprintable() and "\ud83d" not in word and "\ude00" not in word))
FORMATS = ("unievent", "gateway", "anthropic", "openai-chat", "events")
SHAPES = [f"{name}-{shape}" for name in FORMATS for shape in ("sse", "jsonl") if (name, shape) != ("events", "sse")]
vias = st.lists(st.sampled_from(SHAPES), min_size=1, max_size=3)


class Calls(NamedTuple):
    """A stream of Chat's with calls whose pieces interleave, and what each of them holds."""

    units: list[Any]
    arguments: list[str]


@st.composite
def calls(draw: st.DrawFn) -> Calls:
    texts = draw(st.lists(object_texts().filter(lambda text: bool(text.strip())), min_size=1, max_size=4))
    rows = [[None, *draw(pieces(text))] for text in texts]
    # in the order of their numbers they begin, and so they are said
    mixed = draw(interleaved(rows))
    begun = [i for i, piece in mixed if piece is None]
    names = {row: index for index, row in enumerate(begun)}
    units = [FIRST]
    for row, piece in mixed:
        index = names[row]
        units.append(call(index, f"c{index}", "f", "") if piece is None else more(index, piece))
        if draw(st.integers(0, 9)) == 0:
            units.append(draw(st.sampled_from([say(), {"x": 1}, chunk({"content": ""}, obfuscation="xy")])))
    units += [end(draw(st.sampled_from(["tool_calls", "stop", "length"]))), *draw(st.sampled_from([[], [U]]))]
    return Calls(units, [texts[row] for row in begun])


@st.composite
def chat(draw: st.DrawFn) -> list[Any]:
    """Text, thinking in either member, refusals and calls, in any order, with whatever reason."""
    out = [FIRST]
    member = draw(st.sampled_from(["reasoning", "reasoning_content"]))
    words = st.sampled_from(WORDS)
    for index in range(draw(st.integers(0, 5))):
        kind = draw(st.sampled_from(["content", member, "refusal", "call"]))
        if kind == "call":
            out.append(call(index, f"c{index}", "f", ""))
            out += [more(index, piece) for piece in draw(pieces(draw(object_texts())))]
        else:
            out += [say(**{kind: draw(words)}) for _ in range(draw(st.integers(1, 3)))]
    reason = draw(st.sampled_from(["stop", "tool_calls", "content_filter", "eos"]))
    return [*out, end(reason), *draw(st.sampled_from([[], [U]]))]


@st.composite
def blocks(draw: st.DrawFn) -> list[Any]:
    """Anthropic blocks of any kind, with pings among them."""
    out = [anthropic.S]
    words = st.sampled_from(WORDS)
    for index in range(draw(st.integers(0, 5))):
        kind = draw(st.sampled_from(["text", "thinking", "tool_use", "redacted_thinking", "x_new"]))
        data = {"data": "D"} if kind == "redacted_thinking" else {}
        grown: list[Any] = []
        if kind == "tool_use":
            grown = [anthropic.args(index, str(piece)) for piece in draw(pieces(draw(object_texts())))]
        elif kind in ("text", "thinking"):
            grow = anthropic.text if kind == "text" else anthropic.thinks
            grown = [grow(index, draw(words)) for _ in range(draw(st.integers(0, 3)))]
        if kind == "thinking" and draw(st.booleans()):
            grown.append(anthropic.signed(index, "S"))
        row = [anthropic.block(index, kind, **data), *grown, anthropic.stop(index)]
        out += [unit for _, unit in draw(interleaved([row, [anthropic.PING] * draw(st.integers(0, 1))]))]
    reason = draw(st.sampled_from(["end_turn", "tool_use", "pause_turn", "refusal", "compaction"]))
    return [*out, anthropic.end(reason), anthropic.STOP]


@given(found=calls())
def test_interleaved_calls_are_said_in_their_order_each_whole(found: Calls) -> None:
    data = sse(found.units)
    raw: list[str] = []
    for event in decode([data], "openai-chat-sse"):
        if type(event) is Open:
            raw.append("")
        elif type(event) is Append:
            raw[-1] += str(event.data)
    # white space behind a call that is whole is silent once it is over
    assert [whole(text.rstrip()) for text in raw] == [whole(text.rstrip()) for text in found.arguments]


@given(found=calls() | chat().map(lambda units: Calls(units, [])), over=vias)
def test_chat_comes_home_over_any_way(found: Calls, over: list[str]) -> None:
    data = sse(found.units)
    way = [*over, *over[-2::-1], "openai-chat-sse"]
    back = through(data, *way)
    assert native(back) == found.units, way
    assert b": carry" not in back
    for format in over:
        assert not check([through(data, format)], format)
        assert not check([through(data, format, loss="drop")], format)


@given(units=blocks(), over=vias)
def test_anthropic_comes_home_over_any_way(units: list[Any], over: list[str]) -> None:
    assert anthropic.home(units, *over, *over[-2::-1]) == units
    for format in over:
        out = b"".join(anthropic.converted(units, format))
        assert not check([out], format)


@given(found=calls(), cuts=st.lists(st.integers(0, 10**6), max_size=6), dst=st.sampled_from(SHAPES))
def test_cuts_change_nothing(found: Calls, cuts: list[int], dst: str) -> None:
    data = sse(found.units)
    at = sorted(cut % (len(data) + 1) for cut in cuts)
    machine = Translator("openai-chat-sse", dst, clock=clock, errors="encode")
    out = [part for a, b in zip([0, *at], [*at, len(data)], strict=True) for part in machine.feed(data[a:b])]
    whole = Translator("openai-chat-sse", dst, clock=clock, errors="encode")
    assert b"".join([*out, *machine.close()]) == b"".join([*whole.feed(data), *whole.close()])


@given(
    units=chat() | blocks(), dst=st.sampled_from(["gateway-sse", "unievent-sse", "anthropic-sse", "openai-chat-sse"])
)
def test_text_is_out_with_the_unit_that_holds_it(units: list[Any], dst: str) -> None:
    src = "anthropic" if units[0].get("type") else "openai-chat"
    machine = Translator(src, dst, clock=clock, errors="encode", loss="drop")
    open_call = False
    for unit in units:
        out = b"".join(machine.feed(unit)).decode()
        delta = unit.get("delta") or ((unit.get("choices") or [{}])[0].get("delta") or {})
        open_call = (open_call or bool(delta.get("tool_calls"))) and src == "openai-chat"
        word = delta.get("text") or delta.get("content")
        if word and not open_call:
            assert json.dumps(word, ensure_ascii=False)[1:-1] in out or json.dumps(word)[1:-1] in out


@given(units=chat(), at=st.integers(0, 10**6), dst=st.sampled_from(SHAPES))
def test_a_cut_is_no_success(units: list[Any], at: int, dst: str) -> None:
    before = units[: at % (len(units) - 1) + 1]
    if any(unit.get("choices") and unit["choices"][0]["finish_reason"] for unit in before):
        before = [unit for unit in before if not (unit.get("choices") and unit["choices"][0]["finish_reason"])]
    with pytest.raises(TruncatedStream):
        list(decode([sse(before, done=False)], "openai-chat-sse"))
    out = through(sse(before, done=False), dst)
    assert said(out, dst)[-1].startswith("failure")


@given(units=chat(), at=st.integers(1, 10**6), index=st.integers(1, 3), beside=st.booleans())
def test_another_choice_is_refused_wherever_it_comes(units: list[Any], at: int, index: int, beside: bool) -> None:
    at = at % len(units) or 1
    other = {"index": index, "delta": {"content": "x"}, "finish_reason": None}
    kept = units[at].get("choices", []) if beside else []
    odd = {**units[at], "choices": [*kept, other]}
    with pytest.raises(DecodeError, match="one stream is one message") as caught:
        list(decode([sse([*units[:at], odd])], "openai-chat-sse"))
    assert caught.value.unit == at
