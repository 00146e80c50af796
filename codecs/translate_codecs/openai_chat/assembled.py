"""The message that events add up to, as the route without streaming answers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from translate import jsontext
from translate.algebra.calls import made_id
from translate.algebra.events import Event, Finish, JsonObject, Start, TokenCounts, Usage
from translate.algebra.parts import Part, parts
from translate.algebra.usage import latest
from translate.errors import GrammarError

from .words import REDACTED, entry_of, is_known, reason_words, usage_words

if TYPE_CHECKING:
    from translate.codec import Codec


def assembled(events: Iterable[Event], codec: Codec) -> JsonObject:
    """A ``chat.completion``. Raises :class:`GrammarError` where the events have no finish."""
    texts: dict[str, list[str]] = {"content": [], "reasoning_content": [], "refusal": []}
    calls: list[JsonObject] = []
    entries: list[JsonObject] = []
    start: Start | None = None
    usage: TokenCounts | None = None
    for part in parts(events):
        if isinstance(part, Part):
            head, data = part.head, part.data
            if not codec.sayable(head) or not isinstance(data, str):
                continue
            redacted = head.kind == "thinking" and data == REDACTED and bool(part.states)
            if head.kind == "tool_call":
                function = {"name": head.name, "arguments": jsontext.whole(data) if data.strip() else "{}"}
                calls.append({"id": head.id or made_id(len(calls)), "type": "function", "function": function})
            elif not redacted:
                names = {"text": "content", "thinking": "reasoning_content", "refusal": "refusal"}
                texts[names[head.kind]].append(data)
            if head.kind == "thinking":
                found = (entry_of(state, len(entries), redacted=redacted) for state in part.states)
                entries += [entry for entry in found if entry is not None]
        elif type(part) is Start:
            start = start or part
        elif type(part) is Usage:
            usage = latest(part.usage, usage)
        elif type(part) is Finish:
            usage = latest(part.usage, usage)
            said = {name: jsontext.whole("".join(found)) for name, found in texts.items() if found}
            message: JsonObject = {"role": "assistant", "content": None, **said}
            message |= {"reasoning_details": entries} if entries else {}
            message |= {"tool_calls": calls} if calls else {}
            reason = reason_words(part.reason, calls=bool(calls))
            head_of = {"id": start.id, "created": start.created, "model": start.model.name} if start else {}
            return {
                "object": "chat.completion",
                **{name: value for name, value in head_of.items() if value is not None},
                "choices": [{"index": 0, "message": message, "finish_reason": reason}],
                **({"usage": usage_words(usage)} if is_known(usage) else {}),
            }
    raise GrammarError("the events have no finish", expected="finish")
