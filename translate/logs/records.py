"""JSON lines of records: a record holds a stream, or one unit of one."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from typing import Any

from .. import jsontext
from ..errors import DecodeError, LimitExceeded, TranslateError
from .grouping import Group, Grouping, Row, is_nan
from .layout import Counts, Layout, Settings, Unaccounted, get, put
from .places import Long
from .stream import Content, Reject, Whole, end_of, whole
from .units import convert_units

Lines = Iterable[tuple[int, bytes | Long]]
"""Offset and bytes of each line that is not blank; one that is too long is on disk."""


def convert_streams(
    lines: Lines, layout: Layout, settings: Settings, counts: Counts, reject: Callable[[Reject], None]
) -> Iterator[bytes]:
    """Records that hold a stream each: the lines they become. A stream that is broken is rejected with its record."""
    for offset, line in lines:
        counts.streams_in += 1
        counts.records_in += 1
        stream: Any = None
        try:
            record = _record(_short(line))
            stream = _optional(record, layout.id)
            content = _content(record, layout.field)
            done = put(record, layout.field, _converted(content, settings, counts))
        except Exception as error:
            # of whatever kind: a fault of a codec is one of its stream, and the others go on
            counts.reject(error, 1)
            reject(Reject(error, kept(line), {"offset": offset}, stream))
        else:
            counts.records_converted += 1
            yield jsontext.dumps(done) + b"\n"


def convert_units_of(
    lines: Lines,
    layout: Layout,
    settings: Settings,
    counts: Counts,
    reject: Callable[[Reject], None],
    grouping: Grouping,
    limit: int | None = None,
) -> Iterator[bytes]:
    """Records that hold a unit each, of streams in any order: the lines they become, stream by stream.

    ``limit``: streams at most; the records of others are not counted.
    """
    left = 0
    for offset, line in lines:
        counts.records_in += 1
        try:
            record = _short(line)
            key = _key(_record(record), layout)
        except TranslateError as error:
            # it belongs to no stream that is known
            counts.streams_in += 1
            counts.reject(error, 1)
            reject(Reject(error, kept(line), {"offset": offset}))
        else:
            grouping.add(Row(*key, offset, record))
            left += 1
    groups = grouping.groups()
    for group in islice(groups, limit):
        left -= len(group.rows)
        yield from _group(group, layout, settings, counts, reject)
    if limit is not None:
        counts.records_in -= left
    elif left:
        raise Unaccounted(f"{left} records were taken, and are of no stream")


def _group(
    group: Group, layout: Layout, settings: Settings, counts: Counts, reject: Callable[[Reject], None]
) -> Iterator[bytes]:
    counts.streams_in += 1
    try:
        ordered = group.in_order(layout)
        records = [_record(row.payload) for row in ordered.rows]
        done = convert_units([_content(record, layout.field) for record in records], settings, counts)
    except Exception as error:
        counts.reject(error, len(group.rows))
        whole_group = Whole(*(row.payload + b"\n" for row in group.rows))
        at = {"offset": group.rows[0].place, "records": len(group.rows)}
        reject(Reject(error, whole_group, at, group.id))
        return
    counts.records_converted += len(records)
    for number, (source, unit) in enumerate(done):
        record = put(records[source], layout.field, unit)
        if ordered.counted and layout.numbers is not None:
            was = get(record, layout.numbers)
            record = put(record, layout.numbers, str(number) if isinstance(was, str) else number)
        yield jsontext.dumps(record) + b"\n"


def kept(line: bytes | Long) -> Content:
    """A line, as a reject keeps it."""
    return Whole(line) if isinstance(line, bytes) else line


def _short(line: bytes | Long) -> bytes:
    if isinstance(line, Long):
        raise LimitExceeded("record", line.limit, what=f"the record has {line.size} bytes")
    return line


def _record(line: bytes) -> dict[str, Any]:
    # text within text is full of brackets, which are counted where they are some
    record = jsontext.loads(line, len(line))
    if not isinstance(record, dict):
        raise DecodeError("a record is an object", expected="an object")
    if line.count(b"[") + line.count(b"{") > jsontext.NESTING:
        _check_nesting(record)
    return record


def _check_nesting(record: dict[str, Any]) -> None:
    level: list[Any] = [record]
    for _ in range(jsontext.NESTING):
        members = chain.from_iterable(each.values() if isinstance(each, dict) else each for each in level)
        level = [each for each in members if isinstance(each, (dict, list))]
        if not level:
            return
    raise LimitExceeded("nesting", jsontext.NESTING)


def _optional(record: dict[str, Any], path: str | None) -> Any:
    try:
        return None if path is None else get(record, path)
    except KeyError:
        return None


def text_of(content: str) -> str:
    """The text of a stream, which may be base64: there is no stream without a brace, and no brace in base64."""
    if "{" in content or not content:
        return content
    try:
        return b64decode(content, validate=True).decode("utf-8", "surrogateescape")
    except ValueError:
        return content


def _converted(content: Any, settings: Settings, counts: Counts) -> Any:
    """A stream; what came as base64 goes out so."""
    if isinstance(content, list) and all(isinstance(piece, str) for piece in content):
        content = _joined(content, end_of(settings.src).decode())
    if not isinstance(content, str) or (text := text_of(content)) is content:
        return whole(content, settings, counts)
    done = whole(text.encode("utf-8", "surrogateescape"), settings, counts)
    return b64encode(done.encode() if isinstance(done, str) else jsontext.dumps(done)).decode()


def _joined(pieces: list[str], end: str) -> str | list[str]:
    """Pieces of a stream, cut anywhere, as one; they have the ends of units in them, where units need have none."""
    joined = "".join(map(text_of, pieces))
    return joined if end in joined.replace("\r\n", "\n").rstrip("\n") else pieces


def _content(record: dict[str, Any], path: str) -> Any:
    try:
        content = get(record, path)
    except KeyError:
        raise DecodeError(f"the record lacks the member {path!r}") from None
    if not isinstance(content, (str, list, dict)):
        raise DecodeError(f"the member {path!r} holds no stream", expected="text, a list of units, or a unit")
    return content


def _key(record: dict[str, Any], layout: Layout) -> tuple[Any, Any]:
    """The id and the order of a record. One without an order spoils its stream: see :meth:`Group.in_order`."""
    id, order = _optional(record, layout.id), _optional(record, layout.order)
    if not isinstance(id, (str, int)) or isinstance(id, bool):
        raise DecodeError(f"the record has no id at {layout.id!r}", expected="text or an integer")
    ordered = isinstance(order, (str, int, float)) and not isinstance(order, bool) and not is_nan(order)
    return id, order if ordered else None
