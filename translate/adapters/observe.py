"""What becomes known of a stream while it runs: its figures, and the hook that is told of them."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from traceback import format_tb
from typing import Any, Literal, TypeAlias

from ..algebra.events import Model, TokenCounts
from ..carry.losses import Finding, Report
from ..errors import StreamStopped, StreamTimeout, TranslateError, TruncatedStream, UpstreamFailure
from .budget import OverBudget

Outcome: TypeAlias = Literal[
    "finished", "passed", "failed", "cut", "broken", "timed out", "stopped", "disconnected", "cancelled"
]
"""How a stream ended.

``finished``      the model finished
``passed``        it was no stream of the source format, and was passed on as it is
``failed``        the stream itself reported a failure
``cut``           it ended without a terminal unit, or its source raised
``broken``        it is no valid stream of its format, or holds what the target must not lose
``timed out``     it took longer than :class:`translate.adapters.Timeouts` allow
``stopped``       whoever ran it ended it, for want of memory say
``disconnected``  its receiver went away
``cancelled``     the task that ran it was cancelled
"""

_log = logging.getLogger("translate.adapters")
_FIGURES = ("units", "bytes_in", "bytes_out", "pings", "first", "per_unit", "model", "input_tokens", "output_tokens")


@dataclass(slots=True)
class Stats:
    """The figures of one stream: counts from 0, times in seconds.

    ``units``        units of the source that were read
    ``bytes_in``, ``bytes_out``  of the stream, keep-alives included, heads and HTTP framing not
    ``pings``        keep-alives that were made up in a silence
    ``first``        from the start to the output of the first unit; ``None`` before it
    ``last``         the same of the last unit, so far
    ``model``, ``provider``  who answers, as the stream says it; ``input_tokens``, ``output_tokens`` its counts: all of
                     them at the end, ``None`` where it says none
    ``translating``  spent in translation: what was added to the way of the stream, in all
    ``duration``     from the start to the end, which sets it
    ``failure``      what the outcome is due to; the output says it in the target's own words where it could
    ``report``       losses, guesses and repairs of content
    """

    src: str
    dst: str
    outcome: Outcome | None = None
    failure: BaseException | None = None
    units: int = 0
    bytes_in: int = 0
    bytes_out: int = 0
    pings: int = 0
    first: float | None = None
    last: float | None = None
    model: str | None = None
    provider: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    translating: float = 0.0
    duration: float = 0.0
    report: Report = field(default_factory=lambda: Report(incidental=False))

    def said(self, model: Model | None, usage: TokenCounts | None) -> None:
        """What the stream says of itself."""
        if model is not None:
            self.model, self.provider = model.name, model.provider
        if usage is not None:
            self.input_tokens, self.output_tokens = usage.input_tokens, usage.output_tokens

    @property
    def per_unit(self) -> float | None:
        """Mean seconds from a unit to the next, behind the first; ``None`` where there are fewer than two."""
        if self.first is None or self.last is None or self.units < 2:
            return None
        return max(self.last - self.first, 0.0) / (self.units - 1)


@dataclass(frozen=True, slots=True)
class Request:
    """What came of one request to a sidecar.

    ``id``        its own, or one that was made
    ``method``    ``-`` for one that is not known
    ``status``    that was sent; 0: none was
    ``outcome``   that of the stream; ``refused``, ``answered`` for the sidecar's own pages
    ``cause``     why, where it failed: the time-out, the refusal, what the connection to the upstream met
    ``seconds``   that it took
    ``upstream``  the status that the upstream answered with, ``None`` without an answer
    ``stats``     of the stream; ``None`` where none began
    """

    src: str
    dst: str
    id: str
    method: str
    status: int
    outcome: str
    cause: str | None
    seconds: float
    upstream: int | None
    stats: Stats | None

    def figures(self) -> dict[str, str | int | float]:
        """All that is known, as members of JSON."""
        stats = self.stats
        found = {name: getattr(self, name) for name in self.__slots__ if name != "stats"}
        if stats is not None:
            found |= {name: getattr(stats, name) for name in _FIGURES}
        return {name: value for name, value in found.items() if value is not None}


class Observer:
    """A hook that is told of streams. Derive from it, and define what is wanted.

    Each method is called in the task that runs the stream, and should return at once. What it raises is logged, by
    type and place, and has no other effect.
    """

    def on_start(self, stats: Stats) -> None:
        """A stream begins: its source is about to be opened."""

    def on_unit(self, stats: Stats, count: int, seconds: float) -> None:
        """``count`` units, one at least, arrived in one piece of input, and were translated in so many ``seconds``."""

    def on_loss(self, stats: Stats, loss: Finding) -> None:
        """Content that the target cannot say natively; ``loss.carried``: it travels in the carry."""

    def on_end(self, stats: Stats) -> None:
        """The stream ended, and its source is closed. Called once for every ``on_start``."""

    def on_request_start(self, src: str, dst: str) -> None:
        """A request to a sidecar begins, that is not for its own pages."""

    def on_request(self, request: Request) -> None:
        """It is over, whatever came of it: also where it never became a stream. Called once for each that began."""

    def on_load(self, connections: int, waiting: int, held: int) -> None:
        """Once a second, of a sidecar: its connections, those that wait to be accepted, bytes that requests hold."""


class Watched(Report):
    """A report of content that tells its observers of each loss."""

    def __init__(self, told: Told) -> None:
        super().__init__(incidental=False)
        self._told = told

    def add(self, kind: Literal["predicted", "losses", "guesses", "repairs"], finding: Finding) -> None:
        """Keep a finding, and tell of it."""
        super().add(kind, finding)
        if kind == "losses":
            self._told("on_loss", finding)


class Told:
    """The observers of one stream, or of one request, told together."""

    def __init__(self, stats: Any, observers: Sequence[Observer]) -> None:
        self.stats = stats
        self._observers = observers
        self.units = any(type(each).on_unit is not Observer.on_unit for each in observers)
        """Whether someone wants to be told of units."""

    def __call__(self, hook: str, *args: Any) -> None:
        """Call a method of each."""
        for observer in self._observers:
            try:
                getattr(observer, hook)(self.stats, *args)
            except Exception as error:
                # without messages: one chained to it may quote the stream
                where = "".join(format_tb(error.__traceback__))
                _log.error("%s of an observer failed: %s\n%s", hook, type(error).__name__, where)

    def end(self) -> None:
        """Tell of the end, and log it: never what the stream held, nor what an error quotes of it."""
        self("on_end")
        stats, failure = self.stats, self.stats.failure
        level = {"finished": logging.DEBUG, "passed": logging.DEBUG, "disconnected": logging.INFO}
        _log.log(
            level.get(stats.outcome or "", logging.WARNING),
            "stream of %s to %s: %s%s; %d units in %.3f s",
            stats.src,
            stats.dst,
            stats.outcome,
            "" if failure is None else f" ({named(failure)})",
            stats.units,
            stats.duration,
        )


def named(error: BaseException) -> str:
    """An error by its type and its place, without what it quotes."""
    if isinstance(error, StreamTimeout):
        return f"StreamTimeout, {error.phase}"
    if isinstance(error, TranslateError):
        at = "" if error.unit is None else f" in unit {error.unit} of {error.format}"
        return f"{type(error).__name__}{at}"
    return type(error).__name__


def outcome_of(failure: BaseException | None) -> Outcome:
    """The outcome that a failure makes."""
    match failure:
        case None:
            return "finished"
        case UpstreamFailure():
            return "failed"
        case StreamTimeout():
            return "timed out"
        case StreamStopped() | OverBudget():
            return "stopped"
        case TranslateError() if not isinstance(failure, TruncatedStream):
            return "broken"
        case Exception():
            return "cut"
        case _:
            return "cancelled"
