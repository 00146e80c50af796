"""What a codec is: one description of a format that both predicts and reads it, and what the engine must know of it.

A codec's author writes how units are read (:class:`Decoder`) and which unit is to be expected for events
(:class:`Encoder`, which is a decoder too). The engine keeps one at each end of a translation, and moves both on with
what really stands there. It does the rest: bytes, what differs from the expected (the residue), the carry, losses,
reports, errors with their place, limits. ``translate.testing`` holds a codec to this contract.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple, TypeAlias

from .algebra.events import Event, Handover, JsonObject, Model, Open, Start, TokenCounts, Usage, is_synthetic
from .algebra.usage import latest
from .carry.losses import Finding, Report
from .carry.reasons import repaired
from .errors import CarryError, CodecError, TranslateError
from .limits import Limits

if TYPE_CHECKING:
    from pydantic import BaseModel

    from .messages.capability import Answers, Errors, Requests
    from .messages.endpoint import Endpoint
    from .shapes import Shape

TEXT: Final = "\x00text"
"""In the unit of a :class:`Hot`: where the text stands."""
NUMBER: Final = 0x7E57_0000_7E57
"""In the unit of a :class:`Hot`: where the number of a stamp stands."""
COUNT: Final = 0x7E57_0001_7E57
"""In the unit of a :class:`Hot`: where a counter stands, which :attr:`Decoder.count` knows."""
WORD: Final = "\x00word"
"""In the unit of a :class:`Hot`, as the engine makes it: where the word stands that pads it."""
JOINED: Final = "n"
"""The member of a residue that says how many events came as one unit, where they would come home as several."""


@dataclass(slots=True)
class Options:
    """What a conversion was asked for, as codecs see it.

    ``model``: who answers, for targets that name it where the source does not. ``clock``: milliseconds of Unix time,
    for targets that stamp. ``objects``: the units written are Python objects, not bytes.
    """

    model: Model
    clock: Callable[[], int]
    strict: bool
    limits: Limits
    report: Report | None
    objects: bool = False
    unit: int = field(default=-1)
    """Index of the source's unit at work, kept by the engine."""

    def guess(self, name: str, reason: str) -> None:
        """Report something that was assumed."""
        if self.report is not None:
            self.report.add("guesses", Finding(self.unit, name, reason))

    def repair(self, name: str, reason: str) -> None:
        """Report something that was mended."""
        if self.report is not None:
            self.report.add("repairs", Finding(self.unit, name, reason))


@dataclass(frozen=True, eq=False)
class Hot:
    """The unit that a plain fragment of the open part comes as, with holes: text that grows it, and nothing else.

    ``unit``: the canonical unit, with :data:`TEXT` for the text, :data:`NUMBER` where it is stamped, and :data:`COUNT`
    where it is counted. ``name``: its SSE event name. ``codec`` and ``stamp``: the residue that holds the number,
    ``{codec: {stamp: n}}``. ``pad``: a member that may pad the unit with a word, and the residue's member that holds
    it. ``around``: for the engine, what it has learned of such units; a codec's constant keeps it for all streams.
    """

    unit: JsonObject
    codec: str
    name: str | None = None
    stamp: str | None = None
    pad: tuple[str, str] | None = None
    around: dict[Any, Any] = field(default_factory=dict, repr=False)


class Mended(NamedTuple):
    """The one obvious reading of a unit that strict mode refuses.

    ``field`` and ``reason``: what was wrong, for the report; no reason where that was told before. ``unit`` and
    ``name``: to be read in its place; without a unit it is left out. ``ahead``: events that were missing before it.
    """

    field: str
    reason: str
    unit: JsonObject | None
    name: str | None
    ahead: Sequence[Event] = ()


class Piece(NamedTuple):
    """A unit that is held back in lenient mode, and its carry."""

    unit: JsonObject
    carry: JsonObject | None


class Written(NamedTuple):
    """One unit to be written, or what the format has no words for.

    ``unit``: the native unit, ``None`` where what is ``meant`` has no words. ``meant``: the events it stands for, at
    least one but where it only repeats what a carry said before; the unit itself says the codec's own residue of the
    first. ``name``: its event name on SSE. ``made_up``: what the codec added to the unit comes from no one. ``later``:
    members that are said natively further on. ``guess``: what was assumed, field and reason. ``ends``: in a format
    whose end no unit says, the ``Finish`` that the end means if this is the last unit; where no unit is left to be
    written, it is the last of what is ``meant``. ``exact``: the unit says exactly what is meant, as for
    :meth:`Encoder.say`.
    """

    unit: JsonObject | None
    meant: Sequence[Event]
    name: str | None = None
    made_up: bool = False
    later: Collection[str] = ()
    guess: tuple[str, str] | None = None
    ends: Sequence[Event] = ()
    exact: bool = False


Said: TypeAlias = tuple[JsonObject, str | None, bool]
"""A unit that says exactly what is meant, its event name on SSE, and whether what the codec added comes from no one.

A plain tuple: one is made for each unit. See :meth:`Encoder.say`.
"""
Pieces: TypeAlias = "Sequence[Written] | None"
"""What is to be written; ``None``: nothing yet, more is to come."""


class Decoder(ABC):
    """Reads one stream: what its units say, and what must be known of it so far.

    For each unit the engine calls :meth:`read`, then :meth:`take`; or :meth:`plain`, which is both for usual units.
    All that is known comes by :meth:`take` (and :meth:`grow`), whoever read or wrote the unit: so both ends of a
    translation know the same.
    """

    options: Options
    usage: TokenCounts | None
    """What the ``Usage`` events so far add up to: what a ``Finish`` leaves unknown is as they said."""
    compares: ClassVar[bool] = False
    """Whether :meth:`plain` takes a ``LongText`` (:mod:`translate.shapes.long`) where a text repeats what was said."""
    at_source = False
    """Whether this end only reads, so that nothing need be kept to be said again. The engine sets it."""

    def __init__(self, codec: Codec, options: Options) -> None:
        self.codec = codec
        self.name = codec.name
        self.options = options
        self.usage = None

    def go_on(self, unit: JsonObject | None, meant: Sequence[Event]) -> None:
        """The engine's way to :meth:`take`: what is known of every stream is kept here."""
        for event in meant:
            if type(event) is Usage:
                self.usage = latest(event.usage, self.usage)
        self.take(unit, meant)

    @property
    @abstractmethod
    def state(self) -> str:
        """What the grammar is in, for errors."""

    @abstractmethod
    def read(self, unit: JsonObject, name: str | None) -> list[Event]:
        """The events that ``unit`` says here by itself, without residues; none where it only repeats or waits.

        ``name`` is the SSE event name, ``None`` where there is none. Pure: changes nothing, neither here nor in
        ``unit``. Raises :class:`DecodeError` or :class:`GrammarError`, in strict and in lenient mode.
        """

    @abstractmethod
    def take(self, unit: JsonObject | None, meant: Sequence[Event]) -> None:
        """Go on behind a unit that stands for ``meant``; without a unit, behind events that only a carry says.

        Called with what :meth:`read` took, or with what the encoder wrote. Raises nothing, and keeps no part of
        ``unit`` that can change.
        """

    def plain(self, unit: JsonObject, name: str | None) -> list[Event] | None:
        """The short way for usual units: as :meth:`read` and :meth:`take`, the residue of the first event in place.

        ``None``, before anything was changed, for whatever is in any way unusual, numbers with a fraction among it:
        the unit was read quickly, so that an integer beyond 64 bits stands as such a number; and residues that weigh
        anything (:mod:`translate.algebra.weight`). The test kit holds it to the long way. It is used only where the
        class that defines :meth:`read` defines it too.
        """
        return None

    def mend(self, unit: JsonObject, name: str | None, error: TranslateError) -> Mended | None:
        """In lenient mode: the one obvious reading of a unit that :meth:`read` refused with ``error``: read again."""
        return None

    def awaits(self, held: Sequence[Piece], piece: Piece) -> bool:
        """In lenient mode: whether the next unit may tell what ``piece`` is, so that it is held back, behind ``held``.

        A piece without members stands for what lies between units: comments, and a carry without a unit.
        """
        return False

    def ends(self, piece: Piece) -> bool:
        """In lenient mode: whether ``piece`` tells what those are that are held back, and is settled with them."""
        return False

    def settled(self, pieces: Sequence[Piece]) -> Sequence[Piece | None] | None:
        """In lenient mode: what each unit that was held back is to be read as, if not as it is; ``None``: left out."""
        return None

    def trails(self, unit: JsonObject) -> bool:
        """In lenient mode: whether ``unit``, which came after the end, may be left out."""
        return False

    def close(self, *, marked: bool) -> list[Event]:
        """The input ended: at its end marker (``marked``) or without one. What was waiting for more of it.

        A terminal event only where the format ends so.
        """
        return []

    def hot(self) -> Hot | None:
        """The unit that more of the open part would come as, where such units may be read by their holes alone."""
        return None

    @property
    def count(self) -> int:
        """Where hot units have a counter that is the last plus one: that of the next."""
        return 0

    def grow(self, text: str, units: int = 1) -> None:
        """Go on behind as many hot ``units``, which held ``text``."""


class Encoder(Decoder):
    """Predicts one stream: which unit is expected for events. It reads what it writes, and so knows what that says."""

    @abstractmethod
    def write(self, events: Sequence[Event]) -> Pieces:
        """The units of ``events``: those that were not written yet, in order, the last of them new.

        All events are meant by what is returned, each once and in order, but for what the codec itself made up as a
        whole, and will make up again. ``None``: they wait, and come again with the next one. No event waits longer
        than its part is open. Pure. Raises :class:`ToolArgumentsError`.
        """

    def ahead(self, event: Event) -> Sequence[Written]:
        """What the format demands before ``event``, and nobody said: units that mean synthetic events."""
        return ()

    def whole(self, events: Sequence[Event]) -> JsonObject | None:
        """The one unit that is expected for events that came as one unit; ``None`` where none can be told."""
        pieces = self.write(events)
        units = [piece.unit for piece in pieces if piece.unit is not None] if pieces is not None else []
        return units[0] if len(units) == 1 else None

    def expected(self, unit: JsonObject, said: Sequence[Event]) -> JsonObject | None:
        """The unit that :meth:`whole` predicts where ``unit`` stands, which says ``said``: equals in one form."""
        return self.whole(said)

    def mark(self, unit: JsonObject) -> JsonObject | None:
        """What the residue of a unit that was read holds, but for how it differs from the expected one.

        ``None``: there is no residue where it does not differ.
        """
        return None

    def say(self, events: Sequence[Event]) -> Said | None:
        """The short way for usual events, one or two: as :meth:`write` and :meth:`take`.

        The unit says exactly the events, but for residues: its own codec's of the first as the unit has it, the others
        are carried. Its values are text, integers, true, false and null alone.
        ``None``, before anything was changed, for all else. Held to the long way as :meth:`plain` is.
        """
        return None

    def holds(self, waiting: Sequence[Event]) -> bool:
        """Whether a plain fragment would only be added to the events ``waiting``."""
        return False

    def fault(self, what: str) -> None:
        """Something in a residue of this codec, which comes by a carry, is wrong.

        An error in strict mode; in lenient mode it is reported, and to be left out.
        """
        if self.options.strict:
            raise CarryError(what)
        self.options.repair("carry", repaired("carry left out", what=what))

    def residue(self, event: Event) -> JsonObject | None:
        """This codec's own residue of ``event``."""
        return event.residue.get(self.name) if event.residue else None

    def at_home(self, event: Event) -> bool:
        """Whether ``event`` came from this codec, by a unit that someone really said."""
        return self.residue(event) is not None and not is_synthetic(event, self.name)


class Codec(ABC):
    """One grammar in its shapes: a factory of encoders, itself without state.

    Class attributes: ``name`` names the codec for ever, in residues too. ``shapes``: the formats, by what follows the
    name (``""``: objects, ``"jsonl"``, ``"sse"``, …), made of :mod:`translate.shapes`. ``says``: the names
    of events and kinds of parts that have native words. ``partly``: of what else some has words, and which. ``only``:
    what no other codec says, by name; both are for predictions and documentation. ``leaves_out``: names of events that
    no unit is written for, as the next one shows them or the end does, so that a carry may say them: ``close``,
    ``finish``, ``start``. ``complete``: a unit says all that is meant, residues included, so that there is no carry.
    ``spelled``: units whose text holds this are read with their numbers as they are spelled, for what becomes text as
    it stands. ``requests``, ``answers``, ``errors``, ``endpoint``: how requests, whole answers and error bodies are
    read and written, and where servers are asked, where the format has them.
    """

    name: ClassVar[str]
    shapes: ClassVar[Mapping[str, Shape]]
    says: ClassVar[frozenset[str]]
    partly: ClassVar[Mapping[str, str]] = {}
    only: ClassVar[Mapping[str, str]] = {}
    leaves_out: ClassVar[frozenset[str]] = frozenset()
    complete: ClassVar[bool] = False
    spelled: ClassVar[bytes] = b""
    requests: ClassVar[Requests | None] = None
    answers: ClassVar[Answers | None] = None
    errors: ClassVar[Errors | None] = None
    endpoint: ClassVar[Endpoint | None] = None

    def __repr__(self) -> str:
        names = (f"{self.name}-{suffix}" if suffix else self.name for suffix in self.shapes)
        return f"<codec {self.name}: {', '.join(names)}>"

    @abstractmethod
    def encoder(self, options: Options) -> Encoder:
        """What knows one stream, at either end."""

    def is_terminal(self, unit: JsonObject) -> bool:
        """Whether a unit ends a stream wherever it stands: in a log, the next stream begins after it.

        Only asked where a stream is broken. Without an answer, all that follows is part of the broken one.
        """
        return False

    def kind(self, unit: JsonObject) -> str:
        """What people call such a unit, in a word; ``""`` where it has no name. For display: takes any object."""
        return ""

    def time(self, unit: JsonObject) -> int | float | None:
        """When the unit says that it was made, in milliseconds of Unix time. For display: takes any object."""
        return None

    def is_content(self, unit: JsonObject) -> bool:
        """Whether a unit that is foreign to all others (``Foreign.unit``) holds what the next turn needs.

        Its loss is one of content then, not only of how the message came.
        """
        return False

    def event_name(self, unit: JsonObject) -> str | None:
        """The event name on SSE of a unit that is written as a whole for several events (:meth:`Encoder.whole`)."""
        return None

    def sayable(self, event: Event) -> bool:
        """Whether the format has native words for a ``Start``, a ``Handover``, or a part so opened."""
        if type(event) is Open:
            return event.kind in self.says
        return {Start: "start", Handover: "handover"}.get(type(event), "") in self.says

    def agrees(self, said: Event, meant: Event) -> bool:
        """Whether the native words of ``meant`` are those that were read as ``said``.

        Both are of one type. Asked of a carry that changes members of what its unit says; a wrong *yes* lets a carry
        contradict its unit.
        """
        return said == meant

    def content(self, residue: JsonObject) -> str:
        """What of a residue of this codec's is content of the message, in a few words; ``""`` where nothing is.

        It comes by a carry: takes any object.
        """
        return ""

    def assemble(self, events: Iterable[Event]) -> Any:
        """The message that complete, valid events add up to, in the format's own form."""
        raise CodecError(f"the codec {self.name!r} has no form for an assembled message")

    def models(self) -> Mapping[str, type[BaseModel]]:
        """The pydantic models of the wire; ``"unit"`` is that of every unit, the base of the strict check."""
        return {}

    def schemas(self) -> dict[str, JsonObject]:
        """The JSON Schemas of :meth:`models`."""
        return {name: model.model_json_schema() for name, model in self.models().items()}
