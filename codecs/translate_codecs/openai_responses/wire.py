"""What the units of a stream have told so far, and the unit that is to be expected next.

Both ends go on by the same units, so both expect the same. One that says nothing is kept as what differs from that.
"""

from __future__ import annotations

import sys
from copy import copy
from typing import Any, Final

from translate import jsontext
from translate.algebra.calls import made_stem
from translate.algebra.events import JsonObject, Start
from translate.algebra.parts import Growth
from translate.carry import patches
from translate.codec import Options
from translate.errors import GrammarError

from .items import message_item, part_text
from .known import Finished, Item, Place, weight
from .words import (
    ADDED,
    ANNOTATION,
    CONTENT,
    COUNTER,
    CUSTOM,
    DONE_ITEM,
    INDEX,
    KNOWN,
    LIFECYCLE,
    MADE_ID,
    MESSAGE,
    PART_ADDED,
    PART_DONE,
    REASONING,
    SUMMARY,
    TERMINAL,
    TEXTS,
    UNKNOWN,
    WHOLES,
    R,
    kind_of_item,
    made,
)

_LEFT_OUT: Final = ("logprobs", "item_id", "content_index", "output_index")
"""Members that some dialects leave out of every unit of a type."""
_PATCH: Final = "patch"
CONTENT_OF: Final = "item"
"""The member of what is kept of a unit that names the type of an item that only this format has: it is content."""
_AT: Final = "output_index"


class Wire:
    """One stream, by its units."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self.number = 0
        """What the next unit is expected to count."""
        self.numbered = True
        self.started = False
        """Whether a response was told of."""
        self.response: JsonObject = {}
        """The last one that was, without its output."""
        self.open: dict[int, Item] = {}
        self.at: Item | None = None
        """The item that a unit spoke of last."""
        self.next = 0
        """The index of the next item."""
        self.finished: Finished | None = None
        self.size = 0
        """Characters of the items, but for the text that still grows, which is a part's."""
        self.error: JsonObject | None = None
        self.ended = False
        self._left_out: dict[str, tuple[str, ...]] = {}

    def fork(self) -> Wire:
        """The same, to try what units would make of it: parts that are open grow together with these."""
        out = copy(self)
        out.open = dict(self.open)
        out._left_out = dict(self._left_out)
        if out.at is not None:
            item = copy(out.at)
            item.places = dict(item.places)
            if item.at is not None:
                place = copy(item.at)
                item.at = item.places[place.where, place.index] = place
            if out.open.get(item.index) is out.at:
                out.open[item.index] = item
            out.at = item
        return out

    def __repr__(self) -> str:
        sizes = [(item.index, len(item.places), item.told, item.done is None) for item in self.open.values()]
        return f"Wire({self.number}, {self.next}, {self.size}, {self.started}, {self.ended}, {sizes})"

    # ---- items

    @property
    def tools(self) -> Any:
        """The tools of the response."""
        return self.response.get("tools")

    @property
    def id(self) -> Any:
        """The id of the response."""
        return self.response.get("id")

    def find(self, unit: JsonObject) -> Item | None:
        """The open item that a unit speaks of."""
        index = unit.get(_AT)
        if type(index) is int:
            return self.open.get(index)
        item = unit.get("item") if isinstance(unit.get("item"), dict) else {}
        assert isinstance(item, dict)
        ids = {each for each in (unit.get("item_id"), item.get("id"), item.get("call_id")) if isinstance(each, str)}
        for found in self.open.values():
            if ids & {found.added.get("id"), found.added.get("call_id")}:
                return found
        return next(iter(self.open.values())) if len(self.open) == 1 else None

    def of(self, unit: JsonObject) -> Item:
        """As :meth:`find`; raises :class:`GrammarError` where there is none."""
        found = self.find(unit)
        if found is None:
            raise GrammarError(f"a {unit['type']} of no open item", expected="a unit of an open item, or a new one")
        return found

    def place(self, item: Item, unit: JsonObject, where: str) -> Place | None:
        """The part of an item that a unit speaks of."""
        index = unit.get(INDEX[where])
        if type(index) is int:
            return item.places.get((where, index))
        return item.at if item.at is not None and item.at.where == where else None

    def items(self) -> list[tuple[int, JsonObject]]:
        """The finished items by their index, and those that are none of the algebra's, in order."""
        out: list[tuple[int, JsonObject]] = []
        last = self.finished
        while last is not None:
            out.append((last.index, last.item))
            last = last.before
        out += [(item.index, item.added) for item in self.open.values() if not item.blocks]
        return sorted(out, key=lambda pair: pair[0])

    # ---- what is to be expected

    def head(self, type_: str) -> JsonObject:
        """The members that every unit has."""
        return {"type": type_, COUNTER: self.number} if self.numbered else {"type": type_}

    def base(self, start: Start | None = None) -> JsonObject:
        """A response that begins."""
        start = start or Start(self._options.model)
        now = self._options.clock()
        return {
            "id": start.id or f"{MADE_ID}{made_stem(now)}",
            "object": "response",
            "created_at": int(now) // 1000 if start.created is None else start.created,
            "status": "in_progress",
            "error": None,
            "incomplete_details": None,
            "model": start.model.name or self._options.model.name or UNKNOWN,
            "output": [],
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": [],
            "usage": None,
        }

    def made(self, prefix: str, index: int) -> str:
        """An id that nobody gave."""
        return made(prefix, self.id, index)

    def of_item(self, type_: str, item: Item | None, place: Place | None = None, **more: Any) -> JsonObject:
        """A unit of an item, or of a part of it, with ``more``; without what the stream's units of that type lack."""
        out = self.head(type_)
        if item is not None:
            out |= {"item_id": item.added.get("id"), _AT: item.index}
        if place is not None:
            out[INDEX[place.where]] = place.index
        out |= more
        for name in self._left_out.get(type_, ()):
            out.pop(name, None)
        return out

    def expected(self, type_: str, item: Item | None) -> JsonObject:
        """The unit of a type that is expected, of ``item`` where it is of one, without what only events say."""
        family, _, end = type_.rpartition(".")
        if type_ in LIFECYCLE:
            status = "in_progress" if type_ == LIFECYCLE[0] else type_.removeprefix(R)
            return {**self.head(type_), "response": {**self.response, "status": status, "output": []}}
        if type_ == ADDED:
            index = item.index if item is not None else self.next
            return {**self.head(type_), _AT: index, "item": message_item(self.made("msg", index))}
        if item is None:
            return self.head(type_)
        if type_ == DONE_ITEM:
            out = {**self.head(type_), _AT: item.index, "item": item.whole()}
            return {k: v for k, v in out.items() if k not in self._left_out.get(type_, ())}
        if type_ in PART_ADDED:
            where = SUMMARY if type_ == PART_ADDED[2] else CONTENT
            return self.of_item(type_, item, self.fresh(item, where), part=self.fresh(item, where).added)
        place = item.at
        if type_ in PART_DONE:
            return self.of_item(type_, item, place, part=place.whole() if place is not None else {})
        if type_ == ANNOTATION:
            count = len(place.annotations) if place is not None else 0
            return self.of_item(type_, item, place, annotation_index=count)
        if family in TEXTS and place is not None:
            return self._of_text(type_, item, place, end)
        if family in WHOLES:
            text = item.text() if end == "done" else ""
            return {**self.of_item(type_, item), "delta" if end == "delta" else WHOLES[family]: text}
        return self.of_item(type_, item)

    def _of_text(self, type_: str, item: Item, place: Place, end: str) -> JsonObject:
        family = type_.removesuffix(f".{end}")
        beside: JsonObject = {"logprobs": []} if family == R + "output_text" else {}
        if end == "delta":
            return self.of_item(type_, item, place, delta="", **beside)
        if place.logprobs and beside:
            beside = {"logprobs": place.logprobs}
        return self.of_item(type_, item, place, **{TEXTS[family][1]: place.text()}, **beside)

    def fresh(self, item: Item, where: str, kind: str = "text") -> Place:
        """The part that an item would get next."""
        index = 1 + max((key[1] for key in item.places if key[0] == where), default=-1)
        if where == SUMMARY:
            added: JsonObject = {"type": "summary_text", "text": ""}
        elif item.type == REASONING:
            added = {"type": "reasoning_text", "text": ""}
        elif kind == "refusal":
            added = {"type": "refusal", "refusal": ""}
        else:
            added = {"type": "output_text", "annotations": [], "logprobs": [], "text": ""}
        return Place(where, index, added, Growth())

    # ---- units that say nothing

    def compact(self, unit: JsonObject) -> JsonObject:
        """What a unit of a known type has beyond the one expected."""
        type_ = unit["type"]
        item = self.find(unit)
        if item is None and type_ != ADDED:
            item = self.at
        patch = patches.diff(self.expected(type_, None if type_ == ADDED else item), unit)
        out: JsonObject = {"type": type_}
        if item is not None and item is not self.at and type_ != ADDED:
            out[_AT] = item.index
        held = unit.get("item") if type_ in (ADDED, DONE_ITEM) else None
        if isinstance(held, dict) and held.get("type") != MESSAGE and kind_of_item(held, self.tools) is None:
            out[CONTENT_OF] = str(held.get("type"))
        if patch:
            # in one order, whatever that of the unit's members
            out[_PATCH] = sorted(patch, key=lambda op: jsontext.dumps(op[0]))
        return out

    def expand(self, kept: JsonObject, nesting: int) -> JsonObject:
        """The unit again. Raises :class:`~translate.carry.patches.PatchError` where that is none."""
        type_ = str(kept["type"])
        item = None if type_ == ADDED else self.at
        if _AT in kept and type_ != ADDED:
            item = self.open.get(kept[_AT]) if type(kept[_AT]) is int else None
        unit = patches.apply(self.expected(type_, item), kept.get(_PATCH, []), nesting)
        if not isinstance(unit, dict) or unit.get("type") != type_:
            raise patches.PatchError("it makes a unit of another type")
        return unit

    # ---- going on

    def take(self, unit: JsonObject) -> None:
        """Go on behind a unit, which may stand here."""
        type_ = unit.get("type")
        number = unit.get(COUNTER)
        self.numbered = type(number) is int
        if type(number) is int:
            self.number = number + 1
        if type_ not in KNOWN:
            # what says nothing makes nothing grow
            return
        if type_ in LIFECYCLE or type_ in TERMINAL:
            self._take_response(type_, unit)
            return
        if type_ == ADDED:
            self._take_added(unit)
            return
        if type_ == "error":
            self.error = jsontext.copied(unit)
            return
        item = self.find(unit)
        family, _, end = type_.rpartition(".")
        if item is not None:
            self.at = item
            self._take_of(item, type_, family, end, unit)
        if type_ in PART_DONE or end == "added" or family in TEXTS or family in WHOLES or type_ == DONE_ITEM:
            self._left_out[type_] = tuple(name for name in _LEFT_OUT if name not in unit)

    def _take_response(self, type_: str, unit: JsonObject) -> None:
        response = unit.get("response")
        self.ended = type_ in TERMINAL
        self.started = True
        if isinstance(response, dict) and not self.ended:
            self.response = jsontext.copied({k: v for k, v in response.items() if k != "output"})

    def _take_added(self, unit: JsonObject) -> None:
        added = unit.get("item")
        index = unit.get(_AT)
        if type(index) is not int:
            index = self.next
        if isinstance(added, dict):
            kept = jsontext.copied(added)
            item = Item(index, kept, None if kept.get("type") == MESSAGE else kind_of_item(kept, self.tools))
            self.open[index] = self.at = item
            self.size += item.weight()
            self.next = max(self.next, index) + 1
            self._left_out[ADDED] = tuple(name for name in _LEFT_OUT if name not in unit)

    def _take_of(self, item: Item, type_: str, family: str, end: str, unit: JsonObject) -> None:
        if type_ in PART_ADDED:
            where = SUMMARY if type_ == PART_ADDED[2] else CONTENT
            self._take_part(item, where, unit)
        elif type_ in PART_DONE:
            place = self.place(item, unit, SUMMARY if type_ == PART_DONE[2] else CONTENT)
            if place is not None and isinstance(unit.get("part"), dict):
                expected = place.whole()
                before = place.weight()
                place.done = patches.apply(expected, jsontext.copied(patches.diff(expected, unit["part"])), sys.maxsize)
                self.size += place.weight() - before
                place.open, place.told, item.at = False, True, place
        elif type_ == DONE_ITEM:
            self._take_done(item, unit)
        elif type_ == ANNOTATION:
            place = self.place(item, unit, CONTENT)
            if place is not None:
                place.annotations.append(jsontext.copied(unit.get("annotation")))
        elif family in TEXTS:
            self._take_text(item, TEXTS[family][0], family, end, unit)
        elif family in WHOLES:
            self._take_whole(item, family, end, unit)
        elif type_ == R + "shell_call_command.added":
            item.grown = Growth()

    def _take_part(self, item: Item, where: str, unit: JsonObject) -> None:
        place = self.fresh(item, where)
        if type(index := unit.get(INDEX[where])) is int:
            place.index = index
        if isinstance(unit.get("part"), dict):
            place.added = jsontext.copied(unit["part"])
            if text := part_text(place.added, "a part"):
                place.grown.add(text)
        item.at = item.places[where, place.index] = place
        self.size += place.weight()

    def _take_text(self, item: Item, where: str, family: str, end: str, unit: JsonObject) -> None:
        place = self.place(item, unit, where)
        if place is None:
            # reasoning of those that tell of no parts
            place = self.fresh(item, where)
            if type(index := unit.get(INDEX[where])) is int:
                place.index = index
            item.places[where, place.index] = place
            self.size += place.weight()
        item.at = place
        if end == "done":
            place.told = True
        elif isinstance(unit.get("delta"), str):
            place.grown.add(unit["delta"])
            if isinstance(unit.get("logprobs"), list) and unit["logprobs"]:
                place.logprobs += jsontext.copied(unit["logprobs"])

    def _take_whole(self, item: Item, family: str, end: str, unit: JsonObject) -> None:
        if item.kind is None:
            # it is no part, and no limit of a part bounds it
            return
        if end == "delta" and isinstance(unit.get("delta"), str):
            item.begun = True
            item.grown.add(unit["delta"])
        elif end == "done":
            item.told = True
            self._take_rest(item, unit.get(WHOLES[family]))

    def _take_rest(self, item: Item, text: Any) -> None:
        """What is said beyond the fragments that came."""
        if isinstance(text, str) and item.kind == "tool_call":
            said = item.text()
            if len(text) > len(said) and text.startswith(said) and (said or text != "{}" or item.type == CUSTOM):
                item.begun = True
                item.grown.add(text[len(said) :])

    def _take_done(self, item: Item, unit: JsonObject) -> None:
        before, expected = item.weight(), item.whole()
        if isinstance(unit.get("item"), dict):
            expected = patches.apply(expected, jsontext.copied(patches.diff(expected, unit["item"])), sys.maxsize)
        item.done = expected
        self.open.pop(item.index, None)
        self.finished = Finished(item.index, expected, self.finished)
        self.size += weight(expected) - before
