"""What a log is, told by its beginning: its format, and how it holds streams."""

from __future__ import annotations

from base64 import b64decode
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from .. import jsontext
from ..algebra.events import Failure, Foreign, Ping
from ..engine.translator import EventReader
from ..errors import GrammarError, TranslateError
from ..limits import Limits
from ..registry import formats, resolve
from .layout import Container, Layout, get
from .places import InputFault, Place, lines, reading

_HEAD = 1 << 20
_RECORDS = 50
_BEGINNING = 1 << 16
"""Characters of a text by which its format is told."""
_DEPTH = 3
_IDS = ("stream_id", "request_id", "response_id", "session_id", "conversation_id", "trace_id", "id", "stream")
_ORDERS = ("order", "seq", "sequence", "index", "position", "n", "i")


class NotRecognised(InputFault):
    """A log is none that is known, or cannot be told without being told more."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a log is."""

    format: str
    layout: Layout

    def __str__(self) -> str:
        layout = self.layout
        match layout.container:
            case "streams":
                return f"{self.format}, streams end to end"
            case container:
                what = "rows" if container == "parquet" else "JSON lines"
                if not layout.units:
                    return f"{self.format}, {what} with a stream each in {layout.field!r}"
                place = f"in {layout.field!r}, by {layout.id!r} and {layout.order!r}"
                return f"{self.format}, {what} with a unit each {place}"

    def options(self) -> str:
        """What to type for it on the command line."""
        layout = self.layout
        said = {"from": self.format}
        if layout.container != "streams":
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
    return of_head(head, place.path, layout, lambda container: _read(place, container))


def of_head(
    head: bytes, name: str, layout: Layout | None, records: Callable[[str], list[dict[str, Any]]] | None = None
) -> Found:
    """What something is that begins so: see :func:`recognise`. ``records``: reads its first ones, of lines or Parquet,
    which need more than the beginning perhaps.

    Raises :class:`NotRecognised`, and what reading raises.
    """
    bare = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if not bare:
        raise NotRecognised(f"{name} is empty")
    records = records or (lambda container: _records(head.splitlines()))
    if layout is not None and layout.container != "streams":
        values = [value for record in records(layout.container) for value in _value(record, layout.field)]
        return Found(_vote(values, layout.field), layout)
    if head.startswith(b"PAR1"):
        return _of_records(records("parquet"), "parquet")
    format, likeness = _best(head)
    if likeness < 2 and layout is None:
        found = records("lines")
        if found:
            try:
                return _of_records(found, "lines")
            except NotRecognised:
                if format is None:
                    raise
    if format is not None:
        return Found(format, Layout())
    if bare.startswith(b"["):
        raise NotRecognised(f"{name} is a JSON array, not JSON lines: `jq -c '.[]'` makes lines of it")
    raise NotRecognised(f"{name} is no log of a known format; known are {', '.join(formats())}")


def advice(place: Place, layout: Layout, src: str) -> str | None:
    """What an input is instead, that could not be read as it was asked for, and what to type; if that can be told."""
    try:
        found = recognise(place)
    except NotRecognised as error:
        return str(error)
    if (found.format, found.layout.container) == (src, "streams") or (
        (found.layout.field, found.layout.units) == (layout.field, layout.units) and found.format == src
    ):
        return None
    return f"{place.path} looks like {found}: {found.options()}"


def _read(place: Place, container: str) -> list[dict[str, Any]]:
    """The first records of an input."""
    if container == "parquet":
        from .parquet import first_rows

        return list(first_rows(place, _RECORDS))
    with reading(place) as file:
        return _records(line for _, line in islice(lines(file), _RECORDS) if isinstance(line, bytes))


def _records(found: Iterable[bytes]) -> list[dict[str, Any]]:
    """The records of lines; others are passed over."""
    records = []
    for line in islice(found, _RECORDS):
        try:
            records.append(jsontext.loads(line, len(line)))
        except TranslateError:
            continue
    return [record for record in records if isinstance(record, dict)]


def _of_records(records: list[dict[str, Any]], container: Container) -> Found:
    """What records are: of the members that hold streams in most of them the first, in the format that most have.

    One body that is empty, or an error, decides for no file.
    """
    paths = dict.fromkeys(path for record in records for path in _members(record))
    values = {path: [value for record in records for value in _value(record, path)] for path in paths}
    votes = {path: _votes(found) for path, found in values.items()}
    path = max(votes, key=lambda path: votes[path].total(), default="")
    if not votes or not votes[path]:
        raise NotRecognised(_why_not(values))
    ((format, _),) = votes[path].most_common(1)
    id = _named(records, _IDS, path)
    if any(_length(value, format) > 1 for value in values[path]):
        return Found(format, Layout(container, path, id=id))
    order = _named(records, _ORDERS, path)
    if id is None or order is None:
        raise NotRecognised(
            f"the records hold a unit each in {path!r}, not a stream: --unit-field {path} --id-field NAME, which says "
            "of which stream it is, and --order-field NAME, where in it, if not as the records stand"
        )
    return Found(format, Layout(container, path, units=True, id=id, order=order))


def _why_not(values: dict[str, list[Any]]) -> str:
    """What records hold where they hold no streams."""
    for path, found in values.items():
        decoded = [data for value in found if isinstance(value, str) and (data := _base64(value)) is not None]
        format = max(_votes([data.decode("utf-8", "replace") for data in decoded]), default=None)
        if format is not None:
            return f"the records hold {format} as base64 in {path!r}: decode it, as with `jq -c '.{path} |= @base64d'`"
    return "the records hold no stream of a known format"


def _base64(text: str) -> bytes | None:
    try:
        return b64decode(text, validate=True)
    except ValueError:
        return None


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
    return [] if value is None else [value]


def _named(records: list[dict[str, Any]], names: tuple[str, ...], field: str) -> str | None:
    """The member with one of the names, but the field that was found, in the first record that has it."""
    for record in records:
        if _value(record, field):
            paths = [path for path in _members(record) if path != field and not path.startswith(f"{field}.")]
            found = (path for name in names for path in paths if path.rpartition(".")[2] == name)
            return next((path for path in found if {type(each) for each in _value(record, path)} & {str, int}), None)
    return None


def _vote(values: list[Any], path: str) -> str:
    votes = _votes(values)
    if not votes:
        raise NotRecognised(_why_not({path: values}))
    return votes.most_common(1)[0][0]


def _votes(values: list[Any]) -> Counter[str]:
    """How many values are of each format; one that says something outweighs all that may only be of it."""
    votes = Counter[str]()
    for format, likeness in map(_try, values):
        if format is not None:
            votes[format] += 1 if likeness < 2 else _RECORDS + 1
    return votes


def _try(value: Any) -> tuple[str | None, int]:
    """The format of a stream or a unit, by its beginning, and how well it is told: see :func:`_likeness`."""
    if isinstance(value, str):
        # what has no object in it is no stream, and most members of records are of this kind
        return _best(value[:_BEGINNING].encode("utf-8", "surrogatepass") + b"\n\n") if "{" in value else (None, 0)
    units = value if isinstance(value, list) else [value]
    if not units or not isinstance(units[0], dict):
        return None, 0
    return _best(units[0], objects=True)


def format_of(head: bytes) -> str | None:
    """The format that bytes begin like, if any."""
    return _best(head)[0]


def _best(head: Any, *, objects: bool = False) -> tuple[str | None, int]:
    """The format that something begins like, and how well: see :func:`_likeness`."""
    names = sorted((name for name in formats() if not objects or _objects(name)), key=_rank)
    likeness = {name: _likeness(name, head) for name in names}
    best = max(names, key=likeness.__getitem__)
    return (best, likeness[best]) if likeness[best] else (None, 0)


def _rank(name: str) -> tuple[bool, bool]:
    """Formats of objects tell the shape of bytes themselves, and those of others may take anything: they come last."""
    return _objects(name), not type(resolve(name)[0]).__module__.startswith("translate_codecs.")


def _objects(name: str) -> bool:
    return resolve(name)[1].objects


def _likeness(format: str, head: Any) -> int:
    """How well it reads as a stream of a format: 2: it says something; 1: it may be one; 0: it is none."""
    reader = EventReader(format)
    try:
        events = reader.feed(head)
    except GrammarError:
        # well-formed, and not the first of its stream
        return 1
    except Exception:
        # shapes of objects refuse what they are not made for in their own ways
        return 0
    said = {type(event) for event in events} - {Foreign, Ping}
    # all kinds of records have an error
    return 1 if said == {Failure} else 2 if said else 0


def _length(value: Any, format: str) -> int:
    """How many units a value holds."""
    if not isinstance(value, str):
        return len(value) if isinstance(value, list) else 1
    reader = resolve(format)[1].reader(Limits(), False)
    try:
        return sum(frame.data is not None for frame in reader.feed(value + "\n\n"))
    except TranslateError:
        return 0
