"""One end of a translation by itself, by the long way or the short one: what the test kit compares."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from .. import jsontext
from ..algebra.events import Event, JsonObject, Ping, bare
from ..algebra.serial import was_said
from ..codec import Encoder, Options, Pieces, Said
from ..engine import runs
from ..engine.options import make_options
from ..engine.sink import Ending
from ..engine.source import Source
from ..engine.writing import Writing
from ..registry import resolve

NOW = 1694502400000


@dataclass(slots=True)
class Put:
    """One unit that was put: what it says and means, and the index of the event that was at work (``after``)."""

    unit: JsonObject | None
    name: str | None
    said: list[Event]
    meant: list[Event]
    made_up: bool
    after: int


@dataclass(slots=True)
class _Recorder:
    """In place of the sink: keeps what is put."""

    puts: list[Put] = field(default_factory=list)
    at: int = -1
    weighs = True

    def put(
        self,
        unit: JsonObject | None,
        name: str | None,
        said: Sequence[Event],
        meant: Sequence[Event],
        *,
        made_up: bool = False,
        later: Iterable[str] = (),
        end: Ending | None = None,
    ) -> None:
        if unit is not None or meant:
            self.puts.append(Put(copy.deepcopy(unit), name, list(said), list(meant), made_up, self.at))
        if end is not None:
            self.puts.append(Put(None, None, list(end.said), list(end.meant), end.made_up, self.at))

    def plain(self, said: Said, events: Sequence[Event]) -> None:
        unit, name, made_up = said
        self.put(unit, name, [*map(bare, events)], events, made_up=made_up)

    def native(self, unit: JsonObject, name: str | None = None) -> None:
        self.puts.append(Put(copy.deepcopy(unit), name, [], [], False, self.at))

    def ping(self) -> None:
        """A keep-alive is transport."""

    def end(self, *, failed: bool) -> None:
        """An end marker is transport."""


def _watched(encoder: Encoder) -> None:
    """Hold ``read`` and ``write`` of an encoder to being pure."""
    read, write = encoder.read, encoder.write

    def pure_read(unit: JsonObject, name: str | None) -> list[Event]:
        before, text = repr(_known_but_methods(encoder)), jsontext.dumps(unit)
        try:
            said = read(unit, name)
        finally:
            assert repr(_known_but_methods(encoder)) == before, f"`read` changed what is known at {unit}"
            assert jsontext.dumps(unit) == text, f"`read` changed the unit, which was {text.decode()}"
        marked = (event for event in said if event.residue and not was_said(event, encoder.name))
        assert not any(marked), "what is read has residues"
        return said

    def pure_write(events: Sequence[Event]) -> Pieces:
        before = repr(_known_but_methods(encoder))
        try:
            return write(events)
        finally:
            assert repr(_known_but_methods(encoder)) == before, f"`write` changed what is known at {events[-1]}"

    encoder.read, encoder.write = pure_read, pure_write  # type: ignore[method-assign]


def _known_but_methods(encoder: Encoder) -> dict[str, Any]:
    return {key: value for key, value in vars(encoder).items() if key not in ("read", "write", "codec", "options")}


def recorded(format: str, events: Sequence[Event], *, short: bool) -> list[Put]:
    """What an encoder puts for events, and that its long ways are pure."""
    options: Options = make_options(clock=lambda: NOW)
    writing = Writing(format, options, "carry")
    recorder = _Recorder()
    writing.sink = recorder  # type: ignore[assignment]
    if not short:
        writing.go_the_long_way()
        if not writing.codec.complete:
            _watched(writing.encoder)
    for recorder.at, event in enumerate(events):
        if type(event) is not Ping:
            writing.encode(event)
    return recorder.puts


@contextmanager
def without_runs() -> Iterator[None]:
    """Fragments are read and written one by one."""
    on, runs.ON = runs.ON, False
    try:
        yield
    finally:
        runs.ON = on


def read(format: str, stream: Sequence[Any], *, short: bool) -> list[Event]:
    """The events of a stream."""
    codec, shape = resolve(format)
    out: list[Event] = []
    run = (lambda run: out.extend(run.events())) if short else None
    source = Source(codec, shape, format, make_options(clock=lambda: NOW), out.extend, run)
    if not short:
        source.go_the_long_way()
    for chunk in stream:
        source.feed(chunk)
    source.close()
    return out
