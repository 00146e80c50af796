"""docs/carry.md and docs/carry.schema.json say what is so.

The examples of the page are made here and compared with it, so that they cannot drift. Every carry that is made from
a set of streams is held to the schema, and what the schema refuses is refused.
"""

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from jsonschema import Draft202012Validator

from translate import (
    Annotate,
    Append,
    CarryError,
    Close,
    Failure,
    Finish,
    Foreign,
    Handover,
    Model,
    Open,
    Ping,
    Reason,
    Start,
    State,
    TokenCounts,
    Usage,
    convert,
    decode,
    encode,
)
from translate.algebra import json_form
from translate.algebra.events import EVENTS, FIELDS, PART_KINDS, Event, bare
from translate.carry import rules
from translate.carry.making import RESERVED

Unit: TypeAlias = dict[str, Any]

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "carry.md").read_text(encoding="utf-8")
SCHEMA = json.loads((ROOT / "docs" / "carry.schema.json").read_text(encoding="utf-8"))
CARRY = Draft202012Validator(SCHEMA)
AT = 1700000000000
SIGNED = {"signature": "c2ln"}


# ---- streams ------------------------------------------------------------------------------------------


def delta(kind: str, at: int = AT, **item: Any) -> Unit:
    return {
        "role": "assistant",
        "event_type": "delta",
        "content_items": [{"type": kind, **item}],
        "usage_metadata": None,
        "finish_reason": None,
        "created_at": at,
    }


def stop(word: str = "stop", at: int = AT, **counts: int | None) -> Unit:
    usage = {"cached_tokens": None, "prompt_tokens": 24, "thoughts_tokens": None, "response_tokens": 3, **counts}
    end: Unit = {"role": "assistant", "event_type": "stop", "content_items": [], "usage_metadata": usage}
    return {**end, "finish_reason": word, "created_at": at}


def frame(kind: str, code: int = 200, **value: Any) -> Unit:
    return {"success": True, "code": code, "value": {"type": kind, **value}}


MODEL = {"name": "claude-sonnet-5", "tier": "high", "publisher": "Anthropic", "provider": "Anthropic"}
TEXT = [
    delta("text.delta", text="Par"),
    delta("text.delta", AT + 7, text="is."),
    delta("text.done", AT + 8, text="Paris."),
]
SIGNED_THINKING = [
    delta("thinking.delta", thinking="Hm."),
    delta("thinking.delta", AT + 4, thinking="", fidelity=SIGNED),
    delta("thinking.done", AT + 5, thinking="Hm.", fidelity=SIGNED),
]
CALL = [
    delta("tool_call.delta", name="weather", arguments="", tool_call_id="t1"),
    delta("tool_call.delta", AT + 1, name="", arguments='{"city": ', tool_call_id=""),
    delta("tool_call.delta", AT + 2, name="", arguments='"Orléans 🌍"}', tool_call_id=""),
    delta("tool_call.done", AT + 3, name="weather", arguments={"city": "Orléans 🌍"}, tool_call_id="t1"),
]
BLANK_CALL = [
    delta("tool_call.delta", name="now", arguments=" ", tool_call_id="t1"),
    delta("tool_call.done", name="now", arguments={}, tool_call_id="t1"),
]
VECTOR = [
    delta("embedding.delta", embedding=[0.5, float("nan")]),
    delta("embedding.done", embedding=[0.5, float("nan")]),
]
FAILED = [
    delta("text.delta", text="Par"),
    {"error": {"type": "APIStatusError", "message": "Overloaded", "status": 529}},
]
FRAMES = [
    frame("streamStart", model=MODEL),
    frame("contentStart", 201),
    frame("content", value="Paris."),
    frame("contentEnd"),
    frame("stop", usage={"provider": "anthropic", "inputTokens": 24, "outputTokens": 3, "finishReason": "stop"}),
]
EVERYTHING: list[Event] = [
    Ping(),
    Start(Model("m", None, "Anthropic"), "msg_1", 1.5, residue={"words": {"a": [1, {"$b": float("inf")}]}}),
    Usage(TokenCounts(1, 2, other={"searches": 1})),
    Open("text", residue={"gateway": {"patch": [[["code"], 201]]}, "unievent": {"at": 1, "patch": [[["carry"], "x"]]}}),
    Append("\ud83d", State("anthropic", {"signature": "s"})),
    Annotate(None, None),
    Append("\udf0d\u2028", residue={"words": {}}),
    Foreign("words", {"word": 1}),
    Handover(Model("m")),
    Start(),
    Open("server_tool_call", "s", "search"),
    Append("{}"),
    Close(),
    Open("inline_thinking", mime_type="image/png"),
    Append(b"\x00"),
    Close(),
    Open("refusal"),
    Append("No.", residue={"unievent": {"at": 1}}),
    Close(residue={"gateway": {}}),
    Open("tool_call", "t", "f"),
    Append(""),
    Close(),
    Open("tool_call"),
    Failure(None, "broken", "Kind", {"n": float("nan")}),
]
FINISHED: list[Event] = [
    Open("thinking"),
    Append("a", State(None, {"x": 1})),
    Append("", State("openai", {"y": 1})),
    Close(),
    Finish(TokenCounts(10, 5, 4, 1, "azure", {"n": 1}), Reason("refusal", "REFUSED")),
]
STREAMS: list[tuple[str, list[Any]]] = [
    *(("unievent", [*units, stop()]) for units in (TEXT, SIGNED_THINKING, CALL, BLANK_CALL, VECTOR)),
    ("unievent", [stop("tool_call", cached_tokens=20)]),
    ("unievent", FAILED),
    ("gateway", FRAMES),
    ("gateway", [{"success": False, "code": 401, "message": "no", "more": 1}]),
    ("events", EVERYTHING),
    ("events", FINISHED),
    *(("unievent-sse", [path.read_bytes()]) for path in sorted((ROOT / "examples").glob("*.unievent.sse"))),
]


def translated(units: Iterable[Any], src: str, dst: str) -> bytes:
    chunks: Iterator[bytes] = convert(units, src, dst, errors="encode", clock=lambda: AT + 60000)
    return b"".join(chunks)


def carries(output: bytes) -> list[Unit]:
    if not output.startswith(b"{"):
        return [
            json.loads(line[8:], parse_constant=no_constant) for line in output.split(b"\n") if line[:8] == b": carry "
        ]
    units = [json.loads(line, parse_constant=None) for line in output.splitlines()]
    return [unit["carry"] for unit in units if "carry" in unit]


def no_constant(word: str) -> None:
    raise AssertionError(f"{word} in strict JSON")


# ---- the schema ---------------------------------------------------------------------------------------


def test_the_schema_is_one() -> None:
    Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("target", ["gateway-sse", "gateway-jsonl", "unievent-sse", "unievent-jsonl"])
@pytest.mark.parametrize("stream", range(len(STREAMS)))
def test_every_carry_fits_the_schema(stream: int, target: str) -> None:
    src, units = STREAMS[stream]
    found = carries(translated(units, src, target))
    assert found or src.partition("-")[0] == target.partition("-")[0]
    for i, carry in enumerate(found):
        CARRY.validate(carry)
        assert ("v" in carry) == (i == 0)


def test_all_kinds_of_entries_and_members_are_met() -> None:
    found = [
        c
        for src, units in STREAMS
        for dst in ("gateway-jsonl", "unievent-jsonl")
        for c in carries(translated(units, src, dst))
    ]
    found += [ahead for carry in found for ahead in carry.get("before", ())]
    # an end that no unit says is not of these formats
    assert {*RESERVED, "unievent", "gateway", "words"} - {"end"} <= {name for carry in found for name in carry}
    entries = [entry for carry in found for entry in carry.get("events", ())]
    assert {int, str, dict} <= {type(entry) for entry in entries}
    assert {"append", "finish", "failure", "open"} <= {e["as"] for e in entries if isinstance(e, dict) and "as" in e}
    assert {e["event"] for e in entries if isinstance(e, dict) and "event" in e} >= {
        "start",
        "handover",
        "open",
        "append",
        "close",
        "annotate",
        "usage",
        "foreign",
    }


def test_the_schema_knows_all_names() -> None:
    defs = SCHEMA["$defs"]
    assert set(defs["carry"]["properties"]) == RESERVED
    assert defs["name"]["enum"] == list(EVENTS)
    kinds = {form["properties"]["event"]["const"]: form["properties"] for form in defs["event"]["oneOf"]}
    assert kinds.keys() == EVENTS.keys() - {"finish", "failure"}, "an end is always native"
    assert kinds["open"]["kind"]["enum"] == list(PART_KINDS)


@pytest.mark.parametrize(
    "carry",
    [
        {"v": 2},
        {"v": True},
        {"synthetic": 1},
        {"events": {}},
        {"events": [-1]},
        {"events": [True]},
        {"events": ["end"]},
        {"events": [{"as": "append", "length": -1}]},
        {"events": [{"event": "finish", "reason": "stop"}]},
        {"events": [{"event": "failure", "message": "no"}]},
        {"events": [{"event": "open", "kind": "song"}]},
        {"events": [{"event": "annotate", "data": 1, "residue": {}}]},
        {"events": [{}]},
        {"before": {}},
        {"before": [1]},
        {"before": [{"synthetic": True, "events": []}]},
        {"unievent": 1},
        {"unievent": [1]},
        {"unievent": [2.5, {}]},
        {"unievent": [-2, {}]},
        {"end": 1},
        {"end": {"end": {}}},
        {"end": {"v": 1}},
        {"before": [{"events": [], "end": {}}]},
    ],
)
def test_what_the_schema_refuses_is_refused(carry: Unit) -> None:
    assert not CARRY.is_valid(carry)
    units = [*FRAMES[:2], {**FRAMES[2], "carry": carry}, *FRAMES[3:]]
    with pytest.raises(CarryError):
        list(decode(units, "gateway"))
    assert len(list(decode(units, "gateway", strict=False))) == len(FRAMES)


# ---- the page -----------------------------------------------------------------------------------------


def blocks(output: bytes) -> list[str]:
    return output.decode().rstrip("\n").split("\n\n")


def example(name: str) -> str:
    """The text of an example, as the page has it."""
    if name == "token":
        return "\n\n".join(blocks(translated([*TEXT, stop()], "unievent", "gateway-sse"))[:4])
    if name == "json":
        return translated([*VECTOR, stop()], "unievent", "gateway-jsonl").decode().splitlines()[-1]
    if name == "stamped":
        return "\n\n".join(blocks(translated(FRAMES, "gateway", "unievent-sse"))[:2])
    units, part = _PARTS[name]
    return "\n\n".join(blocks(translated(units, "unievent", "gateway-sse"))[part])


_PARTS: dict[str, tuple[list[Unit], slice]] = {
    "call": ([*CALL, stop("tool_call")], slice(1, 2)),
    "blank": ([*BLANK_CALL, stop("tool_call")], slice(1, 2)),
    "state": ([*SIGNED_THINKING, stop()], slice(3, 4)),
    "usage": ([stop("tool_call", cached_tokens=20)], slice(1, 2)),
    "failure": (FAILED, slice(-1, None)),
    "vector": ([*VECTOR, stop()], slice(1, 4)),
}
EXAMPLES = re.findall(r"<!-- example: (\w+) -->\n```text\n(.*?)\n```", PAGE, re.S)


@pytest.mark.parametrize(("name", "text"), EXAMPLES, ids=[name for name, _ in EXAMPLES])
def test_an_example_is_what_comes_out(name: str, text: str) -> None:
    assert text == example(name)


def test_the_page_has_its_examples() -> None:
    assert [name for name, _ in EXAMPLES] == [
        "token",
        "json",
        "call",
        "blank",
        "state",
        "usage",
        "failure",
        "vector",
        "stamped",
    ]


def test_the_tables_of_the_page() -> None:
    assert PAGE.partition("<!-- tables -->\n")[2].partition("<!-- end of tables -->")[0] == rules.tables()


def test_the_tables_know_every_event_and_member() -> None:
    assert list(rules.CHANGES) == list(rules.ADDITIONS) == list(EVENTS)
    for name, changes in rules.CHANGES.items():
        counts = [f"usage.{member}" for member in FIELDS[TokenCounts]] if name in ("usage", "finish") else []
        known = {*counts, *(json_form.MEMBERS[name] - {"residue", *(["usage"] if counts else [])})}
        assert {*changes} - {"namespace"} == known - {"namespace"}, name


def test_patches_of_the_page() -> None:
    """The table of patches: before, patch and after."""
    from translate.carry import patches as patch

    rows = re.findall(r"^\| `(\{.*?\})` \| `(\[.*?\])` \| `(\{.*?\})` \|$", PAGE, re.M)
    assert len(rows) >= 3
    for before, operations, after in rows:
        found = patch.apply(json.loads(before), json.loads(operations), 256)
        assert list(found.items()) == list(json.loads(after).items())


def test_the_canonical_units_of_unievent_are_the_ones_written() -> None:
    text = (ROOT / "docs" / "unievent.md").read_text(encoding="utf-8")
    printed = text.partition("<!-- canonical -->\n```json\n")[2].partition("```")[0]
    events = [bare(event) for event in decode(printed, "unievent-jsonl")]
    stamps = iter(range(1, 9))
    written = b"".join(encode(events, "unievent-jsonl", clock=lambda: next(stamps), loss="drop"))
    assert written.decode() == printed
