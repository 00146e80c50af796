"""What a job may write: none of its inputs, nothing that is another's, and nowhere that another job writes."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import Any

from . import outputs
from .outputs import TEMPORARY, temporary
from .places import identity
from .rejects import SUFFIX

fcntl: Any = None
with suppress(ImportError):
    # not on every system
    fcntl = import_module("fcntl")


class BadPlan(Exception):
    """A job cannot be done as it was asked for."""


class OutputExists(Exception):
    """An output is there already, and the job was not told to write over it."""


class Busy(Exception):
    """Another job is writing there."""


def names(output: str) -> list[str]:
    """All that is written for an output."""
    own = [output, output + SUFFIX]
    return own + [temporary(name) for name in own]


def lock_path(manifest: str) -> str:
    """The name of a lock: one that is no input."""
    folder, name = os.path.split(manifest)
    return os.path.join(folder, f".{name}.lock")


class Claims:
    """Which input each name is written for. Raises :class:`BadPlan` where it is an input itself, or another's."""

    def __init__(self, sources: Iterable[str], manifest: str) -> None:
        self._sources = {_whole(identity(source)): source for source in sources}
        self._taken: dict[str, str] = {}
        self.claim("the job", [manifest, temporary(manifest)])

    def claim(self, owner: str, written: Iterable[str]) -> None:
        """Names are written for ``owner``."""
        for name in written:
            key = identity(name)
            other = self._sources.get(key) or self._taken.setdefault(key, owner)
            if key in self._sources or other != owner:
                raise BadPlan(f"the output of {owner} would be written over {other if other != owner else name}")


def _whole(name: str) -> str:
    """The name of a temporary output, if it is that of a part of one."""
    whole, mark, number = name.removesuffix(TEMPORARY).rpartition(".~")
    return whole + TEMPORARY if name.endswith(TEMPORARY) and mark and number.isdecimal() else name


def refuse_special(written: Iterable[str]) -> None:
    """Raises :class:`BadPlan` where one of the names is a device, a pipe or a folder: a file would take its place."""
    for name in written:
        if "://" not in name and os.path.exists(name) and not os.path.isfile(name):
            raise BadPlan(f"{name} is no regular file, and would be replaced by one")


def refuse_existing(written: Iterable[str]) -> None:
    """Raises :class:`OutputExists` where one of the names is taken."""
    for name in written:
        if outputs.exists(name):
            raise OutputExists(f"{name} exists already")


@contextmanager
def alone(manifest: str) -> Iterator[None]:
    """No other job has this manifest meanwhile; stores have no locks. Raises :class:`Busy`, ``OSError``."""
    if fcntl is None or "://" in manifest:
        yield
        return
    path = lock_path(manifest)
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    number = _locked(path)
    try:
        yield
    finally:
        os.unlink(path)
        os.close(number)


def _locked(path: str) -> int:
    while True:
        number = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.exists(path) and os.path.samestat(os.fstat(number), os.stat(path)):
                return number
        except BlockingIOError:
            os.close(number)
            raise Busy(f"another job is writing there: {path} is locked") from None
        except BaseException:
            os.close(number)
            raise
        # the job before has ended, and removed it
        os.close(number)
