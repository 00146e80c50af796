"""Input and output of commands, unbuffered: what is there is read at once, what is written is out."""

from __future__ import annotations

import errno
import os
import select
import stat
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager
from io import FileIO
from types import TracebackType
from typing import TextIO

from ._status import InputError, OutputError, UsageError

STANDARD = "-"
"""The name that stands for a standard stream."""
_CHUNK = 1 << 16
_WHY = {
    errno.ENOENT: "there is no such file or folder",
    errno.EISDIR: "it is a folder; `convert` and `stats` read folders, others one file",
}
"""Why a file is not read, as all commands say it."""


class _File(AbstractContextManager["_File", None]):
    """A file by its descriptor. Standard streams are not closed."""

    def __init__(self, name: str, file: FileIO) -> None:
        self.name = name
        """What messages call it."""
        self.size = 0
        """Bytes read or written so far."""
        self._file = file

    def close(self) -> None:
        """Close it, also twice."""
        self._file.close()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def is_same_as(self, other: _File) -> bool:
        """Whether both are one regular file: written, it would change under its reader, or be written over."""
        ours = os.fstat(self._file.fileno())
        return stat.S_ISREG(ours.st_mode) and os.path.samestat(ours, os.fstat(other._file.fileno()))


class Input(_File):
    """The bytes of a file or of standard input: an iterator of chunks, each as soon as any of it is there.

    Raises :class:`InputError`, and keeps it as ``error``: a conversion may make output of it.
    """

    def __init__(self, path: str) -> None:
        name = "standard input" if path == STANDARD else path
        try:
            file = _standard(sys.stdin, "r") if path == STANDARD else FileIO(path, "r")
        except OSError as error:
            raise _unreadable(name, error) from None
        super().__init__(name, file)
        self.error: InputError | None = None
        self._unread = b""

    def __enter__(self) -> Input:
        return self

    def __iter__(self) -> Iterator[bytes]:
        return self

    def unread(self, data: bytes) -> None:
        """Give back what was read: it is the next that is read."""
        self._unread = data
        self.size -= len(data)

    def __next__(self) -> bytes:
        if self._unread:
            data, self._unread = self._unread, b""
            self.size += len(data)
            return data
        try:
            # standard input may be non-blocking: the mode is shared with the processes that hold its other ends
            while (data := self._file.read(_CHUNK)) is None:
                select.select([self._file], [], [])
        except OSError as error:
            self.error = _unreadable(self.name, error)
            raise self.error from None
        if not data:
            raise StopIteration
        self.size += len(data)
        return data


class Output(_File):
    """A file, standard output or standard error to write to.

    A file is opened as it is; :meth:`clear` empties it. Opening raises :class:`UsageError` where it is one of the
    files ``apart``, writing and opening raise :class:`OutputError`; a closed pipe is a ``BrokenPipeError``.
    """

    def __init__(self, path: str, *apart: _File, errors: bool = False) -> None:
        """``errors``: ``-`` is standard error, which may be one with anything."""
        self._regular = False
        name = path if path != STANDARD else "standard error" if errors else "standard output"
        try:
            if path == STANDARD:
                file = _standard(sys.stderr if errors else sys.stdout, "w")
            else:
                file = FileIO(os.open(path, os.O_WRONLY | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o666), "w")
                self._regular = stat.S_ISREG(os.fstat(file.fileno()).st_mode)
        except OSError as error:
            raise _unwritable(name, error) from None
        super().__init__(name, file)
        for other in () if path == STANDARD and errors else apart:
            if self.is_same_as(other):
                self.close()
                raise UsageError(f"{self.name} and {other.name} are one file, which would be written over")

    def __enter__(self) -> Output:
        return self

    def clear(self) -> None:
        """Empty the file."""
        if self._regular:
            self._file.truncate(0)

    def write(self, data: bytes) -> None:
        """Write all of ``data``."""
        rest = memoryview(data)
        try:
            while rest:
                written = self._file.write(rest)
                if written is None:
                    select.select([], [self._file], [])
                else:
                    rest = rest[written:]
                    self.size += written
        except BrokenPipeError:
            raise
        except OSError as error:
            raise _unwritable(self.name, error) from None


def print_lines(target: Output, text: str) -> None:
    """Write lines of text, and the end of the last."""
    target.write(text.encode() + b"\n")


def _standard(stream: TextIO | None, mode: str) -> FileIO:
    if stream is None:
        raise OSError(0, "it is closed")
    return FileIO(stream.fileno(), mode, closefd=False)


def why(error: OSError) -> str:
    """Why a file is not read."""
    return _WHY.get(error.errno or 0) or error.strerror or str(error)


def _unreadable(name: str, error: OSError) -> InputError:
    return InputError(f"cannot read {name}: {why(error)}")


def _unwritable(name: str, error: OSError) -> OutputError:
    return OutputError(f"cannot write {name}: {error.strerror or error}")
