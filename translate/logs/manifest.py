"""The manifest of a job: which inputs are done, what they were, and what became of them. JSON lines."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from .. import jsontext
from ..errors import TranslateError
from . import places
from .layout import Counts
from .places import Output, Place, identity
from .rejects import SUFFIX

if TYPE_CHECKING:
    from .job import Job

_VERSION = 2


@dataclass(frozen=True, slots=True)
class Entry:
    """An input that is done: its size, version (etag or time of change) and digest, its output, and its counts.

    ``digest``: of those that are files, and of objects without a version.

    ``written``: bytes of the output, before compression; ``stored``: as it lies there.
    """

    input: str
    size: int
    version: str
    digest: str
    output: str
    written: int
    stored: int
    counts: Counts

    def still_holds(self, place: Place) -> bool:
        """Whether the input is what it was, and the output is there, and what was rejected. The time of a file's change
        proves nothing: its bytes are compared.
        """
        try:
            now = places.state(place)
            if now.size != self.size:
                return False
            known = place.remote and now.version
            same = now.version == self.version if known else places.digest(place) == self.digest
        except places.InputFault:
            return False
        complete = not self.counts.rejected or places.exists(self.output + SUFFIX)
        return same and complete and places.size(self.output) == self.stored

    def as_json(self) -> dict[str, Any]:
        """As members of an object."""
        return {**{name: getattr(self, name) for name in self.__slots__}, "counts": self.counts.as_json()}


class OtherJob(Exception):
    """The manifest is of a job with other settings: its outputs are not those of this one."""


class Manifest:
    """The manifest at a path. :meth:`load`, :meth:`begin`, then :meth:`add` for each input.

    ``found``: whether there was one of this job; ``others``: entries that are kept, of inputs not asked for now.
    """

    def __init__(self, path: str, job: Job) -> None:
        self._path = path
        said = {"settings": asdict(job.settings), "layout": job.layout and asdict(job.layout), "limit": job.limit}
        digest = blake2b(jsontext.dumps_strict(said), digest_size=16).hexdigest()
        self._head = {"job": digest, "version": _VERSION}
        self._lines: list[bytes] = []
        self.found = False
        self.others: list[Entry] = []

    def load(self) -> dict[str, Entry]:
        """What is done, by the identity of its input; nothing without a manifest. Raises :class:`OtherJob`."""
        if not places.exists(self._path):
            return {}
        with places.reading(Place(self._path, "")) as file:
            found = [line for _, line in places.lines(file)]
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
        self._write()

    def add(self, entry: Entry) -> None:
        """An input is done."""
        line = self._line(entry)
        self._lines.append(line)
        if "://" in self._path:
            # nothing can be added to an object
            self._write()
            return
        with open(self._path, "ab") as file:
            # what is not on disk after a crash is done again
            file.write(line)

    def _write(self) -> None:
        output = Output(self._path)
        output.write(b"".join(self._lines))
        output.commit()

    @staticmethod
    def _line(entry: Entry) -> bytes:
        return jsontext.dumps_strict(entry.as_json()) + b"\n"
