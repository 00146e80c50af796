"""UniEvent read: what its units say, and what is known of a stream so far."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from translate import jsontext
from translate.algebra.calls import parse_arguments
from translate.algebra.events import (
    GROWS,
    Append,
    Close,
    Data,
    Event,
    Foreign,
    JsonObject,
    Open,
    State,
)
from translate.algebra.parts import Compared, Growth
from translate.algebra.reading import member, optional
from translate.algebra.states import is_hint
from translate.algebra.weight import LIGHT
from translate.carry.reasons import repaired
from translate.codec import Codec, Decoder, Hot, Mended, Options, Piece
from translate.errors import DecodeError, GrammarError, TranslateError, excerpt
from translate.shapes.long import LongText

from .items import HEADER, check_event, data_of, delta_unit, header, kind_of_unit, stated_item
from .words import (
    BETWEEN,
    COUNTS,
    ENDED,
    FIELD,
    GROUP,
    HOT,
    NAME,
    PLAIN,
    REASONS,
    STAMP,
    STATES,
    close_enough,
    delta_event,
    is_texts,
    item_of,
    read_error,
    read_stop,
    said_kind,
    said_open,
)

_COUNTED: Final = frozenset({int, type(None)})


class UniEventDecoder(Decoder):
    """Reads UniEvents."""

    compares = True

    def __init__(self, codec: Codec, options: Options) -> None:
        super().__init__(codec, options)
        self._state = BETWEEN
        self._said = Open("text")
        """The open part, or the last one, as its items say it."""
        self._kind = "text"
        """The kind of these items; empty where none says it."""
        self._calls = 0
        self._grown: Growth = Growth()
        self._fidelity: JsonObject | None = None
        self._hint: JsonObject | None = None
        """A state of the part that is no content: it is said at its end, if no other came."""

    @property
    def state(self) -> str:
        return f"in a {self._kind} group" if self._state is GROUP else self._state

    # ---- what is known

    def take(self, unit: JsonObject | None, meant: Sequence[Event]) -> None:
        for event in meant:
            if type(event) is Append:
                self._grown.add(event.data)
                if event.state is not None and is_hint(event.state):
                    self._hint = event.state.values
            elif type(event) is Open:
                self._begin(event)
        if unit is None:
            return
        # what a unit is counts, whatever a carry makes of it
        kind, item = kind_of_unit(unit)
        self._state = STATES[self._state].get(kind, self._state)
        if kind == "delta":
            self._fidelity = self._fidelity or jsontext.copied(item.get("fidelity")) or None

    def _begin(self, head: Open) -> None:
        self._said, self._fidelity, self._hint = said_open(head, self._calls), None, None
        # strict mode only compares what a .done repeats
        known = self.at_source and self.options.strict and head.kind in ("text", "thinking")
        self._grown = Compared() if known else Growth()
        self._kind = said_kind(head) if self.codec.sayable(head) else ""
        self._calls += head.kind == "tool_call"

    def _whole(self) -> Data:
        """What the open part's fragments add up to, of the type that its kind takes."""
        return self._grown.join() or GROWS[self._kind]()

    def _arguments(self) -> JsonObject:
        """The arguments of the open call."""
        said = self._said
        return parse_arguments(str(self._whole()), said.name or "", said.id or "", self.options.limits.nesting)

    def hot(self) -> Hot | None:
        return HOT.get(self._kind) if self._state is GROUP else None

    def grow(self, text: str, units: int = 1) -> None:
        self._grown.add(text)

    # ---- the short way

    def plain(self, unit: JsonObject, name: str | None) -> list[Event] | None:
        try:
            at = unit["created_at"]
            if len(unit) != 6 or type(at) is not int or not -LIGHT < at < LIGHT or unit["role"] != "assistant":
                return None
            if unit["event_type"] == "stop":
                return self._plain_stop(unit, at)
            (item,) = unit["content_items"]
            kind, field, length = PLAIN[item["type"]]
            text = item[field]
            if unit["event_type"] != "delta" or unit["usage_metadata"] is not None or unit["finish_reason"] is not None:
                return None
            if length < 0:
                return self._plain_done(item, kind, text, -length, at)
            if type(text) is not str:
                return None
            state = None
            if len(item) != length:
                state = self._plain_state(item, length)
                if state is None:
                    return None
            if self._state is GROUP:
                if kind != self._kind or (length == 4 and not item["name"] == item["tool_call_id"] == ""):
                    return None
                self._grown.add(text)
                if state is not None:
                    self._fidelity = dict(state.values)
                return [Append(text, state, {NAME: {STAMP: at}})]
            if self._state is not BETWEEN:
                return None
            head = Open(kind, residue={NAME: {STAMP: at}})
            if length == 4:
                head.id, head.name = item["tool_call_id"], item["name"]
                if not (type(head.id) is type(head.name) is str and head.id and head.name):
                    return None
        except (KeyError, TypeError, ValueError, TranslateError):
            return None
        self._begin(head)
        self._state = GROUP
        self._grown.add(text)
        if state is not None:
            self._fidelity = dict(state.values)
        return [head, Append(text, state)]

    def _plain_state(self, item: JsonObject, length: int) -> State | None:
        """The state of a fragment with one more member, if that is a first fidelity of texts."""
        values = item["fidelity"]
        first = self._state is not GROUP or self._fidelity is None
        if not self.options.strict:
            # it may be a piece of one
            return None
        if len(item) != length + 1 or not first or not is_texts(values):
            return None
        return State(None, dict(values))

    def _plain_done(self, item: JsonObject, kind: str, whole: Any, length: int, at: int) -> list[Event] | None:
        if self._state is not GROUP or kind != self._kind:
            return None
        fidelity = self._fidelity
        if fidelity is not None:
            length += 1
            if not is_texts(fidelity) or item["fidelity"] != fidelity:
                return None
        if len(item) != length:
            return None
        if kind == "tool_call":
            said = self._said
            if item["name"] != said.name or item["tool_call_id"] != said.id or not said.name or not said.id:
                return None
            if not jsontext.same(whole, self._arguments()):
                return None
        elif not self._repeats(whole):
            return None
        self._state = BETWEEN
        return [Close(residue={NAME: {STAMP: at}})]

    def _repeats(self, whole: Any) -> bool:
        """Whether a text is what was said, and no half of a surrogate pair is in it that was said by itself."""
        if type(whole) is LongText:
            return self._grown.comes_to(whole)
        return type(whole) is str and self._grown.comes_to(whole) and not jsontext.has_surrogates(whole)

    def _plain_stop(self, unit: JsonObject, at: int) -> list[Event] | None:
        usage, word = unit["usage_metadata"], unit["finish_reason"]
        if self._state is not BETWEEN or unit["content_items"] != [] or len(usage) != 4 or word not in REASONS:
            return None
        cached, prompt, thoughts, response = map(usage.__getitem__, COUNTS)
        if not {type(cached), type(prompt), type(thoughts), type(response)} <= _COUNTED:
            return None
        if (prompt is None and cached is not None) or (response is None and thoughts is not None):
            return None
        self._state = ENDED
        event = read_stop(unit)
        event.residue = {NAME: {STAMP: at}}
        return [event]

    # ---- the long way

    def read(self, unit: JsonObject, name: str | None) -> list[Event]:
        if "error" in unit:
            # whatever else it holds: the reference client raises
            error = member(unit, "error", dict, "a unit")
            self._allow("error")
            return [read_error(error)]
        kind = unit.get("event_type")
        if not isinstance(kind, str):
            raise DecodeError("neither an event nor an error", expected="event_type or error", excerpt=excerpt(unit))
        if kind == "delta":
            return self._on_delta(unit)
        return self._on_stop(unit) if kind == "stop" else [Foreign(NAME, unit)]

    def _allow(self, what: str) -> None:
        if what not in STATES[self._state]:
            expected = " or ".join(STATES[self._state]) or "nothing"
            raise GrammarError(f"a {what} {self.state}", expected=expected)

    def _on_delta(self, unit: JsonObject) -> list[Event]:
        check_event(unit)
        if unit.get("usage_metadata") is not None or unit.get("finish_reason") is not None:
            raise DecodeError("a delta event with usage or a finish reason", expected="null")
        items = member(unit, "content_items", list, "a delta event")
        if len(items) != 1 or not isinstance(items[0], dict):
            raise DecodeError(f"a delta event with {len(items)} items", expected="exactly one object")
        item = items[0]
        kind, _, phase = member(item, "type", str, "an item").partition(".")
        if kind not in FIELD or phase not in ("delta", "done"):
            return [Foreign(NAME, unit)]
        return (self._on_fragment if phase == "delta" else self._on_done)(item, kind)

    def _on_fragment(self, item: JsonObject, kind: str) -> list[Event]:
        head, data = header(item, kind), data_of(item, kind)
        if self._state is GROUP and not self._continues(head):
            raise GrammarError(f"a {item['type']} that begins another group {self.state}", expected="its .done")
        self._allow("delta")
        fragment = Append(data, self._stated(item))
        if self._state is GROUP:
            return [fragment]
        if kind == "tool_call" and not (head.name and head.id):
            raise GrammarError("the first tool_call.delta of a call without its name or id", expected="both")
        return [head, fragment]

    def _continues(self, head: Open) -> bool:
        mine = self._said
        return head.kind == mine.kind and head.mime_type == mine.mime_type and not head.name and not head.id

    def _stated(self, item: JsonObject) -> State | None:
        """The state that this fragment brings. The same once more is transport."""
        fidelity = optional(item, "fidelity", dict, f"a {item['type']}")
        known = self._fidelity if self._state is GROUP else None
        if not fidelity or (known is not None and jsontext.same(fidelity, known)):
            return None
        if known is not None:
            raise GrammarError("a second, different fidelity in one group", expected="one")
        return State(None, fidelity)

    def _on_done(self, item: JsonObject, kind: str) -> list[Event]:
        if self._state is GROUP and kind != self._kind:
            raise GrammarError(f"a {item['type']} {self.state}", expected=f"{self._kind}.delta or .done")
        self._allow("done")
        wrong = self._contradiction(item, kind)
        if wrong:
            raise GrammarError(f"the {item['type']} differs from its fragments in {wrong!r}", expected="the same")
        return [Close()]

    def _contradiction(self, item: JsonObject, kind: str) -> str | None:
        """The member in which a ``.done`` is not what its fragments add up to."""
        field = FIELD[kind]
        if kind == "tool_call":
            parsed = self._arguments()
            if not close_enough(member(item, field, dict, "a tool_call.done"), parsed):
                return field
        elif not self._grown.comes_to(data_of(item, kind)):
            return field
        mine, theirs = self._said, header(item, kind)
        if theirs != mine:
            return next(key for key, name in HEADER.items() if getattr(mine, name) != getattr(theirs, name))
        fidelity = optional(item, "fidelity", dict, f"a {item['type']}") or None
        return None if jsontext.same(fidelity, self._fidelity) else "fidelity"

    def _on_stop(self, unit: JsonObject) -> list[Event]:
        check_event(unit)
        if member(unit, "content_items", list, "a stop event"):
            raise DecodeError("a stop event with items", expected="none")
        usage = member(unit, "usage_metadata", dict, "a stop event")
        for key in COUNTS:
            optional(usage, key, int, "usage_metadata")
        member(unit, "finish_reason", str, "a stop event")
        self._allow("stop")
        return [read_stop(unit)]

    # ---- lenient mode

    def mend(self, unit: JsonObject, name: str | None, error: TranslateError) -> Mended | None:
        stops = unit.get("event_type") == "stop"
        if stops and isinstance(error, DecodeError) and unit.get("content_items") is None:
            what = repaired("no list", unit="stop event", member="content_items")
            return Mended("content_items", what, {**unit, "content_items": []}, name)
        if not isinstance(error, GrammarError) or self._state is not GROUP:
            return None
        if stops:
            return self._closed(unit, name)
        item = unit["content_items"][0]
        kind, _, phase = item["type"].partition(".")
        if phase == "done":
            return self._agreed(unit, name, item, kind) if kind == self._kind else None
        head = header(item, kind)
        if head.id and head.id == self._said.id and not head.name:
            what = repaired("repeated id", unit=item["type"])
            return Mended("tool_call_id", what, delta_unit(unit, {**item, "tool_call_id": ""}), name)
        if not self._continues(head):
            return self._closed(unit, name)
        return None

    def awaits(self, held: Sequence[Piece], piece: Piece) -> bool:
        """A fidelity may go on in the next fragment, where a provider's signature came in pieces."""
        if not piece.unit:
            return bool(held) and piece.carry is None
        item = stated_item(piece)
        if item is None or (self._fidelity is not None and self._state is GROUP):
            return False
        first = stated_item(held[0]) if held else None
        if first is None:
            return True
        names = item.get("name") or item.get("tool_call_id")
        begins = piece.carry is not None or item["type"] != first["type"] or names
        return not begins and not jsontext.same(item["fidelity"], first["fidelity"])

    def settled(self, pieces: Sequence[Piece]) -> Sequence[Piece | None] | None:
        found = [i for i, piece in enumerate(pieces) if piece.unit]
        if len(found) < 2:
            return None
        unit = pieces[0].unit
        items = [pieces[i].unit["content_items"][0] for i in found]
        field = FIELD[items[0]["type"].partition(".")[0]]
        values: JsonObject = {}
        for key in {key: None for item in items for key in item["fidelity"]}:
            given = [item["fidelity"][key] for item in items if key in item["fidelity"]]
            values[key] = "".join(given) if all(isinstance(value, str) for value in given) else given[-1]
        self.options.repair("fidelity", repaired("state in pieces"))
        whole = {**items[0], field: "".join(item[field] for item in items), "fidelity": values}
        out: list[Piece | None] = [piece if not piece.unit else None for piece in pieces]
        out[0] = Piece(delta_unit(unit, whole), pieces[0].carry)
        return out

    def _closed(self, unit: JsonObject, name: str | None) -> Mended:
        """The ``.done`` that is missing before a unit is put in, but for half a call."""
        if self._kind == "tool_call":
            self._arguments()
        what = repaired("missing", unit=f"{self._kind}.done", next=kind_of_unit(unit), state=self.state)
        return Mended(".done", what, unit, name, [Close()])

    def _agreed(self, unit: JsonObject, name: str | None, item: JsonObject, kind: str) -> Mended | None:
        """A ``.done`` unlike its fragments: what they said stands, and where they said nothing, what it says."""
        field, grown = FIELD[kind], self._whole()
        wrong = self._contradiction(item, kind)
        if wrong == field and not grown and item[field]:
            said: Data = jsontext.dumps(item[field]).decode() if kind == "tool_call" else data_of(item, kind)
            what = repaired("told late", unit=item["type"], member=field)
            return Mended(field, what, unit, name, [Append(said)])
        if wrong == "fidelity" and self._fidelity is None:
            state = State(None, item["fidelity"])
            self._fidelity = state.values
            what = repaired("told late", unit=item["type"], member=wrong)
            return Mended(wrong, what, unit, name, [Append(GROWS[kind](), state)])
        whole: Any = jsontext.whole(grown) if isinstance(grown, str) else grown
        if kind == "tool_call":
            whole = self._arguments()
        stands = item_of(kind, "done", whole, self._said, self._fidelity)
        what = repaired("not its fragments", unit=item["type"], member=wrong or field)
        stamp = {"created_at": unit["created_at"]} if "created_at" in unit else {}
        return Mended(wrong or field, what, {**delta_event(stands), **stamp}, name)
