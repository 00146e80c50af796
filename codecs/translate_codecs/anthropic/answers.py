"""Whole answers of Anthropic Messages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from translate.algebra.events import JsonObject, Model
from translate.algebra.failures import reported
from translate.messages.answers import told_reason
from translate.messages.capability import Answers, Reading, Writing
from translate.messages.members import Members, wrong
from translate.messages.nodes import Answer
from translate.messages.places import Places
from translate.messages.telling import LossClass

from .content import read_content, write_part
from .words import CREATED, NAME, read_error, read_reason, read_usage, reason_words, usage_words

_READ = ("input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "cache_creation")


class AnthropicAnswers(Answers):
    """The whole answers of Anthropic Messages."""

    classes: ClassVar[Mapping[str, LossClass]] = {"explanation": "content"}
    places = Places("beside", NAME, "signature")

    def decode(self, document: JsonObject, reading: Reading) -> Answer:
        if isinstance(document.get("error"), dict):
            raise reported(read_error(document))
        members = Members(document, "")
        if members.take("type", str) not in (None, "message"):
            raise wrong("type", f"found {document['type']!r}", "message")
        members.take("role", str)
        answer = Answer(members.take("id", str), Model(members.take("model", str)), source=NAME)
        if members.left.get("content") is None:
            raise wrong("", "lacks the member 'content'", "a list of blocks")
        answer.parts = read_content(members.take("content"), "content", reading)
        answer.reason = read_reason(members.take("stop_reason", str))
        answer.stop_sequence = members.take("stop_sequence", str)
        usage = members.take("usage", dict)
        answer.usage = read_usage(usage, None)
        left = {key: value for key, value in (usage or {}).items() if key not in _READ and value is not None}
        if left:
            members.left["usage"] = left
        answer.residue = members.rest(NAME)
        return answer

    def encode(self, answer: Answer, writing: Writing) -> JsonObject:
        content = [block for part in answer.parts for block in _said(part, writing)]
        calls = any(part.kind == "tool_call" for part in answer.parts)
        word, guess = reason_words(answer.reason, calls=calls)
        told_reason(answer.reason, word, guess, writing)
        sequence = answer.stop_sequence if word == "stop_sequence" or writing.home else None
        if answer.stop_sequence is not None and sequence is None:
            writing.lost("incidental", "stop_sequence", "stop_sequence", "member")
        usage = usage_words(answer.usage)
        whole, cached = answer.usage.input_tokens, answer.usage.cached_tokens or 0
        if whole is not None and usage.get(CREATED, 0) + cached > whole:
            # some servers count what they wrote and read twice: the sum stands
            usage[CREATED] = max(0, whole - cached)
            usage["input_tokens"] = max(0, whole - cached - usage[CREATED])
            writing.guess("usage", CREATED, "bounded", str(usage[CREATED]))
        for name in ("input_tokens", "output_tokens"):
            if usage.get(name) is None or getattr(answer.usage, name) is None:
                writing.guess("usage", name, "count")
        out: JsonObject = {
            "id": answer.id or "msg_unknown",
            "type": "message",
            "role": "assistant",
            "model": answer.model.name or "unknown",
            "content": content,
            "stop_reason": word,
            "stop_sequence": sequence,
            "usage": {"input_tokens": 0, "output_tokens": 0, **usage},
        }
        if answer.id is None:
            writing.guess("", "id", "default", "msg_unknown")
        if answer.created is not None:
            writing.lost("incidental", "created", "created", "member")
        writing.rest(answer, out)
        return out


def _said(part: object, writing: Writing) -> list[JsonObject]:
    return write_part(part, writing, user=False)  # type: ignore[arg-type]
