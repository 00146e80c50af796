"""The manifest of a job: which inputs are done, what they were, and what became of them. JSON lines."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import asdict, dataclass
from hashlib import blake2b
from typing import Any

from .. import jsontext
from ..errors import TranslateError
from . import outputs, places
from .layout import Counts, Layout, Settings
from .outputs import Output
from .places import Long, Place, identity
from .rejects import SUFFIX

_VERSION = 4


@dataclass(frozen=True, slots=True)
class Entry:
    """An input that is done: its size, version (etag or time of change) and digest, its output, and its counts.

    ``digest``: of those that are files, and of objects without a version. ``written``: bytes of the output, before
    compression; ``proof``, ``rejects``: what tells whether it, and what was rejected if anything was, are as they were
    written: see :func:`.places.proof`.
    """

    input: str
    size: int
    version: str
    digest: str
    output: str
    written: int
    proof: str
    rejects: str
    counts: Counts

    def still_holds(self, place: Place) -> bool:
        """Whether the input is what it was, and the output, and what was rejected. The size of a file and the time of
        its change prove nothing: its bytes are compared.
        """
        try:
            now = places.state(place)
            if now.size != self.size:
                return False
            known = place.remote and now.version
            if (now.version != self.version) if known else (places.digest(place) != self.digest):
                return False
            written = places.proof(Place(self.output, "")) == self.proof
            return written and (not self.rejects or places.proof(Place(self.output + SUFFIX, "")) == self.rejects)
        except places.InputFault:
            return False

    def as_json(self) -> dict[str, Any]:
        """As members of an object."""
        return {**{name: getattr(self, name) for name in self.__slots__}, "counts": self.counts.as_json()}


class OtherJob(Exception):
    """The manifest is of a job with other settings: its outputs are not those of this one."""


class Manifest:
    """The manifest at a path. :meth:`load`, :meth:`begin`, then :meth:`add` for each input, and :meth:`end`.

    ``found``: whether there was one of this job; ``others``: entries that are kept, of inputs not asked for now.
    """

    def __init__(self, path: str, settings: Settings, layout: Layout | None, limit: int | None) -> None:
        self._path = path
        said = {"settings": asdict(settings), "layout": layout and asdict(layout), "limit": limit}
        digest = blake2b(jsontext.dumps_strict(said), digest_size=16).hexdigest()
        self._head = {"job": digest, "version": _VERSION}
        self._lines: list[bytes] = []
        self._parts = 0
        self.found = False
        self.others: list[Entry] = []

    def load(self) -> dict[str, Entry]:
        """What is done, by the identity of its input; nothing without a manifest. Raises :class:`OtherJob`."""
        if not outputs.exists(self._path):
            return {}
        found: list[bytes] = []
        for path in (self._path, *self._parts_of_a_store()):
            with places.reading(Place(path, "")) as file:
                found += [bytes(line) for _, line in places.lines(file) if not isinstance(line, Long)]
        records = []
        for line in found:
            try:
                records.append(jsontext.loads(line))
            except TranslateError:
                # the process was ended while it wrote this
                break
        if not records or records[0] != self._head:
            raise OtherJob(f"{self._path} is of another job, or of other settings")
        self.found = True
        entries = [Entry(**{**said, "counts": Counts.from_json(said["counts"])}) for said in records[1:]]
        return {identity(entry.input): entry for entry in entries}

    def begin(self, entries: list[Entry]) -> None:
        """Write it anew, with what is done already."""
        self._lines = [jsontext.dumps_strict(self._head) + b"\n"]
        self._lines += [self._line(entry) for entry in (*self.others, *entries)]
        self._write(self._path, self._lines)
        self._remove_parts()

    def add(self, entries: list[Entry]) -> None:
        """Inputs are done."""
        lines = [self._line(entry) for entry in entries]
        self._lines += lines
        if "://" in self._path:
            # nothing can be added to an object: they are one more, until all is done
            self._parts += 1
            self._write(f"{self._path}.{self._parts}", lines)
            return
        with open(self._path, "ab") as file:
            # what is not on disk after a crash is done again
            file.write(b"".join(lines))

    def end(self) -> None:
        """The job ended. One that did nothing leaves no manifest, which would bar the next."""
        if len(self._lines) == 1:
            with suppress(OSError):
                outputs.remove(self._path)
        elif self._parts:
            self._write(self._path, self._lines)
        self._remove_parts()

    @staticmethod
    def _write(path: str, lines: list[bytes]) -> None:
        output = Output(path)
        output.write(b"".join(lines))
        output.commit()

    def _remove_parts(self) -> None:
        for path in self._parts_of_a_store():
            with suppress(OSError):
                outputs.remove(path)
        self._parts = 0

    def _parts_of_a_store(self) -> list[str]:
        """What was added to a manifest in a store: one object after another, by their numbers."""
        if "://" not in self._path:
            return []
        found: list[str] = []
        while outputs.exists(path := f"{self._path}.{len(found) + 1}"):
            found.append(path)
        return found

    @staticmethod
    def _line(entry: Entry) -> bytes:
        return jsontext.dumps_strict(entry.as_json()) + b"\n"
