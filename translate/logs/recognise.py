"""What a log is, told by its beginning: its format, and how it holds streams."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from .. import jsontext
from ..errors import TranslateError
from ..limits import Limits
from ..recognise import best, format_of, what
from ..registry import resolve
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
        raise NotRecognised(what(head))
    if head.startswith(b"PAR1"):
        return _of_records(list(_parquet(place)), "parquet", "its rows hold no stream of a known format")
    format, likeness = best(head)
    if likeness < 2 and layout is None and head.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{"):
        try:
            return _of_records(list(_lines(place)), "lines", what(head))
        except NotRecognised:
            if format is None:
                raise
    if format is not None:
        return Found(format, Layout())
    raise NotRecognised(what(head))


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


def _of_records(records: list[dict[str, Any]], container: Any, otherwise: str) -> Found:
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
    raise NotRecognised(otherwise)


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
    return best(units[0], objects=True)[0]


def _length(value: Any, format: str) -> int:
    """How many units a value holds."""
    if not isinstance(value, str):
        return len(value) if isinstance(value, list) else 1
    reader = resolve(format)[1].reader(Limits(), False)
    try:
        return sum(frame.data is not None for frame in reader.feed(value + "\n\n"))
    except TranslateError:
        return 0
