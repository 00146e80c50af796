"""Whole answers of the gateway: ``{"success", "code", "value": {"messages", "usage"}}``, which is a guess."""

from __future__ import annotations

from translate.algebra.events import Finish, JsonObject, Model
from translate.algebra.failures import reported
from translate.messages.answers import told_reason
from translate.messages.capability import Answers, Reading, Writing
from translate.messages.members import Members, wrong
from translate.messages.nodes import Answer

from .failures import GatewayErrors
from .messages import read_turns, write_said
from .words import NAME, read_usage, usage_words


class GatewayAnswers(Answers):
    """The whole answers of the gateway."""

    def decode(self, document: JsonObject, reading: Reading) -> Answer:
        if document.get("success") is False:
            raise reported(GatewayErrors().decode(200, document))
        members = Members(document, "")
        members.take("success", bool)
        members.take("code", int)
        value = members.inner("value")
        if value is None:
            raise wrong("", "lacks the member 'value'", "an object")
        answer = Answer(source=NAME)
        turns = read_turns(value, reading)
        if any(turn.role != "assistant" for turn in turns):
            raise wrong("value.messages", "there is one that the assistant did not say", "content, thinking, toolCall")
        answer.parts = [part for turn in turns for part in turn.parts]
        if (usage := value.take("usage", dict)) is not None:
            stop = read_usage(usage, Model())
            answer.usage, answer.reason = stop.usage, stop.reason
        members.put_back("value", value)
        answer.residue = members.rest(NAME)
        return answer

    def encode(self, answer: Answer, writing: Writing) -> JsonObject:
        messages: list[JsonObject] = []
        for part in answer.parts:
            messages += write_said(part, writing, len(messages))
        usage = usage_words(Finish(answer.usage, answer.reason), answer.model)
        told_reason(answer.reason, usage["finishReason"], None, writing)
        for name, known in (("id", answer.id), ("model", answer.model.name), ("stop_sequence", answer.stop_sequence)):
            if known is not None:
                writing.lost("incidental", name, name, "member")
        out: JsonObject = {"success": True, "code": 200, "value": {"messages": messages, "usage": usage}}
        writing.rest(answer, out)
        return out
