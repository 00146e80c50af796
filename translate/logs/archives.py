"""Archives, tar and ZIP, compressed or not: folders of what is in them. A path within one goes on behind its name.

1. What is in a tar is unpacked once a process, to disk, for it may have to be read in any order.
2. An archive in which a name leads out of it, or that is damaged, is an input that cannot be read.
"""

from __future__ import annotations

import io
import os
import tarfile
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import lru_cache
from pathlib import PurePosixPath
from shutil import copyfileobj
from tempfile import TemporaryFile
from typing import Any, BinaryIO, Protocol, cast

from .places import CHUNK, InputFault, Place, reading

_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_TAR = slice(257, 262)


class _Archive(Protocol):
    sizes: dict[str, int]

    def open(self, name: str) -> BinaryIO: ...


def is_archive(path: str) -> bool:
    """Whether a file is one, by its first bytes."""
    if not os.path.isfile(path):
        return False
    with suppress(InputFault, OSError):
        with reading(Place(path, "")) as file:
            head = file.read(512)
        return head.startswith(_ZIP) or head[_TAR] == b"ustar"
    return False


def within(places: Iterable[Place], *, bare: bool) -> Iterator[Place]:
    """Places, and instead of archives what is in them. ``bare``: their names alone, without that of the archive."""
    for place in places:
        if not is_archive(place.path):
            yield place
            continue
        try:
            names = sorted(_members(place.path).sizes)
        except InputFault:
            # told of where it is read
            yield Place(place.path, place.name, place.path)
            continue
        for name in names:
            yield Place(f"{place.path}/{name}", name if bare else f"{place.name}/{name}", place.path)


def opened(place: Place) -> BinaryIO:
    """What is at a place in an archive. Raises :class:`InputFault`."""
    return _members(place.archive).open(_name(place))


def size(place: Place) -> int:
    """Bytes of what is at a place in an archive. Raises :class:`InputFault`."""
    return _members(place.archive).sizes[_name(place)]


def _name(place: Place) -> str:
    return place.path[len(place.archive) + 1 :]


def _members(path: str) -> _Archive:
    try:
        state = os.stat(path)
        found = _unpacked(path, state.st_mtime_ns, state.st_size)
    except InputFault:
        raise
    except Exception as error:
        # damaged archives raise errors of many kinds
        raise InputFault(f"{type(error).__name__}: {error}") from error
    for name in found.sizes:
        if not name or name.startswith("/") or "\\" in name or "\0" in name or ".." in PurePosixPath(name).parts:
            raise InputFault(f"an archive in which a name leads out of it: {name[:200]!r}")
    return found


@lru_cache(1)
def _unpacked(path: str, *state: int) -> _Archive:
    with reading(Place(path, "")) as file:
        if file.read(4) in _ZIP:
            return _Zip(path)
    return _Tar(path)


class _Zip:
    def __init__(self, path: str) -> None:
        self._file = zipfile.ZipFile(path)
        self.sizes = {info.filename: info.file_size for info in self._file.infolist() if not info.is_dir()}

    def open(self, name: str) -> BinaryIO:
        return cast(BinaryIO, self._file.open(name))


class _Tar:
    def __init__(self, path: str) -> None:
        self._file = TemporaryFile(prefix="translate-")  # noqa: SIM115
        with reading(Place(path, "")) as file:
            copyfileobj(cast(Any, file), self._file, CHUNK)
        self._file.seek(0)
        with tarfile.open(fileobj=self._file, mode="r:") as archive:
            # of several with one name the last is the one
            found = {info.name.removeprefix("./"): info for info in archive if info.isreg()}
        self._starts = {name: info.offset_data for name, info in found.items()}
        self.sizes = {name: info.size for name, info in found.items()}

    def open(self, name: str) -> BinaryIO:
        part = _Part(self._file.fileno(), self._starts[name], self.sizes[name])
        return cast(BinaryIO, io.BufferedReader(part, CHUNK))


class _Part(io.RawIOBase):
    """A part of a file."""

    def __init__(self, number: int, start: int, size: int) -> None:
        self._number, self._start, self._size = number, start, size
        self._at = 0

    def readable(self) -> bool:
        """As of a file."""
        return True

    def seekable(self) -> bool:
        """As of a file."""
        return True

    def seek(self, at: int, whence: int = 0, /) -> int:
        """As of a file."""
        self._at = max(at + (0, self._at, self._size)[whence], 0)
        return self._at

    def readinto(self, buffer: Any, /) -> int:
        """As of a file."""
        data = os.pread(self._number, min(len(buffer), max(self._size - self._at, 0)), self._start + self._at)
        buffer[: len(data)] = data
        self._at += len(data)
        return len(data)
