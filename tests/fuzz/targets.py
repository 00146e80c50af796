"""The targets: functions of bytes that return, or raise an ``AssertionError`` for a law that does not hold.

The first bytes of each input are choices of options (:data:`HEAD` of them), the others the stream.
"""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Final, TypeAlias

from tests import feeding, tampering
from tests.carry.test_tampering import without
from tests.wire import together
from translate import Limits, TranslateError, Translator, assemble, jsontext
from translate import check as conforms
from translate.algebra.events import PART_KINDS, REASONS
from translate.carry.rules import CHANGES
from translate.shapes.array import ArrayReader
from translate.shapes.lines import LinesReader
from translate.shapes.objects import ObjectsReader
from translate.shapes.sse import Sse

from . import laws, providers
from .choices import Choices, chunks, cut, split
from .laws import check
from .spelling import CARRIES, INSIDES, NUMBERS, plain_carries, stream

Target: TypeAlias = Callable[[bytes], None]
HEAD: Final = 12
"""Bytes that are choices of options."""
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


def _begin(data: bytes) -> tuple[Choices, Choices]:
    return Choices(data[:HEAD]), Choices(data[HEAD:])


# ---- decoders ---------------------------------------------------------------------------------


def decode(format: str, data: bytes) -> None:
    """One decoder: however the input is cut, by each way, it says the same, and it is said again."""
    head, rest = _begin(data)
    options: dict[str, Any] = {"strict": head.rarely(3) is False, "limits": head.of(LIMITS)}
    pieces = stream(rest, *FORMATS[format])
    pieced = chunks(head, pieces)
    run = partial(laws.read, pieced, format, **options)
    events, told = run()
    laws.same(told, laws.reference(run)[1], "the short ways say what the long one says")
    for other in ([b"".join(pieces)], pieces):
        laws.same(laws.read(other, format, **options)[1], told, "cuts change nothing", excerpts=False)
    if told.error is None and plain_carries(b"".join(pieces)):
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
    head, rest = _begin(data)
    limits, strict = Limits(unit=head.of([1 << 20, 1 << 20, 200, 30, 5, 1, 0])), not head.rarely(3)
    pieces = stream(rest, head.of(["unievent", "gateway"]), SHAPES[name])
    whole = b"".join(pieces)

    def make() -> Any:
        return _reader(name, limits, strict)

    found = feeding.read(make, [whole])
    cuts = [chunks(head, pieces), cut(whole, [head.below(9) + 1, head.below(9) + 1])]
    if len(whole) < 2000:
        cuts += [feeding.singly(whole), [piece for byte in feeding.singly(whole) for piece in (b"", byte)]]
    for each in cuts:
        other = feeding.read(make, each)
        check(other.frames == found.frames, f"cuts change no frame of {name}", other, found)
        if not (found.error and other.error and "LimitExceeded" in (found.error[0], other.error[0])):
            # of two faults in one element of an array, which is met first depends on the cut
            check(other == found, f"cuts change no error of {name}", other, found)
    offsets = [frame.offset for frame in found.frames if frame.offset is not None]
    check(offsets == sorted(offsets) and all(0 <= at <= len(whole) for at in offsets), "offsets grow", offsets)


# ---- the carry --------------------------------------------------------------------------------

NAMES: Final = [
    *("events", "v", "before", "synthetic", "member", "unievent", "gateway", "toy", "at", "patch", "as", "event"),
    *("kind", "text", "state", "namespace", "values", "length", "data", "usage", "input_tokens", "reason", "model"),
    *("code", "message", "details", "name", "id", "raw", "vector", "bytes", "$number", "$x", "x", "cached_tokens"),
]
WORDS: Final = [
    *("append", "open", "close", "finish", "failure", "handover", "start", "usage", "annotate", "foreign", "ping"),
    *("text", "thinking", "tool_call", "embedding", "stop", "NaN", "a", "Hello", "", "toy", "unievent", "gateway"),
]
MEMBERS: Final[dict[str, list[Any]]] = {
    "kind": [*PART_KINDS],
    "length": [0, 1, 2, 5, -1],
    "state": [None, {"values": {}}, {"values": {"signature": "s"}}, {"namespace": "anthropic", "values": {"x": 1}}],
    "model": [{}, {"name": "a"}, {"publisher": "Z.ai", "provider": "p"}],
    "usage": [{}, *({n: count} for n in ("input_tokens", "cached_tokens") for count in (0, 3, None))],
    "reason": [*REASONS],
    "details": [{}, {"message": "a"}, {"status": 418}],
    "code": [400, 418, 200, None],
    "created": [1, 1.5],
    "data": [None, {"a": 1}],
    "unit": [{}, {"x": 1}],
    "bytes": ["", "YQ==", "YWI="],
    "vector": [[], [1.0]],
}
"""Member of an event → values that it may have; texts for all others."""
RESIDUES: Final[list[Any]] = [
    *(None, 2, 5, {}, {"a": 1}, {"at": 1}, {"at": 1, "patch": [[["x"], 1]]}, {"patch": [[["x"], {}], [["x", "y"], 1]]}),
    *({"patch": [[["code"], 201]]}, {"patch": [[["error"], {"message": "a"}]]}, {"synthetic": True}),
]


def _value(choices: Choices, depth: int = 0) -> Any:
    """A JSON value of the words that carries are made of."""
    how = choices.below(9 if depth < 5 else 6)
    if how == 8 or depth == 0:
        return {choices.of(NAMES): _value(choices, depth + 1) for _ in range(choices.below(4))}
    if how in (6, 7):
        return [_value(choices, depth + 1) for _ in range(choices.below(5))]
    if how < 2:
        return choices.of([0, 1, 2, 3, 5, -1, 1.5, 2**70, 100])
    return choices.of(WORDS) if how < 5 else choices.of([None, True, False])


def _entries(choices: Choices) -> list[Any]:
    """Entries as the grammar of carries has them, of any event and member."""
    out: list[Any] = []
    for _ in range(choices.below(5)):
        name, how = choices.of([*CHANGES]), choices.below(8)
        if how < 2:
            out.append(choices.of([0, 1, 2, 3, 5, 13]))
        elif how < 4:
            out.append(name)
        else:
            named: dict[str, Any] = {"as" if how < 6 else "event": name}
            members = [*{member.partition(".")[0] for member in CHANGES[name]}, "length"]
            for _ in range(choices.below(3)):
                member = choices.of(members)
                named[member] = choices.of(MEMBERS.get(member, WORDS))
            out.append(named)
    return out


def _grown(choices: Choices) -> dict[str, Any]:
    """A carry as the grammar has it."""
    out: dict[str, Any] = {"events": _entries(choices)} if not choices.rarely(4) else {}
    if choices.rarely(4):
        out["before"] = [{"events": _entries(choices)} for _ in range(choices.below(3))]
    if choices.rarely(6):
        out["synthetic"] = True
    for name in ("toy", "unievent", "gateway"):
        if choices.rarely(4):
            column = [choices.of(RESIDUES) for _ in range(choices.below(4))]
            out[name] = column if choices.rarely(2) else choices.of(RESIDUES)
    if choices.rarely(20):
        out["end"] = {"events": _entries(choices)}
    return out


def _tampered(choices: Choices, stream: list[Any]) -> None:
    """Change the carries of a stream, and no unit."""
    at = choices.below(len(stream))
    carry, unit = stream[at]
    how = choices.below(12)
    if how > 7:
        carry = _grown(choices)
    elif how == 0:
        carry = stream[choices.below(len(stream))][0]
    elif how == 1:
        carry = _value(choices)
    elif how == 2:
        carry = {**(carry or {}), choices.of(NAMES): _value(choices, 1)}
    elif how == 3:
        carry = {k: v for k, v in (carry or {}).items() if not choices.rarely(2)}
    elif how == 4:
        text = choices.of(CARRIES).replace(b"%s", choices.of(NUMBERS[:5]))
        carry = jsontext.loads(text) if _is_object(text) else None
    elif how == 5:
        stream.insert(at, (_value(choices), None))
        return
    elif carry is not None:
        carry = _replaced(carry, choices)
    stream[at] = (carry if isinstance(carry, dict) else None, unit)


def _is_object(text: bytes) -> bool:
    try:
        return isinstance(jsontext.loads(text), dict)
    except TranslateError:
        return False


def _said(message: Any) -> Any:
    """What of a message all formats have words for: a carry may add more."""
    parts = message["content_items"] if isinstance(message, dict) else message
    names = ("type", "text", "thinking", "value", "name", "arguments", "tool_call_id", "id")
    plain = [{k: v for k, v in part.items() if k in names} for part in parts]
    return [part for part in plain if not part["type"].startswith(("inline", "embedding"))]


def _replaced(value: Any, choices: Choices) -> Any:
    """A value with one deep within it replaced."""
    if isinstance(value, dict) and value and not choices.rarely():
        key = choices.of([*value])
        return {**value, key: _replaced(value[key], choices)}
    if isinstance(value, list) and value and not choices.rarely():
        at = choices.below(len(value))
        return [*value[:at], _replaced(value[at], choices), *value[at + 1 :]]
    return _value(choices, 1)


def carry(data: bytes) -> None:
    """Carries that say anything, beside valid units: strict mode tells; lenient mode keeps the meaning."""
    head, rest = _begin(data)
    codec = head.of(["gateway", "unievent"])
    format = codec + head.of(["-sse", "-jsonl"])
    home = tampering.BASE[codec][0]
    pairs: list[Any] = list(tampering.converted(codec))
    bare = together(without(pairs), format)
    while rest.left:
        _tampered(rest, pairs)
    whole = together(pairs, format)
    pieced = chunks(head, split(whole))
    for strict in (True, False):
        out, told = laws.translated(pieced, format, home, strict=strict)
        run = partial(laws.translated, pieced, format, home, strict=strict)
        laws.same(told, laws.reference(run)[1], "the short ways say what the long one says")
        other = laws.translated([whole], format, home, strict=strict)[1]
        laws.same(other, told, "cuts change nothing", excerpts=False)
        check(strict or told.error is None, "lenient mode takes any carry", told.error, whole)
        if told.error is None:
            check(conforms(out, home) == [], "what comes of it conforms", conforms(out, home), whole)
            ours, theirs = (_said(assemble(*each, codec, strict=False)) for each in ((whole, format), (bare, format)))
            check(jsontext.same(ours, theirs), "the native content stands", ours, theirs, whole)
        else:
            check(told.error[0] in ("CarryError", "LimitExceeded"), "what is wrong is the carry", told.error, whole)


# ---- conversions ------------------------------------------------------------------------------


def differential(src: str, data: bytes) -> None:
    """One conversion: cut in any way, by the short ways and the long one; and home again."""
    head, rest = _begin(data)
    dst = head.of(DESTINATIONS)
    options: dict[str, Any] = {
        "strict": not head.rarely(3),
        "limits": head.of(LIMITS),
        "loss": head.of(["carry", "carry", "carry", "drop", "raise"]),
        "errors": head.of(["raise", "raise", "encode"]),
        "now": head.of(laws.NOWS),
    }
    pieces = stream(rest, *FORMATS[src])
    pieced = chunks(head, pieces)
    run = partial(laws.translated, pieced, src, dst, **options)
    told = run()[1]
    laws.same(told, laws.reference(run)[1], "the short ways say what the long one says")
    for other in ([b"".join(pieces)], pieces):
        laws.same(laws.translated(other, src, dst, **options)[1], told, "cuts change nothing", excerpts=False)
    if told.error is None and options["errors"] == "encode":
        out = run()[0]
        found = conforms(out, dst)
        check(found == [] or not options["strict"], "what ends by an encoded error conforms", found, told.output)
    if told.well and options["strict"] and options["limits"] is None and plain_carries(b"".join(pieces)):
        laws.there_and_back(pieced, src, dst)


def live(data: bytes) -> None:
    """Fragments one a chunk, with one odd among them, and what comes then: end, error of the source, or more."""
    head, rest = _begin(data)
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
    head, rest = _begin(data)
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
    for format in FORMATS:
        yield f"convert-{format}", partial(differential, format)
    yield "limits", limits


TARGETS: Final = dict(_targets())
DICTIONARY: Final = [*INSIDES, *CARRIES, b"data: ", b"event: ", b": carry ", b"\n\n", b"\r\n", b"[DONE]", b'"carry":']
