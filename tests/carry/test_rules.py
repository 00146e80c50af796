"""No carry contradicts its unit: every native unit of both formats with every carry that the grammar of carries allows.

Carries are made from what the unit says: each event taken, left, said twice, changed in each member, and each event
that can be added, in each place. Strict mode raises ``CarryError``, or the native content means what it means alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from tests.wire import (
    PARIS_MODEL,
    Object,
    broken,
    call,
    call_group,
    content,
    delta,
    failed,
    inline,
    item,
    start,
    stop,
    text_group,
    thinking,
    tool,
    usage,
)
from translate import (
    Append,
    CarryError,
    DecodeError,
    Event,
    Failure,
    Finish,
    GrammarError,
    Open,
    Report,
    ToolArgumentsError,
    UpstreamFailure,
    codec,
    convert,
    decode,
    jsontext,
)
from translate.algebra.events import NAMES, PART_KINDS, REASONS, bare
from translate.algebra.json_form import members, to_json
from translate.carry.rules import ADDITIONS, CHANGES

SIGNED = {"signature": "s"}
STREAMS: dict[str, list[list[Object]]] = {
    "gateway": [
        [
            start(PARIS_MODEL),
            *thinking("Let me", data={"anthropic.signature": "s"}),
            *thinking("Hm"),
            *content("{}", "llo"),
            tool("t1", "now", "{}"),
            tool("t2", "get_weather", '{"location": "Paris"}'),
            *content("Par")[:-1],
            broken(PARIS_MODEL),
            start(),
            usage(10, 0, "end_turn", "anthropic"),
        ],
        [start(), *content("a")[:-1], failed(529, "Overloaded")],
        [failed(401, "no")],
    ],
    "unievent": [
        [
            delta(item("thinking.delta", "Let me")),
            delta(item("thinking.delta", "", SIGNED)),
            delta(item("thinking.done", "Let me", SIGNED)),
            *text_group("{}", "llo"),
            *call_group("{}", {}, "now", "t1"),
            delta(call("delta", '{"location": ', "get_weather", "t2")),
            delta(call("delta", '"Paris"}')),
            delta(call("done", {"location": "Paris"}, "get_weather", "t2")),
            delta(inline("inline_data.delta", b"ab")),
            delta(inline("inline_data.done", b"ab")),
            delta(item("embedding.delta", [0.5, 1])),
            delta(item("embedding.done", [0.5, 1])),
            stop("end_turn", cached=3, response=None),
        ],
        [delta(item("text.delta", "a")), {"error": {"type": "UpstreamError", "message": "Overloaded", "status": 529}}],
        [delta(item("text.delta", "a")), {"error": {"type": "Other", "message": "no"}}],
    ],
}
OTHER = {"gateway": "unievent", "unievent": "gateway"}

EVIL: dict[str, list[Any]] = {
    "kind": [*PART_KINDS, "evil", None],
    "model": [{}, {"name": "evil"}, {"name": "evil", "provider": "evil"}],
    "reason": [*REASONS, None],
    "details": [{}, {"message": "evil", "type": "evil"}, {"status": 418}],
    "code": [418, None, 0],
    "created": [1.5, None],
    "data": [None, {"evil": 1}],
    "unit": [{}],
    "usage": [
        {},
        *({count: n} for count in ("input_tokens", "output_tokens", "cached_tokens") for n in (0, 99, None)),
        *({"provider": provider} for provider in ("evil", None)),
        {"other": {"evil": 1}},
        {"cached_tokens": 0, "input_tokens": 10},
    ],
    "state": [None, {"values": {"signature": "evil"}}, {"namespace": "evil", "values": SIGNED}],
    "bytes": ["ZXZpbA==", ""],
    "vector": [[], [9.5]],
}
TEXTS = ["evil", "", "  ", None]
ADDED: list[Object] = [
    *({"event": "open", "kind": kind, "id": "x", "name": "evil"} for kind in PART_KINDS),
    *({"event": "append", member: value} for member in ("text", "bytes") for value in ("", "evilevil")),
    *({"event": "append", "text": "", "state": state} for state in EVIL["state"]),
    {"event": "append", "vector": [9.5]},
    *({"event": name} for name in NAMES.values() if name not in ("open", "append", "failure", "annotate", "foreign")),
    {"event": "handover", "model": {"name": "evil"}},
    {"event": "start", "model": {"name": "evil"}},
    {"event": "failure", "message": "evil"},
    {"event": "finish", "usage": {"input_tokens": 99}},
    {"event": "usage", "usage": {"input_tokens": 99}},
    {"event": "annotate", "data": {"evil": 1}},
    *({"event": "foreign", "codec": name, "unit": {"evil": 1}} for name in OTHER),
]
PARTS = [
    [{"event": "open", "kind": kind, "id": "x", "name": "n"}, {"event": "append", "text": text}, {"event": "close"}]
    for kind in ("text", "refusal", "tool_call", "server_tool_call")
    for text in ("", "evil")
]
RESIDUES: list[Any] = [
    {},
    {"synthetic": True},
    {"at": 1, "patch": [[["content_items", 0, "text"], "evil"]]},
    {"patch": [[["value", "value"], "evil"]]},
    {"patch": [[["error"], {"message": "evil"}]]},
    [{}, {}],
    [2, {}],
    [None, {"at": 1}],
]


def as_taken(event: Event) -> list[Any]:
    """The ways to take an event, or another in its place."""
    name = NAMES[type(event)]
    out: list[Any] = [name, {"as": name}, {"event": name, **members(event)}]
    for member in {member.partition(".")[0] for member in CHANGES[name]}:
        out += [{"as": name, member: value} for value in EVIL.get(member, TEXTS)]
    if name == "append":
        pieces = [{"as": "append", "length": n} for n in (0, 1, 2, 99)]
        out += [0, 1, 2, 99, *pieces, *({**piece, "state": state} for piece in pieces for state in EVIL["state"])]
    return out


def entries_of(said: Sequence[Event]) -> Iterator[list[Any]]:
    """The lists of entries that differ from the plain one in one or two places."""
    plain: list[Any] = [NAMES[type(event)] for event in said]
    yield []
    yield plain
    for i, event in enumerate(said):
        yield [*plain[:i], *plain[i + 1 :]]
        yield [*plain[:i], plain[i], *plain[i:]]
        for entry in as_taken(event):
            yield [*plain[:i], entry, *plain[i + 1 :]]
            if entry in (0, 1):
                yield [*plain[:i], entry, entry, *plain[i + 1 :]]
                yield [*plain[:i], entry, *plain[i:]]
    for at in range(len(plain) + 1):
        for added in ADDED:
            yield [*plain[:at], added, *plain[at:]]
            yield [*plain[:at], added, *plain[at + 1 :]]
            yield [*plain[:at], added]
        for part in PARTS:
            yield [*plain[:at], *part, *plain[at:]]
            yield [*plain[:at], part[0], *plain[at:]]
            yield [*plain[:at], part[2], part[0], *plain[at:]]


def carries_of(said: Sequence[Event], own: str) -> Iterator[Object]:
    """Every carry of a unit, near enough."""
    yield from ({"events": entries} for entries in entries_of(said))
    yield {"synthetic": True}
    yield {"synthetic": True, "events": []}
    yield {"end": {"events": []}}
    for residue in RESIDUES:
        yield from ({name: residue} for name in (own, OTHER[own], "toy"))
    yield from ({"before": [{"events": [added]}]} for added in ADDED)
    yield from ({"before": [{"events": part}]} for part in PARTS)
    for added in ADDED:
        yield {"before": [{"events": [{"event": "open", "kind": "embedding"}]}], "events": [added, "close"]}


NATIVE = ("type", "text", "thinking", "value", "name", "arguments", "tool_call_id", "id")


def meaning(events: Sequence[Event], own: str) -> list[Any]:
    """What the native content means: the message in its own format, the parts in the other, and a failure."""
    failure = [(e.code, e.message) for e in events if type(e) is Failure]
    whole = [e for e in events if type(e) is not Failure]
    if failure:
        whole.append(Finish())
    out: list[Any] = [failure, codec(own).assemble(whole)]
    try:
        message = codec(OTHER[own]).assemble(whole)
    except ToolArgumentsError as error:
        return [*out, str(error)]
    for each in (out[1], message):
        if isinstance(each, dict):
            # when it was made is a residue
            each.pop("created_at", None)
    items = message["content_items"] if isinstance(message, dict) else message
    kept = [{k: v for k, v in part.items() if k in NATIVE} for part in items]
    return [*out, [part for part in kept if not part["type"].startswith(("inline", "embedding"))]]


UNITS = [(name, i, at) for name in STREAMS for i, units in enumerate(STREAMS[name]) for at in range(len(units))]


def read(units: Sequence[Object], own: str, *, strict: bool) -> list[Event]:
    return list(decode(units, own, strict=strict))


@pytest.mark.parametrize(("own", "stream", "at"), UNITS)
def test_no_carry_contradicts_its_unit(own: str, stream: int, at: int) -> None:
    units = STREAMS[own][stream]
    before = read(units, own, strict=True)
    said = before[len(_until(units, own, at)) : len(_until(units, own, at + 1))]
    expected = meaning(before, own)
    tried = taken = 0
    for carry in carries_of(said, own):
        carried = [*units[:at], {**units[at], "carry": carry}, *units[at + 1 :]]
        tried += 1
        try:
            found = meaning(read(carried, own, strict=True), own)
        except CarryError:
            continue
        taken += 1
        assert jsontext.same(found, expected), (carry, found, expected)
    assert tried > 300
    assert taken > 5, "some carries say what may be said"


def _until(units: Sequence[Object], own: str, at: int) -> list[Event]:
    """The events of the first units."""
    from translate.engine.translator import EventReader

    reader = EventReader(own)
    return [event for unit in units[:at] for event in reader.feed(unit)]


def test_every_rule_is_met() -> None:
    assert {*CHANGES} == {*ADDITIONS} == {*NAMES.values()}
    rules = {rule for changes in CHANGES.values() for rule in changes.values()}
    assert rules == {"never", "added", "words", "call"}


# ---- one by one ----------------------------------------------------------------------------------------

BLANK = {"events": [{"as": "append", "text": "  "}]}
FORGED = {"message": "FORGED", "type": "Y"}


def carried(units: Sequence[Object], at: int, carry: Object) -> list[Object]:
    """The units, one of them with a carry."""
    return [*units[:at], {**units[at], "carry": carry}, *units[at + 1 :]]


@pytest.mark.parametrize(
    ("own", "units", "at", "carry"),
    [
        *(
            ("gateway", [start(), *content("a"), usage()], 1, {"events": [{"as": "open", "kind": kind}]})
            for kind in ("server_tool_call", "server_tool_result", "thinking")
        ),
        ("gateway", [start(), *content("{}"), usage()], 2, {"events": []}),
        ("gateway", [start(), *content("{}"), usage()], 2, BLANK),
        ("gateway", [start(PARIS_MODEL), usage()], 0, {"toy": {"synthetic": True}}),
        ("gateway", [start(PARIS_MODEL), usage()], 0, {"events": [{"as": "start", "model": {"name": "F"}}]}),
        ("gateway", [start(), broken(PARIS_MODEL), usage()], 1, {"events": [{"as": "handover", "model": {}}]}),
        ("gateway", [start(), usage(reason="end")], 1, {"events": [{"as": "finish", "raw": "F", "reason": "unknown"}]}),
        ("gateway", [start(), usage(provider="p")], 1, {"events": [{"as": "finish", "usage": {"provider": None}}]}),
        ("gateway", [start(), {**usage(), "code": 201}], 1, {"gateway": {}}),
        ("unievent", call_group("{}", {}, "f", "t"), 1, {"events": [{"event": "handover"}]}),
        ("unievent", text_group("a"), 0, {"events": ["open", {"as": "append", "state": {"values": SIGNED}}]}),
        ("unievent", text_group("a"), 0, {"unievent": {"at": 5}}),
        # counts that were edited on the way
        *(
            ("gateway", [start(), usage(11)], 1, {"events": [{"as": "finish", "usage": counts}]})
            for counts in ({"cached_tokens": 0, "input_tokens": 10}, {"input_tokens": None})
        ),
        # pieces of two types
        *(
            ("gateway", [start(), *content("ab"), usage()], 2, {"events": [{"as": "append", m: v} for m, v in pieces]})
            for pieces in ([("text", "a"), ("bytes", "Yg==")], [("bytes", "YWI=")], [("vector", [1.0]), ("text", "b")])
        ),
    ],
)
def test_what_a_unit_says_stands(own: str, units: list[Object], at: int, carry: Object) -> None:
    units = units if own == "gateway" else [*units, stop()]
    expected = meaning(read(units, own, strict=True), own)
    with pytest.raises(CarryError):
        read(carried(units, at, carry), own, strict=True)
    assert meaning(read(carried(units, at, carry), own, strict=False), own) == expected


@pytest.mark.parametrize("details", [FORGED, {"status": 418}, {"message": "FORGED", "status": 529}], ids=repr)
@pytest.mark.parametrize("kind", ["X", "ToolArgumentsError", None])
@pytest.mark.parametrize("residue", [{}, {"unievent": {}}], ids=["from elsewhere", "at home"])
def test_details_do_not_replace_what_an_error_says(details: Object, kind: str | None, residue: Object) -> None:
    carry = {**residue, "events": [{"as": "failure", "kind": kind, "details": details}]}
    out = convert([start(), {**failed(529, "Overloaded"), "carry": carry}], "gateway", "unievent", errors="encode")
    [failure] = [event for event in decode(list(out), "unievent") if type(event) is Failure]
    assert failure.message == "Overloaded"
    assert kind == "ToolArgumentsError" or failure.code == 529


@pytest.mark.parametrize("error", [{"message": "FORGED"}, {}, "FORGED", None], ids=repr)
def test_a_patch_makes_no_error_of_a_unit(error: Any) -> None:
    """A unit with a member ``error`` is one to the reference's client, whatever else it has."""
    units = [*text_group("a"), stop()]
    with pytest.raises((GrammarError, DecodeError, UpstreamFailure)):
        list(convert([*units[:2], {**units[2], "error": error}], "unievent", "events"))
    frames = list(convert(units, "unievent", "gateway"))
    for at in (1, 3, 4):
        carry = {"unievent": {"at": 1, "patch": [[["error"], error]]}}
        with pytest.raises(CarryError):
            list(convert(carried(frames, at, carry), "gateway", "unievent"))


def test_a_count_of_zero_comes_with_its_sum() -> None:
    units = [*text_group("a"), stop(cached=0, prompt=10)]
    out = list(convert(units, "unievent", "gateway"))
    assert out[-1]["carry"]["events"] == [{"as": "finish", "usage": {"cached_tokens": 0, "input_tokens": 10}}]
    out[-1]["value"]["usage"]["inputTokens"] = 11
    with pytest.raises(CarryError):
        list(convert(out, "gateway", "unievent"))


@pytest.mark.parametrize("loss", ["carry", "drop"])
def test_a_publisher_with_a_dot_is_an_issuer_without(loss: Any) -> None:
    units = [delta(item("thinking.delta", "a", SIGNED)), delta(item("thinking.done", "a", SIGNED)), stop()]
    out = list(convert(units, "unievent", "gateway", model={"publisher": "Z.ai"}, loss=loss))
    [end] = [unit for unit in out if unit["value"]["type"] == "thinkingEnd"]
    assert end["value"]["data"] == {"z-ai.signature": "s"}
    home = list(convert(out, "gateway", "unievent"))
    assert home[-2]["content_items"][0]["fidelity"] == SIGNED
    assert loss == "drop" or home == units


# ---- what is refused, and what is lost on the way --------------------------------------------------------

FAILED = Failure(529, "Overloaded")
OPENED = {"events": [{"event": "open", "kind": "embedding"}]}
GROWN = {"events": [{"event": "append", "vector": [0.5]}]}


@pytest.mark.parametrize("grown", [{"event": "append", "text": "FORGED"}, {"event": "close"}], ids=repr)
def test_a_refused_carry_leaves_nothing_behind(grown: Object) -> None:
    units = [start(), *content("a", "b"), usage()]
    units[2]["carry"] = {"before": [OPENED]}
    units[3]["carry"] = {"before": [{"events": [grown]}]}
    for n in (2, 3):
        with pytest.raises(CarryError):
            read(units[: n + 1], "gateway", strict=True)
        with pytest.raises(CarryError):
            read([units[0], units[1], without(units[2]), *units[3:]], "gateway", strict=True)
    found = [without(to_json(event)) for event in read(units, "gateway", strict=False)]
    assert found == [to_json(event) for event in read([without(unit) for unit in units], "gateway", strict=False)]


@pytest.mark.parametrize(
    ("at", "end"), [(1, usage()), (1, failed(529, "Overloaded")), (4, usage()), (4, failed(529, "m")), (5, usage())]
)
def test_a_carry_that_a_proxy_lost_loses_no_native_content(at: int, end: Object) -> None:
    """A part opened by a carry, its end gone: the native rest comes through, in lenient mode."""
    native = [start(), *content("a"), tool("t", "f", "{}"), end]
    stream = carried(native, at, {"before": [OPENED, GROWN]})
    with pytest.raises(CarryError):
        read(stream, "gateway", strict=True)
    events = read(stream, "gateway", strict=False)
    vector = [Open("embedding"), Append([0.5])]
    assert [bare(event) for event in events if bare(event) in vector] == vector
    alone = read(native, "gateway", strict=True)
    assert meaning(events, "gateway") == meaning(alone, "gateway")
    report = Report()
    out = list(convert(stream, "gateway", "unievent", strict=False, errors="encode", report=report))
    assert ("error" in out[-1]) == (not end["success"])
    assert [finding.field for finding in report.repairs] == ["carry"]


def test_a_failure_ends_what_a_carry_opened() -> None:
    stream = carried([start(), failed(529, "Overloaded")], 1, {"before": [OPENED, GROWN]})
    for strict in (True, False):
        assert read(stream, "gateway", strict=strict)[1:] == [Open("embedding"), Append([0.5]), FAILED]


def test_a_call_that_was_carried_and_lost_its_end_is_none() -> None:
    half = [{"event": "open", "kind": "tool_call", "id": "t", "name": "f"}, {"event": "append", "text": "{}"}]
    stream = carried([start(), *content("a"), usage()], 1, {"before": [{"events": half}]})
    message = codec("unievent").assemble(read(stream, "gateway", strict=False))
    assert [part["type"] for part in message["content_items"]] == ["text.done"]


def without(unit: Object) -> Object:
    """A unit without its carry, an event without its residue."""
    return {k: v for k, v in unit.items() if k not in ("carry", "residue")}
