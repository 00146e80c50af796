"""The whole interaction that events add up to."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from translate import jsontext
from translate.algebra.calls import BLANK, is_whole, made_id
from translate.algebra.events import Annotate, Event, Finish, JsonObject, Start, TokenCounts, Usage
from translate.algebra.parts import Part, parts
from translate.algebra.usage import latest
from translate.errors import GrammarError, ToolArgumentsError

from .words import ISSUER, SIGNATURE, interaction, is_known, media_delta, signature_of, status_words, usage_words

if TYPE_CHECKING:
    from translate.codec import Codec


def assembled(events: Iterable[Event], codec: Codec) -> JsonObject:
    """An ``Interaction``, its steps in order. Raises :class:`GrammarError` where the events have no finish.

    Arguments of a call that are no object raise :class:`ToolArgumentsError`.
    """
    steps: list[JsonObject] = []
    notes: list[Any] = []
    start, usage, calls = Start(), None, 0
    counts: TokenCounts | None = usage
    for part in parts(events):
        if isinstance(part, Part):
            if codec.sayable(part.head) and not part.head.kind.startswith("server"):
                _add(steps, part, calls, notes)
                calls += part.head.kind == "tool_call"
            notes = []
        elif type(part) is Start and not steps:
            start = part
        elif type(part) is Usage:
            counts = latest(part.usage, counts)
        elif type(part) is Annotate and part.namespace == ISSUER and isinstance(part.data, dict):
            found = part.data.get("annotations")
            notes += found if isinstance(found, list) else []
        elif type(part) is Finish:
            counts = latest(part.usage, counts)
            status = status_words(part.reason, calls=calls > 0, home=False)
            said = usage_words(counts, home=False) if is_known(counts) else None
            return {**interaction(start, None, status, said), "steps": steps}
    raise GrammarError("the events have no finish", expected="finish")


def _add(steps: list[JsonObject], part: Part, calls: int, notes: list[Any]) -> None:
    """Add a part: text and data to the open output, thoughts and calls as steps of their own."""
    head, data = part.head, part.data
    signature = next(filter(None, (signature_of(state, None) for state in reversed(part.states))), None)
    signed = {SIGNATURE: signature} if signature else {}
    if head.kind == "thinking":
        summary = [{"type": "text", "text": jsontext.whole(str(data))}] if data else []
        steps.append({"type": "thought", **signed, "summary": summary})
    elif head.kind == "tool_call":
        raw = str(data)
        if raw.strip(BLANK) and not is_whole(raw, sys.maxsize):
            what = f"the arguments of the call {head.name!r} are no object"
            raise ToolArgumentsError(what, name=head.name or "", id=head.id or "", raw=raw, position=None)
        arguments = jsontext.loads_str(raw, sys.maxsize) if raw.strip(BLANK) else {}
        call = {"type": "function_call", "id": head.id or made_id(calls), "name": head.name, "arguments": arguments}
        steps.append({**call, **signed})
    elif isinstance(data, bytes) or data:
        content = media_delta(head, data) if isinstance(data, bytes) else {"type": "text", "text": data}
        if notes:
            content["annotations"] = notes
        if not steps or steps[-1]["type"] != "model_output":
            steps.append({"type": "model_output", "content": []})
        steps[-1]["content"].append(content)
