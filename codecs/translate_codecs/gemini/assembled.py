"""The message that events add up to, as the route without streaming answers."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

from translate import jsontext
from translate.algebra.events import Annotate, Event, Finish, JsonObject, Start, TokenCounts, Usage
from translate.algebra.parts import Part, parts
from translate.algebra.usage import latest
from translate.errors import GrammarError

from .units import WHOLE, data_part, whole_part
from .words import ISSUER, TOOLS, is_known, reason_words, signature_of, usage_words

if TYPE_CHECKING:
    from translate.codec import Codec


def assembled(events: Iterable[Event], codec: Codec) -> JsonObject:
    """A ``GenerateContentResponse``. Raises :class:`GrammarError` where the events have no finish.

    Arguments of a call that are no object raise :class:`ToolArgumentsError`.
    """
    found: list[JsonObject] = []
    notes: JsonObject = {}
    start: Start | None = None
    usage: TokenCounts | None = None
    for part in parts(events):
        if isinstance(part, Part):
            made = _part(part) if codec.sayable(part.head) else None
            found += [made] if made is not None else []
        elif type(part) is Start:
            start = start or part
        elif type(part) is Usage:
            usage = latest(part.usage, usage)
        elif type(part) is Annotate and part.namespace == ISSUER and isinstance(part.data, dict):
            notes |= part.data
        elif type(part) is Finish:
            usage = latest(part.usage, usage)
            content = {"parts": found, "role": "model"}
            known = {"modelVersion": start.model.name, "responseId": start.id} if start is not None else {}
            return {
                "candidates": [{"content": content, "finishReason": reason_words(part.reason), "index": 0, **notes}],
                **({"usageMetadata": _counts(usage)} if is_known(usage) else {}),
                **{name: value for name, value in known.items() if value},
            }
    raise GrammarError("the events have no finish", expected="finish")


def _counts(usage: TokenCounts) -> JsonObject:
    said = usage_words(usage)
    tools = usage.other.get(TOOLS)
    if type(tools) is int and "promptTokenCount" in said:
        said |= {"promptTokenCount": said["promptTokenCount"] - tools, TOOLS: tools}
    return said


def _part(part: Part) -> JsonObject | None:
    """One part; none for text that there is nothing of."""
    signed = (signature_of(state, None, home=True) for state in reversed(part.states))
    signature = next(filter(None, signed), None)
    head, data = part.head, part.data
    if isinstance(data, bytes) or head.kind in ("inline_data", "inline_thinking"):
        said: JsonObject | None = data_part(head, data if isinstance(data, bytes) else b"")
    elif head.kind in WHOLE:
        said = whole_part(head, data, sys.maxsize)
    elif data or signature:
        said = {"text": jsontext.whole(str(data)), **({"thought": True} if head.kind == "thinking" else {})}
    else:
        return None
    return said if said is None or signature is None else {**said, "thoughtSignature": signature}
