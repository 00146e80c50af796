"""Files that hold streams end to end: one, or several that follow one another with nothing between them.

1. A stream ends with its terminal unit, and the end marker of its format where it has one. The comments and the unit
   after it begin the next. The translator itself finds the place: it refuses a unit after the terminal one, and says
   where that begins.
2. A stream that is broken is rejected whole: up to its own terminal unit, which is looked for unit by unit.
3. A stream that was cut off without a terminal unit cannot be told from the one that follows it, unless the format
   marks beginnings: such files should hold a stream each, or records.
4. What is behind a terminal unit and is neither white space, a comment, a field of SSE that says nothing here nor the
   end marker is rejected by itself: lines that are no unit, or the beginning of a stream that was cut off in its first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from .. import jsontext
from ..errors import GrammarError, TranslateError, TruncatedStream, UpstreamFailure
from ..registry import resolve
from ..shapes.blocks import BARE_BODY
from ..shapes.sse import Sse
from .layout import Counts, Settings
from .places import CHUNK, Spool
from .stream import Reject, broken, count, end_of, report_for, translator, verify
from .tail import is_silent, last_end


class _Part:
    """A part of a spool."""

    def __init__(self, spool: Spool, end: int, start: int = 0) -> None:
        self._spool = spool
        self._start, self._end = start, end

    def pieces(self) -> Iterator[bytes]:
        return self._spool.pieces(self._start, self._end)


class EndToEnd:
    """Converts streams that follow one another: :meth:`feed` pieces of the file, then :meth:`close` once."""

    def __init__(
        self,
        settings: Settings,
        counts: Counts,
        write: Callable[[bytes], Any],
        reject: Callable[[Reject], None],
        limit: int | None = None,
    ) -> None:
        """``limit``: streams at most."""
        self._settings = settings
        self._limit = limit
        self._counts = counts
        self._write = write
        self._reject = reject
        self._offset = 0
        self._begin()

    def _begin(self) -> None:
        self._report = report_for(self._settings)
        self._translator = translator(self._settings, self._report)
        self._raw, self._out = Spool(), Spool()
        self._error: Exception | None = None
        self._scan: _Scan | None = None

    def feed(self, data: bytes) -> None:
        """Take a piece of the file."""
        while data and not self.full:
            data = self._step(data)

    @property
    def full(self) -> bool:
        """Whether there were as many streams as are wanted."""
        return self._limit is not None and self._counts.streams_in >= self._limit

    def close(self) -> None:
        """The file ended."""
        if self.full:
            self._drop()
            return
        torn = self._complete
        if self._scan is None and self._error is None and not self._complete:
            if not self._translator.units and not self._holds_something():
                self._drop()
                return
            self._take(self._translator.close)
        if self._complete and self._error is None:
            self._commit(self._raw.size, torn=torn)
        else:
            self._give_up(self._raw.size)
        self._drop()

    def _holds_something(self) -> bool:
        """Whether anything but white space and comments came."""
        text = b"".join(self._raw.pieces(0, CHUNK)).removeprefix(b"\xef\xbb\xbf")
        return any(line.strip() and not is_silent(line) for line in text.splitlines())

    def _drop(self) -> None:
        self._raw.close()
        self._out.close()

    @property
    def _complete(self) -> bool:
        failure = self._translator.failure
        return self._translator.ended and (failure is None or isinstance(failure, UpstreamFailure))

    def _step(self, data: bytes) -> bytes:
        """Take bytes of the current stream; those that are of the next one come back."""
        self._raw.write(data)
        if self._scan is not None:
            return self._skipped(self._scan.feed(data))
        self._take(lambda: self._translator.feed(data))
        if self._error is None:
            return b""
        offset = getattr(self._error, "offset", None)
        if self._complete and offset:
            offset -= self._ahead(offset)
            rest = b"".join(self._raw.pieces(offset))
            units = getattr(self._error, "unit", None)
            self._error = None
            self._commit(offset, units)
            self._begin()
            return rest
        self._scan = _Scan(self._settings)
        for piece in self._raw.pieces():
            end = self._scan.feed(piece)
            if end is not None:
                return self._skipped(end)
        return b""

    def _ahead(self, offset: int) -> int:
        """Bytes before the first unit of the next stream that are of it: comments, which may hold its first carry."""
        if end_of(self._settings.src) != b"\n\n":
            return 0
        for reach in (1 << 12, 8 * CHUNK):
            ahead = size = 0
            tail = b"".join(self._raw.pieces(max(offset - reach, 0), offset))
            lines = tail.splitlines(keepends=True)
            for line in reversed(lines if offset <= reach else lines[1:]):
                if not line.rstrip(b"\r\n"):
                    # blocks stand by themselves: a comment behind data is of the data's block
                    ahead = size
                elif not line.startswith(b":"):
                    return ahead
                size += len(line)
        return ahead

    def _take(self, step: Callable[[], list[Any]]) -> None:
        try:
            out = step()
        except Exception as error:
            # of whatever kind: a fault of a codec is one of its stream, and the others go on
            self._error = error
            return
        for piece in out:
            self._out.write(piece)
        self._error = broken(self._translator)

    def _skipped(self, end: int | None) -> bytes:
        """The broken stream ends at ``end``, or not yet."""
        if end is None:
            return b""
        end -= self._ahead(end)
        rest = b"".join(self._raw.pieces(end))
        self._give_up(end)
        self._begin()
        return rest

    def _commit(self, end: int, units: int | None = None, *, torn: bool = False) -> None:
        """The stream is whole: write what it became. ``torn``: a unit that is not ended is none of it."""
        over = self._over(end, torn=torn)
        self._counts.streams_in += 1
        try:
            if self._settings.verify:
                verify(self._settings, lambda: self._raw.pieces(0, over), self._out.pieces)
        except Exception as error:
            self._counts.reject(error)
            self._reject(Reject(error, _Part(self._raw, over), {"offset": self._offset}))
        else:
            for piece in self._out.pieces():
                self._write(piece)
            count(self._counts, self._settings, self._translator, self._report, units)
        if over < end and not self.full:
            self._counts.streams_in += 1
            stray: Exception = GrammarError("lines behind a stream that are no unit", expected="a stream")
            if torn:
                stray = TruncatedStream("the input ended inside the first unit of a stream")
            self._counts.reject(stray)
            self._reject(Reject(stray, _Part(self._raw, end, over), {"offset": self._offset + over}))
        self._offset += end
        self._drop()

    def _over(self, end: int, *, torn: bool) -> int:
        """Where the terminal unit and the end marker end, if what is behind them until ``end`` says anything."""
        for reach in (1 << 12, 8 * CHUNK, end):
            start = max(end - reach, 0)
            over = last_end(b"".join(self._raw.pieces(start, end)), self._settings, first=not start, torn=torn)
            if over is not None:
                return start + over
        return end

    def _give_up(self, end: int) -> None:
        self._counts.streams_in += 1
        error = self._error or GrammarError("the stream is broken")
        self._counts.reject(error)
        self._reject(Reject(error, _Part(self._raw, end), {"offset": self._offset}))
        self._offset += end
        self._drop()


def several(pieces: Iterable[bytes], settings: Settings) -> bool:
    """Whether anything that says something follows the first stream."""
    scan = _Scan(settings)
    return any(scan.feed(piece) is not None for piece in pieces)


class _Scan:
    """Looks for the end of a stream that is broken: its terminal unit, and what is not yet a unit after it."""

    def __init__(self, settings: Settings) -> None:
        self._codec, shape = resolve(settings.src)
        if isinstance(shape, Sse):
            # a bare body is refused where streams are read; here it is what ends a broken one
            shape = Sse(shape.done, bare=True, errors=shape.errors)
        self._reader = shape.reader(settings.limits, False)
        self._over = self._lost = False

    def feed(self, data: bytes) -> int | None:
        """The offset at which the next stream begins, once that is known."""
        if self._lost:
            return None
        try:
            for frame in self._reader.feed(data):
                if frame.data is None:
                    continue
                if self._over:
                    return frame.offset
                self._over = frame.name == BARE_BODY or self._terminal(frame.data)
        except TranslateError as error:
            if self._over and error.offset is not None:
                return error.offset
            self._lost = True
        return None

    def _terminal(self, unit: Any) -> bool:
        try:
            found = jsontext.loads(unit) if isinstance(unit, bytes) else unit
        except TranslateError:
            return False
        return isinstance(found, dict) and self._codec.is_terminal(found)
