"""What one chunk says where it stands, and what is known behind it.

A chunk says pieces; nothing in it says that a part begins or ends. That is found here, as numbered in the package:
parts begin with their first piece and end with what comes next, and calls may interleave.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import chain
from typing import Any, TypeAlias

from translate import jsontext
from translate.algebra.calls import BLANK, FREE, FREE_END, Arguments, escaped
from translate.algebra.events import (
    Annotate,
    Append,
    Close,
    Data,
    Event,
    Foreign,
    JsonObject,
    Open,
    PartKind,
    State,
    TokenCounts,
    Usage,
)
from translate.algebra.serial import Serial, Turn, said_before
from translate.algebra.states import REASONING_FIELD
from translate.carry.expecting import Canonical
from translate.errors import GrammarError

from .chunks import CallPiece, Chunk, Executed, read_chunk
from .words import (
    NAME,
    OCTETS,
    REDACTED,
    is_redacted,
    issuer,
    read_entry,
    read_error,
    read_start,
    standing,
    told,
)

Key: TypeAlias = tuple[PartKind, int]
"""A part: its kind, and its number in the stream."""


@dataclass(slots=True)
class Call:
    """A call that began."""

    key: Key
    index: int | str
    id: str | None
    free: bool
    arguments: Arguments


@dataclass(slots=True)
class Known:
    """What is known of a stream. Only :meth:`Step.take` and those who write change it."""

    serial: Serial[Key]
    nesting: int
    """Levels of a call's arguments, at most."""
    started: bool = False
    begun: int = 0
    """Parts that began."""
    reason: str | None = None
    made_up: bool = False
    """Whether the last unit that gave a reason was made up, and so the end."""
    counts: TokenCounts | None = None
    calls: dict[int | str, Call] = field(default_factory=dict)
    """The call that each index stands for."""
    by_key: dict[Key, Call] = field(default_factory=dict)
    later: list[State] = field(default_factory=list)
    """States that wait for the end of the open part."""
    stated: set[bytes] = field(default_factory=set)
    """The entries that say the states of the open part, or the last one."""
    due: list[State] = field(default_factory=list)
    """Those of them that no unit has said."""
    executed: set[tuple[int, bool]] = field(default_factory=set)
    """Tools of the server that were said, their outputs by themselves."""
    cited: Any = None


class Step:
    """What a unit says (``said``) behind what is known, which stays as it is until :meth:`take`."""

    def __init__(self, known: Known, unit: JsonObject | None) -> None:
        """Without a unit nothing is said yet.

        Raises :class:`DecodeError`, :class:`GrammarError` and :class:`LimitExceeded`.
        """
        self.unit: JsonObject = {} if unit is None else unit
        self.name: str | None = None
        """The name that it came under."""
        self.canonical: Canonical | None = None
        """The unit that would be written for what it says, once that was asked for."""
        self.known = known
        self.chunk = chunk = Chunk() if unit is None else read_chunk(unit)
        self.turn: Turn[Key] = known.serial.turn()
        self.begun = known.begun
        self.later: list[State] = []
        """States that wait for the end of the open part from now on."""
        self.waited = known.later
        """Those that wait since before, as long as they do."""
        self.calls: dict[int | str, Call] = {}
        self.by_key: dict[Key, Call] = {}
        self.over: list[Key] = []
        """Calls that are over."""
        self.pieces: dict[Key, list[str]] = {}
        self.executed: set[tuple[int, bool]] = set()
        self.cited = known.cited
        self.opaque = False
        """Whether the unit holds states, or others of what is written only where it came from here."""
        self.repeats = False
        """Whether a state in it was said before: it tells nothing of what other units hold."""
        self.said: list[Event] = self.turn.said
        self.starts = not known.started and bool(chunk.choices or self.unit.get("id") or self.unit.get("model"))
        if unit is not None:
            self._read(chunk)

    @property
    def reason(self) -> str | None:
        """The reason that stands behind the unit."""
        chunk, known = self.chunk, self.known
        return standing(chunk.reason, known.reason) if chunk.reason else known.reason

    @property
    def grows(self) -> bool:
        """Whether the unit says one fragment, and at most that its part began in place of another."""
        said = self.said
        return type(said[-1]) is Append and not self.opaque and all(type(event) in _BEGINS for event in said[:-1])

    def _read(self, chunk: Chunk) -> None:
        if self.starts:
            self.said.append(read_start(self.unit))
        head = len(self.said)
        if chunk.thinking:
            self._think(chunk)
        for entry in chunk.details:
            self._detail(entry)
        for kind, text in (("text", chunk.text), ("refusal", chunk.refusal)):
            if text:
                self._put(self._part(kind), Append(text))  # type: ignore[arg-type]
        for piece in chunk.calls:
            self._call(piece)
        for tool in chunk.executed:
            self._execute(tool)
        if chunk.audio:
            key = self._part("inline_data", mime_type=OCTETS)
            self._put(key, Append(chunk.audio))
            self.opaque = True
        for namespace, data in chunk.notes:
            self._note(namespace, data)
        self.settle()
        content = len(self.said) > head or bool(self.turn.new or self.later) or len(self.waited) < len(self.known.later)
        if chunk.reason:
            self.end(cut=chunk.reason == "length")
        if chunk.usage is not None and (chunk.reason or not content):
            self.said.append(Usage(chunk.usage))
            self.opaque = True
        if chunk.error:
            self.release()
            self.said.append(read_error(chunk.error))
        if not self.said:
            self._silent(chunk, alone=not content)

    def _silent(self, chunk: Chunk, *, alone: bool) -> None:
        """A unit without content of its own: an empty piece of the open part, or one that is only to come home."""
        key = self.turn.open
        empty = {"text": chunk.text, "refusal": chunk.refusal, "thinking": chunk.thinking}
        call = self._call_of(key) if key is not None else None
        is_empty = key is not None and empty.get(key[0]) == ""
        if call is not None:
            is_empty = any(self._known_call(piece) is call and piece.text == "" for piece in chunk.calls)
        if alone and is_empty and not (self.later or self.waited) and key is not None:
            self._put(key, Append(""))
        else:
            self.said.append(Foreign(NAME, self.unit))

    # ---- parts

    def _begin(self, key: Key, head: Open) -> None:
        """A part begins: one that is no call is over with it."""
        self.begun += 1
        last = self.turn.last()
        if last is not None and last[0] != "tool_call":
            self._close(last)
        self._put(key, head)
        self.settle()

    def _part(self, kind: PartKind, *, mime_type: str | None = None) -> Key:
        """The part that a piece of this kind grows."""
        last = self.turn.last()
        if last is not None and last[0] == kind:
            return last
        key = (kind, self.begun)
        self._begin(key, Open(kind, mime_type=mime_type))
        return key

    def _put(self, key: Key, event: Event) -> None:
        self.turn.put(key, event)

    def _close(self, key: Key, *, cut: bool = False) -> None:
        """A part is over. The states that waited for that make parts of their own behind it."""
        call = self._call_of(key)
        if call is not None:
            self.over.append(key)
            if call.free and not cut:
                self._put(key, Append(FREE_END))
        waited, later, self.waited, self.later = self.waited, self.later, [], []
        at = len(self.said) if self.turn.open == key else None
        self._put(key, Close(cut))
        found: list[list[Event]] = [[Open("thinking"), Append("", state), Close()] for state in (*waited, *later)]
        found[: len(waited)] = [[said_before(event, NAME) for event in events] for events in found[: len(waited)]]
        if at is not None:
            self.said[at + 1 : at + 1] = chain.from_iterable(found)
            return
        for events in reversed(found):
            for event in events:
                self._put(("thinking", self.begun), event)
            self.begun += 1

    def _call_of(self, key: Key) -> Call | None:
        return self.by_key.get(key) or self.known.by_key.get(key)

    def _over(self, key: Key) -> bool:
        """Whether a part may be over: what is no call, or a call whose arguments are whole."""
        call = self._call_of(key)
        return call is None or call.free or call.arguments.whole("".join(self.pieces.get(key, ())))

    def settle(self) -> None:
        """Close the open part where others wait, and it may be over."""
        while self.turn.open is not None and self.turn.waits and self._over(self.turn.open):
            self._close(self.turn.open)

    def release(self) -> None:
        """What waits will not come otherwise: what it waits for is cut off."""
        while self.turn.open is not None and (self.turn.waits or self.later or self.waited):
            self._close(self.turn.open, cut=not self._over(self.turn.open))

    def end(self, *, cut: bool) -> None:
        """All parts are over."""
        while (key := self.turn.open) is not None:
            self._close(key, cut=cut and (not self.turn.waits or not self._over(key)))

    # ---- thinking and its state

    def _think(self, chunk: Chunk) -> None:
        before = self.begun
        key = self._part("thinking")
        hint = None
        if self.begun > before and chunk.member and not any(map(issuer, chunk.details)):
            hint = State("", {REASONING_FIELD: chunk.member})
        self._put(key, Append(chunk.thinking or "", hint))

    def _detail(self, entry: JsonObject) -> None:
        state = read_entry(entry)
        if state is None:
            return
        self.opaque = True
        if is_redacted(entry):
            key: Key = ("thinking", self.begun)
            self._begin(key, Open("thinking"))
            given = State("anthropic", {"signature": state.values["encrypted_content"]})
            self._put(key, Append(REDACTED, given))
            self._close(key)
            return
        last = self.turn.last()
        if last is not None and last[0] != "thinking":
            self.later.append(state)
            return
        key = self._part("thinking")
        fresh = self.begun > self.known.begun
        again = not fresh and told(state) in self.known.stated
        self.repeats |= again
        self._put(key, Append("", None if again else state))

    # ---- calls

    def _known_call(self, piece: CallPiece) -> Call | None:
        """The call that a piece is of; ``None`` where it begins one."""
        if piece.index is None:
            last = next(reversed((self.calls or self.known.calls).values()), None)
            if last is not None and (not piece.id or piece.id == last.id) and (piece.id or not piece.name):
                return last
            return None
        call = self.calls.get(piece.index) or self.known.calls.get(piece.index)
        if call is None or piece.index == "function":
            return None if piece.name else call
        return None if piece.id and piece.name and piece.id != call.id else call

    def _call(self, piece: CallPiece) -> None:
        call = self._known_call(piece)
        text = piece.text
        begins = call is None
        if call is None:
            key: Key = ("tool_call", self.begun)
            index = piece.index if piece.index is not None else f"#{self.begun}"
            call = Call(key, index, piece.id, piece.free, Arguments(self.known.nesting))
            self.calls.pop(index, None)
            self.calls[index] = self.by_key[key] = call
            self._begin(key, Open("tool_call", piece.id, piece.name))
        elif call.key != self.turn.open and not self.turn.holds(call.key):
            if text and text.strip(BLANK):
                raise GrammarError("a piece of a call that is over", expected="a piece of an open one")
            return
        if not text and not (call.free and begins):
            return
        if call.free:
            text = (FREE if begins else "") + escaped(text or "")
        self.pieces.setdefault(call.key, []).append(text or "")
        self._put(call.key, Append(text or ""))
        self.settle()

    def _execute(self, tool: Executed) -> None:
        """A tool that the server ran: a call, and later its result."""
        id = f"made_executed_{tool.index}"
        name = tool.name
        pieces: list[tuple[PartKind, Data, bool]] = [("server_tool_call", tool.arguments, False)]
        if tool.output is not None:
            pieces.append(("server_tool_result", tool.output, True))
        for kind, data, is_output in pieces:
            mark = (tool.index, is_output)
            if mark in self.known.executed or mark in self.executed:
                continue
            self.executed.add(mark)
            self.opaque = True
            key: Key = (kind, self.begun)
            self._begin(key, Open(kind, id, name))
            self._put(key, Append(data))
            self._close(key)

    def _note(self, namespace: str, data: Any) -> None:
        if namespace == "perplexity":
            if jsontext.same(data, self.cited):
                return
            self.cited = jsontext.copied(data)
        self.opaque = True
        last = self.turn.last()
        if last is None:
            self.said.append(Annotate(namespace, data))
        else:
            self._put(last, Annotate(namespace, data))

    # ---- going on

    def take(self) -> None:
        """Go on behind the unit."""
        known, chunk = self.known, self.chunk
        known.started = known.started or self.starts
        known.begun = self.begun
        known.reason = self.reason
        known.counts = chunk.usage if chunk.usage is not None else known.counts
        known.serial.take(self.turn)
        if self.waited is known.later:
            known.later += self.later
        else:
            known.later = self.later
        known.executed |= self.executed
        known.cited = self.cited
        for index, call in self.calls.items():
            known.calls.pop(index, None)
            known.calls[index] = call
        known.by_key |= self.by_key
        for key, pieces in self.pieces.items():
            for piece in pieces:
                known.by_key[key].arguments.add(piece)
        for key in self.over:
            # its text is no longer asked for
            del known.by_key[key]


_BEGINS = (Close, Open)
