"""The whole message that events add up to."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

from translate import jsontext
from translate.algebra.calls import BLANK, is_whole, made_id
from translate.algebra.events import Annotate, Append, Event, Finish, JsonObject, Model, Start, TokenCounts, Usage
from translate.algebra.parts import Part, parts
from translate.algebra.usage import latest
from translate.codec import Codec
from translate.errors import GrammarError, ToolArgumentsError

from .words import NAME, UNKNOWN, block_of, is_sayable, message_start, reason_words, said_state, usage_words


def assembled(events: Iterable[Event], codec: Codec) -> JsonObject:
    """The message of complete, valid events, in the form of the route without streaming.

    Citations stand in their block; an id that nobody gave is null. Raises :class:`GrammarError` without a ``Finish``,
    and :class:`ToolArgumentsError` where the arguments of a call are no object.
    """
    start = Start(Model())
    usage: TokenCounts | None = None
    content: list[JsonObject] = []
    citations: list[Any] = []
    calls = 0
    for part in parts(events):
        if isinstance(part, Part):
            if codec.sayable(part.head):
                block = _block(part, calls, start.model.publisher)
                if citations and block["type"] == "text":
                    block["citations"] = citations
                content.append(block)
                calls += part.head.kind == "tool_call"
            citations = []
        elif type(part) is Annotate:
            citations += [part.data] if part.namespace == NAME else []
        elif type(part) is Start and not content:
            start = part
        elif type(part) is Usage:
            usage = latest(part.usage, usage)
        elif type(part) is Finish:
            message: JsonObject = message_start(start.model.name or UNKNOWN, start.id or "")["message"]
            reason, _ = reason_words(part.reason, calls=calls > 0)
            said = {"id": start.id, "content": content, "stop_reason": reason}
            return {**message, **said, "usage": usage_words(latest(part.usage, usage))}
    raise GrammarError("the events have no finish", expected="finish")


def _block(part: Part, calls: int, publisher: str | None) -> JsonObject:
    head, text = part.head, part.data
    assert isinstance(text, str)
    if head.kind == "tool_call":
        if text.strip(BLANK) and not is_whole(text, sys.maxsize):
            what = f"the arguments of the call {head.name!r} are no object"
            raise ToolArgumentsError(what, name=head.name or "", id=head.id or "", raw=text, position=None)
        return block_of(head, head.id or made_id(calls), Append(text.strip(BLANK)), sys.maxsize)
    state = next((said_state(state) for state in reversed(part.states) if is_sayable(state, publisher)), None)
    grown = Append(jsontext.whole(text), state) if text or state or part.begun else None
    return block_of(head, head.id, grown, sys.maxsize)
