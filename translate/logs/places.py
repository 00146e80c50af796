"""Where logs lie: files, folders, globs and URLs, compressed or not; and outputs that are there whole or not at all."""

from __future__ import annotations

import gzip
import importlib
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from errno import EIO
from hashlib import blake2b
from pathlib import PurePosixPath
from shutil import copyfileobj
from typing import Any, BinaryIO, cast

CHUNK = 1 << 20
TEMPORARY = ".part"
"""What the name of an output ends in until it is whole."""
_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_BOM = b"\xef\xbb\xbf"
_SUFFIXES = (".gz", ".zst", ".zstd")


class InputFault(Exception):
    """An input cannot be read, or not to its end."""


_INSTALL = "pip install -e '.[logs]', in the project's checkout"


class MissingExtra(Exception):
    """Something needs a package that is not installed: ``pip install -e ".[logs]"`` in the project's checkout."""


@dataclass(frozen=True, slots=True)
class Place:
    """An input. ``path``: a path, or a URL; ``name``: its path below what was asked for, which its output gets."""

    path: str
    name: str

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
            found = os.stat(place.path)
            return State(found.st_size, str(found.st_mtime_ns), found.st_mtime_ns // 1_000_000)
        system, path = system_of(place.path)
        info = system.info(path)
    except MissingExtra:
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


def _opened(place: Place) -> BinaryIO:
    try:
        if not place.remote:
            return open(place.path, "rb")
        system, path = system_of(place.path)
        return cast(BinaryIO, system.open(path, "rb"))
    except MissingExtra:
        raise
    except Exception as error:
        raise InputFault(f"{type(error).__name__}: {error}") from error


@contextmanager
def reading(place: Place) -> Iterator[BinaryIO]:
    """The bytes of an input, its compression undone: gzip or zstd, of one or more members, told by the first bytes."""
    with _opened(place) as raw:
        head = _Faulty(raw).read(4)
        raw.seek(0)
        if head.startswith(_GZIP):
            with gzip.open(raw, "rb") as file:
                yield cast(BinaryIO, _Faulty(file))
        elif _is_zstd(head):
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

    def readline(self) -> bytes:
        """As of a file."""
        return cast(bytes, self._safe(self._file.readline))

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


def compressed(place: Place) -> bool:
    """Whether an input is compressed; then it can be read from its start alone."""
    with _opened(place) as raw:
        head = _Faulty(raw).read(4)
    return head.startswith(_GZIP) or _is_zstd(head)


def is_parquet(place: Place) -> bool:
    """Whether an input is Parquet, by its name or its first bytes. Raises :class:`InputFault`."""
    if place.path.endswith(".parquet"):
        return True
    with reading(place) as file:
        return file.read(4) == b"PAR1"


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


@contextmanager
def _faults(path: str) -> Iterator[None]:
    """Errors say what could not be written; those of a store's library become ``OSError``."""
    try:
        yield
    except MissingExtra:
        raise
    except Exception as error:
        why = error.strerror or str(error) if isinstance(error, OSError) else f"{type(error).__name__}: {error}"
        raise OSError(getattr(error, "errno", None) or EIO, why, path) from error


class Output:
    """An output that is written under a temporary name; :meth:`commit` gives it its own, :meth:`discard` removes it.

    It is compressed as its own name says (``.gz``, ``.zst``). ``append`` writes the bytes of another output that was
    compressed alike. ``size`` counts what was written, before compression.
    """

    def __init__(self, path: str, *, part: str = "", plain: bool = False) -> None:
        """``part``: the mark of one of several parts; ``plain``: what is written is compressed already."""
        self.path = path
        self.size = 0
        self.lines = 0
        self._name = f"{path}{part}{TEMPORARY}"
        self._system, self._raw = None, cast(BinaryIO, None)
        with _faults(self.path):
            if "://" in path:
                self._system, self._name = system_of(self._name)
                self._raw = _open_remote(self._system, self._name)
            else:
                os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
                self._raw = open(self._name, "wb")  # noqa: SIM115
        self._file = self._raw if plain else _compressing(self._raw, path)

    def write(self, data: bytes) -> None:
        """Write bytes."""
        with _faults(self.path):
            self._file.write(data)
        self.size += len(data)
        self.lines += data.count(b"\n")

    def append(self, part: str) -> None:
        """Add the output that ``part`` names, and remove it."""
        name = f"{self.path}{part}{TEMPORARY}"
        with _faults(self.path):
            with open(name, "rb") as file:
                copyfileobj(file, self._raw, CHUNK)
            os.unlink(name)

    def close(self) -> None:
        """All is written, under the temporary name."""
        with _faults(self.path):
            if self._file is not self._raw:
                self._file.close()
            if self._system is None and not self._raw.closed:
                self._raw.flush()
                os.fsync(self._raw.fileno())
            self._raw.close()

    def commit(self) -> None:
        """All is written: from now on it has its own name."""
        self.close()
        with _faults(self.path):
            if self._system is not None:
                self._system.mv(self._name, system_of(self.path)[1])
            else:
                os.replace(self._name, self.path)

    def discard(self) -> None:
        """Leave nothing."""
        with suppress(Exception):
            self._raw.close()
        with suppress(Exception):
            if self._system is not None:
                self._system.rm(self._name)
            else:
                os.unlink(self._name)


def _open_remote(system: Any, name: str) -> BinaryIO:
    try:
        return cast(BinaryIO, system.open(name, "wb"))
    except FileNotFoundError:
        # a system with folders
        system.makedirs(str(PurePosixPath(name).parent), exist_ok=True)
        return cast(BinaryIO, system.open(name, "wb"))


def _compressing(raw: BinaryIO, path: str) -> Any:
    if path.endswith(".gz"):
        # no name and no time in it: the same input gives the same bytes
        return gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0, compresslevel=6)
    if path.endswith((".zst", ".zstd")):
        return zstd().ZstdFile(raw, "wb")
    return raw


def rename(old: str, new: str) -> None:
    """Give what is at one path another, whatever is there."""
    with _faults(new):
        if "://" not in new:
            os.replace(old, new)
            return
        system, inner = system_of(new)
        system.mv(system_of(old)[1], inner)


def remove(path: str) -> None:
    """Remove what is at a path."""
    with _faults(path):
        if "://" not in path:
            os.unlink(path)
            return
        system, inner = system_of(path)
        system.rm(inner)


def size(path: str) -> int | None:
    """Bytes at a path or URL; ``None`` where nothing is."""
    with _faults(path):
        if "://" not in path:
            return os.stat(path).st_size if os.path.exists(path) else None
        system, inner = system_of(path)
        return int(system.size(inner)) if system.exists(inner) else None


def exists(path: str) -> bool:
    """Whether there is something at a path or URL."""
    with _faults(path):
        if "://" not in path:
            return os.path.lexists(path)
        system, inner = system_of(path)
        return bool(system.exists(inner))


def lines(file: BinaryIO, start: int = 0, end: int | None = None) -> Iterator[tuple[int, bytes]]:
    """Offset and bytes, without its end, of each line that begins from ``start`` on and before ``end``.

    Blank lines are left out.
    """
    at = start
    if start:
        file.seek(start - 1)
        # the line that runs over the border belongs to the part before it
        at += len(file.readline()) - 1
    for line in file:
        if end is not None and at >= end:
            return
        text = line.rstrip(b"\r\n")
        if not at:
            text = text.removeprefix(_BOM)
        if text.strip():
            yield at, text
        at += len(line)
