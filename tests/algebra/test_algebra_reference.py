"""docs/algebra.md against the recordings: every kind of unit they hold is named in the tables, and nothing else is.

The table of a format's section has the columns "of", "wire", "seen" and "becomes". What stands in backticks in "wire"
is a kind of unit, "of" is the group it belongs to, and "seen" says whether the recordings hold it.
"""

import json
import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import pytest

ROOT = Path(__file__).resolve().parents[2]
CORPUS = Path(os.environ.get("TRANSLATE_CORPUS") or ROOT.parent / "shared" / "corpus")
DOCUMENT = ROOT / "docs" / "algebra.md"

Object: TypeAlias = dict[str, Any]
Kind: TypeAlias = tuple[str, str]  # the group it belongs to, its name there
Census: TypeAlias = dict[str, set[str]]


# Readers. They take what a careful client would refuse: the point is to see all that was recorded.


class Unit(NamedTuple):
    """One element of a recording: a JSON value, or a word or comment that is none."""

    event: str | None
    value: Any = None
    word: str = ""


class Recording(NamedTuple):
    """The units of a file, and how many could not be read."""

    units: list[Unit]
    broken: int


def read(raw: bytes) -> Recording:
    """Read a recording: a JSON array, JSON lines, or server-sent events."""
    text = raw.decode("utf-8-sig", errors="replace").replace("\r\n", "\n").replace("\r", "\n")
    start = text.lstrip()[:1]
    if start == "[":
        return Recording([Unit(None, value) for value in json.loads(text)], 0)
    if start == "{":
        units, broken = read_json(text.split("\n"))
        return Recording([Unit(None, unit) for unit in units], broken)
    return read_sse(text)


def read_json(lines: list[str]) -> tuple[list[Any], int]:
    """Read lines that are one JSON text together, or one each."""
    try:
        return [json.loads("\n".join(lines))], 0
    except ValueError:
        if len(lines) == 1:
            return [], 1
    values: list[Any] = []
    broken = 0
    for line in filter(str.strip, lines):
        found, failed = read_json([line])
        values += found
        broken += failed
    return values, broken


def read_sse(text: str) -> Recording:
    """Read server-sent events. Lines that are no field are kept: a bare JSON body can follow the events."""
    units: list[Unit] = []
    broken = 0
    event: str | None = None
    data: list[str] = []
    stray: list[str] = []
    for line in [*text.split("\n"), ""]:
        field = re.match(r"\s*(event|data|id|retry)(?::\s?(.*))?$", line)
        if line.startswith(":"):
            units.append(Unit(None, word=":"))
        elif field and field[1] == "data":
            data.append(field[2] or "")
        elif field:
            event = field[2] if field[1] == "event" else event
        elif line.startswith("error:"):
            units.append(Unit(None, word="error:"))
        elif line:
            stray.append(line)
        else:
            if data and data[0].strip() == "[DONE]":
                units.append(Unit(event, word="[DONE]"))
            elif data:
                values, failed = read_json(data)
                units += [Unit(event, value) for value in values]
                broken += failed
            event, data = None, []
    if stray:
        values, failed = read_json(stray)
        units += [Unit(None, value) for value in values]
        broken += failed
    return Recording(units, broken)


# What each format calls a kind of unit.


def objects(value: Any, *path: str) -> Iterator[Object]:
    """The objects at a path; every array on the way is entered."""
    if isinstance(value, list):
        for item in value:
            yield from objects(item, *path)
    elif isinstance(value, dict):
        if path:
            yield from objects(value.get(path[0]), *path[1:])
        else:
            yield value


def members(group: str, found: Iterator[Object], prefix: str = "", omit: tuple[str, ...] = ()) -> Iterator[Kind]:
    """The names of the members of some objects."""
    for item in found:
        yield from ((group, prefix + name) for name in item if name not in omit)


def words(group: str, found: Iterator[Object], member: str, prefix: str = "") -> Iterator[Kind]:
    """The words that a member of some objects takes."""
    for item in found:
        if isinstance(item.get(member), str):
            yield group, prefix + item[member]


def counts(group: str, found: Iterator[Object]) -> Iterator[Kind]:
    """The members of a usage object, two levels deep."""
    for usage in found:
        for name, value in usage.items():
            parts = [part for item in objects(value) for part in item]
            yield from ((group, f"{name}.{part}") for part in parts)
            if not parts:
                yield group, name


def anthropic(unit: Unit) -> Iterator[Kind]:
    """Anthropic Messages."""
    if unit.word:
        yield "lines", unit.word
        return
    value = unit.value
    yield "events", value["type"]
    yield from words("content blocks", objects(value, "content_block"), "type")
    yield from words("citations", objects(value, "delta", "citation"), "type")
    yield from words("stop reasons", objects(value, "delta"), "stop_reason")
    yield from counts("usage", objects(value, "usage"))
    yield from counts("usage", objects(value, "message", "usage"))
    yield from members("members", objects(value), omit=("type", "message", "content_block", "delta", "usage"))
    yield from members("members", objects(value, "message"), "message.", ("usage",))
    yield from members("members", objects(value, "content_block"), "content_block.", ("type",))
    if value["type"] == "content_block_delta":
        yield "deltas", value["delta"]["type"]
    yield from members("members", objects(value, "delta"), "delta.", ("type",))
    yield from members("members", objects(value, "delta", "stop_details"), "delta.stop_details.", ("type",))


def openai_chat(unit: Unit) -> Iterator[Kind]:
    """OpenAI Chat Completions and its relatives."""
    if unit.word:
        yield "lines", unit.word
        return
    if unit.event:
        yield "lines", f"event: {unit.event}"
    yield from members("chunk members", objects(unit.value))
    yield from members("choice members", objects(unit.value, "choices"))
    yield from words("finish reasons", objects(unit.value, "choices"), "finish_reason")
    yield from words("native finish reasons", objects(unit.value, "choices"), "native_finish_reason")
    yield from members("delta members", objects(unit.value, "choices", "delta"))
    for name in ("tool_calls", "reasoning_details", "annotations", "executed_tools"):
        found = list(objects(unit.value, "choices", "delta", name))
        yield from members("nested members", iter(found), f"{name}.", ("type",))
        yield from words("nested types", iter(found), "type", f"{name}:")
    yield from members("nested members", objects(unit.value, "choices", "delta", "tool_calls", "function"), "function.")
    yield from words("nested types", objects(unit.value, "choices", "delta", "content"), "type", "content:")
    yield from counts("usage", objects(unit.value, "usage"))
    yield from members("error members", objects(unit.value, "error"))


def openai_responses(unit: Unit) -> Iterator[Kind]:
    """OpenAI Responses."""
    if unit.word:
        yield "lines", unit.word
        return
    value = unit.value
    yield "events", value["type"]
    yield from members("event members", objects(value), omit=("type",))
    yield from words("items", objects(value, "item"), "type")
    yield from members("item members", objects(value, "item"), omit=("type",))
    for path in (("part",), ("item", "content"), ("item", "summary")):
        yield from words("content parts", objects(value, *path), "type")
        yield from members("content part members", objects(value, *path), omit=("type",))
    yield from words("annotations", objects(value, "annotation"), "type")
    yield from words("status words", objects(value, "response"), "status")
    yield from members("response members", objects(value, "response"))
    yield from counts("usage", objects(value, "response", "usage"))
    yield from members("error members", objects(value, "error"))


def gemini(unit: Unit) -> Iterator[Kind]:
    """Gemini generateContent. A value without any known member is no unit."""
    value = unit.value
    if not {"candidates", "promptFeedback", "usageMetadata", "error"} & value.keys():
        return
    yield from members("chunk members", objects(value))
    yield from members("candidate members", objects(value, "candidates"), omit=("content",))
    yield from members("candidate members", objects(value, "candidates", "content"), "content.")
    parts = list(objects(value, "candidates", "content", "parts"))
    yield from members("part members", iter(parts))
    for name in ("functionCall", "inlineData", "executableCode", "codeExecutionResult", "toolCall", "toolResponse"):
        yield from members("part members", objects(parts, name), f"{name}.")
    yield from members("part members", objects(parts, "functionCall", "partialArgs"), "functionCall.partialArgs.")
    yield from words("media types", objects(parts, "inlineData"), "mimeType")
    yield from words("finish reasons", objects(value, "candidates"), "finishReason")
    yield from members("prompt feedback", objects(value, "promptFeedback"))
    yield from counts("usage", objects(value, "usageMetadata"))
    yield from members("error members", objects(value, "error"))


def gemini_interactions(unit: Unit) -> Iterator[Kind]:
    """Gemini Interactions."""
    if unit.word:
        yield "events", unit.event or unit.word
        return
    value = unit.value
    yield "events", value["event_type"]
    yield from words("steps", objects(value, "step"), "type")
    yield from words("deltas", objects(value, "delta"), "type")
    yield from words("contents", objects(value, "delta", "content"), "type")
    yield from words("status words", objects(value), "status")
    yield from words("status words", objects(value, "interaction"), "status")
    yield from counts("usage", objects(value, "interaction", "usage"))
    yield from counts("usage", objects(value, "metadata", "usage"))
    yield from members("members", objects(value), omit=("event_type", "interaction", "step", "delta", "metadata"))
    for name in ("interaction", "step", "delta", "metadata"):
        yield from members("members", objects(value, name), f"{name}.", ("type",))


class Format(NamedTuple):
    """Where a format's recordings are, where it is described, what its kinds of unit are."""

    folder: str
    section: str
    kinds: Callable[[Unit], Iterator[Kind]]


FORMATS = [
    Format("anthropic", "Anthropic Messages", anthropic),
    Format("openai-chat", "OpenAI Chat Completions", openai_chat),
    Format("openai-responses", "OpenAI Responses", openai_responses),
    Format("gemini", "Gemini generateContent", gemini),
    Format("gemini-interactions", "Gemini Interactions", gemini_interactions),
]


@cache
def census(form: Format) -> tuple[Census, int, int]:
    """The kinds that the recordings of a format hold, how many units were read, how many could not be."""
    found: Census = defaultdict(set)
    units = broken = 0
    for path in sorted((CORPUS / form.folder).iterdir()):
        recording = read(path.read_bytes())
        assert recording.units, f"nothing was read from {path.name}"
        units += len(recording.units)
        broken += recording.broken
        for unit in recording.units:
            for group, name in form.kinds(unit):
                found[group].add(name)
    return found, units, broken


# The document.


class Row(NamedTuple):
    """A row of a table: the kinds it names, and its "seen"."""

    group: str
    names: list[str]
    seen: str


def document(form: Format) -> str:
    """What holds the table of a format: the algebra's page, or one of its own, under "What it becomes"."""
    page = DOCUMENT.with_name(f"{form.folder}.md")
    text = (page if page.exists() else DOCUMENT).read_text(encoding="utf-8")
    return text.replace("## What it becomes", f"## {form.section}")


def rows(text: str, section: str) -> list[Row]:
    """The rows of a section's table of kinds."""
    part = re.search(rf"^## {re.escape(section)}\n(.*?)(?=^## |\Z)", text, re.DOTALL | re.MULTILINE)
    assert part, f"no section {section!r}"
    found: list[Row] = []
    in_table = False
    for line in part[1].splitlines():
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if cells[:3] == ["of", "wire", "seen"]:
            in_table = True
        elif not cells:
            in_table = False
        elif in_table and set(cells[0]) - set("-: "):
            names = re.findall(r"`([^`]+)`", cells[1])
            assert names, f"a row names nothing: {line}"
            found.append(Row(cells[0], names, cells[2]))
    return found


def named(table: list[Row], seen: str) -> Census:
    """What the rows with this "seen" name, by group."""
    found: Census = defaultdict(set)
    for row in table:
        if row.seen == seen:
            found[row.group].update(row.names)
    return found


def differences(left: Census, right: Census) -> list[str]:
    """What stands on the left only."""
    return sorted(f"{group}: {name}" for group in left for name in left[group] - right.get(group, set()))


def common(left: Census, right: Census) -> list[str]:
    """What stands on both sides."""
    return sorted(f"{group}: {name}" for group in left for name in left[group] & right.get(group, set()))


needs_corpus = pytest.mark.skipif(
    not all((CORPUS / form.folder).is_dir() for form in FORMATS),
    reason=f"the corpus of recordings is not at {CORPUS}; TRANSLATE_CORPUS names another place",
)
each_format = pytest.mark.parametrize("form", FORMATS, ids=[form.folder for form in FORMATS])


@each_format
def test_tables_are_well_formed(form: Format) -> None:
    """Every row says yes or no, and names nothing twice under one group."""
    table = rows(document(form), form.section)
    assert table
    assert {row.seen for row in table} <= {"yes", "no"}
    names = [(row.group, name) for row in table for name in row.names]
    assert sorted({name for name in names if names.count(name) > 1}) == []


@needs_corpus
@each_format
def test_every_recorded_kind_is_in_the_tables(form: Format) -> None:
    """A kind that the recordings hold stands in a row that says so."""
    found, _, _ = census(form)
    assert differences(found, named(rows(document(form), form.section), "yes")) == []


@needs_corpus
@each_format
def test_no_row_claims_more_than_was_recorded(form: Format) -> None:
    """A row that says "yes" is in the recordings, and a row that says "no" is not."""
    found, _, _ = census(form)
    table = rows(document(form), form.section)
    assert differences(named(table, "yes"), found) == []
    assert common(named(table, "no"), found) == []


@needs_corpus
@each_format
def test_the_readers_miss_next_to_nothing(form: Format) -> None:
    """A few recordings hold JSON that is broken; more than that means that a reader is."""
    _, units, broken = census(form)
    assert units
    assert broken <= units / 500


@pytest.mark.parametrize(
    ("raw", "expected", "broken"),
    [
        (b'[{"a":1},{"a":2}]', [{"a": 1}, {"a": 2}], 0),
        (b'{"a":1}\n{"a":2}\n', [{"a": 1}, {"a": 2}], 0),
        (b'{"a":\n1}\n', [{"a": 1}], 0),
        (b'data: {"a":1}\n\ndata: [DONE] \n\n', [{"a": 1}, None], 0),
        (b': hello\r\n\r\n data: {"a":1}\r\n\r\ndata: {"a":2}', [None, {"a": 1}, {"a": 2}], 0),
        (b'data: {"a":1}\ndata: {"a":2}\n\n', [{"a": 1}, {"a": 2}], 0),
        (b'data: {"a":1}\n\n{\n  "error": {}\n}\n', [{"a": 1}, {"error": {}}], 0),
        (b'data: {"a":1}\n\nerror: {"a":2}\n', [{"a": 1}, None], 0),
        (b'event: e\ndata: {"a":\n\n', [], 1),
    ],
)
def test_readers(raw: bytes, expected: list[Any], broken: int) -> None:
    """The shapes a recording can have."""
    recording = read(raw)
    assert [unit.value for unit in recording.units] == expected
    assert recording.broken == broken
