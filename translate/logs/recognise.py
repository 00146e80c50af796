"""What a log is, told by its beginning: its format, and how it holds streams."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from .. import jsontext
from ..algebra.events import Failure, Finish, Foreign, Ping, Start
from ..engine.translator import EventReader
from ..errors import GrammarError, TranslateError
from ..limits import Limits
from ..registry import formats, resolve
from .layout import Layout, get
from .places import InputFault, Place, lines, reading

_HEAD = 1 << 20
_RECORDS = 50
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


def recognise(place: Place, layout: Layout | None = None) -> Found:
    """What an input is. ``layout``: how it holds streams, where that is known; only the format is looked for then.

    Raises :class:`NotRecognised`, and what reading raises.
    """
    if layout is not None and layout.container != "streams":
        records = list(_parquet(place) if layout.container == "parquet" else _lines(place))
        values = [value for record in records if (value := _optional(record, layout.field)) is not None]
        return Found(_format(values), layout)
    with reading(place) as file:
        head = file.read(_HEAD)
    if not head.strip():
        raise NotRecognised(f"{place.path} is empty")
    if head.startswith(b"PAR1"):
        return _of_records(list(_parquet(place)), "parquet")
    format, likeness = _best(head)
    if likeness < 2 and layout is None and head.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{"):
        try:
            return _of_records(list(_lines(place)), "lines")
        except NotRecognised:
            if format is None:
                raise
    if format is not None:
        return Found(format, Layout())
    raise NotRecognised(f"{place.path} is no log of a known format; known are {', '.join(formats())}")


def _lines(place: Place) -> Iterator[dict[str, Any]]:
    with reading(place) as file:
        for (_, line), _ in zip(lines(file), range(_RECORDS), strict=False):
            try:
                record = jsontext.loads(line)
            except TranslateError:
                continue
            if isinstance(record, dict):
                yield record


def _parquet(place: Place) -> Iterator[dict[str, Any]]:
    from .parquet import first_rows

    return first_rows(place, _RECORDS)


def _of_records(records: list[dict[str, Any]], container: Any) -> Found:
    paths = dict.fromkeys(path for record in records for path in _members(record))
    for path in paths:
        values = [value for record in records if (value := _optional(record, path)) is not None]
        format = _try(values[0]) if values else None
        if format is None:
            continue
        if any(_length(value, format) > 1 for value in values):
            return Found(format, Layout(container, path, id=_named(records[0], _IDS, path)))
        id, order = _named(records[0], _IDS, path), _named(records[0], _ORDERS, path)
        if id is None or order is None:
            raise NotRecognised(f"the records hold a unit each in {path!r}: name the fields of its id and its order")
        return Found(format, Layout(container, path, units=True, id=id, order=order))
    raise NotRecognised("the records hold no stream of a known format")


def _members(record: dict[str, Any], ahead: str = "", depth: int = 0) -> Iterator[str]:
    """The paths of all members, the deeper ones last."""
    yield from (f"{ahead}{name}" for name in record)
    if depth < _DEPTH:
        for name, value in record.items():
            if isinstance(value, dict):
                yield from _members(value, f"{ahead}{name}.", depth + 1)


def _optional(record: dict[str, Any], path: str) -> Any:
    try:
        return get(record, path)
    except KeyError:
        return None


def _named(record: dict[str, Any], names: tuple[str, ...], field: str) -> str | None:
    """The member with one of the names, but the field that was found."""
    paths = [path for path in _members(record) if path != field and not path.startswith(f"{field}.")]
    found = (path for name in names for path in paths if path.rpartition(".")[2] == name)
    return next((path for path in found if type(_optional(record, path)) in (str, int)), None)


def _format(values: list[Any]) -> str:
    format = _try(values[0]) if values else None
    if format is None:
        raise NotRecognised("the records hold no stream of a known format")
    return format


def _try(value: Any) -> str | None:
    """The format of a stream or a unit."""
    if isinstance(value, str):
        return format_of(value.encode("utf-8", "surrogatepass") + b"\n\n")
    units = value if isinstance(value, list) else [value]
    if not units or not isinstance(units[0], dict):
        return None
    return _best(units[0], objects=True)[0]


def format_of(head: bytes) -> str | None:
    """The format that bytes begin like, if any."""
    return _best(head)[0]


def _best(head: Any, *, objects: bool = False) -> tuple[str | None, int]:
    """The format that something begins like, and how well: see :func:`_likeness`."""
    names = sorted((name for name in formats() if not objects or _objects(name)), key=_rank)
    likeness = {name: _likeness(name, head) for name in names}
    best = max(names, key=likeness.__getitem__)
    if likeness[best] == 1 and len({resolve(name)[0].name for name in names if likeness[name]}) > 1:
        # an error by itself may be of any of them
        return None, 0
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
    if "finish" in resolve(format)[0].leaves_out:
        # where no unit says the end, any object with an id may open a stream
        said -= {Start, Finish}
    if said == {Failure}:
        # all kinds of records have an error: beside units that say nothing it is no sign
        return int(not any(type(event) is Foreign for event in events))
    return 2 if said else 0


def _length(value: Any, format: str) -> int:
    """How many units a value holds."""
    if not isinstance(value, str):
        return len(value) if isinstance(value, list) else 1
    reader = resolve(format)[1].reader(Limits(), False)
    try:
        return sum(frame.data is not None for frame in reader.feed(value + "\n\n"))
    except TranslateError:
        return 0
