"""What a log is, told by its beginning: its format, and how it holds streams."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from io import BytesIO
from itertools import islice
from typing import Any

from .. import jsontext
from ..errors import TranslateError
from ..recognise import best, other, what
from .bodies import text_of
from .containers import CONTAINERS, TOOLS, array
from .layout import RECORDS, Container, Layout, get
from .likeness import length, of_value
from .places import RECORD, InputFault, Long, Place, lines, reading

_HEAD = 1 << 20
_RECORDS = 50
_DEPTH = 3
_IDS = ("stream_id", "request_id", "response_id", "session_id", "conversation_id", "trace_id", "id", "stream")
_ORDERS = ("order", "seq", "sequence", "index", "position", "n", "i")


_NONE = "the records hold no stream of a known format"


class NotRecognised(InputFault):
    """A log is none that is known, or cannot be told without being told more."""


_FINAL = (
    ("OTLP spans hold", re.compile(rb'[\s\[]*\{\s*"(?:resourceSpans|scopeSpans)"')),
    ("OpenTelemetry's records hold", re.compile(rb'[^\n]{0,100000}?"gen_ai\.(?:output|completion|response)')),
    ("LiteLLM's records hold", re.compile(rb'[^\n]{0,100000}?"complete_streaming_response"')),
)
"""What holds no streams, whatever tool wrote it."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a log is."""

    format: str
    layout: Layout

    def __str__(self) -> str:
        layout = self.layout
        title = CONTAINERS[layout.container].title
        if layout.container not in RECORDS:
            return f"{self.format}, {title}"
        if not layout.units:
            return f"{self.format}, {title} with a stream each in {layout.field!r}"
        place = f"in {layout.field!r}, by {layout.id!r} and {layout.order!r}"
        return f"{self.format}, {title} with a unit each {place}"

    def options(self) -> str:
        """What to type for it on the command line."""
        layout = self.layout
        said = {"from": self.format}
        if layout.container not in ("streams", "lines", "parquet"):
            said |= {"container": layout.container}
        if layout.container in RECORDS:
            said |= {"unit-field" if layout.units else "stream-field": layout.field}
            said |= {"id-field": layout.id} if layout.id else {}
            said |= {"order-field": layout.order} if layout.order else {}
        return " ".join(f"--{name} {value}" for name, value in said.items())


def recognise(place: Place, layout: Layout | None = None) -> Found:
    """What an input is. ``layout``: how it holds streams, where that is known; only the format is looked for then.

    Raises :class:`NotRecognised`, and what reading raises.
    """
    with reading(place) as file:
        head = file.read(_HEAD)
    return of_head(head, layout, _Opened(place, head))


class _Piped:
    """What is known of something by its beginning alone."""

    def __init__(self, head: bytes) -> None:
        self.head = head

    def bodies(self, name: Container) -> Iterable[Any]:
        """What a container of a tool's holds."""
        try:
            return CONTAINERS[name].bodies(BytesIO(self.head), len(self.head))
        except InputFault:
            what = f"{CONTAINERS[name].title} that is piped through is not recognised"
            raise NotRecognised(f"{what}: --from FORMAT --container {name}") from None

    def records(self, container: Container) -> list[dict[str, Any]]:
        """The first records."""
        return _records(self.head.splitlines())

    def entries(self) -> list[dict[str, Any]]:
        """The first records of a document."""
        return array.load(BytesIO(self.head), len(self.head)).entries[:_RECORDS]


class _Opened(_Piped):
    """What is known of an input."""

    def __init__(self, place: Place, head: bytes) -> None:
        super().__init__(head)
        self._place = place

    def bodies(self, name: Container) -> Iterable[Any]:
        with reading(self._place) as file:
            return CONTAINERS[name].bodies(file, RECORD)

    def records(self, container: Container) -> list[dict[str, Any]]:
        if container == "parquet":
            from .parquet import first_rows

            return list(first_rows(self._place, _RECORDS))
        with reading(self._place) as file:
            return _records(bytes(line) for _, line in islice(lines(file), _RECORDS) if not isinstance(line, Long))

    def entries(self) -> list[dict[str, Any]]:
        with reading(self._place) as file:
            return array.load(file, RECORD).entries[:_RECORDS]


def of_head(head: bytes, layout: Layout | None, input: _Piped | None = None) -> Found:
    """What something is that begins so: see :func:`recognise`. ``input``: what more of it can be read, if any.

    Raises :class:`NotRecognised`, and what reading raises.
    """
    bare = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if not bare:
        raise NotRecognised(what(head))
    input = input or _Piped(head)
    if layout is None or layout.container in TOOLS:
        name: Container | None = layout.container if layout else _tool(head)
        if name is not None:
            return _of_tool(name, input)
    elif layout.container == "json":
        return Found(_vote([value for record in input.entries() for value in _value(record, layout.field)]), layout)
    elif layout.container != "streams":
        records = input.records(layout.container)
        return Found(_vote([value for record in records for value in _value(record, layout.field)]), layout)
    if head.startswith(b"PAR1"):
        return _of_records(input.records("parquet"), "parquet", _NONE)
    format, likeness = best(head)
    if likeness < 2 and layout is None:
        found = _of_json(head, input)
        if isinstance(found, Found):
            return found
        if found is not None and format is None:
            raise found
    if format is not None:
        return Found(format, Layout())
    raise NotRecognised(what(head))


def _tool(head: bytes) -> Container | None:
    return next((name for name, kind in TOOLS.items() if kind.begins is not None and kind.begins(head)), None)


def _of_tool(name: Container, input: _Piped) -> Found:
    """What a log is that says itself how it holds streams."""
    try:
        return Found(_vote(list(input.bodies(name))), Layout(name))
    except NotRecognised as error:
        if str(error) != _NONE:
            raise
    if name == "stream-json":
        raise NotRecognised(
            "an agent's file with whole messages, and no streams: --include-partial-messages has them written"
        )
    what = f"it is {CONTAINERS[name].title}, but holds no stream of a known format"
    raise NotRecognised(f"{what}: name it, --from FORMAT --container {name}")


def _of_json(head: bytes, input: _Piped) -> Found | NotRecognised | None:
    """What JSON lines, or a document, hold; why it cannot be told; ``None`` for what is neither."""
    why: NotRecognised | None = None
    found = input.records("lines")
    for name, pattern in _FINAL:
        if pattern.match(head):
            why = NotRecognised(f"{name} the final text alone, and no streams: nothing is to be converted")
    if found:
        try:
            return _of_records(found, "lines", what(head))
        except NotRecognised as error:
            why = why or error
    if head.lstrip()[:1] in (b"[", b"{") and len(found) < 2 and other(head) is None:
        try:
            return _of_records(input.entries(), "json", f"it is a JSON document, and {_NONE}")
        except NotRecognised as error:
            why = why or error
        except TranslateError:
            pass
    return why


def advice(place: Place, layout: Layout, src: str) -> str | None:
    """What an input is instead, that could not be read as it was asked for, and what to type; if that can be told."""
    try:
        found = recognise(place)
    except NotRecognised as error:
        return f"{place.path}: {error}"
    if (found.format, found.layout.container) == (src, "streams") or (
        (found.layout.field, found.layout.units) == (layout.field, layout.units) and found.format == src
    ):
        return None
    return f"{place.path} looks like {found}: {found.options()}"


def _records(found: Iterable[bytes]) -> list[dict[str, Any]]:
    """The records of lines; others are passed over."""
    records = []
    for line in islice(found, _RECORDS):
        try:
            records.append(jsontext.loads(line, len(line)))
        except TranslateError:
            continue
    return [record for record in records if isinstance(record, dict)]


def _of_records(records: list[dict[str, Any]], container: Container, otherwise: str) -> Found:
    """What records are: of the members that hold streams in most of them the first, in the format that most have.

    One body that is empty, or an error, decides for no file. ``otherwise``: what they are where none holds one.
    """
    paths = dict.fromkeys(path for record in records for path in _members(record))
    values = {path: [value for record in records for value in _value(record, path)] for path in paths}
    votes = {path: _votes(found) for path, found in values.items()}
    path = max(votes, key=lambda path: votes[path].total(), default="")
    if not votes or not votes[path]:
        raise NotRecognised(otherwise)
    ((format, _),) = votes[path].most_common(1)
    id = _named(records, _IDS, path)
    if any(length(value, format) > 1 for value in values[path]):
        return Found(format, Layout(container, path, id=id))
    order = _named(records, _ORDERS, path)
    if id is None or order is None:
        raise NotRecognised(
            f"the records hold a unit each in {path!r}, not a stream: --unit-field {path} --id-field NAME, which says "
            "of which stream it is, and --order-field NAME, where in it, if not as the records stand"
        )
    return Found(format, Layout(container, path, units=True, id=id, order=order))


def _members(record: dict[str, Any], ahead: str = "", depth: int = 0) -> Iterator[str]:
    """The paths of all members, the deeper ones last."""
    yield from (f"{ahead}{name}" for name in record)
    if depth < _DEPTH:
        for name, value in record.items():
            if isinstance(value, dict):
                yield from _members(value, f"{ahead}{name}.", depth + 1)


def _value(record: dict[str, Any], path: str) -> list[Any]:
    """What a record has at a path, if anything."""
    try:
        value = get(record, path)
    except KeyError:
        return []
    return [] if value is None else [text_of(value) if isinstance(value, str) else value]


def _named(records: list[dict[str, Any]], names: tuple[str, ...], field: str) -> str | None:
    """The member with one of the names, but the field that was found, in the first record that has it."""
    for record in records:
        if _value(record, field):
            paths = [path for path in _members(record) if path != field and not path.startswith(f"{field}.")]
            found = (path for name in names for path in paths if path.rpartition(".")[2] == name)
            return next((path for path in found if {type(each) for each in _value(record, path)} & {str, int}), None)
    return None


def _vote(values: list[Any]) -> str:
    votes = _votes(values)
    if not votes:
        raise NotRecognised(_NONE)
    return votes.most_common(1)[0][0]


def _votes(values: list[Any]) -> Counter[str]:
    """How many values are of each format; one that says something outweighs all that may only be of it."""
    votes = Counter[str]()
    for format, likeness in map(of_value, values):
        if format is not None:
            votes[format] += 1 if likeness < 2 else _RECORDS + 1
    return votes
