"""The targets: functions of bytes that return, or raise an ``AssertionError`` for a law that does not hold.

The first bytes of each input are choices of options (:data:`tests.fuzz.choices.HEAD` of them), the others the stream.
One of them chooses the law, so that an execution is cheap: a stream is translated two or three times.
"""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Final, TypeAlias

from tests import feeding
from translate import Limits, TranslateError, Translator
from translate import check as conforms
from translate.shapes.array import ArrayReader
from translate.shapes.lines import LinesReader
from translate.shapes.objects import ObjectsReader
from translate.shapes.sse import Sse

from . import laws, providers
from .carries import carry
from .choices import chunks, cut, parted
from .laws import check
from .objects import objects
from .spelling import CARRIES, INSIDES, plain_carries, stream

Target: TypeAlias = Callable[[bytes], None]
FORMATS: Final = {
    "unievent-sse": ("unievent", "sse"),
    "unievent-jsonl": ("unievent", "jsonl"),
    "unievent": ("unievent", "any"),
    "gateway-sse": ("gateway", "sse"),
    "gateway-jsonl": ("gateway", "jsonl"),
    "gateway": ("gateway", "any"),
    "events-jsonl": ("events", "jsonl"),
    **providers.FORMATS,
}
BYTES: Final = [*FORMATS]
DESTINATIONS: Final = [*FORMATS, "events"]
LIMITS: Final = [None] * 5 + [
    *(Limits(part=9), Limits(part=3), Limits(carry=25), Limits(carry=40), Limits(nesting=2), Limits(nesting=3)),
    *(Limits(unit=150), Limits(unit=200), Limits(unit=30), Limits(part=100, unit=400), Limits(nesting=5)),
]


# ---- decoders ---------------------------------------------------------------------------------


def decode(format: str, data: bytes) -> None:
    """One decoder: however the input is cut, by each way, it says the same, and it is said again."""
    head, rest = parted(data)
    options: dict[str, Any] = {"strict": head.rarely(3) is False, "limits": head.of(LIMITS)}
    law, pieces = head.below(6), stream(rest, *FORMATS[format])
    pieced = chunks(head, pieces)
    run = partial(laws.read, pieced, format, **options)
    events, told = run()
    if law < 3:
        laws.same(told, laws.reference(run)[1], "the short ways say what the long one says")
    elif law < 5:
        other = [b"".join(pieces)] if law == 3 else pieces
        laws.same(laws.read(other, format, **options)[1], told, "cuts change nothing", excerpts=False)
    elif told.error is None and plain_carries(b"".join(pieces)):
        laws.decoded_again(events, format)


# ---- shapes -----------------------------------------------------------------------------------


def _reader(shape: str, limits: Limits, strict: bool) -> Any:
    sse = Sse(b"[DONE]")
    if shape == "lines":
        return LinesReader(limits)
    if shape == "array":
        return ArrayReader(limits)
    if shape == "sse":
        return sse.reader(limits, strict)
    return ObjectsReader(limits, lambda: sse.reader(limits, strict))


SHAPES: Final = {"lines": "jsonl", "sse": "sse", "array": "array", "objects": "any"}


def shape(name: str, data: bytes) -> None:
    """One reader: the same frames, and the same error, however the input is cut."""
    head, rest = parted(data)
    limits, strict = Limits(unit=head.of([1 << 20, 1 << 20, 200, 30, 5, 1, 0])), not head.rarely(3)
    pieces = stream(rest, head.of(["unievent", "gateway"]), SHAPES[name])
    whole = b"".join(pieces)

    def make() -> Any:
        return _reader(name, limits, strict)

    found = feeding.read(make, [whole])
    singly = feeding.singly(whole[:1000])
    cuts = [
        lambda: chunks(head, pieces),
        lambda: cut(whole, [head.below(9) + 1, head.below(9) + 1]),
        lambda: [*singly, whole[len(singly) :]],
        lambda: [*(piece for byte in singly[:300] for piece in (b"", byte)), whole[len(singly[:300]) :]],
    ]
    other = feeding.read(make, head.of(cuts)())
    check(other.frames == found.frames, f"cuts change no frame of {name}", other, found)
    if not (found.error and other.error and "LimitExceeded" in (found.error[0], other.error[0])):
        # of two faults in one element of an array, which is met first depends on the cut
        check(other == found, f"cuts change no error of {name}", other, found)
    offsets = [frame.offset for frame in found.frames if frame.offset is not None]
    check(offsets == sorted(offsets) and all(0 <= at <= len(whole) for at in offsets), "offsets grow", offsets)


# ---- conversions ------------------------------------------------------------------------------


def differential(src: str, data: bytes) -> None:
    """One conversion: cut in any way, by the short ways and the long one; and home again."""
    head, rest = parted(data)
    dst = head.of(DESTINATIONS)
    options: dict[str, Any] = {
        "strict": not head.rarely(3),
        "limits": head.of(LIMITS),
        "loss": head.of(["carry", "carry", "carry", "drop", "raise"]),
        "errors": head.of(["raise", "raise", "encode"]),
        "now": head.of(laws.NOWS),
    }
    law, pieces = head.below(8), stream(rest, *FORMATS[src])
    pieced = chunks(head, pieces)
    run = partial(laws.translated, pieced, src, dst, **options)
    out, told = run()
    if law < 3:
        laws.same(told, laws.reference(run)[1], "the short ways say what the long one says")
    elif law < 5:
        other = [b"".join(pieces)] if law == 3 else pieces
        laws.same(laws.translated(other, src, dst, **options)[1], told, "cuts change nothing", excerpts=False)
    elif told.error is None and options["errors"] == "encode":
        found = conforms(out, dst)
        check(found == [] or not options["strict"], "what ends by an encoded error conforms", found, told.output)
    elif told.well and options["strict"] and options["limits"] is None and plain_carries(b"".join(pieces)):
        laws.there_and_back(pieced, src, dst)


def live(data: bytes) -> None:
    """Fragments one a chunk, with one odd among them, and what comes then: end, error of the source, or more."""
    head, rest = parted(data)
    src, dst = head.of(["unievent-sse", "gateway-sse", "unievent-jsonl", "gateway-jsonl"]), head.of(DESTINATIONS)
    options: dict[str, Any] = {"errors": head.of(["raise", "encode"]), "strict": not head.rarely(3)}
    options["limits"] = head.of([*LIMITS, Limits(part=20), Limits(part=60), Limits(carry=30, part=40)])
    options["loss"], now = head.of(["carry", "carry", "drop"]), head.of(laws.NOWS)
    pieces = stream(rest, *FORMATS[src])
    stop = head.below(len(pieces) + 1) if head.rarely(3) else len(pieces)

    def run() -> tuple[list[Any], Any]:
        clock = laws.Clock(now)
        machine = Translator(src, dst, clock=clock, **options)
        out: list[Any] = []
        failed: list[Any] = []
        try:
            for piece in pieces[:stop]:
                out += machine.feed(piece)
            out += machine.fail(Fault("x")) if stop < len(pieces) else machine.close()
            machine.close()
        except (TranslateError, Fault) as error:
            failed.append(str(error))
        what = [str(machine.failure), machine.finished, clock.asked, machine._options.unit]
        return out, (b"".join(out) if machine.joined else repr(out), failed, what)

    found, expected = run()[1], laws.reference(run)[1]
    check(found == expected, "the short ways say what the long one says", found, expected)


class Fault(Exception):
    """An error of the source."""


# ---- limits -----------------------------------------------------------------------------------


def limits(data: bytes) -> None:
    """Tiny limits, and a stream that goes on and on: memory within them, time linear in the input."""
    head, rest = parted(data)
    bounds = Limits(
        unit=head.of([1, 40, 150, 200, 400, 1000, 3000]),
        part=head.of([0, 1, 9, 100, 1000]),
        nesting=head.of([1, 2, 3, 4, 8]),
        carry=head.of([0, 10, 30, 60, 300]),
    )
    src, dst = head.of(BYTES), head.of(DESTINATIONS)
    options: dict[str, Any] = {"strict": not head.rarely(2), "loss": head.of(["carry", "drop"]), "limits": bounds}
    pieces = stream(rest, *FORMATS[src])
    times, size = head.of([1, 1, 8, 64]), head.of([1 << 16, 64, 1000])
    whole = b"".join(pieces) * times
    if len(whole) > 1 << 16:
        whole = whole[: 1 << 16]
    machine = Translator(src, dst, clock=laws.Clock(), **options)
    most, began = _held(machine, cut(whole, [size])), time.process_time()
    room = 60 * (bounds.unit + bounds.carry) + 400 * bounds.part + 80 * min(size, len(whole)) + 200_000
    check(most <= room, "memory is within limits", most, room, bounds, src, dst)
    check(time.process_time() - began < laws.PATIENCE, "time is linear")


def _held(machine: Translator, pieces: list[bytes]) -> int:
    """The most that a machine holds between and within its steps, its output thrown away."""
    started = not tracemalloc.is_tracing()
    if started:
        tracemalloc.start()
    try:
        tracemalloc.reset_peak()
        before = tracemalloc.get_traced_memory()[0]
        laws.drive(machine, pieces, keep=False)
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        if started:
            tracemalloc.stop()


def _targets() -> Iterator[tuple[str, Target]]:
    for format in FORMATS:
        yield f"decode-{format}", partial(decode, format)
    for name in SHAPES:
        yield f"shape-{name}", partial(shape, name)
    yield "carry", carry
    yield "live", live
    yield "objects", objects
    for format in FORMATS:
        yield f"convert-{format}", partial(differential, format)
    yield "limits", limits


TARGETS: Final = dict(_targets())
DICTIONARY: Final = [*INSIDES, *CARRIES, b"data: ", b"event: ", b": carry ", b"\n\n", b"\r\n", b"[DONE]", b'"carry":']
