"""Where logs lie: files and URLs, compressed or not."""

from __future__ import annotations

import gzip
import importlib
import io
import os
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from hashlib import blake2b
from tempfile import SpooledTemporaryFile
from typing import Any, BinaryIO, TypeAlias, cast

CHUNK = 1 << 20
_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_BOM = b"\xef\xbb\xbf"
_SUFFIXES = (".gz", ".zst", ".zstd")
RECORD = 256 * CHUNK
"""Bytes of a record's line at most."""


class Spool:
    """Bytes that were written, to be read again; many of them are on disk."""

    def __init__(self) -> None:
        self._file = SpooledTemporaryFile(4 * CHUNK)  # noqa: SIM115
        self.size = 0

    def write(self, data: bytes | bytearray) -> None:
        """Add bytes."""
        self._file.seek(self.size)
        self._file.write(data)
        self.size += len(data)

    def pieces(self, start: int = 0, end: int | None = None) -> Iterator[bytes]:
        """The bytes from ``start`` to ``end``; several may read, each at its own pace."""
        end = self.size if end is None else min(end, self.size)
        while start < end:
            self._file.seek(start)
            data = self._file.read(min(end - start, CHUNK))
            start += len(data)
            yield data

    def close(self) -> None:
        """Give up what it holds."""
        self._file.close()


class Long(Spool):
    """A line that has more bytes than its ``limit``."""

    def __init__(self, limit: int) -> None:
        super().__init__()
        self.limit = limit


Line: TypeAlias = "bytes | bytearray | Long"
"""A line without its end; a long one may be changed by nobody, either."""


class InputFault(Exception):
    """An input cannot be read, or not to its end."""


_INSTALL = "pip install -e '.[logs]', in the project's checkout"


class MissingExtra(Exception):
    """Something needs a package that is not installed: ``pip install -e ".[logs]"`` in the project's checkout."""


@dataclass(frozen=True, slots=True)
class Place:
    """An input. ``path``: a path, or a URL; ``name``: its path below what was asked for, which its output gets;
    ``archive``: the path of the archive that it is in, where it is in one.
    """

    path: str
    name: str
    archive: str = ""

    @property
    def remote(self) -> bool:
        """Whether it is reached by a URL."""
        return "://" in self.path


@dataclass(frozen=True, slots=True)
class State:
    """What an input is, as far as can be told without reading it: ``version`` is its etag or time of change."""

    size: int
    version: str
    modified: int
    """Milliseconds of Unix time; 0 where that is not known."""


def plain(path: str) -> str:
    """A path, where a URL names one."""
    return path.removeprefix("file://").removeprefix("local://")


def identity(path: str) -> str:
    """What is the same for two names of one file; of a URL, itself."""
    path = plain(path)
    return path.rstrip("/") if "://" in path else os.path.realpath(path)


def system_of(url: str) -> tuple[Any, str]:
    """The file system of a URL, and the path on it. What other processes write there is seen."""
    fsspec = _module("fsspec")
    try:
        return cast("tuple[Any, str]", fsspec.url_to_fs(url, use_listings_cache=False))
    except (ImportError, ValueError) as error:
        # the package of one kind of store, or of all that begin so
        raise MissingExtra(str(error)) from None


def _module(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        raise MissingExtra(f"{name} is not installed: {_INSTALL}") from None


def state(place: Place) -> State:
    """What the input is now. Raises :class:`InputFault`."""
    try:
        if not place.remote:
            found = os.stat(place.archive or place.path)
            size = _archives().size(place) if place.archive else found.st_size
            return State(size, str(found.st_mtime_ns), found.st_mtime_ns // 1_000_000)
        system, path = system_of(place.path)
        info = system.info(path)
    except (MissingExtra, InputFault):
        raise
    except Exception as error:
        raise InputFault(f"{type(error).__name__}: {error}") from error
    modified = info.get("LastModified") or info.get("mtime") or info.get("created")
    seconds = modified.timestamp() if hasattr(modified, "timestamp") else float(modified or 0)
    version = info.get("ETag") or info.get("etag") or modified
    return State(int(info.get("size") or 0), str(version or ""), int(seconds * 1000))


def digest(place: Place) -> str:
    """The digest of an input's bytes, as they lie there."""
    found = blake2b(digest_size=16)
    with _opened(place) as file:
        while data := file.read(CHUNK):
            found.update(data)
    return found.hexdigest()


def proof(place: Place) -> str:
    """What tells whether something is what it was: the version of an object in a store, the digest of bytes."""
    return (place.remote and state(place).version) or digest(place)


def _archives() -> Any:
    # it reads by this module
    return importlib.import_module(f"{__package__}.archives")


def _opened(place: Place) -> BinaryIO:
    try:
        if place.archive:
            return cast(BinaryIO, _archives().opened(place))
        if not place.remote:
            return open(place.path, "rb")
        system, path = system_of(place.path)
        # files of stores read no part of a line by themselves
        return io.BufferedReader(system.open(path, "rb"), 1 << 16)
    except (MissingExtra, InputFault):
        raise
    except Exception as error:
        raise InputFault(f"{type(error).__name__}: {error}") from error


@contextmanager
def reading(place: Place) -> Iterator[BinaryIO]:
    """The bytes of an input, its compression undone: gzip or zstd, of one or more members, told by the first bytes."""
    with _opened(place) as raw:
        head = _Faulty(raw).read(4)
        raw.seek(0)
        with unpacked(raw, head) as file:
            yield file


@contextmanager
def unpacked(raw: BinaryIO, head: bytes) -> Iterator[BinaryIO]:
    """The same of what is open, and begins with ``head``."""
    if head.startswith(_GZIP):
        with gzip.open(raw, "rb") as file:
            yield cast(BinaryIO, _Faulty(file))
    elif _is_zstd(head[:4]):
        with zstd().open(raw, "rb") as file:
            yield cast(BinaryIO, _Faulty(file))
    else:
        yield cast(BinaryIO, _Faulty(raw))


class _Faulty:
    """A file whose errors are those of an input: an output's are errors of another kind."""

    def __init__(self, file: Any) -> None:
        self._file = file

    def read(self, size: int = -1) -> bytes:
        """As of a file."""
        return cast(bytes, self._safe(self._file.read, size))

    def readline(self, size: int = -1) -> bytes:
        """As of a file."""
        return cast(bytes, self._safe(self._file.readline, size))

    def seek(self, at: int, whence: int = 0) -> int:
        """As of a file."""
        return cast(int, self._safe(self._file.seek, at, whence))

    def tell(self) -> int:
        """As of a file."""
        return cast(int, self._file.tell())

    def __iter__(self) -> Iterator[bytes]:
        while line := self.readline():
            yield line

    def _safe(self, call: Any, *args: Any) -> Any:
        try:
            return call(*args)
        except Exception as error:
            # compressed data raises errors of many kinds
            raise InputFault(f"{type(error).__name__}: {error}") from error


def is_compressed(what: Place | bytes) -> bool:
    """Whether an input, or what begins so, is compressed; then it can be read from its start alone."""
    if isinstance(what, Place):
        with _opened(what) as raw:
            what = _Faulty(raw).read(4)
    return what.startswith(_GZIP) or _is_zstd(what[:4])


def _is_zstd(head: bytes) -> bool:
    """Whether it begins with a frame, or with one that is to be skipped."""
    return head == _ZSTD or (head[1:] == b"\x2a\x4d\x18" and head[0] >> 4 == 5)


def zstd() -> Any:
    """The module for zstd: that of newer Pythons, or its backport."""
    for name in ("compression.zstd", "backports.zstd"):
        with suppress(ImportError):
            return importlib.import_module(name)
    raise MissingExtra(f"backports.zstd is not installed: {_INSTALL}")


def bare(name: str) -> str:
    """A name without the suffix of its compression."""
    for suffix in _SUFFIXES:
        if name.endswith(suffix):
            return name.removesuffix(suffix)
    return name


def lines(
    file: BinaryIO, start: int = 0, end: int | None = None, limit: int = RECORD, *, blanks: bool = False
) -> Iterator[tuple[int, Line]]:
    """Offset and bytes, without its end, of each line that begins from ``start`` on and before ``end``.

    Blank lines are left out, unless ``blanks`` says otherwise. One of more than ``limit`` bytes is never in memory: it
    is on disk.
    """
    at = start
    if start:
        file.seek(start - 1)
        # the line that runs over the border belongs to the part before it
        at -= 1
        while line := file.readline(CHUNK):
            at += len(line)
            if line.endswith(b"\n"):
                break
    while (end is None or at < end) and (read := _line(file, limit)):
        size = len(read)
        if at and size <= limit and isinstance(read, bytes):
            # as most lines are
            text = read.rstrip(b"\r\n")
            if blanks or (text and not text.isspace()):
                yield at, text
            at += size
            continue
        begin = 0 if at or not read.startswith(_BOM) else len(_BOM)
        end_of_text = size
        while end_of_text > begin and read[end_of_text - 1] in b"\r\n":
            end_of_text -= 1
        if end_of_text - begin > limit:
            with closing(Long(limit)) as long:
                size += _rest(file, read, long)
                yield at, long
        else:
            found = _within(read, begin, end_of_text)
            if blanks or (found and not found.isspace()):
                yield at, found
        at += size


def _within(line: bytes | bytearray, begin: int, end: int) -> bytes | bytearray:
    """A part of a line; a long one is not copied, but loses the rest."""
    if isinstance(line, bytes):
        return line[begin:end]
    del line[end:]
    del line[:begin]
    return line


def _line(file: BinaryIO, limit: int) -> bytes | bytearray:
    """A line, with its end, or as much of it as shows that it is too long. A long one is there once, not twice."""
    line = file.readline(min(limit + 2, CHUNK))
    if line.endswith(b"\n") or len(line) < CHUNK:
        return line
    whole = bytearray(line)
    while len(whole) < limit + 2 and (more := file.readline(min(limit + 2 - len(whole), CHUNK))):
        whole += more
        if more.endswith(b"\n"):
            break
    return whole


def _rest(file: BinaryIO, begin: bytes | bytearray, long: Long) -> int:
    """Put a line that begins so on disk; how many bytes more it has."""
    size = 0
    while not begin.endswith(b"\n") and (more := file.readline(CHUNK)):
        size += len(more)
        # the end of the line may be in two pieces
        body = begin.rstrip(b"\r")
        long.write(body)
        begin = begin[len(body) :] + more
    long.write(begin.rstrip(b"\r\n"))
    return size
