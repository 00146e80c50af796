"""What is held against what: all that can be told of a conversion, and the laws between two of them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from tests.run_streams import the_long_way
from translate import Event, MisuseError, TranslateError, Translator, decode, encode, jsontext
from translate.algebra.json_form import to_json
from translate.engine.translator import EventReader, Machine
from translate.testing import at_home

from .providers import UNITS

OBJECTS = MAKERS = ("unievent", "gateway", *UNITS)
"""Codecs that make up what nobody said."""
PATIENCE = 5.0
"""Seconds that one machine may take, with a thousand times what it takes to spare."""


class Broken(AssertionError):
    """A law does not hold."""


def check(holds: bool, law: str, *seen: object) -> None:
    """Raise where a law does not hold."""
    if not holds:
        raise Broken(law + "".join(f"\n{each!r:.2000}" for each in seen))


class Told(NamedTuple):
    """All that can be told of what a machine did: how its output was joined, and by which call it came, left out."""

    output: list[str]
    error: tuple[Any, ...] | None
    failure: tuple[Any, ...] | None
    asked: int
    """How often the clock was asked."""

    @property
    def well(self) -> bool:
        """Whether it came to a good end."""
        return self.error is None and self.failure is None


NOWS = (0, 0, 0, 1796036422942, 2**70, -1, 0.5)


class Clock:
    """Counts how often it is asked, and goes on so from ``now``."""

    def __init__(self, now: Any = 0) -> None:
        self.now = now
        self.asked = 0

    def __call__(self) -> Any:
        self.asked += 1
        return self.now + self.asked


def _described(error: Exception | None) -> tuple[Any, ...] | None:
    if error is None:
        return None
    if not isinstance(error, TranslateError):
        raise Broken(f"outside the error tree: {error!r}") from error
    check(len(error.excerpt or "") <= 200, "an excerpt is short", error)
    str(error)
    place = (error.format, error.unit, error.offset, error.state, error.excerpt)
    return (type(error).__name__, error.what, error.expected, *place, repr(error.pending))


def drive(
    machine: Machine, chunks: Iterable[Any], clock: Clock | None = None, *, keep: bool = True
) -> tuple[list[Any], Told]:
    """Feed a machine to its end, and hold it to its contract. ``keep``: the output, to be told."""
    out: list[Any] = []
    error: Exception | None = None
    began = time.process_time()
    try:
        for chunk in chunks:
            made = machine.feed(chunk)
            out += made if keep else ()
        out += machine.close()
        out += machine.close()
    except Exception as raised:
        error = raised
    check(time.process_time() - began < PATIENCE, "time is linear")
    check(machine.finished, "a machine is finished by an error, or its end")
    for again in (machine.close, partial(machine.feed, b""), machine.close):
        more: list[Any] | Exception
        try:
            more = again()
        except Exception as raised:
            more = raised
        late = more is machine.error and isinstance(more, MisuseError)
        check(more is error if error else late or more == [], "errors are sticky, and nothing follows the end", more)
    if error is None:
        check(isinstance(machine.error, MisuseError), "input after the end is an error")
    output = [b"".join(out).decode("utf-8", "surrogatepass")] if machine.joined else [repr(unit) for unit in out]
    asked = clock.asked if clock is not None else 0
    return out, Told(output, _described(error), _described(machine.failure), asked)


def translated(chunks: Sequence[Any], src: str, dst: str, *, now: Any = 0, **options: Any) -> tuple[list[Any], Told]:
    """A conversion."""
    clock = Clock(now)
    return drive(Translator(src, dst, clock=clock, **options), chunks, clock)


def read(chunks: Sequence[Any], src: str, **options: Any) -> tuple[list[Any], Told]:
    """The first half of one."""
    clock = Clock()
    return drive(EventReader(src, clock=clock, **options), chunks, clock)


def reference(run: Callable[[], tuple[list[Any], Told]]) -> tuple[list[Any], Told]:
    """The same, by the long way."""
    with the_long_way():
        return run()


def same(found: Told, expected: Told, law: str, *, excerpts: bool = True) -> None:
    """Two that may not differ. An excerpt may show what happened to be there, where the cuts differ."""
    if not excerpts:
        found, expected = _no_excerpt(found), _no_excerpt(expected)
    if found != expected:
        for name, ours, theirs in zip(Told._fields, found, expected, strict=True):
            check(ours == theirs, f"{law}: {name}", ours, theirs)


def _no_excerpt(told: Told) -> Told:
    def bare(error: tuple[Any, ...] | None) -> tuple[Any, ...] | None:
        return error and (*error[:7], *error[8:])

    return told._replace(error=bare(told.error), failure=bare(told.failure))


def alike(found: Sequence[Any], expected: Sequence[Any], law: str) -> None:
    """Equality as JSON values, one by one."""
    for i, (ours, theirs) in enumerate(zip(found, expected, strict=False)):
        check(jsontext.same(ours, theirs), f"{law}: element {i}", ours, theirs)
    check(len(found) == len(expected), f"{law}: as many", len(found), len(expected))


def meant(events: Iterable[Event]) -> list[Any]:
    """What a source meant: without what anyone made up. The JSON forms, changes of a unit in one order."""
    return [_ordered(to_json(event)) for event in at_home(events, *MAKERS)]


def _ordered(value: Any) -> Any:
    """The operations of patches stand in the order of members, which means nothing."""
    if isinstance(value, list):
        return [_ordered(each) for each in value]
    if not isinstance(value, dict):
        return value
    out = {key: _ordered(each) for key, each in value.items()}
    if isinstance(out.get("patch"), list):
        out["patch"] = sorted(out["patch"], key=repr)
    return out


def units_of(stream: Sequence[Any], format: str) -> list[Any]:
    """The units of a stream that was written here; of events what nobody made up."""
    if format.startswith("events"):
        return meant(decode(stream, format, clock=Clock()))
    if format in OBJECTS:
        return list(stream)
    lines = b"".join(stream).replace(b": keep-alive\n\n", b"").split(b"\n")
    return [line for line in lines if line]


def there_and_back(chunks: Sequence[Any], src: str, dst: str) -> None:
    """A → B → A is A → A, for what is read at all."""
    home, told = translated(chunks, src, src)
    there, told_there = translated(chunks, src, dst)
    if not told.well or not told_there.well:
        return
    back, told_back = translated(there, dst, src)
    check(told_back.error is None, "what was written here is read here", told_back.error, told_there.output)
    alike(units_of(back, src), units_of(home, src), f"{src} → {dst} → {src}")


def decoded_again(events: Sequence[Event], format: str) -> None:
    """decode ∘ encode ∘ decode is decode."""
    if format.startswith("openai-chat"):
        # an end without a reason is only said by the end marker
        format = "openai-chat-sse"
    try:
        stream = list(encode([replace(event) for event in events], format, clock=Clock()))
    except TranslateError:
        return
    alike(meant(decode(stream, format, clock=Clock())), meant(events), f"decode, encode and decode {format}")
