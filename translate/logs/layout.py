"""How logs hold streams, and what is made of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal, TypeAlias

from ..carry.losses import LossPolicy
from ..engine.options import ModelOption
from ..errors import TranslateError
from ..limits import Limits
from .selection import selection

Container: TypeAlias = Literal[
    "streams",
    "lines",
    "parquet",
    "records",
    "json",
    "har",
    "vcr",
    "mitmproxy",
    "docker",
    "journald",
    "cri",
    "stream-json",
    "curl",
    "recorded",
]
RECORDS: tuple[Container, ...] = ("lines", "parquet", "records", "json")
"""Containers of records whose fields are named: they hold objects, too."""


@dataclass(frozen=True, slots=True)
class Layout:
    """How a file holds streams.

    ``container``  ``"streams"``: one stream, or several end to end; ``"lines"``: JSON lines, a record each;
                   ``"parquet"``: rows with the same columns; ``"records"``: one of these two, as each input begins;
                   ``"json"``: one document with a list of records; others are those of tools: :mod:`.containers`
    ``field``      of records: the member (or column) with the stream, or one unit of it. Members of members are named
                   with dots between them
    ``units``      whether a record holds one unit rather than a stream
    ``id``         with ``units``: the member that says which stream a unit belongs to; else, if given, for reports
    ``order``      with ``units``: the member that says where in its stream it stands; ``None``: as the records stand
    ``gaps``       with ``units``: whether integers of the order may leave some out, as time stamps do; else a stream
                   whose order has gaps lacks units, and is rejected
    """

    container: Container = "streams"
    field: str = "stream"
    units: bool = False
    id: str | None = None
    order: str | None = None
    gaps: bool = False

    def __post_init__(self) -> None:
        if self.units and (self.id is None or self.container not in ("lines", "parquet", "records")):
            raise ValueError("records of units need a container of records, and an id")
        if not self.units and (self.order is not None or self.gaps):
            raise ValueError("only records of units have an order")

    @property
    def numbers(self) -> str | None:
        """The member that may number the units. One within the unit is the stream's own: it is read alone."""
        own = self.order is not None and f"{self.order}.".startswith(f"{self.field}.")
        return None if own else self.order


@dataclass(frozen=True, slots=True)
class Settings:
    """What each stream is converted with: see :func:`translate.convert`.

    ``src``: ``"auto"`` recognises it, and the layout, for each input. ``clock`` is a number of milliseconds, the same
    for all units; by default that at which the input was changed last: the same input gives the same output.
    ``verify``: each stream is converted back, and must be what it was; what is not carried does not come back.
    ``where``: which records are converted, see :mod:`.selection`; the others are left out.
    """

    src: str
    dst: str
    loss: LossPolicy = "carry"
    strict: bool = True
    model: ModelOption | None = None
    limits: Limits = field(default_factory=Limits)
    clock: int | None = None
    verify: bool = False
    where: str | None = None

    def __post_init__(self) -> None:
        selection(self.where)
        if self.verify and self.loss != "carry":
            raise ValueError("only a stream with the carry comes back as it was")


@dataclass(slots=True)
class Counts:
    """What became of streams. ``streams_in`` is counted as they are read, the others as they end. ``faults``: of those
    that were rejected, the ones at which the program failed, rather than they. ``left_out``: records that were not
    chosen, which count nowhere else.
    """

    streams_in: int = 0
    converted: int = 0
    rejected: int = 0
    faults: int = 0
    left_out: int = 0
    records_in: int = 0
    records_converted: int = 0
    records_rejected: int = 0
    units_in: int = 0
    units_out: int = 0
    losses: Counter[str] = field(default_factory=Counter)

    def reject(self, error: Exception, records: int = 0) -> None:
        """A stream was rejected, of so many records."""
        self.rejected += 1
        self.records_rejected += records
        self.faults += not isinstance(error, TranslateError)

    def leave_out(self, *, stream: bool = False) -> None:
        """A record that was counted, and was a stream if it says so, was not chosen."""
        self.left_out += 1
        self.records_in -= 1
        self.streams_in -= stream

    def add(self, other: Counts) -> None:
        """Add those of another input."""
        for name in _NUMBERS:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.losses.update(other.losses)

    def fault(self) -> str | None:
        """What does not add up; ``None`` where all does."""
        if self.streams_in != self.converted + self.rejected:
            return f"{self.streams_in} streams came in, and {self.converted} + {self.rejected} were accounted for"
        if self.records_in != self.records_converted + self.records_rejected:
            did = f"{self.records_converted} + {self.records_rejected}"
            return f"{self.records_in} records came in, and {did} were accounted for"
        return None

    def as_json(self) -> dict[str, Any]:
        """As members of an object."""
        return {**asdict(self), "losses": dict(self.losses)}

    @classmethod
    def from_json(cls, said: Mapping[str, Any]) -> Counts:
        """Back from :meth:`as_json`."""
        return cls(**{**said, "losses": Counter(said["losses"])})


_NUMBERS = [each.name for each in fields(Counts) if each.name != "losses"]


class Unaccounted(Exception):
    """Counts do not add up: a fault of the program."""


def get(record: Any, path: str) -> Any:
    """The member of a record at a path of names with dots between them. Raises ``KeyError``."""
    if isinstance(record, dict) and path in record:
        return record[path]
    for name in path.split("."):
        if not isinstance(record, dict):
            raise KeyError(path)
        record = record[name]
    return record


def put(record: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    """A record with another value at a path that it has; the rest is shared."""
    if path in record:
        return {**record, path: value}
    name, _, rest = path.partition(".")
    return {**record, name: put(record[name], rest, value)}
