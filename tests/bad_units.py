"""Units that break their format, for test_bad_input: what comes before them, and what is to be said of them."""

import copy
from typing import Any, NamedTuple

from tests.wire import (
    PARIS_MODEL,
    Object,
    call,
    content,
    delta,
    failed,
    frame,
    inline,
    item,
    start,
    stop,
    text_group,
    thinking,
    usage,
)
from translate import DecodeError, GrammarError, TranslateError

SIGNED = {"signature": "s"}
HALF = [*text_group("Whole"), delta(item("text.delta", "Ha"))]
CALLED = [delta(call("delta", '{"a":', "f", "t")), delta(call("delta", "1}"))]
RUN = [start(PARIS_MODEL), frame("contentStart"), frame("content", value="Ha")]
BETWEEN, IN_TEXT, IN_CALL = "between groups", "in a text group", "in a tool_call group"
IN_CONTENT, IN_THINKING = "in a content run", "in a thinking run"


class Bad(NamedTuple):
    """A good beginning, the unit or text that breaks it, and what is to be said of that."""

    codec: str
    name: str
    before: list[Object]
    bad: Object | bytes
    error: type[TranslateError]
    state: str
    expected: str | None


def without(unit: Object, key: str) -> Object:
    """A unit without a member."""
    return {k: v for k, v in unit.items() if k != key}


def within(unit: Object, *path: Any, to: Any) -> Object:
    """A unit with another value at a path."""
    out = node = copy.deepcopy(unit)
    for key in path[:-1]:
        node = node[key]
    node[path[-1]] = to
    return out


TEXT = delta(item("text.delta", "x"))
DONE = delta(item("text.done", "Ha"))
CALL_DONE = delta(call("done", {"a": 1}, "f", "t"))
FIRST = ("content_items", 0)


def unievent(name: str, bad: Object | bytes, expected: str | None) -> Bad:
    """A bad unit in a group of text."""
    return Bad("unievent", name, HALF, bad, DecodeError, IN_TEXT, expected)


def contradiction(name: str, before: list[Object], bad: Object, state: str, expected: str = "the same") -> Bad:
    """A well-formed unit that contradicts what came before."""
    return Bad("unievent", name, before, bad, GrammarError, state, expected)


def gateway(name: str, bad: Object | bytes, expected: str) -> Bad:
    """A bad envelope in a content run."""
    return Bad("gateway", name, RUN, bad, DecodeError, IN_CONTENT, expected)


def between(name: str, bad: Object, expected: str) -> Bad:
    """A bad envelope between runs."""
    return Bad("gateway", name, [start(PARIS_MODEL), *content("Whole")], bad, DecodeError, "between runs", expected)


END = frame("contentEnd")
THOUGHT = [start(PARIS_MODEL), *thinking("Hm")[:-1]]
VECTOR = delta({"type": "embedding.delta", "embedding": [1.0]})
BYTES = delta(inline("inline_data.delta", "AAEC"))
CASES = [
    # text that is no JSON object
    *(
        Bad(codec, name, before, text, DecodeError, state, None)
        for codec, before, state in (("unievent", HALF, IN_TEXT), ("gateway", RUN, IN_CONTENT))
        for name, text in {
            "not JSON": b'{"role": assistant}',
            "cut JSON": b'{"role": "assistant"',
            "two values": b"{} {}",
            "no object": b"[1]",
            "a number": b"1",
            "a word": b"done",
            "not UTF-8": b'{"role":"\xff"}',
            "an overlong form": b'{"role":"\xc0\x80"}',
            "a surrogate in UTF-8": b'{"role":"\xed\xa0\x80"}',
        }.items()
    ),
    # units of UniEvent
    unievent("neither event nor error", {"role": "assistant"}, "event_type or error"),
    unievent("an empty object", {}, "event_type or error"),
    unievent("error that is no object", {"error": "x"}, "an object"),
    unievent("error that is no object in an event", {**TEXT, "error": None}, "an object"),
    unievent("event_type that is no text", {**TEXT, "event_type": 3}, "event_type or error"),
    unievent("wrong role", {**TEXT, "role": "user"}, "'assistant'"),
    unievent("no role", without(TEXT, "role"), "'assistant'"),
    unievent("no items member", without(TEXT, "content_items"), "a list"),
    unievent("items that are no list", {**TEXT, "content_items": {}}, "a list"),
    unievent("no items", {**TEXT, "content_items": []}, "exactly one object"),
    unievent("two items", {**TEXT, "content_items": TEXT["content_items"] * 2}, "exactly one object"),
    unievent("an item that is no object", {**TEXT, "content_items": ["x"]}, "exactly one object"),
    unievent("an item without a type", {**TEXT, "content_items": [{"text": "x"}]}, "text"),
    unievent("an item of type 3", within(TEXT, *FIRST, "type", to=3), "text"),
    unievent("text that is null", within(TEXT, *FIRST, "text", to=None), "text"),
    unievent("text that is a number", within(TEXT, *FIRST, "text", to=3), "text"),
    unievent("an item without its text", delta({"type": "text.delta"}), "text"),
    unievent("fidelity that is no object", within(TEXT, *FIRST, "fidelity", to="s"), "an object"),
    unievent("usage on a delta", {**TEXT, "usage_metadata": {}}, "null"),
    unievent("a finish reason on a delta", {**TEXT, "finish_reason": "stop"}, "null"),
    unievent("created_at of text", {**TEXT, "created_at": "now"}, "milliseconds, a number"),
    unievent("created_at true", {**TEXT, "created_at": True}, "milliseconds, a number"),
    unievent("a call without its id", delta(without(call("delta", "", "f"), "tool_call_id")), "text"),
    unievent("arguments that are no text", delta(call("delta", {}, "f", "t")), "text"),
    unievent("bytes that are no base64", within(BYTES, *FIRST, "data", to="?"), None),
    unievent("bytes of half base64", within(BYTES, *FIRST, "data", to="AAE"), None),
    unievent("bytes without a type", delta({"type": "inline_data.delta", "data": "AA=="}), "text"),
    unievent("a vector of text", within(VECTOR, *FIRST, "embedding", to=["x"]), "numbers"),
    unievent("a vector of truth values", within(VECTOR, *FIRST, "embedding", to=[True]), "numbers"),
    unievent("a vector that is none", within(VECTOR, *FIRST, "embedding", to=1.5), "a list"),
    unievent("a stop with items", {**stop(), "content_items": [1]}, "none"),
    unievent("a stop without usage", {**stop(), "usage_metadata": None}, "an object"),
    unievent("a stop without a reason", {**stop(), "finish_reason": None}, "text"),
    unievent("tokens of text", within(stop(), "usage_metadata", "prompt_tokens", to="3"), "an integer"),
    unievent("tokens that are a float", within(stop(), "usage_metadata", "cached_tokens", to=3.0), "an integer"),
    unievent("tokens that are true", within(stop(), "usage_metadata", "response_tokens", to=True), "an integer"),
    unievent("an error with a type of 3", {"error": {"type": 3}}, "text"),
    unievent("an error with a message of 3", {"error": {"message": 3}}, "text"),
    # a .done that disagrees
    contradiction("text", HALF, delta(item("text.done", "Hat")), IN_TEXT),
    contradiction("fidelity never said", HALF, delta(item("text.done", "Ha", SIGNED)), IN_TEXT),
    contradiction(
        "fidelity forgotten",
        [delta(item("text.delta", "Ha", SIGNED))],
        DONE,
        IN_TEXT,
    ),
    contradiction(
        "fidelity of others",
        [delta(item("text.delta", "Ha", SIGNED))],
        delta(item("text.done", "Ha", {"signature": "t"})),
        IN_TEXT,
    ),
    contradiction("another name", CALLED, delta(call("done", {"a": 1}, "g", "t")), IN_CALL),
    contradiction("another id", CALLED, delta(call("done", {"a": 1}, "f", "u")), IN_CALL),
    contradiction("other arguments", CALLED, delta(call("done", {"a": 2}, "f", "t")), IN_CALL),
    contradiction("more arguments", CALLED, delta(call("done", {"a": 1, "b": 2}, "f", "t")), IN_CALL),
    contradiction("truth for a number", CALLED, delta(call("done", {"a": True}, "f", "t")), IN_CALL),
    contradiction("another kind", HALF, delta(item("thinking.done", "Ha")), IN_TEXT, "text.delta or .done"),
    # groups that interleave
    contradiction("another group begins", HALF, delta(item("thinking.delta", "x")), IN_TEXT, "its .done"),
    contradiction("a call begins in a call", CALLED, delta(call("delta", "", "g", "u")), IN_CALL, "its .done"),
    contradiction("a call names itself again", CALLED, delta(call("delta", "", "f", "t")), IN_CALL, "its .done"),
    contradiction("a call without a name", text_group("Whole"), delta(call("delta", "", "", "t")), BETWEEN, "both"),
    contradiction("a call without an id", text_group("Whole"), delta(call("delta", "", "f", "")), BETWEEN, "both"),
    contradiction(
        "two fidelities",
        [delta(item("text.delta", "a", SIGNED))],
        delta(item("text.delta", "", {"x": 1})),
        IN_TEXT,
        "one",
    ),
    Bad(
        "unievent",
        "a done without arguments",
        CALLED,
        within(CALL_DONE, *FIRST, "arguments", to="{}"),
        DecodeError,
        IN_CALL,
        "an object",
    ),
    # units of the gateway
    gateway("an empty object", {}, "an integer"),
    gateway("no code", without(END, "code"), "an integer"),
    gateway("a code of text", {**END, "code": "200"}, "an integer"),
    gateway("a code of true", {**END, "code": True}, "an integer"),
    gateway("no success", without(END, "success"), "true or false"),
    gateway("a success of 1", {**END, "success": 1}, "true or false"),
    gateway("no value", without(END, "value"), "an object"),
    gateway("a value of text", {**END, "value": "x"}, "an object"),
    gateway("a value without a type", {**END, "value": {}}, "text"),
    gateway("a type of null", {**END, "value": {"type": None}}, "text"),
    gateway("content without its text", frame("content"), "text"),
    gateway("content of null", frame("content", value=None), "text"),
    gateway("an error without a message", {"success": False, "code": 502}, "text"),
    gateway("an error with a message of 3", {"success": False, "code": 502, "message": 3}, "text"),
    gateway("an error with a value", failed(502, "x", value={}), "a message"),
    gateway("a streamError without a model", frame("streamError"), "an object"),
    gateway("a model that is text", frame("streamError", model="m"), "an object"),
    gateway("a model named 3", frame("streamError", model={"name": 3}), "text"),
    Bad("gateway", "data that is text", THOUGHT, frame("thinkingEnd", data="s"), DecodeError, IN_THINKING, "an object"),
    Bad(
        "gateway", "data that is a list", THOUGHT, frame("thinkingEnd", data=[]), DecodeError, IN_THINKING, "an object"
    ),
    between("a call that is none", frame("tool"), "an object"),
    between("a call without an id", frame("tool", value={"name": "f", "arguments": "{}"}), "text"),
    between("a call with an object", frame("tool", value={"id": "t", "name": "f", "arguments": {}}), "text"),
    between("a stop without usage", frame("stop"), "an object"),
    between("a stop without a provider", within(usage(), "value", "usage", "provider", to=None), "text"),
    between("tokens of text", within(usage(), "value", "usage", "inputTokens", to="3"), "an integer"),
    between("tokens of null", within(usage(), "value", "usage", "outputTokens", to=None), "an integer"),
    between("tokens that are a float", within(usage(), "value", "usage", "outputTokens", to=3.0), "an integer"),
    between("a reason of null", within(usage(), "value", "usage", "finishReason", to=None), "text"),
    Bad(
        "gateway",
        "a first model of null",
        [],
        frame("streamStart", model=None),
        DecodeError,
        "before streamStart",
        "an object",
    ),
]
