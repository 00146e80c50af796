"""What one unit says where it stands: items become parts, one at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, TypeAlias

from translate import jsontext
from translate.algebra.calls import FREE, FREE_END, escaped
from translate.algebra.events import (
    Annotate,
    Append,
    Close,
    Event,
    Finish,
    Foreign,
    JsonObject,
    Model,
    Ping,
    Start,
    State,
    Usage,
)
from translate.algebra.reading import member, optional
from translate.algebra.serial import Serial, Turn
from translate.errors import GrammarError

from .items import (
    end_of_whole,
    events_of_item,
    events_of_part,
    image_of,
    is_cut,
    is_part,
    objects,
    opening,
    part_text,
    reasoning_parts,
)
from .known import Item, Place
from .wire import Wire
from .words import (
    ADDED,
    ANNOTATION,
    ARGUMENTS,
    CALL,
    CONTENT,
    CUSTOM,
    DELTA,
    DONE_ITEM,
    ERROR,
    INDEX,
    INPUT,
    ISSUER,
    KEEPALIVE,
    KNOWN,
    LIFECYCLE,
    MESSAGE,
    NAME,
    PART_ADDED,
    PART_DONE,
    REASONING,
    TERMINAL,
    TEXTS,
    UNKNOWN,
    WHOLE,
    error_of,
    open_of,
    read_error,
    read_reason,
    read_usage,
    same_words,
    state_of_item,
    status_of,
    usage_words,
)

Key: TypeAlias = tuple[int, int]
"""A part: the index of its item, and of the part in a message."""
ITSELF = -1
"""In place of the latter where the item is the part."""


AS_SAID = "what was said"
"""What is expected of a text that was said before and comes again."""


class Step:
    """What a unit says (``said``) behind what is known, which stays as it is."""

    def __init__(self, wire: Wire, serial: Serial[Key], unit: JsonObject, stated: State | None) -> None:
        """``stated``: the last state of the open part. Raises :class:`DecodeError`, :class:`GrammarError`."""
        self.unit = unit
        self._wire = wire
        self._stated = stated
        self.turn: Turn[Key] = serial.turn()
        self.said: list[Event] = self.turn.said
        self.type = member(unit, "type", str, "a unit")
        reader = self._readers.get(self.type)
        if reader is not None:
            reader(self, unit)
        if not self.said:
            self.said.append(Foreign(NAME, wire.compact(unit) if self.type in KNOWN else unit))

    def _put(self, item: Item, place: Place | None, *events: Event) -> None:
        key = (item.index, ITSELF if place is None else place.index)
        for event in events:
            self.turn.put(key, event)

    def _key(self, item: Item, index: int, events: list[Event]) -> None:
        for event in events:
            self.turn.put((item.index, index), event)

    # ---- the response

    def _on_lifecycle(self, unit: JsonObject) -> None:
        response = member(unit, "response", dict, f"a {self.type}")
        if self._wire.started:
            if self.type == LIFECYCLE[0]:
                raise GrammarError("a second response.created", expected="one")
            return
        name, id = (optional(response, key, str, "the response") for key in ("model", "id"))
        created = response.get("created_at")
        known = type(created) in (int, float)
        model = Model(None if name in (None, "", UNKNOWN) else name)
        self.said.append(Start(model, id, created if known else None))

    def _on_terminal(self, unit: JsonObject) -> None:
        response = member(unit, "response", dict, f"a {self.type}")
        status = status_of(unit)
        usage = read_usage(optional(response, "usage", dict, "the response"))
        if status in ("failed", "cancelled"):
            self._release()
            if usage_words(usage) is not None:
                self.said.append(Usage(usage))
            error = response.get("error")
            failure = read_error(error if isinstance(error, dict) else {})
            self.said.append(failure)
            return
        reason = read_reason(status, response)
        if status == "completed":
            blocks = next((item for item in self._wire.open.values() if item.blocks), None)
            if blocks is not None:
                what = f"the response is complete, and its item {blocks.index} ({blocks.type}) is open"
                raise GrammarError(what, expected="output_item.done")
        else:
            while self.turn.open is not None:
                self.turn.put(self.turn.open, Close(True))
        for n, item in enumerate(self._unstreamed(response)):
            for event in events_of_item(item, self._wire.tools):
                self.turn.put((self._wire.next + n, ITSELF), event)
        self.said.append(Finish(usage, reason))

    def _unstreamed(self, response: JsonObject) -> list[JsonObject]:
        """The items of the output that were never streamed. Those that were say the same as they did."""
        streamed = self._wire.items()
        open = [item.index for item in self._wire.open.values() if item.blocks]
        out: list[JsonObject] = []
        at = 0
        for item in objects(response, "output", "the response"):
            type_ = member(item, "type", str, "an item")
            found = next((i for i in range(at, len(streamed)) if streamed[i][1].get("type") == type_), None)
            if found is None:
                out += [] if open else [item]
                continue
            at = found + 1
            if type_ == MESSAGE:
                self._same_texts(item, [part_text(part, "a part") for part in streamed[found][1].get(CONTENT) or []])
        return out

    def _same_texts(self, item: JsonObject, said: list[str]) -> None:
        texts = [part_text(part, "a part") for part in objects(item, CONTENT, "a message")]
        if texts and [jsontext.whole(text) for text in texts] != [jsontext.whole(text) for text in said]:
            raise GrammarError(f"a {self.type} with another text than was said", expected=AS_SAID)

    def _release(self) -> None:
        """What waits will not come otherwise."""
        while self.turn.open is not None and self.turn.waits:
            self.turn.put(self.turn.open, Close(True))

    def end(self) -> list[Event]:
        """What the end of the input says that comes without a terminal unit."""
        self.said.clear()
        self._release()
        error = self._wire.error
        return [*self.said, *([read_error(error_of(error))] if error is not None else [])]

    # ---- items

    def _on_added(self, unit: JsonObject) -> None:
        item = member(unit, "item", dict, "an output_item.added")
        member(item, "type", str, "an item")
        index = optional(unit, "output_index", int, "an output_item.added")
        if index in self._wire.open:
            raise GrammarError(f"a second item at the index {index}, which is open", expected="output_item.done")
        tried = self._wire.fork()
        tried.take(unit)
        found = tried.at
        assert found is not None
        if found.kind in (None, "inline_data"):
            return
        assert found.kind is not None
        self._put(found, None, open_of(item, found.kind))

    def _on_done(self, unit: JsonObject) -> None:
        item = self._wire.of(unit)
        data = member(unit, "item", dict, "an output_item.done")
        kind = item.kind
        if item.type == MESSAGE:
            self._message_done(item, data)
        elif item.type == REASONING:
            self._reasoning_done(item, data)
        elif item.type == CALL:
            rest = self._rest(item, optional(data, "arguments", str, "a call"), at_end=True)
            self._put(item, None, *([Append(rest)] if rest else []), Close(is_cut(data)))
        elif item.type == CUSTOM and kind == "tool_call":
            text = self._rest(item, optional(data, "input", str, "a call"), at_end=True)
            piece = ("" if item.begun else FREE) + escaped(text) + ("" if is_cut(data) else FREE_END)
            self._put(item, None, *([Append(piece)] if piece else []), Close(is_cut(data)))
        elif kind == "inline_data":
            picture = image_of(data)
            if picture is not None:
                self._put(item, None, open_of(data, "inline_data"), Append(picture), Close())
        elif kind is not None:
            head = open_of(item.added, kind)
            self._put(item, None, *end_of_whole({**data, "type": item.type}, head))

    def _message_done(self, item: Item, data: JsonObject) -> None:
        last = item.at
        if last is not None and last.open and is_part(last.added):
            raise GrammarError("an output_item.done of a message whose part is open", expected="content_part.done")
        parts = objects(data, CONTENT, "a message")
        streamed = [place for (where, _), place in sorted(item.places.items()) if where == CONTENT]
        for n, part in enumerate(parts):
            if n < len(streamed):
                self._same(part_text(part, "a part"), streamed[n])
            else:
                index = (streamed[-1].index + 1 if streamed else 0) + n - len(streamed)
                self._key(item, index, events_of_part(part, item.added))

    def _reasoning_done(self, item: Item, data: JsonObject) -> None:
        said: list[Event] = []
        if not any(place.grown.join() for place in item.places.values()):
            text = "".join(part_text(part, "reasoning") for part in reasoning_parts(data))
            said += [Append(text)] if text else []
        state = state_of_item(data)
        if state is not None and not (self._stated is not None and same_words(state, self._stated)):
            said.append(Append("", state))
        self._put(item, None, *said, Close(is_cut(data)))

    # ---- parts of items

    def _on_part(self, unit: JsonObject) -> None:
        item = self._wire.of(unit)
        part = member(unit, "part", dict, f"a {self.type}")
        if item.type != MESSAGE or self.type != PART_ADDED[0] or not is_part(part):
            return
        if item.at is not None and item.at.open and is_part(item.at.added):
            raise GrammarError("a content_part.added while a part of its message is open", expected="content_part.done")
        index = optional(unit, INDEX[CONTENT], int, "a content_part.added")
        self._key(item, self._wire.fresh(item, CONTENT).index if index is None else index, opening(part, item.added))

    def _on_part_done(self, unit: JsonObject) -> None:
        item = self._wire.of(unit)
        part = member(unit, "part", dict, f"a {self.type}")
        where = TEXTS_OF[self.type]
        place = self._wire.place(item, unit, where)
        if place is not None and place.grown.join():
            self._same(part_text(part, "a part"), place)
        if item.type != MESSAGE or self.type != PART_DONE[0] or not is_part(part):
            return
        self._put(item, self._open_place(item, place), Close())

    def _open_place(self, item: Item, place: Place | None) -> Place:
        if place is None or not place.open or item.type != MESSAGE:
            raise GrammarError(f"a {self.type} of no open part", expected="content_part.added")
        return place

    def _same(self, text: str, place: Place) -> None:
        if text and jsontext.whole(text) != place.text():
            raise GrammarError(f"a {self.type} with another text than its fragments", expected=AS_SAID)

    def _on_text(self, unit: JsonObject) -> None:
        item = self._wire.of(unit)
        delta = member(unit, "delta", str, f"a {self.type}")
        where, _ = TEXTS[self.type.rpartition(".")[0]]
        place = self._wire.place(item, unit, where)
        if item.type == REASONING:
            self._put(item, None, Append(delta))
        else:
            self._put(item, self._open_place(item, place), Append(delta))

    def _on_text_done(self, unit: JsonObject) -> None:
        item = self._wire.of(unit)
        where, key = TEXTS[self.type.rpartition(".")[0]]
        text = optional(unit, key, str, f"a {self.type}")
        place = self._wire.place(item, unit, where)
        if item.type == MESSAGE:
            place = self._open_place(item, place)
        known = place is not None and (item.type == MESSAGE or place.grown.join())
        if known and place is not None and text is not None and jsontext.whole(text) != place.text():
            raise GrammarError(f"a {self.type} with another text than its fragments", expected=AS_SAID)

    def _on_annotation(self, unit: JsonObject) -> None:
        item = self._wire.of(unit)
        if "annotation" not in unit:
            member(unit, "annotation", dict, f"a {self.type}")
        place = self._wire.place(item, unit, CONTENT)
        self._put(item, self._open_place(item, place), Annotate(ISSUER, unit["annotation"]))

    # ---- arguments

    def _rest(self, item: Item, text: str | None, *, at_end: bool) -> str:
        """What the whole text of a call says beyond the fragments. No arguments are told at the end alone."""
        said = item.text()
        if not text or jsontext.whole(text) == said:
            return ""
        if not said and text == "{}" and item.type != CUSTOM and not at_end:
            return ""
        if said and not text.startswith(said):
            raise GrammarError(f"a {self.type} with another text than its fragments", expected=AS_SAID)
        return text[len(said) :]

    def _on_piece(self, unit: JsonObject) -> None:
        item = self._wire.of(unit)
        delta = member(unit, "delta", str, f"a {self.type}")
        if item.kind != "tool_call":
            return
        if item.type == CUSTOM:
            delta = ("" if item.begun else FREE) + escaped(delta)
        self._put(item, None, Append(delta))

    def _on_whole(self, unit: JsonObject) -> None:
        item = self._wire.of(unit)
        text = optional(unit, "arguments" if self.type.startswith(ARGUMENTS) else "input", str, f"a {self.type}")
        if item.kind != "tool_call":
            return
        rest = self._rest(item, text, at_end=False)
        if rest and item.type == CUSTOM:
            rest = ("" if item.begun else FREE) + escaped(rest)
        if rest:
            self._put(item, None, Append(rest))

    # ---- notes

    def _on_keepalive(self, unit: JsonObject) -> None:
        self.said.append(Ping())

    def _on_error(self, unit: JsonObject) -> None:
        read_error(error_of(unit))

    _readers: ClassVar[dict[str, Callable[[Any, JsonObject], None]]] = {
        **dict.fromkeys(LIFECYCLE, _on_lifecycle),
        **dict.fromkeys(TERMINAL, _on_terminal),
        **dict.fromkeys(PART_ADDED, _on_part),
        **dict.fromkeys(PART_DONE, _on_part_done),
        **dict.fromkeys([family + DELTA for family in TEXTS], _on_text),
        **dict.fromkeys([family + WHOLE for family in TEXTS], _on_text_done),
        **dict.fromkeys([ARGUMENTS + DELTA, INPUT + DELTA], _on_piece),
        **dict.fromkeys([ARGUMENTS + WHOLE, INPUT + WHOLE], _on_whole),
        ADDED: _on_added,
        DONE_ITEM: _on_done,
        ANNOTATION: _on_annotation,
        ERROR: _on_error,
        KEEPALIVE: _on_keepalive,
    }


TEXTS_OF = dict(zip(PART_DONE, (CONTENT, CONTENT, "summary"), strict=True))
"""Type of the end of a part → the list that it is in."""
