"""Streams spelled out by choices: units as their writers spell them, carries, and what is odd among both."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final

from . import providers
from .choices import MOST, Choices, split
from .providers import COUNT, ORDER, TEXT

INSIDES: Final = [
    *(b"a", b"Hel", b"lo ", b"", b"b", b" c", "é😀".encode(), b"a", b"\\n", b'\\"', b"\\\\", b"/", b"null", b"."),
    *(b"\\/", b"\\u00e9", b"\\u00E9", b"\\ud83d\\ude00", b"\\uD83D\\uDE00", b"\\u0000", b"\\u2028"),
    *(b"\\u0085", b"\x7f"),
    *(b"\xc2\x85", b"\xe2\x80\xa8", b"\xe2\x80\xa9", b'\\"}}', b'\\",\\"', b"}],", b"x" * 99, "😀".encode() * 9, b"]"),
]
"""Insides of JSON strings."""
ODD_INSIDES: Final = [
    *(b"\\ud83d", b"\\ude00", b"\\ud83d\\u0061", b"\xff", b"\xe2\x82", b"\xed\xa0\x80", b"\xf4\x90\x80\x80"),
    *(b'"', b"\t"),
    *(b"\\", b"\\x", b"\\u00g0", b"\r", b"\n", b'","', b'"},{"', b'a",["b', b"\xc0\xaf", b'"}],"x":[{"y":"', b"\0"),
    *(b'"}},"carry":{"x":{"a":1}}}\n', b'"}}\n\n', b"x" * 3000),
]
NUMBERS: Final = [
    *(b"5", b"0", b"1796036422942", b"17", b"9007199254740993", b"9" * 17, b"9" * 18, b"1" + b"0" * 17),
    *(b"9" * 19, b"9223372036854775808", b"18446744073709551616", b"9" * 20, b"05", b"00", b"-5", b"-0"),
    *(b"5.0", b"5e3"),
    *(b"1E400", b"NaN", b"null", b"true", b'"5"', b"", b" 5", b"5 ", b"9" * 40, b"Infinity", b"0.1", b"{}"),
]
CARRIES: Final = [
    *(b'{"toy":{"a":%s}}', b'{"gateway":{"x":%s}}', b'{"unievent":{"at":%s}}', b'{"synthetic":true}'),
    *(b'{"x-1":{"a":%s}}',),
    *(b'{"toy":{"a":1}}', b'{"v":1,"toy":{"a":%s}}', b'{"v":1}', b'{"v":2}', b"{}", b'{"toy":{"a":"$x"}}'),
    *(b'{"toy":{}}',),
    *(b'{"synthetic":false}', b'{"gateway":{"synthetic":1}}', b'{"unievent":{"at":%s,"synthetic":true}}', b"[]", b"1"),
    *(b'{"toy":{"a":1},"gateway":{"b":2}}', b'{"toy":[{"a":1}]}', b'{"toy":[null,{"a":1}]}', b'{"toy":{"a":1}}}', b"{"),
    *(b'{"events":[1]}', b'{"events":["append"]}', b'{"events":[0,"append",0]}', b'{"events":[]}'),
    *(b'{"before":{"a":1}}',),
    *(b'{"before":[{"toy":{"a":1}}]}', b'{"before":[{"events":[{"event":"open","kind":"embedding"}]}]}'),
    *(b'{"v":{"a":1}}',),
    *(b'{"before":[{"events":[{"event":"usage","usage":{"input_tokens":1}}]}]}', b'{"toy": {"a": 1}}'),
    *(b'{"toy":{"a":1}} ',),
    *(b'{"events":[{"as":"append","state":{"namespace":"n","values":{"k":1}}}]}', b'{"member":1}'),
    *(b'{"member":{"a":1}}',),
    *(b'{"events":[{"event":"annotate","namespace":"k","data":{"a":1}},"append"]}', b'{"TOY":{"a":1}}'),
    *(b'{"toy":{"\\u0061":1}}',),
    *(b'{"unievent":{"patch":[[["x"],1]]}}', b'{"gateway":{"patch":[[["code"],201]]}}'),
    *(b'{"toy":{"a":{"$number":"NaN"}}}',),
    *(b'{"toy":{"a":NaN}}', b'{"\xff":1}', b'{"toy":{"a":"\xe2\x80\xa8"}}', b'{"events":[1],"events":[2]}'),
]
NOISE: Final = [
    *(b": keep-alive\n\n", b"\n", b": \xff\n\n", b"id: 1\n\n", b"\r\n", b"\r", b"\xef\xbb\xbf"),
    *(b"retry: 5\n\n", b":\n\n"),
    *(b"data\n\n", b"data:\n\n", b"event: content\n\n", b": carry {}\n\n", b": carry x\n\n", b"\n\n"),
    *(b"data: [DONE]\n\n",),
    *(b": x\ndata: [DONE]\n\n", b": carry {}\ndata: [DONE]\n\n", b" ", b"\xff", b"\0", b"null\n", b"{}\n"),
    *(b"[]\n", b"[", b"]"),
    *(b": carry " + carry + b"\n\n" for carry in CARRIES if b"%" not in carry),
]
NUMBER = 990099
_TEXT, _NUMBER, _COUNT, _ORDER = b"\\u0000", b"%d" % NUMBER, b"%d" % COUNT, b"%d" % ORDER
_USAGE = {"cached_tokens": 1, "prompt_tokens": 2, "thoughts_tokens": 3, "response_tokens": 4}
_COUNTS = {"provider": "q", "inputTokens": 1, "outputTokens": 2, "finishReason": "stop"}
_MODEL = {"name": "m", "tier": "t", "publisher": "P", "provider": "Q"}


def event(item: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    kind = {"event_type": "delta", "content_items": [item]} if item else {"event_type": "stop", "content_items": []}
    return {"role": "assistant", **kind, "usage_metadata": None, "finish_reason": None, "created_at": NUMBER, **more}


def frame(kind: str, **more: Any) -> dict[str, Any]:
    return {"success": True, "code": 200, "value": {"type": kind, **more}}


def _call(phase: str, head: str, arguments: Any) -> dict[str, Any]:
    name, id = (head, head and "c1") if head else ("", "")
    return event({"type": f"tool_call.{phase}", "name": name, "arguments": arguments, "tool_call_id": id})


UNITS: Final[dict[str, dict[str, Any]]] = {
    **providers.UNITS,
    "unievent": {
        **{f"{kind}+": event({"type": f"{kind}.delta", kind: TEXT}) for kind in ("text", "thinking")},
        **{f"{kind}.": event({"type": f"{kind}.done", kind: TEXT}) for kind in ("text", "thinking")},
        "call(": _call("delta", "f", TEXT),
        "call+": _call("delta", "", TEXT),
        "call.": _call("done", "f", {}),
        "stop": event(usage_metadata=_USAGE, finish_reason="stop"),
        "error": {"error": {"type": "UpstreamError", "message": TEXT, "status": 503}},
        "faithful": event({"type": "text.delta", "text": TEXT, "fidelity": {"k": 1}}),
        "more": event({"type": "text.delta", "text": TEXT, "x": 1}),
        "bytes": event({"type": "inline_data.delta", "data": "AAEC", "mime_type": "x/y"}),
        "bytes.": event({"type": "inline_data.done", "data": "AAEC", "mime_type": "x/y"}),
        "vector": event({"type": "embedding.delta", "embedding": [1, 0.5]}),
        "vector.": event({"type": "embedding.done", "embedding": [1, 0.5]}),
        "unknown": event({"type": "x.delta", "x": TEXT}),
        "foreign": {"event_type": "x", "y": TEXT},
    },
    "gateway": {
        "start": frame("streamStart", model=_MODEL),
        **{f"{kind}(": frame(f"{kind}Start") for kind in ("content", "thinking")},
        **{f"{kind}+": frame(kind, value=TEXT) for kind in ("content", "thinking")},
        **{f"{kind}.": frame(f"{kind}End") for kind in ("content", "thinking")},
        "stated": frame("thinkingEnd", data={"Q.k": 1}),
        "tool": frame("tool", value={"id": "c1", "name": "f", "arguments": '{"a": 1}'}),
        "odd tool": frame("tool", value={"id": "c1", "name": "f", "arguments": TEXT}),
        "handover": frame("streamError", model={"name": "n"}),
        "stop": frame("stop", usage=_COUNTS),
        "error": {"success": False, "code": 503, "message": TEXT},
        "coded": {**frame("content", value=TEXT), "code": 201},
        "foreign": frame("x", y=TEXT),
    },
    "events": {
        **{f"{kind}(": {"event": "open", "kind": kind} for kind in ("text", "thinking", "refusal", "embedding")},
        "call(": {"event": "open", "kind": "tool_call", "id": "c1", "name": "f"},
        "+": {"event": "append", "text": TEXT},
        "stamped": {"event": "append", "text": TEXT, "residue": {"unievent": {"at": NUMBER}}},
        "toyed": {"event": "append", "text": TEXT, "residue": {"toy": {"a": NUMBER}}},
        "stated": {"event": "append", "text": TEXT, "state": {"namespace": "n", "values": {"k": 1}}},
        "vector": {"event": "append", "vector": [1, {"$number": "NaN"}]},
        ".": {"event": "close"},
        "usage": {"event": "usage", "usage": {"input_tokens": 1}},
        "note": {"event": "annotate", "namespace": "k", "data": {"a": TEXT}},
        "handover": {"event": "handover", "model": {}},
        "start": {"event": "start", "model": {"name": "m"}},
        "stop": {"event": "finish", "usage": {"input_tokens": 1}, "reason": "stop"},
        "error": {"event": "failure", "code": 503, "message": TEXT},
    },
}
RUNS: Final = {
    **providers.RUNS,
    "unievent": [("", "text+", "text."), ("", "thinking+", "thinking."), ("call(", "call+", "call.")],
    "gateway": [("content(", "content+", "content."), ("thinking(", "thinking+", "thinking.")],
    "events": [("text(", "+", "."), ("thinking(", "+", "."), ("call(", "+", "."), ("refusal(", "+", ".")],
}
NOTES: Final = {
    **providers.NOTES,
    "unievent": ["unknown", "foreign"],
    "gateway": ["foreign"],
    "events": ["usage", "note"],
}
"""Units that fit into any run."""
CALM: Final = ["grow"] * 20 + ["end", "begin", "note"]
MILD: Final = [*CALM * 2, "other", "noise", "raw", "flip", "again"]
WILD: Final = [*CALM, *["other"] * 4, *["noise"] * 3, "raw", "flip", "again", "stop"]


@lru_cache(maxsize=1024)
def _templates(codec: str, unit: str, spaced: bool) -> tuple[tuple[bytes, str | None], ...]:
    """The texts of a unit, or of some in a row, with the names of their SSE events."""
    found = UNITS[codec][unit]
    separators = (", ", ": ") if spaced else (",", ":")
    return tuple(
        (json.dumps(each, separators=separators).encode(), providers.name_of(codec, each))
        for each in (found if isinstance(found, list) else [found])
    )


class Speller:
    """Spells one stream of ``codec`` in the shape ``shape``: ``pieces``, a unit each."""

    def __init__(self, choices: Choices, codec: str, shape: str) -> None:
        self.choices, self.codec, self.shape = choices, codec, shape
        self.pieces: list[bytes] = []
        self._body: list[bytes] = []
        self._run: tuple[str, str, str] | None = None
        self._acts, self._odds = choices.of([(CALM, 0), (CALM, 0), (CALM, 60), (MILD, 0), (MILD, 60), (WILD, 8)])
        self._spaced = choices.rarely(3)
        self._carrying = choices.of([0, 0, 1, 2, 9])
        self._carry = choices.of(CARRIES[:5])
        self._noisy = choices.rarely(4)
        self._number = choices.of(NUMBERS[:4])
        self._end = choices.of([b"\n"] * 6 + [b"\r\n", b"\r"])
        self._whole = not choices.rarely(4)
        self._begun = self._said = 0

    def spell(self) -> list[bytes]:
        """The pieces."""
        if "start" in UNITS[self.codec] and self.codec != "events":
            self._say("start")
        self._begin()
        acts: dict[str, Callable[[], None]] = {
            "grow": self._grow,
            "end": self._close,
            "begin": self._begin,
            "other": lambda: self._say(self.choices.of([*UNITS[self.codec]])),
            "noise": lambda: self.pieces.append(self.choices.of(NOISE)),
            "raw": lambda: self.pieces.append(self.choices.take(self.choices.below(16))),
            "flip": self._flip,
            "again": lambda: self.pieces.extend(self.pieces[-1 - self.choices.below(4) :][:1]),
            "stop": self._stop,
            "note": lambda: self._say(self.choices.of(NOTES[self.codec])),
        }
        while self.choices.left and len(self.pieces) < MOST:
            acts[self.choices.of(self._acts)]()
        if self._whole:
            self._close()
            self._stop()
        return self.pieces

    def _odd(self) -> bool:
        return self._odds > 0 and self.choices.rarely(self._odds)

    def _begin(self) -> None:
        self._close()
        self._run = self.choices.of(RUNS[self.codec])
        self._body, self._begun = [], self._begun + bool(self.pieces[1:])
        if self._run[0]:
            self._say(self._run[0], b"")
        if self._run[0] == "call(":
            self._say(self._run[1], b"{")

    def _grow(self) -> None:
        if self._run is None:
            self._begin()
        assert self._run is not None
        if self._run[0] == "call(":
            inside = self.choices.of(INSIDES) if self._odd() else self.choices.of([b" ", b"", b"\\n"])
        else:
            inside = self.choices.of(ODD_INSIDES if self._odd() else INSIDES)
        self._body.append(inside)
        self._say(self._run[1], inside)

    def _close(self) -> None:
        run, self._run = self._run, None
        if run is None:
            return
        if run[0] == "call(":
            self._say(run[1], b"}")
        elif self.codec == "unievent" and not self._body:
            self._say(run[1], b"")
        if run[2]:
            self._say(run[2], b"".join(self._body))

    def _stop(self) -> None:
        for unit in providers.ENDS.get(self.codec, ["stop"]):
            self._say(unit)
        if self.shape == "sse" and self.codec in providers.MARKS:
            self.pieces.append(providers.MARKS[self.codec])

    def _flip(self) -> None:
        at = -1 - self.choices.below(min(len(self.pieces), 4)) if self.pieces else 0
        if self.pieces:
            piece = self.pieces[at]
            place = self.choices.below(256) % (len(piece) + 1)
            self.pieces[at] = piece[:place] + self.choices.take(1) + piece[place + self.choices.below(2) :]

    def _say(self, unit: str, inside: bytes | None = None) -> None:
        choices = self.choices
        number = choices.of(NUMBERS if self._odd() else [self._number] * 3 + NUMBERS[:8])
        if inside is None:
            inside = choices.of(INSIDES) if self._odd() else b"a"
        holes = [(_COUNT, b"%d" % self._begun), (_NUMBER, number), (_TEXT, inside)]
        for template, name in _templates(self.codec, unit, self._spaced != self._odd()):
            text = template.replace(_ORDER, b"%d" % self._said)
            for hole, filling in holes:
                text = text.replace(hole, filling)
            self._said += 1
            carry = None
            if self._carrying and choices.below(self._carrying) == 0:
                carry = choices.of(CARRIES) if self._odd() else self._carry
                carry = carry.replace(b"%s", number)
            self.pieces.append(self._laid(text, name, carry))

    def _laid(self, text: bytes, name: str | None, carry: bytes | None) -> bytes:
        end = self._end
        # where comments harm, the carry is a member on SSE too
        if carry is not None and (self.shape != "sse" or self.codec == "gemini") and text.endswith(b"}"):
            text, carry = text[:-1] + b',"carry":' + carry + b"}", None
        if self.shape == "sse":
            lines = [b": carry " + carry] if carry is not None else []
            lines += [b"event: " + name.encode()] if name and not (self._noisy and self.choices.rarely(6)) else []
            lines += [b"data: " + text]
            if self._noisy and self.choices.rarely(6):
                odd = [b": x", b"id: 1", b"event: x", b"data", b"retry: 5", b": \xff", b": carry {}", b"data: " + text]
                lines.insert(self.choices.below(len(lines) + 1), self.choices.of(odd))
            return end.join([*lines, b"", b""])
        if self.shape == "array":
            return text + b","
        return text + (end if end != b"\r" else b"\n")


def stream(choices: Choices, codec: str, shape: str) -> list[bytes]:
    """The pieces of a stream: of units that are spelled, or bytes as they are."""
    if choices.rarely(6):
        return split(choices.rest())
    if shape == "any":
        shape = choices.of(["sse", "jsonl", "array"])
    pieces = Speller(choices, codec, shape).spell()
    if shape == "array":
        return [b"[", *pieces[:-1], *(piece[:-1] + b"]" for piece in pieces[-1:])]
    return pieces


_OTHER_CARRY = re.compile(
    rb'(?::[ ]carry[ ]|"carry":)(?!\{"(?:toy|x-1)":\{"a":(?:0|[1-9][0-9]*)\}\})'
    rb'|"(?:unievent|gateway)":\{(?!"at":(?:0|[1-9][0-9]*)\})'
)


def plain_carries(whole: bytes) -> bool:
    """Whether carries say no more than what someone else's units had; of others not all comes home."""
    return not _OTHER_CARRY.search(whole)
