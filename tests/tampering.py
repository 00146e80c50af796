"""Ways to tamper with a converted stream, for test_tampering: its blocks are pairs of carry and unit."""

from collections.abc import Callable
from typing import Any, NamedTuple

from tests.wire import (
    AT,
    PARIS_MODEL,
    Object,
    Pair,
    call,
    content,
    delta,
    frame,
    item,
    pairs,
    start,
    stop,
    text_group,
    thinking,
    tool,
    translated,
    usage,
)

SIGNED = {"signature": "s"}
FROM_UNIEVENT = [
    delta(item("thinking.delta", "Let me")),
    delta(item("thinking.delta", "", SIGNED)),
    delta(item("thinking.done", "Let me", SIGNED)),
    *text_group("He", "llo"),
    delta(call("delta", "", "get_weather", "toolu_1")),
    delta(call("delta", '{"location": ')),
    delta(call("delta", '"Paris"}')),
    delta(call("done", {"location": "Paris"}, "get_weather", "toolu_1")),
    stop("tool_call", cached=3, thoughts=2),
]
FROM_GATEWAY = [
    start(PARIS_MODEL),
    *thinking("Let me", data={"anthropic.signature": "s"}),
    *content("He", "llo"),
    tool("toolu_1", "get_weather", '{"location": "Paris"}'),
    {**usage(10, 5, "tool_use", "anthropic"), "code": 201},
]
# the codec whose units carry → the source that the carry speaks for, and the stream
BASE = {"gateway": ("unievent", FROM_UNIEVENT), "unievent": ("gateway", FROM_GATEWAY)}


def converted(codec: str) -> list[Pair]:
    """The base stream as units of ``codec``, with carries."""
    home, units = BASE[codec]
    return pairs(translated(units, home, codec + "-sse", model=PARIS_MODEL if home == "unievent" else None))


def place(stream: list[Pair], kind: str, nth: int = 0) -> int:
    """The index of the nth unit of a kind: a frame's type, an item's type, or an event's."""
    return [i for i, (_, unit) in enumerate(stream) if unit is not None and kind_of(unit) == kind][nth]


def kind_of(unit: Object) -> str:
    """What a unit is, in its codec's word."""
    if "success" in unit:
        return str(unit["value"]["type"])
    items = unit["content_items"]
    return str(items[0]["type"] if items else unit["event_type"])


Change = Callable[[list[Pair]], None]


class Case(NamedTuple):
    """What is done to the units of ``codec``, and whether their carries can tell."""

    codec: str
    name: str
    change: Change
    told: bool = True


def native(kind: str, *path: Any, to: Any, nth: int = 0) -> Change:
    """Change a member of a unit."""

    def change(stream: list[Pair]) -> None:
        node: Any = stream[place(stream, kind, nth)][1]
        for key in path[:-1]:
            node = node[key]
        node[path[-1]] = to

    return change


def carried(kind: str, carry: Object | None, nth: int = 0) -> Change:
    """Give a unit another carry."""

    def change(stream: list[Pair]) -> None:
        index = place(stream, kind, nth)
        stream[index] = carry, stream[index][1]

    return change


def ahead(kind: str, carry: Object) -> Change:
    """Put a carry that has no unit before one that has."""
    return lambda stream: stream.insert(place(stream, kind), (carry, None))


def removed(kind: str) -> Change:
    return lambda stream: stream.__delitem__(place(stream, kind))


def swapped(one: str, other: str) -> Change:
    """Have two units change their carries."""

    def change(stream: list[Pair]) -> None:
        i, j = place(stream, one), place(stream, other)
        (a, first), (b, second) = stream[i], stream[j]
        stream[i], stream[j] = (b, first), (a, second)

    return change


def both(*changes: Change) -> Change:
    def change(stream: list[Pair]) -> None:
        for each in changes:
            each(stream)

    return change


EVIL_TEXT = [{"event": "open", "kind": "text"}, {"event": "append", "text": "evil"}, {"event": "close"}]
# carries for the unit that closes the text: what is wrong with them in either direction
ON_CLOSE: dict[str, Any] = {
    "an added text part": ["close", *EVIL_TEXT],
    "an added text part, first": [*EVIL_TEXT, "close"],
    "an added refusal": ["close", {"event": "open", "kind": "refusal"}, *EVIL_TEXT[1:]],
    "an added call": ["close", {"event": "open", "kind": "tool_call", "id": "a", "name": "b"}, *EVIL_TEXT[1:]],
    "added text in the open part": [{"event": "append", "text": "evil"}, "close"],
    "an added finish": ["close", {"event": "finish"}],
    "an added failure": ["close", {"event": "failure", "message": "evil"}],
    "an added close": ["close", {"event": "close"}],
    "two closes of one": ["close", "close"],
    "nothing left": [],
    "an append it does not say": ["append", "close"],
    "a finish it does not say": ["finish"],
    "a length of nothing": [1, "close"],
    "an unknown name": ["close", "shut"],
    "an unknown as": ["close", {"as": "shut"}],
    "an as that is no name": ["close", {"as": 3}],
    "an unknown event": ["close", {"event": "shut"}],
    "no event at all": ["close", {}],
    "a residue in an entry": ["close", {"event": "usage", "residue": {"x": {}}}],
    "a member too many": ["close", {"event": "usage", "text": "evil"}],
    "a close that is changed": [{"as": "close", "text": "evil"}],
    "a float": ["close", 0.0],
    "a truth value": ["close", False],
    "a null": ["close", None],
    "a list": ["close", []],
    "no list": {"event": "usage"},
    "a name": "close",
}
# and for a fragment of text, "He"
ON_APPEND: dict[str, Any] = {
    "too short": [1],
    "too long": [3],
    "too long in all": [1, 2],
    "negative": [-1, 3],
    "huge": [2**70],
    "hugely negative": [-(2**70)],
    "a float length": [1, 1.0],
    "a true length": [1, True],
    "a length of text": [{"as": "append", "length": "2"}],
    "a length of true": [{"as": "append", "length": True}],
    "a length of null": [{"as": "append", "length": None}],
    "a long length": [{"as": "append", "length": 3}],
    "other text": [{"as": "append", "text": "evil"}],
    "more text": [{"as": "append", "text": "Hell"}],
    "text of no type": [{"as": "append", "text": 2}],
    "bytes": [{"as": "append", "bytes": "SGU="}],
    "two kinds of data": [{"as": "append", "text": "He", "bytes": "SGU="}],
    "a namespace of nothing": [{"as": "append", "namespace": "evil"}],
    "a state that is none": ["append", {"as": "append", "length": 0, "state": 3}],
    "one more append": ["append", {"event": "append", "text": "evil"}],
    "an open it does not say": ["open", "open", "append"],
}
CARRIES: dict[str, Any] = {
    "events that are no list": {"events": {}},
    "before that is no list": {"before": {}},
    "before of no objects": {"before": [1]},
    "before that adds text": {"before": [{"events": EVIL_TEXT}]},
    "a residue that is no object": {"other": 3},
    "a residue of text": {"other": "evil"},
    "residues of no objects": {"other": ["evil"]},
    "more residues than events": {"other": [None, {}]},
    "synthetic false": {"synthetic": False},
    "synthetic text": {"synthetic": "yes"},
    "no number": {"other": {"x": {"$number": "evil"}}},
    **{f"version {version!r}": {"v": version} for version in (2, 0, -1, "1", True, None, [1])},
}


EVIL_STATE = {"as": "append", "length": 0, "state": {"values": {"signature": "evil"}}}


def malicious(codec: str) -> list[Case]:
    """What is wrong in either direction."""
    append, close = ("content", "contentEnd") if codec == "gateway" else ("text.delta", "text.done")
    first = [] if codec == "gateway" else ["open"]
    changes = {
        **{name: carried(close, {"events": entries}) for name, entries in ON_CLOSE.items()},
        **{name: carried(append, {"events": [*first, *entries]}) for name, entries in ON_APPEND.items()},
        **{name: carried(close, carry) for name, carry in CARRIES.items()},
        "more tokens": carried("stop", {"events": [{"as": "finish", "usage": {"input_tokens": 99}}]}),
        "another reason": carried("stop", {"events": [{"as": "finish", "reason": "length"}]}),
        "usage of no type": carried("stop", {"events": [{"as": "finish", "usage": {"input_tokens": "9"}}]}),
        "synthetic on nothing": ahead(close, {"synthetic": True}),
        "a residue on nothing": ahead(close, {"other": {"x": 1}}),
        "a native name on nothing": ahead(close, {"events": ["close"]}),
        "text on nothing": ahead("stop", {"events": EVIL_TEXT}),
        "text on nothing, in the open part": ahead(close, {"events": EVIL_TEXT[1:2]}),
        "a finish on nothing": ahead("stop", {"events": [{"event": "finish"}]}),
        "a failure on nothing": ahead("stop", {"events": [{"event": "failure", "message": "evil"}]}),
        "the carry of another unit": swapped("stop", append),
    }
    return [Case(codec, name, change) for name, change in changes.items()]


def by_residue(codec: str, append: str, close: str, patches: list[Any], whole: list[Any]) -> list[Case]:
    """Residues of the home codec that make another unit of it: by a patch, or as a foreign unit."""
    home = BASE[codec][0]
    no_patches: list[Any] = [3, "x", {}, [3], [[1]]]
    foreign = [{"event": "foreign", "codec": home, "unit": unit} for unit in whole]
    return [
        *(Case(codec, f"patch {p}", carried(append, {home: {"at": AT, "patch": [p]}}, 1)) for p in patches),
        *(Case(codec, f"no patch {p}", carried(append, {home: {"patch": p}}, 1)) for p in no_patches),
        *(Case(codec, f"foreign {f['unit']}", carried(close, {"events": ["close", f]})) for f in foreign),
    ]


def patched_call(*path: Any, to: Any) -> Object:
    """The carry of a call whose ``.done`` is patched."""
    return {"unievent": [None, None, {"at": AT, "patch": [[list(path), to]]}]}


NO_TIMES: list[Any] = ["evil", True, [1], {}]
FIRST = ("content_items", 0)
ARGUMENTS = ("value", "value", "arguments")
# the units changed by others: told where the carry speaks of what was changed
EDITED: list[Case] = [
    Case("gateway", "text", native("content", "value", "value", to="HE"), told=False),
    Case("gateway", "state", native("thinkingEnd", "value", "data", to={"anthropic.signature": "t"}), told=False),
    Case("gateway", "arguments, as long", native("tool", *ARGUMENTS, to='{"location": "Lyons"}'), told=False),
    Case("gateway", "name", native("tool", "value", "value", "name", to="get_wind"), told=False),
    Case("gateway", "reason", native("stop", "value", "usage", "finishReason", to="length"), told=False),
    Case("gateway", "fragment removed", removed("content"), told=False),
    Case("gateway", "call removed", removed("tool"), told=False),
    Case("gateway", "stamps swapped", swapped("contentStart", "contentEnd"), told=False),
    Case("gateway", "arguments, longer", native("tool", *ARGUMENTS, to='{"location": "Orleans"}')),
    Case("gateway", "arguments, shorter", native("tool", *ARGUMENTS, to="{}")),
    Case("gateway", "state removed", native("thinkingEnd", "value", "data", to={})),
    Case("gateway", "input", native("stop", "value", "usage", "inputTokens", to=99)),
    Case("gateway", "output", native("stop", "value", "usage", "outputTokens", to=99)),
    Case(
        "unievent",
        "text",
        both(native("text.delta", *FIRST, "text", to="HE"), native("text.done", *FIRST, "text", to="HEllo")),
        told=False,
    ),
    Case("unievent", "tokens", native("stop", "usage_metadata", "prompt_tokens", to=99), told=False),
    Case("unievent", "group removed", both(*map(removed, ("text.delta", "text.delta", "text.done"))), told=False),
    Case("unievent", "marks swapped", swapped("text.done", "tool_call.done"), told=False),
    Case("unievent", "reason, the raw word in the carry", native("stop", "finish_reason", to="length")),
]
CASES = [
    *malicious("gateway"),
    *malicious("unievent"),
    *EDITED,
    *by_residue(
        "gateway",
        "content",
        "contentEnd",
        [
            [[*FIRST, "text"], "evil"],
            [[*FIRST, "type"], "thinking.delta"],
            [[*FIRST, "type"], "text.done"],
            [[*FIRST, "fidelity"], {"signature": "evil"}],
            [[*FIRST]],
            [["content_items"], []],
            [["event_type"], "stop"],
            [["event_type"], "evil"],
            [["role"], "user"],
            [["created_at"], "evil"],
            [["content_items", 9], {}],
            [["nothing"]],
            [[], {}],
            [[]],
        ],
        [delta(item("text.delta", "evil")), delta(item("text.done", "evil")), stop(), {"error": {}}, {}, {"x": 1}],
    ),
    *by_residue(
        "unievent",
        "text.delta",
        "text.done",
        [
            [["value", "value"], "evil"],
            [["value", "type"], "thinking"],
            [["value", "type"], "evil"],
            [["value", "type"]],
            [["value"], {"type": "stop"}],
            [["success"], False],
            [["code"], "evil"],
            [["nothing"]],
            [[], {}],
            [[]],
        ],
        [frame("content", value="evil"), frame("contentStart"), usage(), {"success": False}, {}, {"x": 1}],
    ),
    *(Case("gateway", f"created_at {at}", carried("content", {"unievent": {"at": at}}, 1)) for at in NO_TIMES),
    Case("gateway", "another state", carried("thinkingEnd", {"events": [EVIL_STATE, "close"]})),
    Case("unievent", "another state", carried("thinking.delta", {"events": [EVIL_STATE]}, 1)),
    Case("gateway", "patched arguments", carried("tool", patched_call("content_items", 0, "arguments", to={"a": 1}))),
    Case("gateway", "patched name", carried("tool", patched_call("content_items", 0, "name", to="evil"))),
]
