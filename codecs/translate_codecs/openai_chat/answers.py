"""Whole answers of Chat Completions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from translate.algebra.events import JsonObject, Model, TokenCounts
from translate.algebra.failures import reported
from translate.messages.answers import told_reason
from translate.messages.capability import Answers, Reading, Writing
from translate.messages.members import Members, wrong
from translate.messages.nodes import Answer
from translate.messages.places import Places
from translate.messages.telling import LossClass

from .conversation import read_assistant, write_assistant
from .layout import FORMAT, is_plain
from .words import NAME, error_of, is_known, read_error, read_reason, read_usage, reason_words, usage_words

_COUNTS = ("prompt_tokens", "completion_tokens", "total_tokens", "prompt_tokens_details", "completion_tokens_details")


class ChatAnswers(Answers):
    """The whole answers of Chat Completions."""

    classes: ClassVar[Mapping[str, LossClass]] = {"reasoning_details": "state"}
    places = Places("layout", None, "encrypted_content", FORMAT, is_plain)

    def decode(self, document: JsonObject, reading: Reading) -> Answer:
        if error := error_of(document):
            raise reported(read_error(error))
        members = Members(document, "")
        members.take("object", str)
        answer = Answer(members.take("id", str) or None, Model(members.take("model", str) or None), source=NAME)
        answer.created = members.take("created", float)
        choices = [*members.entries("choices")]
        if len(choices) != 1:
            raise wrong("choices", f"there are {len(choices)} of them", "one choice: an answer is one message")
        choice = choices[0]
        choice.take("index", int)
        message = choice.inner("message")
        if message is None:
            raise wrong(choice.path, "lacks the member 'message'", "an object")
        message.take("role", str)
        answer.parts = read_assistant(message, reading)
        choice.put_back("message", message)
        answer.reason = read_reason(choice.take("finish_reason", str))
        if answer.reason.word == "stop" and any(part.kind == "refusal" for part in answer.parts):
            answer.reason.word = "refusal"
        if choice.left:
            members.left["choices"] = [choice.left]
        answer.usage = read_usage(document) or TokenCounts()
        usage = members.take("usage", dict)
        left = {key: value for key, value in (usage or {}).items() if key not in _COUNTS and value is not None}
        if left:
            members.left["usage"] = left
        answer.residue = members.rest(NAME)
        return answer

    def encode(self, answer: Answer, writing: Writing) -> JsonObject:
        message = {"role": "assistant", "content": None, **write_assistant(answer.parts, writing)}
        calls = "tool_calls" in message
        word = reason_words(answer.reason, calls=calls)
        if answer.reason.word == "refusal" and message.get("refusal") is not None:
            word = "stop"
        told_reason(answer.reason, word, None, writing)
        message.setdefault("refusal", None)
        choice = {"index": 0, "message": message, "finish_reason": word, "logprobs": None}
        out: JsonObject = {
            "id": answer.id or "chatcmpl-unknown",
            "object": "chat.completion",
            "created": int(answer.created or 0),
            "model": answer.model.name or "unknown",
            "choices": [choice],
        }
        for name, known in (("id", answer.id), ("created", answer.created)):
            if known is None:
                writing.guess("", name, "default", str(out[name]))
        if answer.stop_sequence is not None:
            writing.lost("incidental", "stop_sequence", "stop_sequence", "member")
        if is_known(answer.usage):
            out["usage"] = usage_words(answer.usage)
        writing.rest(answer, out)
        return out
