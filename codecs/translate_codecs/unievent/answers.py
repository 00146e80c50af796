"""Whole answers of UniEvent: one UniMessage."""

from __future__ import annotations

from translate.algebra.events import Finish, JsonObject
from translate.algebra.failures import reported
from translate.messages.answers import told_reason
from translate.messages.capability import Answers, Reading, Writing
from translate.messages.members import Members, wrong
from translate.messages.nodes import Answer
from translate.messages.places import Places

from .messages import held, read_items, write_item
from .words import NAME, read_error, read_stop, stop_event


class UniEventAnswers(Answers):
    """The whole answers of UniEvent."""

    places = Places("within", None, "signature", holds=held)

    def decode(self, document: JsonObject, reading: Reading) -> Answer:
        if isinstance(document.get("error"), dict):
            raise reported(read_error(document["error"]))
        members = Members(document, "")
        if members.must("role", str) != "assistant":
            raise wrong("role", f"found {document['role']!r}", "assistant")
        answer = Answer(source=NAME)
        answer.parts = read_items(members, reading)
        usage, raw = members.take("usage_metadata", dict), members.take("finish_reason", str)
        stop = read_stop({"usage_metadata": usage or {}, "finish_reason": raw or "unknown"})
        answer.usage, answer.reason = stop.usage, stop.reason
        created = members.take("created_at", float)
        answer.created = None if created is None else created / 1000
        answer.residue = members.rest(NAME)
        return answer

    def encode(self, answer: Answer, writing: Writing) -> JsonObject:
        items = [item for part in answer.parts for item in write_item(part, writing, user=False)]
        stop = stop_event(Finish(answer.usage, answer.reason))
        told_reason(answer.reason, stop["finish_reason"], None, writing)
        out: JsonObject = {
            "role": "assistant",
            "content_items": items,
            "usage_metadata": stop["usage_metadata"],
            "finish_reason": stop["finish_reason"],
        }
        if answer.created is not None:
            out["created_at"] = int(answer.created * 1000)
        lost = {"id": answer.id, "model": answer.model.name, "stop_sequence": answer.stop_sequence}
        for name, known in lost.items():
            if known is not None:
                writing.lost("incidental", name, name, "member")
        writing.rest(answer, out)
        return out
