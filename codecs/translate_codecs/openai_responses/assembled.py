"""The whole response that events add up to."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from translate.algebra.events import Annotate, Event, Finish, JsonObject, Start, TokenCounts, Usage
from translate.algebra.parts import Part, parts
from translate.algebra.usage import latest
from translate.errors import GrammarError

from .items import item_of
from .words import ISSUER, UNKNOWN, reason_words, usage_words

if TYPE_CHECKING:
    from translate.codec import Codec


def assembled(events: Iterable[Event], codec: Codec) -> JsonObject:
    """A ``response`` as the route without streaming answers. Raises :class:`GrammarError` without a finish."""
    start: Start | None = None
    usage: TokenCounts | None = None
    output: list[JsonObject] = []
    notes: list[Any] = []
    for part in parts(events):
        if isinstance(part, Part):
            id = start.id if start is not None else None
            item = item_of(part, id, len(output), notes) if codec.sayable(part.head) else {}
            output += [item] if item else []
            notes = []
        elif type(part) is Annotate:
            notes += [part.data] if part.namespace == ISSUER else []
        elif type(part) is Start:
            start = start or part
        elif type(part) is Usage:
            usage = latest(part.usage, usage)
        elif type(part) is Finish:
            start = start or Start()
            said = reason_words(part.reason, home=part.residue is not None and codec.name in part.residue)
            return {
                "id": start.id,
                "object": "response",
                "created_at": start.created,
                "error": None,
                "incomplete_details": None,
                "model": start.model.name or UNKNOWN,
                **said,
                "output": output,
                "usage": usage_words(latest(part.usage, usage)),
            }
    raise GrammarError("the events have no finish", expected="finish")
