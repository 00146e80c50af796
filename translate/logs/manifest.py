"""The manifest of a job: which inputs are done, what they were, and what became of them. JSON lines."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from .. import jsontext
from ..errors import TranslateError
from . import places
from .layout import Counts
from .places import Output, Place

if TYPE_CHECKING:
    from .job import Job


@dataclass(frozen=True, slots=True)
class Entry:
    """An input that is done: its size, version (etag or time of change) and digest, its output, and its counts.

    ``digest``: of those that are files.

    ``written``: bytes of the output, before compression.
    """

    input: str
    size: int
    version: str
    digest: str
    output: str
    written: int
    counts: Counts

    def still_holds(self, place: Place) -> bool:
        """Whether the input is what it was, and the output is there."""
        try:
            now = places.state(place)
            same = bool(now.version) and now.version == self.version
            same = same or (bool(self.digest) and places.digest(place) == self.digest)
        except places.InputFault:
            return False
        return same and now.size == self.size and places.exists(self.output)

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
        self._job = blake2b(jsontext.dumps_strict(said), digest_size=16).hexdigest()
        self._lines: list[bytes] = []
        self.found = False
        self.others: list[Entry] = []

    def load(self) -> dict[str, Entry]:
        """The inputs that are done, none without a manifest. Raises :class:`OtherJob`."""
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
        if not records or not isinstance(records[0], dict) or records[0].get("job") != self._job:
            raise OtherJob(f"{self._path} is of another job, or of other settings")
        self.found = True
        return {said["input"]: Entry(**{**said, "counts": Counts.from_json(said["counts"])}) for said in records[1:]}

    def begin(self, entries: list[Entry]) -> None:
        """Write it anew, with what is done already."""
        self._lines = [jsontext.dumps_strict({"job": self._job, "version": 1}) + b"\n"]
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
