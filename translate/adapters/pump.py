"""One stream on its way into a sink: what :func:`translate.adapters.relay` and the adapters for HTTP share.

1. Input is asked for only when the output of all before it was taken: the sink holds the source. There is no queue.
2. A second task, beside the one that pulls, looks at the clock, and a third waits for the receiver to leave. What they
   find cancels the first; nothing is ever timed, or pinged, from within an iterator.
3. A source is closed whatever happens, and before a failure is said that it did not report itself.
4. What is done about what happens stands in the table of :mod:`.course`.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from time import perf_counter
from typing import Any, Unpack

import anyio.lowlevel
from anyio.abc import TaskGroup

from ..engine.translator import Translator
from ..errors import StreamTimeout
from .alarms import Alarms, Waits
from .budget import OverBudget, Share
from .course import WRITES, Course
from .observe import Observer, Outcome, Stats, Told, Watched, outcome_of
from .options import Sink, StreamOptions, Timeouts
from .output import GRACE, Output, SinkError, loop_clock
from .running import Running
from .upstream import TURN, Source, Upstream, is_open, opened, size

HOLD = 0.1
"""Seconds that a sink has to be cancelled."""
LINGER = 1.0
"""Seconds that a source has to end after its terminal unit: one that does can be used again."""
_log = logging.getLogger("translate.adapters")


class Pump:
    """Runs one stream, once: :meth:`pull` from a source, or :meth:`run` a body that calls :meth:`take` and :meth:`end`.

    ``sink`` takes the output. ``refuse`` is called instead, with the failure, where a stream fails before any of its
    units; without it, and after the first output, the output ends in the target's failure unit. ``share`` is of the
    memory that all streams may hold. ``running`` is told of it. ``eager``: keep-alives are sent even before the
    source is open. ``make`` makes the translator.
    """

    def __init__(
        self,
        src: str,
        dst: str,
        sink: Sink,
        *,
        ping: float | None = None,
        timeouts: Timeouts | None = None,
        observers: Sequence[Observer] = (),
        refuse: Callable[[Exception], Awaitable[None]] | None = None,
        encode: bool = True,
        share: Share | None = None,
        running: Running | None = None,
        eager: bool = True,
        make: Callable[..., Translator] | None = None,
        **options: Unpack[StreamOptions],
    ) -> None:
        self.stats = Stats(src, dst)
        self._told = Told(self.stats, observers)
        self.stats.report = Watched(self._told)
        self._translator: Translator = (make or partial(Translator, src, dst, **options))(
            errors="encode" if encode else "raise", report=self.stats.report
        )
        if not self._translator.joined:
            raise ValueError(f"adapters write bytes, and {dst!r} is a format of objects")
        self._share, self._running = share, running
        self.course = Course(refusable=refuse is not None)
        """Where the stream is: nothing else says so."""
        self._output = Output(self.course, sink, refuse, self.stats)
        self._alarms = Alarms(timeouts, ping)
        self._timed = bool(self._alarms)
        self._waits = Waits(self.course, self._output, self.stats, self._alarms)
        self._eager = eager
        self._scope: anyio.CancelScope | None = None
        self._group: TaskGroup | None = None
        self._upstream: Upstream | None = None
        self._stopped: Exception | None = None
        """Why the stream was ended from outside."""
        self._clock: Callable[[], float] = anyio.current_time

    def stop(self, error: Exception) -> None:
        """End the stream now, with ``error`` as its failure unless all was said."""
        if self._stopped is None and self.course.does("stop") == "end":
            self._stopped = error
            self.cancel()

    def cancel(self) -> None:
        """Cancel the body: nothing more of it is wanted."""
        if self._scope is not None:
            self._scope.cancel()
        if self._group is not None and self.course.does("cancel") == "free":
            self._group.start_soon(self._release)

    async def _release(self) -> None:
        """Close the source, though its sink has not heard yet that it is cancelled: some servers shield a send."""
        await anyio.sleep(HOLD)
        await self._hang_up()

    def leave(self) -> None:
        """The receiver has left, and who sends to it knows."""
        if self.course.does("leave") == "leave":
            self.course.receives("leaves")

    # ---- running ---------------------------------------------------------------------------------------------

    async def pull(
        self,
        source: Source,
        gone: Callable[[], Awaitable[None]] | None = None,
        head: Callable[[Upstream], Awaitable[None]] | None = None,
    ) -> Stats:
        """Run a stream from its source. ``head`` is shown the source once it is open, and may raise what it fails of;
        ``gone`` returns when the receiver has left.
        """
        if is_open(source):
            # it is closed even where nothing is ever asked of it
            self._upstream = Upstream(source)

        async def body() -> None:
            try:
                failure = await self._all(source, head)
            finally:
                await self._hang_up()
            # a source may answer a cancellation with an end, or an error, of its own
            await anyio.lowlevel.checkpoint_if_cancelled()
            await (self.end() if failure is None else self.fail(failure))

        return await self.run(body, gone)

    async def _all(self, source: Source, head: Callable[[Upstream], Awaitable[None]] | None) -> Exception | None:
        """Take all that the source gives; what it raised, if it did."""
        try:
            upstream = self._upstream = self._upstream or await opened(source)
            self.course.happens("opens")
            if head is not None:
                await head(upstream)
            chunks = aiter(upstream)
        except Exception as error:
            return error
        lingers, taken = False, 0
        while not self.course.finished:
            taken += 1
            try:
                if not taken % TURN:
                    await anyio.lowlevel.checkpoint()
                chunk = await anext(chunks)
            except StopAsyncIteration:
                break
            except Exception as error:
                return error
            if self._stopped is not None or self.course.receiver == "left":
                # it swallowed its cancellation
                break
            await self.take(chunk)
            if not lingers and self.course.source in ("said", "reported") and self._scope is not None:
                lingers = True
                self._scope.deadline = anyio.current_time() + LINGER
        return None

    async def _hang_up(self) -> None:
        """Close the source, once. That it does not close well is no failure of what it said."""
        upstream, self._upstream = self._upstream, None
        if upstream is not None:
            self.course.happens("closes")
            try:
                await upstream.aclose()
            except Exception as error:
                _log.warning("a source failed to close: %s", type(error).__name__)

    async def run(
        self,
        body: Callable[[], Awaitable[None]],
        gone: Callable[[], Awaitable[None]] | None = None,
        *,
        begin: bool = True,
    ) -> Stats:
        """Run ``body``, which takes the input and then the end. Returns the figures of the stream, and raises what
        its output does not say.

        ``begin=False``: it is not known yet whether there will be a stream; ``body`` then calls :meth:`begin` itself.
        """
        raised: BaseException | None = None
        try:
            async with anyio.create_task_group() as self._group:
                if begin:
                    self.begin()
                if gone is not None:
                    self._group.start_soon(self._wait_for, gone)
                try:
                    await self._guarded(body)
                except BaseException as error:
                    if isinstance(error, (anyio.get_cancelled_exc_class(), GeneratorExit)):
                        raise
                    # raised here, it would be raised in a group
                    raised = error
                self._group.cancel_scope.cancel()
        except BaseException as error:
            self._close(error)
            raise
        self._close(raised)
        if isinstance(raised, SinkError):
            raised = None if raised.left else raised.error
        if raised is not None:
            raise raised
        return self.stats

    def begin(self) -> None:
        """There is a stream: its time begins."""
        self.course.happens("opens" if self._eager else "begins")
        self._waits.begin()
        self._clock = loop_clock()
        self._output.clock = self._clock if self._timed else None
        self._told("on_start")
        if self._running is not None:
            self._running.add(self)
        if self._timed and self._group is not None:
            self._group.start_soon(self._alarms.watch, self._waits.since, self._ring)

    def _close(self, raised: BaseException | None) -> None:
        if self.course.begun:
            self.stats.outcome, self.stats.failure = self._outcome(raised)
            self.stats.duration = anyio.current_time() - self._waits.start
            self.stats.said(self._translator.model, self._translator.usage)
            self._told.end()
            if self._running is not None:
                self._running.discard(self)
        self._scope = self._group = None
        # it holds the frames that hold it, and with them what the body streams from
        self._output.error = None

    async def _guarded(self, body: Callable[[], Awaitable[None]]) -> None:
        with anyio.CancelScope() as self._scope:
            if self._stopped is None:
                await body()
        await self._hang_up()
        if self._stopped is not None:
            with anyio.move_on_after(GRACE) as self._scope:
                await self.fail(self._stopped)
            if self._scope.cancelled_caught and self.course.receiver != "left":
                raise self._stopped
        if self._output.error is not None:
            raise self._output.error

    def _outcome(self, raised: BaseException | None) -> tuple[Outcome, BaseException | None]:
        end = self.course.does("end")
        if end == "whole" and not isinstance(raised, Exception):
            # whatever ended it came after all was said
            return "finished", None
        if end == "left":
            return "disconnected", self._output.error and self._output.error.error
        failure = raised or self._translator.failure or self._stopped
        return ("passed" if end == "passed" and failure is None else outcome_of(failure)), failure

    # ---- the stream ------------------------------------------------------------------------------------------

    async def take(self, chunk: Any) -> None:
        """Translate one piece of input, or pass it on; wait until the sink has taken what comes of it."""
        stats, taken = self.stats, size(chunk)
        stats.bytes_in += taken
        if self.course.source == "passing":
            self._output.held.append(chunk)
            await self._give()
            return
        units = stats.units
        try:
            await self._say(self._translator.feed, chunk)
            if self._share is not None and not self.course.finished:
                self._share.read(taken, stats.units, self._part)
        except OverBudget as error:
            await self.fail(error)
        if units != stats.units:
            if stats.first is not None:
                stats.last = self._clock() - self._waits.start
            if self._timed:
                self._waits.unit_came()

    def _part(self) -> int:
        return self._translator.held

    async def end(self) -> None:
        """The input ended."""
        self.course.happens("closes")
        if self.course.source != "passed":
            await self._say(self._translator.close)

    async def fail(self, error: Exception) -> None:
        """The input failed; after the end that is no one's concern. Raises ``error`` where the output cannot say it."""
        await self._output.quiet()
        match self.course.does("fail"):
            case "say":
                await self._say(self._translator.fail, error)
            case "give":
                await self._give()
            case "refuse":
                await self._output.refuse(error)
            case "raise":
                raise error

    async def _say(self, step: Callable[..., list[Any]], *args: Any) -> None:
        """Take a step of the translation, and give the sink what comes of it."""
        self._output.held += self._counted(step, *args)
        await self._give()
        if self._translator.error is not None:
            raise self._translator.error

    def _counted(self, step: Callable[..., list[Any]], *args: Any) -> list[Any]:
        stats, translator, began = self.stats, self._translator, perf_counter()
        try:
            return step(*args)
        finally:
            spent, units = perf_counter() - began, translator.units
            stats.translating += spent
            if units != stats.units:
                count, stats.units = units - stats.units, units
                if self._told.units:
                    self._told("on_unit", count, spent)
            if translator.failure is not None:
                self.course.happens("fails" if translator.finished else "reports")
            elif translator.ended:
                self.course.happens("says")

    async def _give(self) -> None:
        """Give the sink all that it has not got: what was translated is held while something else is being written."""
        if self.course.source == "failed" and self._upstream is not None:
            # a source that reported it itself is about to end
            await self._hang_up()
            await anyio.lowlevel.checkpoint_if_cancelled()
        output, failure, units = self._output, self._translator.failure, self.stats.units
        if self.course.receiver in WRITES:
            await output.quiet()
        at_first = failure is not None and (not units or getattr(failure, "unit", None) == 0)
        match self.course.does("reject" if at_first else "give"):
            case "put" if output.held:
                # a failure is said whatever it takes
                await output.put(self._share if failure is None else None)
                if self._timed:
                    self._waits.read = output.written
                if self.stats.first is None and units:
                    self.stats.first = self._clock() - self._waits.start
            case "put" if self._timed:
                self._waits.read = self._clock()
            case "refuse" if failure is not None:
                output.held.clear()
                await output.refuse(failure)
            case "drop":
                output.held.clear()

    async def _wait_for(self, gone: Callable[[], Awaitable[None]]) -> None:
        try:
            await gone()
        except Exception as error:
            self._output.error = SinkError(error)
        self.cancel()
        self.leave()

    def _ring(self, phase: str, seconds: float) -> None:
        if phase != "ping":
            self.stop(StreamTimeout(phase, seconds))
        elif self._group is not None:
            self._output.written = anyio.current_time()
            self._group.start_soon(self._ping)

    async def _ping(self) -> None:
        if self.course.does("ping") != "ping":
            # something was said after all
            return
        try:
            out = self._translator.ping()
            if out:
                await self._output.ping(b"".join(out))
        except SinkError:
            self.cancel()
        except Exception as error:
            self.stop(error)
