"""The half of a translation behind the grammar: events become output."""

from __future__ import annotations

from collections.abc import Sequence

from ..algebra.events import Append, Event, Failure, Finish, Ping
from ..algebra.failures import reported
from ..carry.losses import LossPolicy
from ..codec import Options
from ..registry import resolve
from .forms import Form, Run, gather
from .sink import UnitSink
from .trace import Tracer, TracingSink, TracingWriter


class Writing:
    """The half of a translation behind the grammar: events in, output units out."""

    def __init__(self, dst: str, options: Options, loss: LossPolicy, tracer: Tracer | None = None) -> None:
        codec, shape = resolve(dst)
        self.format = dst
        self.codec = codec
        self.objects = shape.objects
        options.objects = shape.objects
        self._options = options
        writer = shape.writer()
        self.joined = writer.joined
        self._tracer = tracer
        if tracer is None:
            self.sink = UnitSink(codec, writer, options, loss)
        else:
            self.sink = TracingSink(codec, TracingWriter(writer, tracer), options, loss, tracer)
        self._encoder = codec.encoder(self.sink, options)
        self.ended = False

    def encode_all(self, events: Sequence[Event], *, stop_at_failure: bool) -> None:
        """Events of the grammar, in order. ``stop_at_failure``: a failure is raised instead of being said."""
        at, end = 0, len(events)
        while at < end:
            event = events[at]
            if type(event) is Append and at + 1 < end and (run := gather(events, at)) is not None:
                self.run(run)
                at += len(run.texts)
                continue
            if stop_at_failure and type(event) is Failure:
                raise reported(event)
            self.encode(event)
            at += 1

    def trace_all(self, events: Sequence[Event], *, stop_at_failure: bool) -> None:
        """As :meth:`encode_all`, one by one, each told to the tracer."""
        assert self._tracer is not None
        for event in self._tracer.read(self._options.unit, events):
            if stop_at_failure and type(event) is Failure:
                raise reported(event)
            self._tracer.begin(event)
            self.encode(event)

    def encode_own(self, event: Event) -> None:
        """An event that comes from no unit of the source."""
        if self._tracer is not None:
            self._tracer.begin(event, own=True)
        self.encode(event)

    def run(self, run: Run) -> Form | None:
        """Plain fragments; the form that the last of them was written in, if any."""
        form = self.sink.run(self._encoder, run)
        if form is not None:
            return form
        if self._encoder.holds:
            self._encoder.hold(run.events())
            return None
        # what the encoder holds, and the stream's first carry, go out with the first
        first, others = run.split(1)
        self._encode_each(first)
        if others.texts:
            form = self.sink.run(self._encoder, others)
            if form is None:
                self._encode_each(others)
        return form

    def _encode_each(self, run: Run) -> None:
        for event in run.events():
            self._encoder.encode(event)

    @property
    def holds(self) -> bool:
        """Whether plain fragments are only held."""
        return self._encoder.holds

    def passed(self, run: Run, *, silent: bool) -> None:
        """Hot units were written by someone else; ``silent``: for there is nothing to write."""
        if silent:
            self.run(run)
        else:
            self._encoder.grow(run.text)
            self.sink.units += len(run.texts)

    def encode(self, event: Event) -> None:
        """One event of the grammar; what it lets be said is in the sink's ``out``."""
        if type(event) is Ping:
            self._encoder.ping(event)
            return
        self._encoder.encode(event)
        if type(event) in (Finish, Failure):
            self.ended = True
            self.sink.end()
