"""Files of agents, ``claude --output-format stream-json --include-partial-messages``: JSON lines, some with a unit.

``{"type": "stream_event", "event": {…}, "session_id": "…", "parent_tool_use_id": null}``

1. The units of one session, and of one of its agents below, stand in the order of their lines: streams end to end.
2. Other records, such as whole messages and results, hold no units, and are passed over.
"""

from __future__ import annotations

from ... import jsontext
from ...errors import DecodeError
from .printed import Piece, kind, record_of, records

_TYPES = ("system", "assistant", "user", "result", "stream_event")


class _StreamJson:
    blanks = False

    def __call__(self, line: bytes) -> Piece | None:
        record = record_of(line, "type", "an agent's")
        if record["type"] != "stream_event":
            return None
        event = record.get("event")
        if not isinstance(event, dict):
            raise DecodeError("a stream_event without an event", expected="an object in the member 'event'")
        channel = f"{record.get('session_id')}/{record.get('parent_tool_use_id')}"
        return Piece(channel, jsontext.dumps(event) + b"\n", record, event.get("type") == "message_start")


def _begins(head: bytes) -> bool:
    found = list(records(head))
    kinds = [record.get("type") for record in found if record is not None and "session_id" in record]
    return bool(kinds) and len(kinds) == len(found) and all(kind in _TYPES for kind in kinds)


STREAM_JSON = kind("stream-json of an agent", _begins, lambda strict: _StreamJson())
