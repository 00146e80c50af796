"""Outputs that are there whole or not at all: files and URLs, compressed or not."""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from errno import EIO
from hashlib import blake2b
from pathlib import PurePosixPath
from shutil import copyfileobj
from typing import Any, BinaryIO, cast

from .places import CHUNK, MissingExtra, system_of, zstd

TEMPORARY = ".part"
"""What the name of an output ends in until it is whole."""
_AT_ONCE = 16
"""Files that are put on disk at once."""


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


def real(path: str) -> str:
    """Where a path leads, if it is a link: that is written, and the link stays."""
    return os.path.realpath(path) if "://" not in path and os.path.islink(path) else path


def temporary(path: str, part: str = "") -> str:
    """The name of an output, or of a part of it, until it is whole."""
    return f"{real(path)}{part}{TEMPORARY}"


class _Hashed:
    """A file that is written, and the digest of what was."""

    def __init__(self, file: BinaryIO) -> None:
        self.file = file
        self.digest = blake2b(digest_size=16)

    def write(self, data: bytes) -> int:
        """As of a file."""
        self.digest.update(data)
        return self.file.write(data)

    def flush(self) -> None:
        """As of a file."""
        self.file.flush()


class Output:
    """An output that is written under a temporary name; :meth:`commit` gives it its own, :meth:`discard` removes it.

    It is compressed as its own name says (``.gz``, ``.zst``). ``append`` writes the bytes of another output that was
    compressed alike. ``size`` counts what was written, before compression; ``digest`` is that of the bytes as they
    lie there, once it is closed.
    """

    def __init__(self, path: str, *, part: str = "", plain: bool = False) -> None:
        """``part``: the mark of one of several parts; ``plain``: what is written is compressed already."""
        self.path = path
        self.size = 0
        self.lines = 0
        self._name = temporary(path, part)
        self._system, self._raw = None, cast(BinaryIO, None)
        with _faults(self.path):
            if "://" in path:
                self._system, self._name = system_of(self._name)
                self._raw = _open_remote(self._system, self._name)
            else:
                os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
                self._raw = open(self._name, "wb")  # noqa: SIM115
        self._hashed = _Hashed(self._raw)
        self._file: Any = self._hashed if plain else _compressing(self._hashed, path)

    def write(self, data: bytes) -> None:
        """Write bytes."""
        with _faults(self.path):
            self._file.write(data)
        self.size += len(data)
        self.lines += data.count(b"\n")

    def append(self, part: str) -> None:
        """Add the output that ``part`` names, and remove it."""
        name = temporary(self.path, part)
        with _faults(self.path):
            with open(name, "rb") as file:
                copyfileobj(file, self._hashed, CHUNK)
            os.unlink(name)

    def close(self) -> None:
        """All is written, under the temporary name. Whether it is on disk is another matter: see :func:`sync`."""
        with _faults(self.path):
            if self._file is not self._hashed:
                self._file.close()
            self._raw.close()

    @property
    def digest(self) -> str:
        """Of the bytes that lie there."""
        return self._hashed.digest.hexdigest()

    def commit(self) -> None:
        """All is written: from now on it has its own name."""
        self.close()
        sync([self.path])
        with _faults(self.path):
            if self._system is not None:
                self._system.mv(self._name, system_of(self.path)[1])
            else:
                os.replace(self._name, real(self.path))

    def discard(self) -> None:
        """Leave nothing."""
        with suppress(Exception):
            self._raw.close()
        with suppress(Exception):
            if self._system is not None:
                self._system.rm(self._name)
            else:
                os.unlink(self._name)


def sync(paths: Iterable[str]) -> None:
    """Put on disk what was written for paths, under temporary names: many at once, which takes about as long as one."""
    names = [(path, temporary(path)) for path in paths if "://" not in path]
    if len(names) < 2:
        for pair in names:
            _sync(pair)
        return
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        for _ in pool.map(_sync, names):
            pass


def _sync(pair: tuple[str, str]) -> None:
    path, name = pair
    with _faults(path):
        number = os.open(name, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)


def _open_remote(system: Any, name: str) -> BinaryIO:
    try:
        return cast(BinaryIO, system.open(name, "wb"))
    except FileNotFoundError:
        # a system with folders
        system.makedirs(str(PurePosixPath(name).parent), exist_ok=True)
        return cast(BinaryIO, system.open(name, "wb"))


def _compressing(raw: Any, path: str) -> Any:
    if path.endswith(".gz"):
        # no name and no time in it: the same input gives the same bytes
        return gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0, compresslevel=6)
    if path.endswith((".zst", ".zstd")):
        return zstd().ZstdFile(raw, "wb")
    return raw


def commit(path: str) -> None:
    """Give what was written for a path its own name, whatever is there."""
    with _faults(path):
        if "://" not in path:
            os.replace(temporary(path), real(path))
            return
        system, inner = system_of(path)
        system.mv(system_of(temporary(path))[1], inner)


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
