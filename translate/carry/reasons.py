"""Every reason that a report gives: a sentence for people who know the formats, and what to do about it.

``LOSSES`` says why a target does not say something in its own words, ``GUESSES`` what was assumed, ``REPAIRS`` what
lenient mode mended. A ``Finding`` has the place: the source's unit, and the field. ``docs/losses.md`` shows all three.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class Why(NamedTuple):
    """``says``: a sentence with places for words, such as the ``target``'s name; ``do``: what to do about it."""

    says: str
    do: str


_AS_THE_PART: Final = "as for the part itself"
_WAY_HOME: Final = "nothing, unless the way home matters: keep the carry then"
_CHECK_SOURCE: Final = "look at who wrote the stream; `strict=True` stops there"

LOSSES: Final[dict[str, Why]] = {
    "fragments": Why(
        "{target} says this whole at once: where it was cut into pieces is not seen",
        "nothing: the text is whole. `trace=` and `inspect` show the pieces",
    ),
    "residue": Why("{target} has no place for what only {what}", _WAY_HOME),
    "words": Why("{target} has no words for {what}", "read the carry, or choose a target that has it"),
    "unnamed": Why(
        "{target} calls a tool by an id and a name, and this call lacks one",
        "look at the source: a call without an id cannot be answered",
    ),
    "cut": Why(
        "{what} broke off before {target} could say it",
        "nothing: the stream failed or went on elsewhere, and half a call must not be run. The carry has the pieces",
    ),
    "append": Why("a piece of a part that {target} has no words for", _AS_THE_PART),
    "append cut": Why("a piece of a part that broke off before {target} could say it", _AS_THE_PART),
    "close": Why("the end of a part that {target} has no words for", _AS_THE_PART),
    "close cut": Why("the end of a part that {target} could not say", _AS_THE_PART),
    "start": Why("{target} does not say who answers", "take the model from the request, or from the carry"),
    "handover": Why(
        "{target} does not say that another model took over", "nothing: the message goes on with what follows"
    ),
    "usage": Why(
        "{target} has no place for counts before the end of the stream",
        "nothing: the last counts are said at the end",
    ),
    "annotate": Why(
        "{target} has no words for annotations, such as citations",
        "read the carry, or choose a target that has citations",
    ),
    "foreign": Why("a unit that only its own format has: {target} has nothing like it", _WAY_HOME),
    "text": Why("{target} writes this text another way", "nothing: it means the same"),
    "state": Why(
        "{target} has no place here for the provider's state, such as a signature",
        "send the carry back with the message, where the provider wants its state again",
    ),
    "reason": Why(
        "{target} has no word of its own for this reason to finish",
        "read the carry, where the difference matters",
    ),
    "counts": Why(
        "{target} has no place for these counts: {what}",
        "take them from the carry; do not bill by the sum alone",
    ),
    "counts unknown": Why(
        "{target} must have these counts, and nobody knows them: {what}",
        "take a zero there for unknown, not for none",
    ),
    "made up": Why(
        "{target} must have {what}, and nobody said one: it is made up",
        "take it for unknown. A call with such an id can be answered within the target alone",
    ),
    "member": Why("{target} has no place for {what}", "read the carry"),
}
"""Of ``losses`` and ``predicted``, and of what ``loss="raise"`` stops at."""

GUESSES: Final[dict[str, Why]] = {
    "id": Why(
        "a tool is called by an id, and nobody gave this call one: {id} is made up",
        "answer the call by the made-up id, to the target alone",
    ),
    "issuer": Why(
        "nobody said who issued the provider's state: taken to be {issuer}",
        "give `model=` where somebody else answers",
    ),
    "place of state": Why(
        "the provider's state is bound to the item {id}, and said in another",
        "read the carry, where the provider wants its state again in that item",
    ),
    "reason": Why(
        "there is no word for the reason to finish {meant!r}: {said!r} is said",
        "read the carry, where the difference matters",
    ),
    "reason to act on": Why(
        "clients run the calls of a message on {said!r} alone: it is said for {meant!r}",
        "nothing: the calls are run",
    ),
}
"""Of ``guesses``."""

REPAIRS: Final[dict[str, Why]] = {
    "no marker": Why("the end marker is missing", _CHECK_SOURCE),
    "no frame end": Why(
        "the last unit lacks its blank line or line end",
        "look whether the stream was cut there: the unit is whole",
    ),
    "no container end": Why("what holds the units lacks its end", "look whether the stream was cut there"),
    "after the end": Why("a unit after the terminal one was left out", _CHECK_SOURCE),
    "not utf-8": Why("bytes that are not UTF-8 were replaced", _CHECK_SOURCE),
    "carry ignored": Why(
        "a carry was ignored, and the native content stands: {what}",
        "look who changed the stream on its way; what only that carry had is lost",
    ),
    "carry left out": Why(
        "something of a carry was left out: {what}",
        "look who changed the stream on its way",
    ),
    "carry without end": Why(
        "a part that a carry opened had no end: it was ended",
        "look who changed the stream on its way",
    ),
    "state of a carry": Why(
        "the state in the carry of a fragment was not that of its {unit}, which stands",
        "look who changed the stream on its way",
    ),
    "event name": Why(
        "the event name {name} disagreed with the type {type}, which stands",
        _CHECK_SOURCE,
    ),
    "missing": Why("a {unit} was missing before a {next}, {state}: it was put in", _CHECK_SOURCE),
    "repeated": Why("a {unit} like the first was left out", "nothing: it said nothing new"),
    "no list": Why("a {unit} had no {member}: it was taken for an empty list", "nothing: it means the same"),
    "repeated id": Why(
        "a later {unit} repeated the call's id: it goes on with that call", "nothing: it means the same"
    ),
    "state in pieces": Why(
        "the provider's state came in pieces: they were joined",
        "nothing, where the provider sends it so",
    ),
    "told late": Why(
        "only the {unit} said {member!r}: it was added to the part",
        "nothing: the part is whole",
    ),
    "not its fragments": Why(
        "the {unit} differed from its fragments in {member!r}: what they said stands",
        _CHECK_SOURCE,
    ),
}
"""Of ``repairs``, which only ``strict=False`` makes. ``what`` is the message that strict mode raises."""


def loss(key: str, target: str, what: str = "") -> str:
    """Why ``target`` does not say something."""
    return LOSSES[key].says.format(target=target, what=what)


def guessed(key: str, **words: object) -> str:
    """What was assumed, for :meth:`Options.guess` and ``Written.guess``; ``words``: those of the sentence."""
    return GUESSES[key].says.format(**words)


def repaired(key: str, **words: object) -> str:
    """What was mended, for :meth:`Options.repair` and ``Mended``; ``words``: those of the sentence."""
    return REPAIRS[key].says.format(**words)
