"""What each format says in its own words, and of what another says: measured over the project's own streams.

The streams are those of the conformance vectors and the examples that a codec reads without a fault and that hold no
carry. Nothing here is typed: another codec, or another vector, is another figure.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import cache
from typing import Any, Final, NamedTuple

from .. import jsontext
from ..algebra.events import Annotate, Append, Close, Event, Failure, Finish, Open, TokenCounts, Usage
from ..carry.losses import Report
from ..conformance import find_vectors, load_cases
from ..engine.trace import Trace
from ..engine.translator import Translator
from ..errors import TranslateError, UpstreamFailure
from ..registry import codec, resolve
from .examples import EXAMPLES
from .words import json_text, shortened

LONGEST: Final = 100_000
"""Bytes of a stream that is looked at, at most."""
WORDS: Final = (
    *("text", "thinking", "signature", "call", "call in pieces", "image or file"),
    *("citation", "token details", "kind of error"),
)
"""What there is to say, in words that people use."""
_EXAMPLE: Final = 160


class Stream(NamedTuple):
    """A stream of the project's own; ``name``: where it is from."""

    name: str
    codec: str
    format: str
    data: bytes


@dataclass(slots=True)
class Hidden:
    """What a carry holds, of one kind: how often, and the first unit where it is so."""

    field: str
    reason: str
    content: bool
    count: int
    stream: str
    unit: str


@dataclass(slots=True)
class Cell:
    """One format into another.

    ``streams``: how many; ``whole``: of how many a native reader of the target sees all content; ``units``: of the
    source; ``carry``: bytes of carries; ``there`` and ``said``: by word, how often it is there, and is said natively.
    """

    source: str
    target: str
    streams: int = 0
    whole: int = 0
    units: int = 0
    carry: int = 0
    there: Counter[str] = field(default_factory=Counter)
    said: Counter[str] = field(default_factory=Counter)
    hidden: list[Hidden] = field(default_factory=list)

    def shown(self) -> dict[str, Any]:
        """As JSON has it."""
        simple = {name: getattr(self, name) for name in ("source", "target", "streams", "whole", "units", "carry")}
        words = {"there": dict(self.there), "said": dict(self.said)}
        return {**simple, **words, "hidden": [asdict(each) for each in self.hidden]}

    @property
    def share(self) -> float:
        """Of the streams, those whose native reader sees all content."""
        return self.whole / self.streams if self.streams else 0.0

    @property
    def bytes_a_unit(self) -> float:
        """Bytes of carry for each unit of the source."""
        return self.carry / self.units if self.units else 0.0


def names() -> list[str]:
    """The codecs that streams are recorded of: all but the algebra itself."""
    return sorted({stream.codec for stream in streams()})


@cache
def streams() -> tuple[Stream, ...]:
    """The project's own streams, by the name of their codec."""
    found: dict[tuple[str, bytes], Stream] = {}
    for name, format, data in _recorded():
        of = codec(format).name
        if of != "events" and (of, data) not in found and _is_plain(format, data):
            found[of, data] = Stream(name, of, format, data)
    return tuple(found.values())


@cache
def cell(source: str, target: str) -> Cell:
    """What becomes of the streams of a codec in another. Raises :class:`UnknownFormat`."""
    found = Cell(codec(source).name, codec(target).name)
    hidden: dict[tuple[str, str, bool], Hidden] = {}
    for stream in streams():
        if stream.codec == found.source:
            _measure(stream, found, hidden)
    found.hidden = sorted(hidden.values(), key=lambda each: (not each.content, -each.count))
    return found


def says(name: str) -> dict[str, tuple[int, int]]:
    """By word, how often a codec says it natively, of how often any stream has it."""
    cells = [cell(source, name) for source in names()]
    return {word: (sum(each.said[word] for each in cells), sum(each.there[word] for each in cells)) for word in WORDS}


def verdict(said: int, there: int) -> str:
    """``native``, ``partly`` with the share that is said, ``carried``, or nothing where no stream has it."""
    if not there:
        return ""
    # never rounded to all or to none
    share = min(99, max(1, round(100 * said / there)))
    return "native" if said == there else f"partly, {share} %" if said else "carried"


def _recorded() -> Iterator[tuple[str, str, bytes]]:
    for example in EXAMPLES:
        if example.path is not None:
            yield f"examples/{example.file}", example.source, example.path.read_bytes()
    for file, case in load_cases(find_vectors()):
        failed = case.error is not None and case.error.code == UpstreamFailure.__name__
        whole = failed or (case.verdict == "y" and case.error is None)
        if whole and case.strict and not resolve(case.source)[1].objects:
            data = b"".join(case.pieces())
            if len(data) <= LONGEST:
                yield f"tests/vectors/{file}.json, {case.id}", case.source, data


def _is_plain(format: str, data: bytes) -> bool:
    """Whether a stream conforms, be it only to report a failure, and holds no carry."""
    trace = Trace()
    machine = Translator(format, "events", trace=trace, errors="encode")
    try:
        machine.feed(data)
        machine.close()
    except UpstreamFailure:
        pass
    except TranslateError:
        return False
    return bool(trace.sources) and not any(unit.carries for unit in trace.sources)


def _measure(stream: Stream, into: Cell, hidden: dict[tuple[str, str, bool], Hidden]) -> None:
    trace, report = Trace(), Report()
    machine = Translator(stream.format, into.target, trace=trace, report=report, errors="encode", clock=lambda: 1)
    with suppress(UpstreamFailure):
        machine.feed(stream.data)
        machine.close()
    into.streams += 1
    into.units += len(trace.sources)
    into.carry += sum(len(jsontext.dumps_strict(unit.carry)) for unit in trace.targets if unit.carry)
    into.whole += not any(loss.content for loss in report.losses)
    meant = _features(event for unit in trace.sources for event in unit.events)
    told = _features(event for unit in trace.targets for event in unit.says)
    if [unit.unit for unit in trace.targets] == [unit.unit for unit in trace.sources]:
        told = meant
    for word, values in meant.items():
        into.there[word] += sum(values.values())
        into.said[word] += sum((values & told.get(word, Counter())).values())
    for loss in report.losses:
        key = (loss.field, loss.reason, loss.content)
        unit = trace.sources[loss.unit].unit if loss.unit is not None and loss.unit < len(trace.sources) else None
        shown = shortened(json_text(unit))[:_EXAMPLE] if unit is not None else ""
        hidden.setdefault(key, Hidden(*key, 0, stream.name, shown)).count += 1


def _features(events: Iterable[Event]) -> dict[str, Counter[Any]]:
    """By word, what is said of it."""
    found: dict[str, Counter[Any]] = {}

    def put(word: str, value: Any) -> None:
        found.setdefault(word, Counter())[value] += 1

    open: Open | None = None
    pieces: list[Any] = []
    usage = TokenCounts()
    for event in events:
        # formats that say no ends end a part by the next one
        if open is not None and isinstance(event, (Open, Close, Finish)):
            _part(open, [piece for piece in pieces if piece], put)
            open = None
        match event:
            case Open():
                open, pieces = event, []
            case Append():
                pieces.append(event.data)
                if event.state is not None:
                    put("signature", jsontext.dumps_strict(event.state.values))
            case Annotate():
                put("citation", jsontext.dumps_strict(event.data))
            case Usage() | Finish():
                usage = event.usage
            case Failure() if event.kind is not None:
                put("kind of error", event.kind)
            case _:
                pass
    details = {"cached_tokens": usage.cached_tokens, "reasoning_tokens": usage.reasoning_tokens, **usage.other}
    for name, value in details.items():
        if value is not None:
            put("token details", (name, str(value)))
    return found


def _part(open: Open, pieces: Sequence[Any], put: Callable[[str, Any], None]) -> None:
    whole = "".join(pieces) if all(isinstance(piece, str) for piece in pieces) else b"".join(_octets(pieces))
    match open.kind:
        case "text" | "thinking" if whole:
            put(open.kind, whole)
        case "tool_call":
            put("call", (open.name, _arguments(whole)))
            if len(pieces) > 1:
                put("call in pieces", tuple(pieces))
        case "inline_data" | "inline_thinking":
            put("image or file", whole)
        case _:
            pass


def _octets(pieces: Sequence[Any]) -> Iterator[bytes]:
    yield from (piece if isinstance(piece, bytes) else repr(piece).encode() for piece in pieces)


def _arguments(text: Any) -> Any:
    """What a call is called with, however it is spelled."""
    try:
        return jsontext.dumps_strict(jsontext.loads(text.encode() or b"{}"))
    except (TranslateError, ValueError):
        return text
