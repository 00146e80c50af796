"""Where logs lie: files, folders, globs and URLs, compressed or not; and outputs that are there whole or not at all."""

from __future__ import annotations

import gzip
import importlib
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from glob import glob, has_magic
from hashlib import blake2b
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, cast

CHUNK = 1 << 20
TEMPORARY = ".part"
"""What the name of an output ends in until it is whole."""
_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_BOM = b"\xef\xbb\xbf"
_SUFFIXES = (".gz", ".zst", ".zstd")


class InputFault(Exception):
    """An input cannot be read, or not to its end."""


class MissingExtra(Exception):
    """Something needs a package that is not installed: ``pip install "translate-streams[logs]"``."""


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


def find(asked: Iterable[str]) -> list[Place]:
    """The inputs that paths, globs, folders and URLs name, sorted within each. Raises ``FileNotFoundError``."""
    found: dict[str, Place] = {}
    for one in asked:
        for place in _remote(one) if "://" in one else _local(one):
            found.setdefault(place.path, place)
    return list(found.values())


def _local(path: str) -> list[Place]:
    if has_magic(path) and not os.path.lexists(path):
        names = sorted(name for name in glob(path, recursive=True) if os.path.isfile(name))
        places = [Place(name, os.path.basename(name)) for name in names]
    elif os.path.isdir(path):
        os.listdir(path)  # a folder that cannot be read is no empty one
        root = Path(path)
        files = sorted(p for p in root.rglob("*") if p.is_file() and not p.name.startswith((".", "_")))
        places = [Place(str(p), p.relative_to(root).as_posix()) for p in files]
    elif os.path.lexists(path):
        places = [Place(path, os.path.basename(path))]
    else:
        places = []
    if not places:
        raise FileNotFoundError(2, "no such file", path)
    return places


def _remote(url: str) -> list[Place]:
    system, path = _system(url)
    scheme = url.partition("://")[0]
    if system.isdir(path):
        names = [name for name in system.find(path) if not PurePosixPath(name).name.startswith((".", "_"))]
        root = path
    else:
        names = system.glob(path) if has_magic(path) else [path] if system.exists(path) else []
        root = None
    if not names:
        raise FileNotFoundError(2, "no such object", url)
    return [
        Place(
            f"{scheme}://{name if scheme == 'file' else name.lstrip('/')}",
            os.path.relpath(name, root) if root else PurePosixPath(name).name,
        )
        for name in sorted(names)
    ]


def _system(url: str) -> tuple[Any, str]:
    """The file system of a URL, and the path on it."""
    return cast("tuple[Any, str]", _module("fsspec").url_to_fs(url))


def _module(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        raise MissingExtra(f"{name} is not installed: pip install 'translate-streams[logs]'") from None


def state(place: Place) -> State:
    """What the input is now."""
    if not place.remote:
        found = os.stat(place.path)
        return State(found.st_size, str(found.st_mtime_ns), found.st_mtime_ns // 1_000_000)
    system, path = _system(place.path)
    info = system.info(path)
    modified = info.get("LastModified") or info.get("mtime") or info.get("created")
    seconds = modified.timestamp() if hasattr(modified, "timestamp") else float(modified or 0)
    return State(int(info["size"]), str(info.get("ETag") or info.get("etag") or modified), int(seconds * 1000))


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
        system, path = _system(place.path)
        return cast(BinaryIO, system.open(path, "rb"))
    except OSError as error:
        raise InputFault(f"{type(error).__name__}: {error}") from error


@contextmanager
def reading(place: Place) -> Iterator[BinaryIO]:
    """The bytes of an input, its compression undone: gzip or zstd, of one or more members, told by the first bytes."""
    with _opened(place) as raw:
        head = raw.read(4)
        raw.seek(0)
        if head.startswith(_GZIP):
            with gzip.open(raw, "rb") as file:
                yield cast(BinaryIO, _Faulty(file))
        elif head == _ZSTD:
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
        return raw.read(4).startswith((_GZIP, _ZSTD))


def zstd() -> Any:
    """The module for zstd: that of newer Pythons, or its backport."""
    for name in ("compression.zstd", "backports.zstd"):
        with suppress(ImportError):
            return importlib.import_module(name)
    raise MissingExtra("backports.zstd is not installed: pip install 'translate-streams[logs]'")


def bare(name: str) -> str:
    """A name without the suffix of its compression."""
    for suffix in _SUFFIXES:
        if name.endswith(suffix):
            return name.removesuffix(suffix)
    return name


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
        if "://" in path:
            self._system, self._name = _system(self._name)
            self._raw = self._system.open(self._name, "wb")
        else:
            os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
            self._raw = open(self._name, "wb")  # noqa: SIM115
        self._file = self._raw if plain else _compressing(self._raw, path)

    def write(self, data: bytes) -> None:
        """Write bytes."""
        self._file.write(data)
        self.size += len(data)
        self.lines += data.count(b"\n")

    def append(self, part: str) -> None:
        """Add the output that ``part`` names, and remove it."""
        name = f"{self.path}{part}{TEMPORARY}"
        with open(name, "rb") as file:
            while data := file.read(CHUNK):
                self._raw.write(data)
        os.unlink(name)

    def close(self) -> None:
        """All is written, under the temporary name."""
        if self._file is not self._raw:
            self._file.close()
        if self._system is None and not self._raw.closed:
            self._raw.flush()
            os.fsync(self._raw.fileno())
        self._raw.close()

    def commit(self) -> None:
        """All is written: from now on it has its own name."""
        self.close()
        if self._system is not None:
            self._system.mv(self._name, _system(self.path)[1])
        else:
            os.replace(self._name, self.path)

    def discard(self) -> None:
        """Leave nothing."""
        with suppress(OSError, ValueError):
            self._raw.close()
        with suppress(OSError):
            if self._system is not None:
                self._system.rm(self._name)
            else:
                os.unlink(self._name)


def _compressing(raw: BinaryIO, path: str) -> Any:
    if path.endswith(".gz"):
        # no name and no time in it: the same input gives the same bytes
        return gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0, compresslevel=6)
    if path.endswith((".zst", ".zstd")):
        return zstd().ZstdFile(raw, "wb")
    return raw


def rename(old: str, new: str) -> None:
    """Give what is at one path another, whatever is there."""
    if "://" not in new:
        os.replace(old, new)
        return
    system, inner = _system(new)
    system.mv(_system(old)[1], inner)


def remove(path: str) -> None:
    """Remove what is at a path."""
    if "://" not in path:
        os.unlink(path)
        return
    system, inner = _system(path)
    system.rm(inner)


def exists(path: str) -> bool:
    """Whether there is something at a path or URL."""
    if "://" not in path:
        return os.path.lexists(path)
    system, inner = _system(path)
    return bool(system.exists(inner))


def lines(file: BinaryIO, start: int = 0, end: int | None = None) -> Iterator[tuple[int, bytes]]:
    """Offset and bytes, without its end, of each line that begins from ``start`` on and before ``end``, but blank ones."""
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
