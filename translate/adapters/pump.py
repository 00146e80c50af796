"""One stream on its way into a sink: what :func:`translate.adapters.relay` and the adapters for HTTP share.

1. Input is asked for only when the output of all before it was taken: the sink holds the source. There is no queue.
2. A second task, beside the one that pulls, looks at the clock, and a third waits for the receiver to leave. What they
   find cancels the first; nothing is ever timed, or pinged, from within an iterator.
3. A source is closed whatever happens, and before a failure is said that it did not report itself.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterable, Awaitable, Callable, Sequence
from time import perf_counter
from typing import Any, Unpack

import anyio.lowlevel
from anyio.abc import TaskGroup

from ..engine.translator import Translator
from ..errors import StreamTimeout
from .alarms import Alarms, Waits
from .budget import OverBudget, Share
from .observe import Observer, Outcome, Stats, Told, Watched, outcome_of
from .options import Sink, StreamOptions, Timeouts
from .output import GRACE, Output, SinkError, loop_clock
from .running import Running
from .upstream import TURN, Response, Source, Upstream, opened, size

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
    source is open.
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
        **options: Unpack[StreamOptions],
    ) -> None:
        self.stats = Stats(src, dst)
        self._told = Told(self.stats, observers)
        self.stats.report = Watched(self._told)
        self._translator: Translator | None = Translator(
            src, dst, errors="encode" if encode else "raise", report=self.stats.report, **options
        )
        if not self._translator.joined:
            raise ValueError(f"adapters write bytes, and {dst!r} is a format of objects")
        self._share, self._running = share, running
        self._output = Output(sink, refuse, self.stats)
        self._alarms = Alarms(timeouts, ping)
        self._scope: anyio.CancelScope | None = None
        self._group: TaskGroup | None = None
        self._upstream: Upstream | None = None
        self._held: list[Any] = []
        self._waits = Waits(self._output, self.stats, self._alarms, eager)
        self._ended_by: Exception | None = None
        self.left = False  # whether the receiver has
        self._clock: Callable[[], float] = anyio.current_time
        self.begun = False
        """Whether there is a stream: see :meth:`begin`."""

    def passing(self) -> None:
        """From here on, pass everything on as it is: it is no stream."""
        self._translator, self._waits.passes = None, True

    def stop(self, error: Exception) -> None:
        """End the stream now, with ``error`` as its failure unless all was said."""
        if self._ended_by is None and self._waits.state != "done":
            self._ended_by = None if self._said else error
            self.finish()

    def finish(self) -> None:
        """Cancel the body: nothing more of it is wanted."""
        if self._scope is not None:
            self._scope.cancel()
        if self._output.busy and self._group is not None:
            self._group.start_soon(self._release)

    async def _release(self) -> None:
        """Close the source, though its sink has not heard yet that it is cancelled: some servers shield a send."""
        await anyio.sleep(HOLD)
        await self._hang_up()

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
        if isinstance(source, (AsyncIterable, Response)):
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
            self._waits.open = True
            if head is not None:
                await head(upstream)
            chunks = aiter(upstream)
        except Exception as error:
            return error
        lingers, taken = False, 0
        while not self.finished:
            taken += 1
            try:
                if not taken % TURN:
                    await anyio.lowlevel.checkpoint()
                chunk = await anext(chunks)
            except StopAsyncIteration:
                break
            except Exception as error:
                return error
            if self.left or self._ended_by is not None:
                # it swallowed its cancellation
                break
            await self.take(chunk)
            if self._scope is not None and not lingers and self._translator is not None and self._translator.ended:
                lingers = True
                self._scope.deadline = anyio.current_time() + LINGER
        return None

    async def _hang_up(self) -> None:
        """Close the source, once. That it does not close well is no failure of what it said."""
        upstream, self._upstream = self._upstream, None
        if upstream is not None:
            self._waits.state = "closing"
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
        self.begun = True
        self._waits.begin()
        self._clock = loop_clock()
        self._output.clock = self._clock if self._alarms else None
        self._told("on_start")
        if self._running is not None:
            self._running.add(self)
        if self._alarms and self._group is not None:
            self._group.start_soon(self._alarms.watch, self._since, self._ring)

    def _close(self, raised: BaseException | None) -> None:
        if self.begun:
            self.stats.outcome, self.stats.failure = self._outcome(raised)
            self.stats.duration = anyio.current_time() - self._waits.start
            if self._translator is not None:
                self.stats.said(self._translator.model, self._translator.usage)
            self._told.end()
            if self._running is not None:
                self._running.discard(self)
        self._waits.state = "done"
        # it holds the frames that hold it, and with them what the body streams from
        self._output.error = None

    async def _guarded(self, body: Callable[[], Awaitable[None]]) -> None:
        with anyio.CancelScope() as self._scope:
            if self._ended_by is None:
                await body()
        await self._hang_up()
        error, output = self._ended_by, self._output
        if error is not None and not self.left and output.error is None:
            if output.busy:
                # what the sink was taking may be torn: nothing can follow it
                raise error
            with anyio.move_on_after(GRACE) as self._scope:
                await self.fail(error)
            if self._scope.cancelled_caught and not self.left and output.error is None:
                raise error
        if output.error is not None:
            raise output.error

    def _outcome(self, raised: BaseException | None) -> tuple[Outcome, BaseException | None]:
        translator = self._translator
        if self.complete and not isinstance(raised, Exception):
            # whatever ended it came after all was said
            return "finished", None
        if self._output.error is not None:
            return "disconnected", self._output.error.error
        if self.left:
            return "disconnected", None
        failure = raised or (translator.failure if translator is not None else None) or self._ended_by
        if translator is None and failure is None:
            return "passed", None
        return outcome_of(failure), failure

    # ---- the stream ------------------------------------------------------------------------------------------

    @property
    def finished(self) -> bool:
        """Whether nothing more is to be taken: the output has said why."""
        translator = self._translator
        return self._output.refused if translator is None else translator.finished

    @property
    def _said(self) -> bool:
        """Whether the sink has taken all of a stream, its terminal unit included."""
        ended = self._translator is not None and self._translator.ended
        return ended and not self._held and not self._output.busy

    @property
    def complete(self) -> bool:
        """Whether the sink has taken all of a stream that finished."""
        return self._said and self._translator is not None and self._translator.failure is None

    async def take(self, chunk: Any) -> None:
        """Translate one piece of input, or pass it on; wait until the sink has taken what comes of it."""
        self.stats.bytes_in += size(chunk)
        if self._translator is None:
            self._held.append(chunk)
            await self._output.quiet()
            await self._flush()
        else:
            units = self.stats.units
            try:
                await self._say(self._translator, self._counted(self._translator.feed, chunk))
                if self._share is not None and not self.finished:
                    self._share.read(size(chunk), self.stats.units, self._translator.held)
            except OverBudget as error:
                await self.fail(error)
            if units != self.stats.units:
                if self.stats.first is not None:
                    self.stats.last = self._clock() - self._waits.start
                if self._alarms:
                    self._waits.unit_came()

    async def end(self) -> None:
        """The input ended."""
        if self._translator is not None:
            await self._say(self._translator, self._counted(self._translator.close))

    async def fail(self, error: Exception) -> None:
        """The input failed; after the end that is no one's concern. Raises ``error`` where the output cannot say it."""
        translator, output = self._translator, self._output
        if translator is None:
            await output.quiet()
            if not output.refusable:
                raise error
            await output.refuse(error)
        elif translator.ended or translator.finished:
            await self._give(translator)
        else:
            if self._held:
                await self._give(translator)
            await self._say(translator, translator.fail(error))

    def _counted(self, step: Callable[..., list[Any]], *args: Any) -> list[Any]:
        stats, began = self.stats, perf_counter()
        try:
            return step(*args)
        finally:
            spent = perf_counter() - began
            stats.translating += spent
            units = self._translator.units if self._translator is not None else 0
            if units != stats.units:
                count, stats.units = units - stats.units, units
                if self._told.units:
                    self._told("on_unit", count, spent)

    async def _say(self, translator: Translator, out: list[Any]) -> None:
        self._held += out
        await self._give(translator)
        if translator.error is not None:
            raise translator.error

    async def _give(self, translator: Translator) -> None:
        """Give the sink all that it has not got: what was translated is held while a keep-alive is being written."""
        failure = translator.failure
        if failure is not None and translator.finished and self._upstream is not None:
            # a source that reported it itself is about to end
            await self._hang_up()
            await anyio.lowlevel.checkpoint_if_cancelled()
        await self._output.quiet()
        at_first = failure is not None and (not translator.units or getattr(failure, "unit", None) == 0)
        if failure is not None and (self._output.refused or (at_first and self._output.refusable)):
            self._held.clear()
            await self._output.refuse(failure)
        elif self._held:
            await self._flush()
            if self.stats.first is None and translator.units:
                self.stats.first = self._clock() - self._waits.start
        elif self._alarms:
            self._waits.read = anyio.current_time()

    async def _flush(self) -> None:
        out, self._held = self._held, []
        # a failure is said whatever it takes
        fails = self._translator is not None and self._translator.failure is not None
        await self._output.put(out[0] if len(out) == 1 else b"".join(out), None if fails else self._share)
        if self._alarms:
            self._waits.read = self._output.written

    async def _wait_for(self, gone: Callable[[], Awaitable[None]]) -> None:
        try:
            await gone()
        except Exception as error:
            self._output.error = SinkError(error)
        self.left = True
        self.finish()

    def _ring(self, phase: str, seconds: float) -> None:
        if phase != "ping":
            self.stop(StreamTimeout(phase, seconds))
        elif self._group is not None:
            self._output.written = anyio.current_time()
            self._group.start_soon(self._ping)

    def _since(self, wait: str) -> float | None:
        self._waits.finished, self._waits.held = self.finished, bool(self._held)
        return self._waits.since(wait)

    async def _ping(self) -> None:
        if self._waits.state != "reading" or self._output.since is not None or self._translator is None:
            # something was said after all
            return
        try:
            out = self._translator.ping()
            if out:
                await self._output.ping(b"".join(out))
        except SinkError:
            self.finish()
        except Exception as error:
            self.stop(error)
