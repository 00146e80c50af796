"""Every example of the two source documents, both ways and in every shape, with the outcome written by hand."""

from typing import NamedTuple

import pytest

from tests import wire
from tests.wire import (
    AT,
    CLOCK,
    PARIS_MODEL,
    Object,
    blocks,
    call,
    call_group,
    content,
    delta,
    inline,
    item,
    shaped,
    start,
    stop,
    stripped,
    text_group,
    thinking,
    tool,
    translated,
    usage,
)
from translate import assemble, check


class Example(NamedTuple):
    """A stream of one document, and what the other format says of it natively."""

    units: list[Object]
    native: list[Object]
    model: Object | None = None


SIGNED = {"signature": "..."}
LOCATION = '{"location": "Paris"}'

# As in the document; created_at is made up, one for each event.
CLAUDE = [
    delta(item("thinking.delta", "Let me"), AT),
    delta(item("thinking.delta", " check"), AT + 1),
    delta(item("thinking.delta", "", SIGNED), AT + 2),
    delta(item("thinking.done", "Let me check", SIGNED), AT + 3),
    delta(call("delta", "", "get_weather", "toolu_1"), AT + 4),
    delta(call("delta", '{"location": '), AT + 5),
    delta(call("delta", '"Paris"}'), AT + 6),
    delta(call("done", {"location": "Paris"}, "get_weather", "toolu_1"), AT + 7),
    stop("tool_call", at=AT + 8),
]

PARIS = b"""\
event: streamStart
data: {"success":true,"code":200,"value":{"type":"streamStart","model":{"name":"claude-sonnet-5","tier":"high",\
"publisher":"Anthropic","provider":"Anthropic"}}}

event: thinkingStart
data: {"success":true,"code":200,"value":{"type":"thinkingStart"}}

event: thinking
data: {"success":true,"code":200,"value":{"type":"thinking","value":"The user wants a capital city."}}

event: thinkingEnd
data: {"success":true,"code":200,"value":{"type":"thinkingEnd","data":{"anthropic.signature":"\xe2\x80\xa6"}}}

event: contentStart
data: {"success":true,"code":200,"value":{"type":"contentStart"}}

event: content
data: {"success":true,"code":200,"value":{"type":"content","value":"Paris."}}

event: contentEnd
data: {"success":true,"code":200,"value":{"type":"contentEnd"}}

event: stop
data: {"success":true,"code":200,"value":{"type":"stop","usage":{"provider":"anthropic","inputTokens":24,\
"outputTokens":3,"finishReason":"stop"}}}

"""

INCIDENT = '{"id":"INC-4412"}'


def counted(given: int, made: int, reason: str = "stop") -> Object:
    """The stop event that a gateway's counts become."""
    return stop(reason, cached=None, prompt=given, response=made, at=CLOCK)


def signed(text: str, signature: str) -> list[Object]:
    """The group that a run of one fragment and a signature become."""
    state = {"signature": signature}
    items = item("thinking.delta", text), item("thinking.delta", "", state), item("thinking.done", text, state)
    return [delta(each, CLOCK) for each in items]


FROM_UNIEVENT = {
    "the two events": Example(
        [*text_group("Hel"), stop(at=AT + 100)],
        [start(), *content("Hel"), usage(10, 5)],
    ),
    "a Claude turn, the model unknown": Example(
        CLAUDE,
        [
            start(),
            *thinking("Let me", " check", data=SIGNED),
            tool("toolu_1", "get_weather", LOCATION),
            usage(10, 5, "toolCall"),
        ],
    ),
    "a Claude turn, the model given": Example(
        CLAUDE,
        [
            start(PARIS_MODEL),
            *thinking("Let me", " check", data={"anthropic.signature": "..."}),
            tool("toolu_1", "get_weather", LOCATION),
            usage(10, 5, "toolCall", provider="anthropic"),
        ],
        PARIS_MODEL,
    ),
    "minimax: the call in one fragment": Example(
        [
            *call_group(LOCATION, {"location": "Paris"}, "get_weather", "call_1"),
            stop("tool_call", cached=3, thoughts=2),
        ],
        [start(), tool("call_1", "get_weather", LOCATION), usage(13, 7, "toolCall")],
    ),
    "a call without arguments": Example(
        [*call_group("", {}, "now", "call_2"), stop("tool_call")],
        [start(), tool("call_2", "now", "{}"), usage(10, 5, "toolCall")],
    ),
    "embeddings: two messages": Example(
        [
            delta(item("embedding.delta", [0.25, -1.5, 0.0625])),
            delta(item("embedding.done", [0.25, -1.5, 0.0625])),
            delta(item("embedding.delta", [1.0, 2])),
            delta(item("embedding.done", [1.0, 2])),
            stop(response=None),
        ],
        [start(), usage(10, 0)],
    ),
    "audio in chunks, an image thought of, then text": Example(
        [
            delta(inline("inline_data.delta", b"\x00\x01")),
            delta(inline("inline_data.delta", b"\xff\xfe\xfd")),
            delta(inline("inline_data.done", b"\x00\x01\xff\xfe\xfd")),
            delta(inline("inline_thinking.delta", b"PNG", "image/png")),
            delta(inline("inline_thinking.done", b"PNG", "image/png")),
            *text_group("Done", "."),
            stop(),
        ],
        [start(), *content("Done", "."), usage(10, 5)],
    ),
    "cut at the token limit": Example(
        [*text_group("Hel"), stop("length")], [start(), *content("Hel"), usage(10, 5, "length")]
    ),
    "no one knows why": Example([stop("unknown", prompt=None)], [start(), usage(0, 5, "unknown")]),
}

FROM_GATEWAY = {
    "Paris": Example(
        wire.read(PARIS, "gateway-sse"),
        [
            *signed("The user wants a capital city.", "…"),
            *text_group("Paris.", at=CLOCK),
            counted(24, 3),
        ],
    ),
    "a tool frame": Example(
        [
            start(PARIS_MODEL),
            tool("toolu_01H", "lookupIncident", INCIDENT),
            usage(9, 8, "toolCall", provider="anthropic"),
        ],
        [
            *call_group(INCIDENT, {"id": "INC-4412"}, "lookupIncident", "toolu_01H", at=CLOCK),
            counted(9, 8, "tool_call"),
        ],
    ),
    "thinks, answers, thinks again, calls a tool": Example(
        [
            start(PARIS_MODEL),
            *thinking("One.", data={"anthropic.signature": "s1"}),
            *content("An", "swer"),
            *thinking("Two.", data={"anthropic.signature": "s2"}),
            tool("toolu_01H", "lookupIncident", INCIDENT),
            usage(1, 2, "toolCall", provider="anthropic"),
        ],
        [
            *signed("One.", "s1"),
            *text_group("An", "swer", at=CLOCK),
            *signed("Two.", "s2"),
            *call_group(INCIDENT, {"id": "INC-4412"}, "lookupIncident", "toolu_01H", at=CLOCK),
            counted(1, 2, "tool_call"),
        ],
    ),
}

ALL = [
    *(pytest.param("unievent", "gateway", example, id=name) for name, example in FROM_UNIEVENT.items()),
    *(pytest.param("gateway", "unievent", example, id=name) for name, example in FROM_GATEWAY.items()),
]
SHAPE = ["", "-jsonl", "-sse"]


@pytest.mark.parametrize("dst_shape", SHAPE)
@pytest.mark.parametrize("src_shape", SHAPE)
@pytest.mark.parametrize(("src", "dst", "example"), ALL)
def test_example(src: str, dst: str, example: Example, src_shape: str, dst_shape: str) -> None:
    src, dst = src + src_shape, dst + dst_shape
    stream, native = shaped(example.units, src), shaped(example.native, dst)
    carried = translated(stream, src, dst, model=example.model)
    assert translated(stream, src, dst, loss="drop", model=example.model) == native
    assert carried != native
    assert stripped(carried, dst) == native
    assert translated(carried, dst, src, model=example.model) == stream
    for format, data in ((src, stream), (dst, carried), (dst, native)):
        assert check(data, format) == []


def test_the_documents_own_bytes_come_home() -> None:
    out = translated(PARIS, "gateway-sse", "unievent-sse")
    assert translated(out, "unievent-sse", "gateway-sse") == PARIS


def test_carry_of_the_claude_turn() -> None:
    """The carry as a reader of the wire sees it: time stamps, the fragments of the call, what the state is not."""
    example = FROM_UNIEVENT["a Claude turn, the model given"]
    carries: dict[int, Object] = {
        0: {"v": 1, "synthetic": True},
        1: {"unievent": {"at": AT}},
        3: {"unievent": {"at": AT + 1}},
        4: {
            "unievent": [{"at": AT + 2}, {"at": AT + 3}],
            "events": [{"as": "append", "length": 0, "namespace": None}, "close"],
        },
        5: {
            "unievent": [{"at": AT + 4}, None, {"at": AT + 5}, {"at": AT + 6}, {"at": AT + 7}],
            "events": ["open", 0, 13, 8, "close"],
        },
        6: {
            "unievent": {"at": AT + 8},
            "events": [{"as": "finish", "usage": {"cached_tokens": 0, "input_tokens": 10}}],
        },
    }
    out = translated(CLAUDE, "unievent", "gateway-sse", model=PARIS_MODEL)
    assert out == blocks(example.native, carries)
    objects = translated(CLAUDE, "unievent", "gateway", model=PARIS_MODEL)
    expected = [{**u, "carry": carries[i]} if i in carries else u for i, u in enumerate(example.native)]
    assert objects == expected


def test_carry_of_paris() -> None:
    example = FROM_GATEWAY["Paris"]
    made_up: Object = {"synthetic": True}
    namespace = {**made_up, "events": [{"as": "append", "length": 0, "namespace": "anthropic"}]}
    carries = {i: namespace if i == 1 else made_up for i in range(6)}
    opening = {"v": 1, "events": [{"event": "start", "model": PARIS_MODEL}]}
    out = translated(PARIS, "gateway-sse", "unievent-sse")
    assert out == b": carry " + wire.dumps(opening) + b"\n\n" + blocks(example.native, carries, done=True)


def test_the_events_as_the_document_spaces_them() -> None:
    """The first two JSON texts of the UniEvent document, letter for letter; a .done stands between them."""
    delta_text = (
        '{"role": "assistant", "event_type": "delta", "content_items": [{"type": "text.delta", "text": "Hel"}],'
        ' "usage_metadata": null, "finish_reason": null, "created_at": 1694502400000}\n'
    )
    stop_text = (
        '{"role": "assistant", "event_type": "stop", "content_items": [], "usage_metadata": {"cached_tokens": 0,'
        ' "prompt_tokens": 10, "thoughts_tokens": null, "response_tokens": 5}, "finish_reason": "stop",'
        ' "created_at": 1694502400100}\n'
    )
    done_text = delta_text.replace("text.delta", "text.done")
    out = translated(delta_text + done_text + stop_text, "unievent-jsonl", "gateway-jsonl", loss="drop")
    assert out == wire.lines([start(), *content("Hel"), usage(10, 5)])


# ---- what the streams add up to ----------------------------------------------------------------------


def test_frames_assemble_into_the_unary_messages() -> None:
    assert assemble(PARIS, "gateway-sse", "gateway") == [
        {"type": "thinking", "value": "The user wants a capital city.", "data": {"anthropic.signature": "…"}},
        {"type": "content", "value": "Paris."},
    ]
    units = FROM_GATEWAY["a tool frame"].units
    call_message = {"id": "toolu_01H", "name": "lookupIncident", "arguments": INCIDENT}
    assert assemble(units, "gateway", "gateway") == [{"type": "toolCall", "value": call_message}]


def test_done_items_are_the_message() -> None:
    assert assemble(CLAUDE, "unievent", "unievent") == {
        "role": "assistant",
        "content_items": [
            {"type": "thinking.done", "thinking": "Let me check", "fidelity": SIGNED},
            {
                "type": "tool_call.done",
                "name": "get_weather",
                "arguments": {"location": "Paris"},
                "tool_call_id": "toolu_1",
            },
        ],
        "usage_metadata": {"cached_tokens": 0, "prompt_tokens": 10, "thoughts_tokens": None, "response_tokens": 5},
        "finish_reason": "tool_call",
        "created_at": CLAUDE[-1]["created_at"],
    }
