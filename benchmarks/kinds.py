"""Ten times as much of each kind of thing that a stream can have many of: the time is to grow by ten."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple

import orjson

from translate import Limits, assemble

from .table import Plan, Row, Timed, measure
from .work import Unit, cut, frame, frames, gateway_sse, lines, made, turn, unievent, unievent_stop

TARGET = 13.0
WIDE = Limits(unit=1 << 30)
"""So that the last event of the largest part is no error."""
LINES, SSE, OBJECTS = "unievent-jsonl", "gateway-sse", "gateway-jsonl"


class Way(NamedTuple):
    """A translation; ``via``: of what this format's lines became in the source's, with carries."""

    src: str
    dst: str
    loss: str = "carry"
    strict: bool = True
    via: str = ""

    @property
    def name(self) -> str:
        """How the table calls it."""
        lenient = "" if self.strict else ", lenient"
        return f"{self.src} to {self.dst}{', drop' if self.loss == 'drop' else ''}{lenient}"


HOME, TO_SSE, TO_OBJECTS = Way(LINES, LINES), Way(LINES, SSE), Way(LINES, OBJECTS)
FROM_SSE, FROM_OBJECTS = Way(SSE, LINES, via=LINES), Way(OBJECTS, LINES, via=LINES)


def kinds(plan: Plan) -> Iterator[Row]:
    """All of them."""
    few, many = plan.pieces, 10 * plan.pieces
    for what, source, ways in KINDS:
        for way in ways:
            units = source(few)
            base, work = chunks(units, way), chunks(source(many), way)
            _right(units, list(chain.from_iterable(steps(base, way))), way)
            case = f"{what}, {way.name}"
            yield measure(case, f"{few:,}, not {many:,}", let_go(work, way), let_go(base, way), plan.slow(), TARGET)


def steps(chunks: Sequence[bytes], way: Way) -> Iterator[list[Any]]:
    """What each step of the translation gives."""
    translator = made(way.src, way.dst, way.loss, strict=way.strict, limits=WIDE)
    for chunk in chunks:
        yield translator.feed(chunk)
    yield translator.close()


def let_go(chunks: Sequence[bytes], way: Way) -> Timed:
    """The translation, nothing of which is kept."""

    def run() -> None:
        for _ in steps(chunks, way):
            pass

    return run


def chunks(units: Sequence[Unit], way: Way) -> list[bytes]:
    """The stream as the source of a way, in chunks of 4 KiB."""
    written = gateway_sse(units) if way.src == SSE and not way.via else lines(units)
    if way.via:
        written = list(chain.from_iterable(steps(cut(b"".join(written), 4096), Way(way.via, way.src))))
    return cut(b"".join(written), 4096)


def _right(units: Sequence[Unit], out: list[bytes], way: Way) -> None:
    """Home it is what it was; elsewhere, and after repairs, it says as much."""
    text = b"".join(out)
    if way.dst == (way.via or way.src) and way.strict:
        data = (
            text.split(b"\n") if way.dst == LINES else [line[6:] for line in text.split(b"\n") if line[:5] == b"data:"]
        )
        assert [orjson.loads(each) for each in data if each] == list(units), f"{way.name}: not what went out"
        return
    items = [item for unit in units for item in unit["content_items"] if item["type"].endswith(".done")]
    message = assemble([text], way.dst, "unievent", limits=WIDE)
    assert _content(message["content_items"]) == _content(items), f"{way.name}: not the content that went out"


def _content(items: Sequence[Unit]) -> list[Any]:
    return [[item.get(name) for name in ("type", "text", "thinking", "name", "arguments")] for item in items]


# ---- the kinds -------------------------------------------------------------------------------------------


def _call(pieces: Sequence[str]) -> list[Unit]:
    """A call in these fragments."""
    made = [
        {"type": "tool_call.delta", "name": "" if at else "f", "arguments": piece, "tool_call_id": "" if at else "t"}
        for at, piece in enumerate(pieces)
    ]
    return [*map(unievent, made), *_called("".join(pieces))]


def _called(arguments: str) -> list[Unit]:
    done = {"type": "tool_call.done", "name": "f", "arguments": orjson.loads(arguments), "tool_call_id": "t"}
    return [unievent(done), unievent_stop()]


def call(count: int) -> list[Unit]:
    """A call in so many fragments of one character."""
    return _call(['{"text":"', *"x" * count, '"}'])


def state(count: int) -> list[Unit]:
    """A signature in so many pieces, and whole at the end."""
    pieces = [f"{at:08}" for at in range(count)]
    deltas = [unievent({"type": "thinking.delta", "thinking": "x", "fidelity": {"signature": each}}) for each in pieces]
    done = {"type": "thinking.done", "thinking": "x" * count, "fidelity": {"signature": "".join(pieces)}}
    return [*deltas, unievent(done), unievent_stop()]


def members(count: int) -> list[Unit]:
    """A unit with so many members that nobody knows: a patch of as many operations, where it is carried."""
    unit = unievent({"type": "text.delta", "text": "x"}) | {f"member{at}": at for at in range(count)}
    return [unit, unievent({"type": "text.done", "text": "x"}), unievent_stop()]


def frame_members(count: int) -> list[Unit]:
    """The same in a frame."""
    first, *rest = frames(turn(10)[:2])
    return [first | {f"member{at}": at for at in range(count)}, *rest]


def units_in_text(count: int) -> list[Unit]:
    """So many units that nobody knows, while a text is open: entries of one carry, where they have no unit."""
    said = unievent({"type": "text.delta", "text": "x"})
    done = unievent({"type": "text.done", "text": "x"})
    return [said, *_unknown(count), done, unievent_stop()]


def units_in_call(count: int) -> list[Unit]:
    """The same, while a call is open."""
    first, second, *rest = _call(["{", "}"])
    return [first, *_unknown(count), second, *rest]


def frames_in_text(count: int) -> list[Unit]:
    """The same among frames."""
    first, second, *rest = frames(turn(10)[:2])
    return [first, second, *(frame("future", value=at) for at in range(count)), *rest]


def _unknown(count: int) -> list[Unit]:
    return [unievent({"type": "future.delta", "value": at}) for at in range(count)]


def floats(count: int) -> list[Unit]:
    """A call whose arguments are so many floats, which its ``.done`` spells as whole numbers, as JavaScript does."""
    first, done, stop = _call([f'{{"numbers":[{",".join(f"{at}.0" for at in range(count))}]}}'])
    done["content_items"][0]["arguments"] = {"numbers": list(range(count))}
    return [first, done, stop]


KINDS: list[tuple[str, Callable[[int], list[Unit]], list[Way]]] = [
    ("fragments of a call", call, [Way(LINES, SSE, "drop"), TO_SSE, FROM_SSE, HOME]),
    ("pieces of a state", state, [Way(LINES, SSE, strict=False), Way(LINES, LINES, strict=False)]),
    ("unknown members", members, [HOME]),
    ("unknown members", frame_members, [Way(SSE, SSE)]),
    ("operations of a patch", members, [TO_SSE, FROM_SSE]),
    ("unknown units in a text", units_in_text, [HOME, TO_SSE]),
    ("unknown units in a text", frames_in_text, [Way(SSE, SSE)]),
    ("unknown units in a call", units_in_call, [HOME, TO_SSE]),
    ("entries of a carry", units_in_text, [TO_OBJECTS, FROM_OBJECTS]),
    ("floats of a .done", floats, [HOME, TO_SSE, FROM_SSE]),
]
"""What there is ten times as much of, the stream that has it, and how it is translated."""
