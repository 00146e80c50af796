"""What every codec must keep, as one call: :func:`check_codec`.

Each clause has a name, which the message of a failed check begins with; :data:`CLAUSES` lists them.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from .. import jsontext
from ..algebra.calls import is_whole
from ..algebra.events import (
    PART_KINDS,
    Annotate,
    Append,
    Close,
    Event,
    Failure,
    Finish,
    Foreign,
    Handover,
    JsonObject,
    Open,
    Ping,
    Start,
    Usage,
    bare,
    made_up_by_another,
)
from ..algebra.grammar import INSIDE, Grammar
from ..api import check, decode, encode
from ..codec import Codec
from ..engine.translator import EventReader
from ..errors import ToolArgumentsError, TranslateError, TruncatedStream, UnknownFormat
from ..registry import formats, register, resolve
from .comparing import at_home, calls, content, equal, first_unlike, is_made_up, same, varied, without_carry
from .given import check_given, shapes_of, with_runs_or_not
from .recording import NOW, Put, read, recorded
from .strategies import Knobs, event_streams, usual_streams

CLAUSES: dict[str, str] = {
    "names": "its name and its formats are found, a shape it has not is unknown, `says` holds only words there are",
    "complete": "the units together stand for all events given, in order, each once",
    "prompt": "a part's units are put by its end, its text as it comes",
    "sayable": "a part is put natively where `sayable` says so, and only there",
    "short": "the short ways, `plain`, `say` and `hot`, are the long ones, or refuse before anything was changed",
    "agrees": "`agrees` says yes where native words are the same, and no where they differ",
    "pure": "reading and writing change neither events nor units, and `read` and `write` not what is known",
    "round trip": "encoding and decoding gives the events back, with what the carry holds",
    "valid": "the output passes the strict check of its format, also without carries; read leniently it says the same",
    "native": "without carries the output is the same native content",
    "chunking": "what is decoded does not depend on how the bytes were cut",
    "honest": "what was cut short, or failed, never becomes a success, and nothing follows the end",
    "identity": "decoding and encoding gives the units back, unknown members included",
    "recorded": "so it does for the streams that its author gave, through other formats too, and by every way",
}
"""Clause → what it says."""

_WORDS = frozenset({*PART_KINDS, "start", "handover", "state", "annotate", "usage", "foreign", "finish", "failure"})
_UNKNOWN = "x-unknown"


def check_codec(
    codec: Codec,
    *,
    knobs: Knobs | None = None,
    examples: int = 100,
    streams: Sequence[Sequence[JsonObject]] = (),
) -> None:
    """Hold ``codec`` to its contract over a few usual streams, then ``examples`` generated ones. Call it from a test.

    ``knobs``: what the streams may hold. The default holds everything there is, which a codec must take: what it has
    no words for, it has carried. To have foreign units of its own tried, add them to ``knobs.foreign`` under its name.
    ``streams``: whole streams of the format's own units, as others write them. Only these have units that mean several
    events, or repeat, or are spelled as the codec itself never would: give some that do.

    Raises ``AssertionError`` whose message begins with the name of the broken clause. A codec that no entry point
    names is registered for this process.
    """
    with _clause("names"):
        _check_names(codec)
    cuts = st.lists(st.integers(0, 1_000_000), max_size=6)

    slow = (HealthCheck.too_slow, HealthCheck.data_too_large)

    for events in usual_streams(knobs):
        for format in shapes_of(codec):
            try:
                _Case(codec, format, events, [3, 20]).hold()
            except AssertionError as error:
                error.add_note(f"with the events {events}")
                raise
    with _clause("recorded"):
        for units in streams:
            check_given(codec, units)

    @settings(max_examples=examples, deadline=None, suppress_health_check=slow, report_multiple_bugs=False)
    @given(event_streams(knobs), cuts)
    def hold(events: list[Event], cuts: list[int]) -> None:
        for format in shapes_of(codec):
            _Case(codec, format, events, cuts).hold()

    hold()


@contextmanager
def _clause(name: str) -> Iterator[None]:
    """Whatever goes wrong inside breaks this clause."""
    try:
        yield
    except Exception as error:
        what = str(error) if isinstance(error, AssertionError) else f"{type(error).__name__}: {error}"
        raise AssertionError(f"clause {name!r} is broken ({CLAUSES[name]}): {what}") from error


def _check_names(codec: Codec) -> None:
    assert isinstance(codec, Codec), f"a codec is a translate.Codec, not {type(codec).__name__}"
    try:
        found: Codec | None = resolve(codec.name)[0]
    except UnknownFormat:
        found = None
    if found is None:
        register(codec)
    else:
        assert found is codec, f"another codec is named {codec.name!r}"
    assert codec.shapes, "it has no shape"
    missing = {*shapes_of(codec)} - {*formats()}
    assert not missing, f"the formats {missing} are not found"
    try:
        resolve(f"{codec.name}-nosuch")
    except UnknownFormat:
        pass
    else:
        raise AssertionError("a shape that it does not have is found")
    unsaid = {"finish", "failure"} - codec.says
    assert not unsaid, f"`says` lacks {sorted(unsaid)}: an end needs words of the format, no carry may add one"
    assert codec.says <= _WORDS, f"`says` holds {sorted(codec.says - _WORDS)}, which no event or kind is named"


class _Case:
    """One format and one stream of events."""

    def __init__(self, codec: Codec, format: str, events: list[Event], cuts: Sequence[int]) -> None:
        self.codec = codec
        self.format = format
        self.events = events
        self.cuts = cuts
        self.objects = resolve(format)[1].objects

    def hold(self) -> None:
        """All clauses."""
        for name, clause in (
            ("complete", self.encoder_is_true),
            ("agrees", self.agreement),
            ("round trip", self.round_trip),
            ("short", self.short_ways),
            ("valid", self.valid),
            ("native", self.native),
            ("chunking", self.chunking),
            ("honest", self.honest),
            ("identity", self.identity),
        ):
            with _clause(name):
                clause()

    # ---- the encoder by itself

    def recorded(self, events: Sequence[Event], *, short: bool = False) -> list[Put]:
        """What the encoder puts for the events; ``short``: by the short way where there is one."""
        return recorded(self.format, events, short=short)

    def encoder_is_true(self) -> None:
        """pure, complete, prompt, sayable."""
        before = copy.deepcopy(self.events)
        puts = self.recorded(self.events)
        changed = next((b for a, b in zip(self.events, before, strict=True) if not same(a, b)), None)
        with _clause("pure"):
            assert changed is None, f"the encoder changed an event that was {changed}"
        if self.codec.complete:
            return  # units that say all that is meant, residues included, declare nothing
        with _clause("complete"):
            meant = [e for put in puts for e in put.meant if not is_made_up(e, self.codec.name)]
            given = [e for e in self.events if type(e) is not Ping and not made_up_by_another(e, self.codec.name)]
            equal(meant, given, "the units stand for other events than were given")
        with _clause("prompt"):
            self.prompt(puts)
        with _clause("sayable"):
            self.sayable(puts)

    def prompt(self, puts: list[Put]) -> None:
        grammar = Grammar()
        kind = ""
        for i, event in enumerate(self.events):
            grammar.check((event,))
            kind = event.kind if type(event) is Open else kind
            # in order, each once: so far that is checked
            put = [e for p in puts if p.after <= i for e in p.meant if not is_made_up(e, self.codec.name)]
            given = [e for e in self.events[: i + 1] if type(e) is not Ping]
            missing = [e for e in given if not made_up_by_another(e, self.codec.name)][len(put) :]
            if grammar.state != INSIDE:
                assert not missing, f"{missing[0]} was not put when its part was over"
            elif type(event) is Append and kind in ("text", "thinking") and event.data and kind in self.codec.says:
                assert not missing, f"{event} was held"

    def sayable(self, puts: list[Put]) -> None:
        natively = {id(e): any(type(s) is type(e) for s in p.said) for p in puts for e in p.meant}
        for i, event in enumerate(self.events):
            ends = [e for e in self.events[i:] if type(e) in (Close, Handover, Failure)]
            end = ends[0] if ends else None
            whole = type(event) in (Start, Handover)
            whole = whole or (type(event) is Open and type(end) is Close and not end.cut)
            if type(event) is Open and "close" in self.codec.leaves_out and end is not None:
                # where nothing says that a part begins, one without content has no words
                until = next(j for j in range(i, len(self.events)) if self.events[j] is end)
                whole = whole and any(type(e) is Append and e.data for e in self.events[i:until])
            if type(event) is Start and "start" in self.codec.leaves_out:
                # what came before may have opened the stream
                whole = all(type(e) in (Ping, Usage, Foreign, Annotate) for e in self.events[:i])
            if whole and id(event) in natively:
                expected = self.codec.sayable(event)
                assert natively[id(event)] == expected, f"sayable() is {expected} for {event}, but it was put otherwise"
                if type(event) is Open and expected:
                    assert event.kind in self.codec.says, f"{event.kind!r} is sayable and not in `says`"

    def short_ways(self) -> None:
        """``plain`` and ``say`` are the long way, only shorter."""
        long, short = (self.recorded(self.events, short=flag) for flag in (False, True))
        assert short == long, f"`say` puts {first_unlike(short, long)}"
        streams = [self.encoded(), self.encoded("drop")]
        if all(isinstance(unit, dict) for unit in streams[1]):
            streams.append([{**unit, _UNKNOWN: 1} if i % 2 else unit for i, unit in enumerate(streams[1])])
        for stream in streams:
            long_way = read(self.format, stream, short=False)
            equal(read(self.format, stream, short=True), long_way, "read by `plain`")
            if not self.objects and stream:
                joined = [b"".join(stream)]
                equal(read(self.format, joined, short=True), long_way, "read by `hot`")
                with_runs_or_not(joined, self.format, self.format)
        self.runs_written()

    def runs_written(self) -> None:
        """Fragments that another format has together are written as they are one by one."""
        try:
            elsewhere: list[Any] = list(encode(self.events, "unievent-jsonl", clock=lambda: NOW))
        except ToolArgumentsError:
            return
        with_runs_or_not([b"".join(elsewhere)], "unievent-jsonl", self.format)

    def agreement(self) -> None:
        """The native words of one terminal event are, or are not, those of another."""
        puts = self.recorded(self.events)
        if self.codec.complete:
            return
        for said in (e for p in puts for e in p.said):
            assert self.codec.agrees(said, said), f"agrees() is false for {said} and itself"
        for event in self.events:
            if type(event) is Append and event.data:
                other = replace(event, data=event.data + event.data)  # type: ignore[operator]
                assert not self.codec.agrees(event, other), f"agrees() is true for {event} and other content, {other}"
        for event in (bare(e) for e in self.events if type(e) in (Finish, Failure, Handover)):
            one, two = (self.recorded([e])[-1] for e in (event, varied(event)))
            if one.unit is None or len(one.said) != 1 or type(one.said[0]) is not type(event):
                continue
            said = one.said[0]
            assert self.codec.agrees(said, event), f"agrees() is false for {said} and its own {event}"
            contradicts = not jsontext.same(one.unit, two.unit) and self.codec.agrees(said, two.meant[-1])
            assert not contradicts, f"agrees() is true for {said} and other content, {two.meant[-1]}"

    # ---- the format as a whole

    def encoded(self, loss: Any = "carry", events: Sequence[Event] | None = None) -> list[Any]:
        given = self.events if events is None else events
        return list(encode(given, self.format, clock=lambda: NOW, loss=loss))

    def decoded(self, stream: Iterable[Any], **options: Any) -> list[Event]:
        return list(decode(stream, self.format, clock=lambda: NOW, **options))

    def round_trip(self) -> None:
        out = self.encoded()
        back = self.decoded(out)
        equal(at_home(back, self.codec.name), at_home(self.events, self.codec.name), "other events came back")
        pings = [sum(type(e) is Ping for e in stream) for stream in (self.events, back)]
        assert pings[1] in (0, pings[0]), f"{pings[0]} keep-alives became {pings[1]}"

    def valid(self) -> None:
        for loss in ("carry", "drop"):
            out = self.encoded(loss)
            findings = check(out, self.format)
            assert not findings, f"with loss={loss!r}: {findings[0]}"
            equal(self.decoded(out, strict=False), self.decoded(out), f"read leniently, with loss={loss!r}")

    def native(self) -> None:
        with_carry, without = self.encoded(), self.encoded("drop")
        if self.objects and all(isinstance(unit, dict) for unit in with_carry):
            plain = [without_carry(unit) for unit in with_carry]
            assert jsontext.same(plain, without), f"{plain} became {without}"
        else:
            assert len(with_carry) >= len(without), "dropping carries added units"

    def chunking(self) -> None:
        if self.objects:
            return
        data = b"".join(self.encoded())
        at = sorted(cut % (len(data) + 1) for cut in self.cuts)
        chunks = [data[a:b] for a, b in zip([0, *at], [*at, len(data)], strict=True)]
        whole = self.decoded([data])
        equal(self.decoded(chunks), whole, f"cut at {at}")
        if len(data) < 4000:
            equal(self.decoded([data[i : i + 1] for i in range(len(data))]), whole, "cut into single bytes")

    def half_calls(self) -> None:
        """A call that was cut off is said as no whole one."""
        halves = {call for call, cut in calls(self.events) if cut and not is_whole(call[1], jsontext.NESTING)}
        said = {call for call, cut in calls(self.decoded(self.encoded("drop"))) if not cut} if halves else set()
        whole = {call for call, cut in calls(self.events) if not cut}
        taken = sorted(halves & said - whole)
        assert not taken, f"the call {taken[0][0]!r} was cut off after {taken[0][1]!r}, and is said as a whole one"

    def honest(self) -> None:
        self.half_calls()
        out = self.encoded()
        assert type(self.decoded(out)[-1]) is type(self.events[-1]), "another end came back"
        reader = EventReader(self.format)
        ended = False
        for n, unit in enumerate(out):
            if not ended:
                self.cut_short(out[:n])
            ended = any(type(e) in (Finish, Failure) for e in reader.feed(unit)) or ended
        if self.unsaid_end:
            return
        assert ended, "the terminal event did not come with its unit"
        if not self.objects:
            data = b"".join(out)
            last = len(out[-1]) if len(out) > 1 else len(data)
            self.cut_short([data[: -max(min(last // 2, last), 8)]])
        again = next(unit for unit in reversed(self.encoded("drop", [*self.events])) if unit)
        try:
            self.decoded([*out, again] if self.objects else [b"".join(out) + b"".join(self.encoded("drop"))])
        except TranslateError:
            return
        raise AssertionError("units after the end were taken")

    @property
    def unsaid_end(self) -> bool:
        """Whether no unit says the end: then one that comes early may only lack what is no content."""
        return "finish" in self.codec.leaves_out and type(self.events[-1]) is Finish

    def cut_short(self, units: Sequence[Any]) -> None:
        events: list[Event] = []
        try:
            for event in decode(units, self.format):
                events.append(event)
        except TruncatedStream:
            assert not any(type(e) in (Finish, Failure) for e in events), "an end came of a stream that was cut short"
            return
        whole = self.unsaid_end and len(content(events)) == len(content(self.events))
        assert whole, f"a stream cut after {len(units)} units raised nothing"

    def identity(self) -> None:
        out = self.encoded("drop")
        if not all(isinstance(unit, dict) for unit in out):
            return
        strewn = [{**unit, _UNKNOWN: {"n": i}} if i % 2 else unit for i, unit in enumerate(out)]
        for units in (out, strewn):
            again = list(encode(decode(units, self.format), self.format, clock=lambda: NOW + 1))
            for before, after in zip(units, again, strict=False):
                assert jsontext.same(before, after), f"the unit {before} came back as {after}"
            assert len(units) == len(again), f"{len(units)} units became {len(again)}"
