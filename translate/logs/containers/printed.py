"""Lines that hold what a program printed, piece by piece: logs of containers, files of recorders.

1. What each channel printed is put together, and holds streams end to end; so does the output.
2. Records stand in the order of their lines: that in which they were taken.
3. A line that is no record is rejected by itself; one that says nothing of a stream is passed over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, NamedTuple, Protocol

from ... import jsontext
from ...errors import DecodeError, TranslateError
from ..ends import EndToEnd
from ..layout import Counts
from ..places import Long, lines
from ..records import Lines, kept
from ..selection import selection
from ..stream import Reject
from ..work import Seen, Sink, Task
from .kind import Kind, watched

_BEGIN = (b"data:", b"event:", b":", b"{")
"""What streams begin with."""


class Piece(NamedTuple):
    """What a line holds. ``record``: by which it is chosen; ``begins``: nothing before it is of its stream."""

    channel: str
    data: bytes
    record: dict[str, Any]
    begins: bool = False


class Reader(Protocol):
    """Reads the lines of one log, in order; all of them, if ``blanks`` says so, else those that are not blank."""

    blanks: bool

    def __call__(self, line: bytes) -> Piece | None:
        """What a line holds, if anything. Raises :class:`TranslateError` where it is no record."""
        ...


class Gaps:
    """Blank lines where a recorder has left them out: behind the ``data:`` lines of a unit that is whole."""

    def __init__(self) -> None:
        self._data: bytes | None = None
        self._carry = False

    def before(self, line: bytes) -> bool:
        """Whether a blank line is missing before a line. To be asked of all."""
        # a unit has one carry
        carry = line.startswith(b": carry ")
        missing, self._carry = carry and self._carry, carry
        begins = line.startswith((b"data:", b"event:", b": carry "))
        if begins and self._data is not None and _is_whole(self._data):
            missing, self._data = True, None
        if line.startswith(b"data:"):
            text = line[5:].strip()
            self._data = text if self._data is None else self._data + b"\n" + text
        elif not line.strip():
            self._data = None
        return missing


def _is_whole(data: bytes) -> bool:
    if data == b"[DONE]":
        return True
    try:
        jsontext.loads(data, len(data))
    except TranslateError:
        return False
    return True


def records(head: bytes) -> Iterator[dict[str, Any] | None]:
    """The JSON objects of the whole lines of a beginning; ``None`` for other lines."""
    for line in whole_lines(head):
        try:
            found = jsontext.loads(line, len(line))
        except TranslateError:
            found = None
        yield found if isinstance(found, dict) else None


def whole_lines(head: bytes) -> list[bytes]:
    """The lines of a beginning that are not blank; the last is left out where it may be in part."""
    found = [line for line in head.splitlines(keepends=True) if line.strip()]
    return [line.rstrip(b"\r\n") for line in found if line.endswith(b"\n")] or [line.rstrip(b"\r\n") for line in found]


def record_of(line: bytes, member: str, what: str) -> dict[str, Any]:
    """A line that is a JSON object with a member. Raises :class:`DecodeError`."""
    record = jsontext.loads(line, len(line))
    if not isinstance(record, dict) or member not in record:
        raise DecodeError(f"no record of {what}", expected=f"an object with the member {member!r}")
    return record


def kind(title: str, begins: Callable[[bytes], bool], reader: Callable[[bool], Reader]) -> Kind:
    """A kind of container that holds what was printed. ``reader``: makes one for a log, by whether it is strict."""
    return Kind(title, begins, lambda file, limit: _bodies(file, reader), _converter(reader), ends=True)


def _bodies(file: BinaryIO, reader: Callable[[bool], Reader]) -> list[str]:
    """What each channel printed first, from where a stream may begin."""
    read, found = reader(False), dict[str, list[bytes]]()
    for line in file.read(1 << 20).splitlines():
        try:
            piece = read(line) if line.strip() or read.blanks else None
        except TranslateError:
            continue
        # what comes before the first stream is a program's own
        if piece is not None and (piece.channel in found or piece.data.lstrip().startswith(_BEGIN)):
            found.setdefault(piece.channel, []).append(piece.data)
    return [b"".join(pieces).decode("utf-8", "surrogateescape") for pieces in found.values()]


def _converter(reader: Callable[[bool], Reader]) -> Callable[..., None]:
    def convert(
        file: BinaryIO, task: Task, counts: Counts, output: Sink, reject: Callable[[Reject], None], seen: Seen
    ) -> None:
        read = reader(task.settings.strict)
        found = watched(lines(file, limit=task.record, blanks=read.blanks), file, seen)
        _convert(found, read, task, counts, output, reject)

    return convert


def _convert(
    found: Lines, read: Reader, task: Task, counts: Counts, output: Sink, reject: Callable[[Reject], None]
) -> None:
    """Convert the streams of all channels; they come out as they end."""
    chosen = selection(task.settings.where)
    channels: dict[str, EndToEnd] = {}
    for offset, line in found:
        try:
            if isinstance(line, Long):
                raise DecodeError(f"the record has {line.size} bytes", expected=f"at most {line.limit}")
            piece = read(bytes(line))
        except TranslateError as error:
            counts.streams_in += 1
            counts.reject(error)
            reject(Reject(error, kept(line), {"offset": offset}))
            continue
        if piece is None:
            continue
        if chosen is not None and not chosen(piece.record):
            counts.left_out += 1
            continue
        streams = channels.get(piece.channel)
        if streams is not None and piece.begins:
            streams.close()
            streams = None
        if streams is None:
            streams = EndToEnd(task.settings, counts, output.write, reject, task.limit)
            channels[piece.channel] = streams
        streams.feed(piece.data)
        if streams.full:
            break
    for streams in channels.values():
        streams.close()
