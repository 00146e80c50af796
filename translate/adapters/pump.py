"""One stream on its way into a sink: what :func:`translate.adapters.relay` and the adapters for HTTP share.

1. Input is asked for only when the output of all before it was taken: the sink holds the source. There is no queue.
2. A second task, beside the one that pulls, looks at the clock, and a third waits for the receiver to leave. What they
   find cancels the first; nothing is ever timed, or pinged, from within an iterator.
3. A source is closed before anything more is said, and whatever happens, even if the sink cannot be cancelled.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import fields
from time import perf_counter
from typing import Any, Literal, Unpack

import anyio
import anyio.lowlevel
from anyio.abc import TaskGroup

from ..errors import StreamTimeout
from ..translator import Translator
from .observe import Observer, Outcome, Stats, Told, Watched, outcome_of
from .options import Sink, StreamOptions, Timeouts
from .upstream import Source, Upstream, opened

GRACE = 1.0
"""Seconds that a receiver has to take the failure unit of a stream that was ended."""
HOLD = 0.1
"""Seconds that a sink has to let go of a stream that was ended; then its source is closed all the same."""
LINGER = 1.0
"""Seconds that a source has to end after its terminal unit: one that does can be used again."""


class SinkError(Exception):
    """The sink raised ``error``: no fault of the stream."""

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.error = error


_LEFT = (OSError, anyio.BrokenResourceError, anyio.ClosedResourceError)


class Pump:
    """Runs one stream, once: :meth:`pull` from a source, or :meth:`run` a body that calls :meth:`take` and :meth:`end`.

    ``sink`` takes the output. ``refuse`` is called instead, with the failure, where a stream fails before any of its
    units; without it, and after the first output, the output ends in the target's failure unit.
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
        self._sink = sink
        self._refuse = refuse
        limits = timeouts or Timeouts()
        self._alarms = {each.name: seconds for each in fields(limits) if (seconds := getattr(limits, each.name))}
        if ping:
            self._alarms["ping"] = ping
        self._scope: anyio.CancelScope | None = None
        self._state: Literal["reading", "writing", "done"] = "reading"
        self._start = self._since = self._written = 0.0
        self._pinging: anyio.Event | None = None
        self._ping_since = 0.0
        self._ended_by: Exception | None = None
        self.left = False
        """Whether the receiver has left."""
        self._sink_error: SinkError | None = None
        self._group: TaskGroup | None = None
        self._upstream: Upstream | None = None
        self.begun = False
        """Whether there is a stream: see :meth:`begin`."""

    def passing(self) -> None:
        """From here on, pass everything on as it is: it is no stream."""
        self._translator = None

    def finish(self) -> None:
        """Cancel the body: nothing more of it is wanted."""
        self._cancel()

    def stop(self, error: Exception) -> None:
        """End the stream now, with ``error`` as its failure."""
        if self._ended_by is None and self._state != "done":
            self._ended_by = error
            self._cancel()

    def _cancel(self) -> None:
        if self._scope is not None:
            self._scope.cancel()
        if self._state == "writing" and self._upstream is not None and self._group is not None:
            self._group.start_soon(self._release, self._upstream)

    async def _release(self, upstream: Upstream) -> None:
        await anyio.sleep(HOLD)
        with suppress(Exception):
            await upstream.aclose()

    # ---- running ---------------------------------------------------------------------------------------------

    async def pull(
        self,
        source: Source,
        gone: Callable[[], Awaitable[None]] | None = None,
        head: Callable[[Upstream], None] | None = None,
    ) -> Stats:
        """Run a stream from its source. ``head`` is shown the source once it is open; ``gone`` returns when the
        receiver has left.
        """

        async def body() -> None:
            failure, upstream = None, None
            try:
                try:
                    self._upstream = upstream = await opened(source)
                except Exception as error:
                    failure = error
                else:
                    if head is not None:
                        head(upstream)
                    failure = await self._all(upstream)
            finally:
                if upstream is not None:
                    await upstream.aclose()
            # a source that was closed from elsewhere has not ended
            await anyio.lowlevel.checkpoint_if_cancelled()
            await (self.end() if failure is None else self.fail(failure))

        return await self.run(body, gone)

    async def _all(self, upstream: Upstream) -> Exception | None:
        """Take all that the source gives; what it raised, if it did."""
        chunks, lingers = aiter(upstream), False
        while not self.finished:
            try:
                chunk = await anext(chunks)
            except StopAsyncIteration:
                break
            except Exception as error:
                return error
            await self.take(chunk)
            if self._scope is not None and not lingers and self._translator is not None and self._translator.ended:
                lingers = True
                self._scope.deadline = anyio.current_time() + LINGER
        return None

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
        raised: Exception | None = None
        try:
            async with anyio.create_task_group() as self._group:
                if begin:
                    self.begin()
                if gone is not None:
                    self._group.start_soon(self._wait_for, gone)
                try:
                    await self._guarded(body)
                except Exception as error:
                    # raised here, it would be raised in a group
                    raised = error
                self._group.cancel_scope.cancel()
        except BaseException as error:
            self._close(error)
            raise
        self._close(raised)
        if isinstance(raised, SinkError):
            raised = None if isinstance(raised.error, _LEFT) else raised.error
        if raised is not None:
            raise raised
        return self.stats

    def begin(self) -> None:
        """There is a stream: its time begins."""
        self.begun = True
        self._start = self._since = self._written = anyio.current_time()
        self._told("on_start")
        if self._alarms and self._group is not None:
            self._group.start_soon(self._watch, self._group)

    def _close(self, raised: BaseException | None) -> None:
        if self.begun:
            self.stats.outcome, self.stats.failure = self._outcome(raised)
            self.stats.duration = anyio.current_time() - self._start
            self._told.end()
        self._state = "done"

    async def _guarded(self, body: Callable[[], Awaitable[None]]) -> None:
        with anyio.CancelScope() as self._scope:
            if self._ended_by is None:
                await body()
        if self._sink_error is not None:
            raise self._sink_error
        if self._ended_by is not None and not self.left:
            if self._state == "writing":
                # what the sink was taking may be torn: nothing can follow it
                raise self._ended_by
            with anyio.move_on_after(GRACE) as self._scope:
                await self.fail(self._ended_by)
            if self._scope.cancelled_caught and not self.left:
                raise self._ended_by

    def _outcome(self, raised: BaseException | None) -> tuple[Outcome, BaseException | None]:
        translator = self._translator
        if self.complete and (self.left or self._ended_by is not None):
            # what ended it came after all was said
            return "finished", None
        if self._sink_error is not None:
            return "disconnected", self._sink_error.error
        if self.left:
            return "disconnected", None
        failure = self._ended_by or raised or (translator.failure if translator is not None else None)
        if translator is None and failure is None:
            return "passed", None
        return outcome_of(failure), failure

    # ---- the stream ------------------------------------------------------------------------------------------

    @property
    def finished(self) -> bool:
        """Whether nothing more is to be taken: the output has said why."""
        return self._translator is not None and self._translator.finished

    @property
    def complete(self) -> bool:
        """Whether the sink has taken all of a stream that finished."""
        translator = self._translator
        said = translator is not None and translator.ended and translator.failure is None
        return said and self._state != "writing"

    async def take(self, chunk: Any) -> None:
        """Translate one piece of input, or pass it on; wait until the sink has taken what comes of it."""
        stats, translator = self.stats, self._translator
        if isinstance(chunk, (bytes, str)):
            stats.bytes_in += len(chunk)
        if translator is None:
            await self._put([chunk])
            return
        began = perf_counter()
        try:
            out = translator.feed(chunk)
        finally:
            spent = perf_counter() - began
            stats.translating += spent
            units = translator.units
            if units != stats.units:
                count, stats.units = units - stats.units, units
                if self._told.units:
                    self._told("on_unit", count, spent)
        await self._say(translator, out)

    async def end(self) -> None:
        """The input ended."""
        if self._translator is not None:
            await self._say(self._translator, self._translator.close())

    async def fail(self, error: Exception) -> None:
        """The input failed. Raises ``error`` where the output cannot say it."""
        translator = self._translator
        if translator is None:
            if self._refuse is None or self.stats.bytes_out:
                raise error
            await self._refuse(error)
        elif not translator.finished:
            await self._say(translator, translator.fail(error))

    async def _say(self, translator: Translator, out: list[Any]) -> None:
        failure = translator.failure
        at_first = not translator.units or getattr(failure, "unit", None) == 0
        if failure is not None and at_first and self._refuse is not None and not self.stats.bytes_out:
            await self._refuse(failure)
            return
        if out:
            await self._put(out)
            if self.stats.first is None and translator.units:
                self.stats.first = anyio.current_time() - self._start
        elif self._alarms:
            self._since = anyio.current_time()
        if translator.error is not None:
            raise translator.error

    async def _put(self, out: list[Any]) -> None:
        if self._alarms:
            while self._pinging is not None:
                await self._pinging.wait()
            self._state, self._since = "writing", anyio.current_time()
            await self._write(out)
            self._state, self._since = "reading", anyio.current_time()
            self._written = self._since
        else:
            self._state = "writing"
            await self._write(out)
            self._state = "reading"

    async def _write(self, out: list[Any]) -> None:
        data: bytes = out[0] if len(out) == 1 else b"".join(out)
        try:
            await self._sink(data)
        except Exception as error:
            self._sink_error = SinkError(error)
            raise self._sink_error from error
        self.stats.bytes_out += len(data)

    # ---- beside it -------------------------------------------------------------------------------------------

    async def _wait_for(self, gone: Callable[[], Awaitable[None]]) -> None:
        await gone()
        self._leave()

    def _leave(self) -> None:
        self.left = True
        self._cancel()

    async def _watch(self, group: TaskGroup) -> None:
        """Ring each alarm when it is due; sleep till the first that may be."""
        while True:
            now = anyio.current_time()
            wake = math.inf
            for phase, seconds in self._alarms.items():
                since = self._waits(phase)
                if since is not None and since + seconds <= now:
                    if phase != "ping":
                        self.stop(StreamTimeout(phase, seconds))
                        return
                    self._written = since = now
                    group.start_soon(self._ping)
                wake = min(wake, (now if since is None else since) + seconds)
            await anyio.sleep(wake - now)

    def _waits(self, phase: str) -> float | None:
        """Since when a wait goes on, ``None`` where it does not."""
        match phase:
            case "total":
                return self._start
            case "first":
                return self._start if self.stats.first is None else None
            case "ping":
                return self._written if self._state == "reading" and self._pinging is None else None
            case "idle":
                return self._since if self._state == "reading" else None
            case _:
                if self._pinging is not None:
                    return self._ping_since
                return self._since if self._state == "writing" else None

    async def _ping(self) -> None:
        out = self._translator.ping() if self._translator is not None else []
        if not out:
            return
        self._pinging, self._ping_since = anyio.Event(), anyio.current_time()
        try:
            await self._write(out)
            self.stats.pings += 1
        except SinkError:
            self._cancel()
        finally:
            self._pinging.set()
            self._pinging = None
