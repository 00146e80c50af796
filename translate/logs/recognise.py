"""What a log is, told by its beginning: its format, and how it holds streams."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from .. import jsontext
from ..errors import TranslateError
from ..recognise import best, format_of, other, what
from . import har, wrapped
from .bodies import text_of
from .layout import Container, Layout, get
from .likeness import length, of_value
from .places import RECORD, InputFault, Place, lines, reading

_HEAD = 1 << 20
_RECORDS = 50
_DEPTH = 3
_KNOWN = ("har", "docker", "cri")
_BEGIN = (b"data:", b"event:", b":", b"{")
"""What streams begin with."""
_IDS = ("stream_id", "request_id", "response_id", "session_id", "conversation_id", "trace_id", "id", "stream")
_ORDERS = ("order", "seq", "sequence", "index", "position", "n", "i")


_NONE = "the records hold no stream of a known format"


class NotRecognised(InputFault):
    """A log is none that is known, or cannot be told without being told more."""


_NAMES = {"har": "HAR", "docker": "a log of Docker's", "cri": "a log of the Kubernetes CRI"}


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
            case "har" | "docker" | "cri":
                return f"{self.format}, {_NAMES[layout.container]}"
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
        if layout.container in _NAMES:
            said |= {"container": layout.container}
        elif layout.container != "streams":
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
    return of_head(head, layout, lambda container: _read(place, container))


def of_head(
    head: bytes, layout: Layout | None, records: Callable[[str], list[dict[str, Any]]] | None = None
) -> Found:
    """What something is that begins so: see :func:`recognise`. ``records``: reads its first ones, of lines or Parquet,
    which need more than the beginning perhaps.

    Raises :class:`NotRecognised`, and what reading raises.
    """
    bare = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if not bare:
        raise NotRecognised(what(head))
    records = records or (lambda container: _piped(head, container))
    if layout is None or layout.container in _KNOWN:
        found_here = _known(head, records, layout)
        if found_here is not None:
            return found_here
    elif layout.container != "streams":
        values = [value for record in records(layout.container) for value in _value(record, layout.field)]
        return Found(_vote(values), layout)
    if head.startswith(b"PAR1"):
        return _of_records(records("parquet"), "parquet", _NONE)
    format, likeness = best(head)
    if likeness < 2 and layout is None:
        found = records("lines")
        if found:
            try:
                return _of_records(found, "lines", what(head))
            except NotRecognised:
                if format is None:
                    raise
    if format is not None:
        return Found(format, Layout())
    if bare.startswith(b"[") and other(head) is None:
        raise NotRecognised("it is a JSON array, not JSON lines: `jq -c '.[]'` makes lines of it")
    raise NotRecognised(what(head))


def _known(head: bytes, records: Callable[[str], list[dict[str, Any]]], layout: Layout | None) -> Found | None:
    """What a log is that says itself how it holds streams, or is said to."""
    asked = None if layout is None else layout.container
    if asked == "har" or (asked is None and har.BEGINNING.match(head)):
        return Found(_vote([record[har.BODY] for record in records("har")]), Layout("har", har.BODY))
    container, printed = wrapped.recognised(head.splitlines(keepends=True), asked)
    if container is None:
        return None
    # what comes before the first stream is a program's own
    begin = next((at for at, line in enumerate(printed) if line.startswith(_BEGIN)), 0)
    format = format_of(b"".join(printed[begin:]) + b"\n\n")
    if format is None:
        raise NotRecognised("what was printed begins with no stream of a known format: name it, --from FORMAT")
    return Found(format, Layout(container))


def _piped(head: bytes, container: str) -> list[dict[str, Any]]:
    if container == "har":
        raise NotRecognised("a HAR that is piped through is not recognised: --from FORMAT --container har")
    return _records(head.splitlines())


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


def _read(place: Place, container: str) -> list[dict[str, Any]]:
    """The first records of an input."""
    if container == "parquet":
        from .parquet import first_rows

        return list(first_rows(place, _RECORDS))
    with reading(place) as file:
        if container == "har":
            return [{har.BODY: body} for body in har.bodies(har.load(file, RECORD))]
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
