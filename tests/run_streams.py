"""Streams that tempt the short ways, and conversions with and without them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple
from unittest.mock import patch

from hypothesis import strategies as st

from translate import Report, TranslateError, convert
from translate.engine import runs, writing
from translate.engine.source import Source
from translate.engine.writing import Writing


@contextmanager
def without_runs() -> Iterator[None]:
    """Fragments are read and written one by one."""
    with patch.object(runs, "ON", False), patch.object(writing, "gather", lambda events, at: None):
        yield


@contextmanager
def the_long_way() -> Iterator[None]:
    """Every unit is read and written by what is the reference."""
    with ExitStack() as stack:
        stack.enter_context(without_runs())
        for end in (Source, Writing):
            stack.enter_context(patch.object(end, "__init__", _long(end.__init__)))
        yield


def _long(init: Any) -> Any:
    def made(end: Source | Writing, *args: Any, **options: Any) -> None:
        init(end, *args, **options)
        end.go_the_long_way()

    return made


WAYS = (the_long_way, without_runs)
"""The ways that are held against the shortest, the reference first."""


class Outcome(NamedTuple):
    """All that can be told of a conversion."""

    output: list[str]
    error: tuple[Any, ...] | None
    report: tuple[Any, ...] | None


def outcome(chunks: Iterable[Any], src: str, dst: str, *, noted: bool | None = None, **options: Any) -> Outcome:
    """Convert; the order of members counts, how units were joined to chunks does not.

    ``noted``: whether a report notes what is incidental; ``None`` for no report.
    """
    report = None if noted is None else Report(incidental=noted)
    units: list[Any] = []
    error: tuple[Any, ...] | None = None
    try:
        units += convert(chunks, src, dst, clock=lambda: 7, report=report, **options)
    except TranslateError as raised:
        place = (raised.unit, raised.offset, raised.state, raised.format, raised.excerpt)
        error = (type(raised).__name__, raised.what, raised.expected, *place, raised.pending)
    joined = units and isinstance(units[0], bytes)
    output = [b"".join(units).decode("utf-8", "surrogatepass")] if joined else [repr(unit) for unit in units]
    found = report and (report.predicted, report.losses, report.guesses, report.repairs)
    return Outcome(output, error, found or None)


def same_all_ways(chunks: list[Any], src: str, dst: str, **options: Any) -> Outcome:
    """Convert by each way."""
    found = outcome(chunks, src, dst, **options)
    for way in WAYS:
        with way():
            expected = outcome(chunks, src, dst, **options)
        assert found == expected, way.__name__
    return found


def cut(data: bytes, sizes: list[int]) -> list[bytes]:
    """Chunks of the sizes given, over and over."""
    chunks: list[bytes] = []
    at = 0
    while at < len(data):
        chunks.append(data[at : at + sizes[len(chunks) % len(sizes)]])
        at += len(chunks[-1])
    return chunks


def singly(data: bytes, end: bytes = b"\n\n") -> list[bytes]:
    """One unit a chunk; ``end``: of each."""
    return [unit + end for unit in data.split(end)[:-1]] or [data]


SIZES = st.sampled_from([[1 << 20], [1], [7], [64, 3], [1000, 1, 1]])

# ---- units as text ----------------------------------------------------------------------------

SPACES: list[tuple[str, str]] = [(",", ":"), (", ", ": "), (" ,", ":"), (",\t", " : ")]
LURES = [
    *(
        "",
        "a",
        "Hel",
        "lo ",
        '"',
        "\\",
        '\\"',
        "\n",
        "\x85",
        "\u2028",
        "é😀",
        "\ud83d",
        "\ude00",
        "\0",
        "/",
        "$",
        "null",
    ),
    *(
        '"}],"usage_metadata"',
        '}],"usage_metadata":null,"finish_reason":null,"created_at":5}',
        '","carry":',
        '},"carry":{',
    ),
    *(
        '","',
        '"},"carry":{"synthetic":true}}',
        '","b',
        "[",
        "{",
        "}}",
        "}},{",
        "synthetic",
        ',"carry":{"gateway":{"x":1}}',
    ),
]
TEXTS = st.sampled_from(LURES) | st.text(st.sampled_from('"\\,:{}[]x\n é'), max_size=6)
NUMBERS = st.sampled_from(
    [
        *(
            "5",
            "0",
            "1796036422942",
            "17",
            "005",
            "00",
            "+5",
            "-5",
            "5.0",
            "5e3",
            "1E400",
            "NaN",
            "null",
            "true",
            '"5"',
        ),
        *(
            "123456789012345678",
            "1234567890123456789",
            "9223372036854775808",
            "18446744073709551616",
            "9" * 40,
            "",
            " 5",
        ),
    ]
)
CARRIES = st.sampled_from(
    [
        *('{"gateway":{"x":1}}', '{"gateway":{"x":12345678901234567890}}', '{"gateway":{"x":123456789012345678901}}'),
        *(
            '{"gateway":{"x":01}}',
            '{"synthetic":true}',
            '{"synthetic":false}',
            '{"synthetic": true}',
            '{"v":1}',
            '{"v":2}',
        ),
        *(
            '{"gateway":{"synthetic":1}}',
            '{"toy":{"a":"$x"}}',
            '{"toy":{"$a":1}}',
            '{"toy":{"a":"}},{"}}',
            '{"toy":{}}',
        ),
        *('{"toy":{"a":1},"gateway":{"b":2}}', '{"toy":{"a":1,"a":2}}', '{"toy":{"a":1.5}}', '{"toy":[{"a":1}]}', "{}"),
        *(
            '{"unievent":{"at":3}}',
            '{"unievent":{"at":3.0}}',
            '{"unievent":{"at":-3}}',
            '{"unievent":{"synthetic":true}}',
        ),
        *(
            '{"toy":{"a":{"$number":"NaN"}}}',
            '{"toy":{"a":NaN}}',
            '{"toy":1}',
            "[]",
            "1",
            "{",
            '{"toy":{"a":1}}}',
            '{"events":[1]}',
        ),
        *(
            '{"events":["append"]}',
            '{"before":[{"toy":{"a":1}}]}',
            '{"before":{"a":1}}',
            '{"v":{"a":1}}',
            '{"events":{"a":1}}',
        ),
        *(
            '{"toy":{"a":"\u2028"}}',
            '{"toy":{"a":"\\ud83d"}}',
            '{"toy":{"a":1}} ',
            '{"TOY":{"a":1}}',
            '{"toy":{"a":+1}}',
        ),
    ]
)


@st.composite
def spelled(draw: st.DrawFn, value: Any) -> str:
    """JSON text of a value in some spelling."""
    ascii_only = draw(st.booleans()) or "\ud83d" in repr(value) or "\\ud" in repr(value)
    text = json.dumps(value, separators=draw(st.sampled_from(SPACES[:2] * 3 + SPACES)), ensure_ascii=ascii_only)
    return text.replace("a", "\\u0061", 1) if draw(st.integers(0, 9)) == 0 and text[:1] == '"' else text


@st.composite
def delta(draw: st.DrawFn, item: dict[str, Any], *, tempt: bool = True) -> str:
    """A UniEvent delta as its writers spell it, or nearly so."""
    unit = {
        "role": "assistant",
        "event_type": "delta",
        "content_items": [item],
        "usage_metadata": None,
        "finish_reason": None,
        "created_at": 1796036422942,
    }
    text = draw(spelled(unit))
    if tempt:
        turn = draw(st.integers(0, 9))
        if turn < 3:
            text = text.replace("1796036422942", draw(NUMBERS))
        elif turn == 3:
            text = text[:-1] + draw(
                st.sampled_from([',"created_at":6}', ',"x":1}', ', "x": "}"}', "}}", "]", "", "} "])
            )
        elif turn == 4:
            text = '{"x":1,' + text[1:]
        elif turn == 5:
            text = text.replace(
                "}]", draw(st.sampled_from([',"text":"b"}]', ',"fidelity":{"s":1}}]', ',"x":0}]', "},{}]"]))
            )
    return text


@st.composite
def members(draw: st.DrawFn, text: str) -> str:
    """The unit with a carry inside, at times."""
    turn = draw(st.integers(0, 5))
    return f'{text[:-1]},"carry":{draw(CARRIES)}}}' if turn < 3 and text.endswith("}") else text


@st.composite
def frames(draw: st.DrawFn, text: str, *, named: str | None = None) -> str:
    """The unit as a block of an event stream, with a carry at times."""
    turn = draw(st.integers(0, 9))
    head = f": carry {draw(CARRIES)}\n" if turn < 4 else ""
    head += draw(st.sampled_from(["", "", "", "", ": x\n", ": carry {}\n", "id: 1\n"])) if turn == 9 else ""
    name = draw(st.sampled_from([named, named, named, None, "x"])) if named else None
    return head + (f"event: {name}\n" if name else "") + f"data: {text}\n\n"


def unievent_items(kind: str, texts: list[str]) -> list[dict[str, Any]]:
    """The fragments of one group and its end."""
    whole = "".join(texts)
    if kind == "tool_call":
        heads = [("f", "c1")] + [("", "")] * len(texts)
        parts = [
            {"type": "tool_call.delta", "name": name, "arguments": text, "tool_call_id": id}
            for (name, id), text in zip(heads, ["", *texts], strict=True)
        ]
        return [*parts, {"type": "tool_call.done", "name": "f", "arguments": {}, "tool_call_id": "c1"}]
    return [{"type": f"{kind}.delta", kind: text} for text in texts] + [{"type": f"{kind}.done", kind: whole}]


USAGE = {"cached_tokens": 1, "prompt_tokens": 2, "thoughts_tokens": 3, "response_tokens": 4}
STOP = {
    "role": "assistant",
    "event_type": "stop",
    "content_items": [],
    "usage_metadata": USAGE,
    "finish_reason": "stop",
}


@st.composite
def unievent_stream(draw: st.DrawFn, shape: str) -> bytes:
    """A stream of UniEvents, valid but for what tempts."""
    out: list[str] = []
    tempt = draw(st.booleans())
    add = frames if shape == "sse" else members
    for _ in range(draw(st.integers(1, 2))):
        kind = draw(st.sampled_from(["text", "text", "thinking", "tool_call"]))
        texts = draw(st.lists(TEXTS, min_size=1, max_size=7)) if kind != "tool_call" else ["{", " ", "}"]
        for item in unievent_items(kind, texts):
            text = draw(delta(item, tempt=tempt and draw(st.integers(0, 3)) == 0 and item["type"][-5:] == "delta"))
            out.append(draw(add(text)) if tempt else (f"data: {text}\n\n" if shape == "sse" else text))
    out.append(f"data: {json.dumps(STOP)}\n\ndata: [DONE]\n\n" if shape == "sse" else json.dumps(STOP))
    return ("".join(out) if shape == "sse" else "\n".join([*out, ""])).encode("utf-8", "surrogatepass")


@st.composite
def gateway_stream(draw: st.DrawFn, shape: str) -> bytes:
    """A stream of the gateway's frames, valid but for what tempts."""
    out: list[str] = []

    def say(value: dict[str, Any], *, tempt: bool = False) -> None:
        text = draw(spelled({"success": True, "code": 200, "value": value}))
        if tempt and draw(st.integers(0, 3)) == 0:
            ends = [',"code":201}', '},"x":1}', "}}}", "", "}]", ',"value":"b"}}']
            text = draw(st.sampled_from([text.replace("200", "201"), *(text[:-1] + end for end in ends)]))
        if shape == "sse":
            out.append(draw(frames(text, named=value["type"])) if tempt else f"data: {text}\n\n")
        else:
            out.append((draw(members(text)) if tempt else text) + "\n")

    say({"type": "streamStart", "model": {"name": "m", "tier": "t", "publisher": "P", "provider": "Q"}})
    for _ in range(draw(st.integers(1, 2))):
        word = draw(st.sampled_from(["content", "thinking"]))
        tempted = draw(st.booleans())
        say({"type": f"{word}Start"})
        for text in draw(st.lists(TEXTS, max_size=7)):
            say({"type": word, "value": text}, tempt=tempted)
        say({"type": f"{word}End"})
    say({"type": "stop", "usage": {"provider": "q", "inputTokens": 1, "outputTokens": 2, "finishReason": "stop"}})
    return "".join(out).encode("utf-8", "surrogatepass")


def mutate(data: bytes, at: int, what: bytes, drop: int) -> bytes:
    """Some bytes replaced by others."""
    at %= len(data) + 1
    return data[:at] + what + data[at + drop :]
