"""Ids of calls and results: each call has one, unique in the output, and its result has the same.

1. An id that the target accepts is kept. Any other becomes ``tsx_`` and its base64url, which every decoder reads back.
   To a server, where that is longer than it takes, ``tsh_`` and a hash: the client never sees those.
2. A missing id is ``made_<n>_<name>``, ``n`` counting the calls from the start. Where the target may leave an id out,
   one that begins with ``made_`` was given by nobody, and is left out, in call and result alike.
3. The k-th use of an id gets ``-k``. Results pair with calls by id, and among equal ones in order.

All of it is a function of what came before, so that a conversation which grows keeps the ids it has.
"""

from __future__ import annotations

import binascii
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections import deque
from collections.abc import Iterable
from hashlib import sha256
from re import Pattern
from typing import Final

from .nodes import Part, Turn

_CODED: Final = "tsx_"
_HASHED: Final = "tsh_"
_OURS: Final = (_CODED, _HASHED, "tstate")
MADE: Final = "made_"


def true_id(id: str | None) -> str | None:
    """The id that an id of the wire stands for."""
    if id is None or not id.startswith(_CODED):
        return id
    text = id[len(_CODED) :]
    try:
        found = urlsafe_b64decode(text + "=" * (-len(text) % 4)).decode("utf-8")
    except (ValueError, binascii.Error):
        return id
    return found if _coded(found) == id else id


def written_id(id: str, charset: Pattern[str] | None, longest: int | None) -> str:
    """An id as a target takes it. ``longest``: of a server; clients take any length."""
    fits = (charset is None or charset.fullmatch(id)) and not id.startswith(_OURS) and id
    out = id if fits else _coded(id)
    if longest is not None and len(out) > longest:
        return _HASHED + sha256(id.encode("utf-8", "surrogatepass")).hexdigest()[:32]
    return out


def _coded(id: str) -> str:
    return _CODED + urlsafe_b64encode(id.encode("utf-8", "surrogatepass")).decode("ascii").rstrip("=")


class Ids:
    """The ids of one conversation, unique and paired, before any target's rules."""

    __slots__ = ("_calls", "_known", "_used", "_waiting", "unanswered", "unasked")

    def __init__(self, turns: Iterable[Turn]) -> None:
        self._known: dict[int, str] = {}
        self._used: set[str] = set()
        self._calls = 0
        self._waiting: dict[tuple[str, str | None], deque[Part]] = {}
        self.unasked: list[Part] = []
        """Results without a call."""
        self.unanswered: list[Part] = []
        """Calls without a result, though a message follows."""
        followed = False
        for turn in turns:
            if turn.role == "assistant" and followed:
                self._end_step()
                followed = False
            elif turn.role == "user":
                followed = True
            for part in turn.parts:
                if part.kind == "tool_call":
                    self._call(part)
                elif part.kind == "tool_result":
                    self._result(part)
        if followed:
            self._end_step()

    def of(self, part: Part) -> str:
        """The id of a call or a result."""
        known = self._known.get(id(part))
        return known if known is not None else part.id or ""

    def _end_step(self) -> None:
        self.unanswered += [call for calls in self._waiting.values() for call in calls]
        self._waiting = {}

    def _call(self, part: Part) -> None:
        wanted = part.id or f"{MADE}{self._calls}_{part.name or ''}"
        self._calls += 1
        found, k = wanted, 1
        while found in self._used:
            k += 1
            found = f"{wanted}-{k}"
        self._used.add(found)
        self._known[id(part)] = found
        self._waiting.setdefault(_key(part), deque()).append(part)

    def _result(self, part: Part) -> None:
        calls = self._waiting.get(_key(part))
        if calls:
            self._known[id(part)] = self._known[id(calls.popleft())]
        else:
            self.unasked.append(part)


def _key(part: Part) -> tuple[str, str | None]:
    """What a call and its result have in common: the id, or the name where there is none."""
    return (part.id, None) if part.id else ("", part.name)
