"""Stateful properties: calls in any order, held to the contract of :class:`translate.Translator`."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from tests import wire
from tests.run_streams import the_long_way
from tests.sources import Boom
from tests.tampering import FROM_GATEWAY, FROM_UNIEVENT
from translate import TranslateError, Translator, check, convert

OBJECTS = ("unievent", "gateway", "events")
PAIRS = [
    ("unievent-sse", "gateway-sse"),
    ("gateway-sse", "unievent-jsonl"),
    ("unievent-jsonl", "events-jsonl"),
    ("gateway-jsonl", "gateway-jsonl"),
    ("events-jsonl", "unievent-sse"),
    ("gateway", "unievent"),
    ("unievent", "gateway-sse"),
    ("events", "gateway"),
]
WORDS = [*"abcdefgh", "é😀", "\n", '"', "\u2028", "l", "m"]
GARBAGE = [b"x" * 99, b"data: {\n\n", b"{\n", b"\xff\n\n", b"data: \xff\n\n", b"[]\n", b"data: null\n\n"]
ODD_OBJECTS = [{}, {"x": 1}, {"event_type": 1}, {"success": True, "code": 1}, None, 5, {1: 2}]


def clock() -> int:
    return 7


@lru_cache
def units(format: str) -> tuple[Any, ...]:
    """A valid stream, a unit each: long runs of fragments, a call, and an end."""
    codec = format.partition("-")[0]
    if codec == "gateway":
        native = [*FROM_GATEWAY[:-1], *wire.content(*WORDS), *wire.thinking(*WORDS[:4]), FROM_GATEWAY[-1]]
    else:
        native = [*FROM_UNIEVENT[:-1], *wire.text_group(*WORDS), *wire.text_group("z"), FROM_UNIEVENT[-1]]
    home = "gateway" if codec == "gateway" else "unievent"
    return tuple(convert(native, home, format, clock=clock))


class Calls(RuleBasedStateMachine):
    """Any calls of one translator, beside a model: what was fed, and the error that came."""

    @initialize(pair=st.sampled_from(PAIRS), errors=st.sampled_from(["raise", "raise", "encode"]), strict=st.booleans())
    def begin(self, pair: tuple[str, str], errors: Any, strict: bool) -> None:
        self.src, self.dst = pair
        self.options: dict[str, Any] = {"errors": errors, "strict": strict, "clock": clock}
        self.machine = Translator(self.src, self.dst, **self.options)
        self.coming: list[Any] = list(units(self.src))
        self.fed: list[Any] = []
        self.out: list[Any] = []
        self.raised: Exception | None = None
        self.failed: Boom | None = None
        self.closed = False
        self.shut = False
        self.misused = False
        self.broken = False

    def call(self, what: Callable[[], list[Any]]) -> None:
        """One call: what it may return, and what it may raise."""
        before, kept = self.machine.finished, self.machine.error
        out: list[Any] = []
        raised: Exception | None = None
        try:
            out = what()
        except Exception as error:
            raised = error
        if raised is not None:
            assert kept in (None, raised)
            assert self.raised in (None, raised)
            assert self.machine.error is raised
            assert self.machine.finished
            self.raised = raised
            return
        assert kept is None, "a kept error is raised by the next call"
        assert not (before and out), "nothing comes after the end"
        assert all(type(unit) is bytes for unit in out) or not self.machine.joined
        self.out += out
        # an error that is met with output is kept for the next call
        assert self.machine.error is None or out

    def feed(self, chunk: Any) -> None:
        if not self.machine.finished:
            self.fed.append(chunk)
        # after close, input would vanish
        self.misused = self.misused or (self.shut and self.machine.error is None)
        self.call(lambda: self.machine.feed(chunk))

    @property
    def objects(self) -> bool:
        return self.src in OBJECTS

    @rule()
    def feed_a_unit(self) -> None:
        if self.coming:
            self.feed(self.coming.pop(0))

    @rule(many=st.integers(2, 20))
    def feed_units(self, many: int) -> None:
        some, self.coming = self.coming[:many], self.coming[many:]
        if self.objects:
            for unit in some:
                self.feed(unit)
        else:
            self.feed(b"".join(some))

    @rule(share=st.floats(0, 1), hold=st.sampled_from([bytes, bytearray, memoryview]))
    def feed_part_of_a_unit(self, share: float, hold: Callable[[bytes], Any]) -> None:
        if self.coming and not self.objects:
            unit = self.coming[0]
            at = int(len(unit) * share)
            self.coming[0] = unit[at:]
            self.feed(hold(unit[:at]))

    @precondition(lambda self: self.src not in OBJECTS)
    @rule()
    def feed_nothing(self) -> None:
        self.feed(b"")

    @precondition(lambda self: not self.broken and len(self.coming) < len(units(self.src)) - 3)
    @rule(bytes_=st.sampled_from(GARBAGE), object_=st.sampled_from(ODD_OBJECTS))
    def feed_garbage(self, bytes_: bytes, object_: Any) -> None:
        self.broken = True
        self.feed(object_ if self.objects else bytes_)

    @precondition(lambda self: not self.broken)
    @rule()
    def feed_what_is_no_chunk(self) -> None:
        self.broken = True
        self.feed(1.5)

    @precondition(lambda self: self.machine.finished)
    @rule()
    def feed_after_the_end(self) -> None:
        self.feed(units(self.src)[0])

    @precondition(lambda self: self.machine.finished or not self.coming or len(self.coming) % 5 == 0)
    @rule()
    def close(self) -> None:
        self.closed = self.closed or not self.machine.finished
        self.shut = True
        self.call(self.machine.close)
        assert self.machine.finished

    @precondition(lambda self: not (self.machine.finished and self.machine.error is None) and len(self.coming) % 3 == 0)
    @rule()
    def fail(self) -> None:
        boom = Boom("x")
        fresh = not self.machine.finished
        self.call(lambda: self.machine.fail(boom))
        self.failed = boom if fresh else self.failed
        assert self.machine.finished

    def again(self) -> Translator:
        """Another translator, fed all at once by the general path."""
        other = Translator(self.src, self.dst, **self.options)
        out: list[Any] = []
        error: Exception | None = None
        chunks = self.fed if self.objects or self.broken else [b"".join(self.fed)]
        try:
            for chunk in chunks:
                out += other.feed(chunk)
            if self.failed is not None:
                out += other.fail(self.failed)
            elif self.closed:
                out += other.close()
            if self.misused:
                other.close()
                other.feed(b"")
        except Exception as raised:
            error = raised
        assert (b"".join(out) == b"".join(self.out)) if other.joined else repr(out) == repr(self.out)
        assert told(error or other.error) == told(self.machine.error)
        return other

    @invariant()
    def says_what_another_says(self) -> None:
        if not hasattr(self, "machine"):
            return
        with the_long_way():
            other = self.again()
        assert other.finished == self.machine.finished
        assert told(other.failure) == told(self.machine.failure)
        assert self.machine.failure is None or self.options["errors"] == "encode"
        assert self.machine.error is None or self.machine.finished

    def teardown(self) -> None:
        if not hasattr(self, "machine"):
            return
        if not self.machine.finished:
            self.close()
        whole = self.options["errors"] == "encode" and self.machine.error is None
        if whole or (self.machine.error is None and not self.broken):
            assert check(self.out, self.dst) == []


def told(error: Exception | None) -> Any:
    """What an error says; an excerpt may show what happened to be there."""
    if isinstance(error, TranslateError):
        return (type(error), error.what, error.unit, error.offset, error.state, error.format, error.pending)
    return error if error is None or isinstance(error, Boom) else (type(error), str(error))


def test_calls_in_any_order() -> None:
    run_state_machine_as_test(Calls, settings=settings(max_examples=120, stateful_step_count=25, deadline=None))
