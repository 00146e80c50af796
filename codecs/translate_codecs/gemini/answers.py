"""Whole answers of Gemini: a ``GenerateContentResponse``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from translate.algebra.events import JsonObject, Model, Reason, TokenCounts
from translate.algebra.failures import reported
from translate.messages.answers import told_reason
from translate.messages.capability import Answers, Reading, Writing
from translate.messages.members import wrong
from translate.messages.nodes import Annotation, Answer
from translate.messages.places import Places
from translate.messages.telling import LossClass

from .content import Names, read_parts, write_part
from .words import (
    ISSUER,
    MEMBERS,
    NAME,
    NOTES,
    TOOLS,
    is_known,
    read_blocked,
    read_error,
    read_reason,
    read_usage,
    reason_words,
    usage_words,
)

_COUNTS = ("promptTokenCount", "candidatesTokenCount", "thoughtsTokenCount", "cachedContentTokenCount")


class GeminiAnswers(Answers):
    """The whole answers of Gemini."""

    classes: ClassVar[Mapping[str, LossClass]] = {}
    places = Places("within", ISSUER, "signature")

    def decode(self, document: JsonObject, reading: Reading) -> Answer:
        if document.get("error"):
            raise reported(read_error(document["error"]))
        members = Names(document, "")
        if not any(key in members.left for key in MEMBERS):
            raise wrong("", "no member of an answer is there", ", ".join(MEMBERS))
        answer = Answer(members.take("responseId", str), Model(members.take("modelVersion", str)), source=NAME)
        candidates = [*members.entries("candidates")]
        if len(candidates) > 1:
            raise wrong("candidates", f"there are {len(candidates)} of them", "one: an answer is one message")
        for candidate in candidates:
            _candidate(candidate, answer, reading)
            candidate.take("index", int)
            if (left := candidate.rest(NAME)) is not None:
                members.left["candidates"] = [left[NAME]]
        feedback = members.left.get("promptFeedback")
        if not candidates and isinstance(feedback, dict) and isinstance(feedback.get("blockReason"), str):
            answer.reason = read_blocked(feedback["blockReason"])
        usage = members.inner("usageMetadata")
        if usage is not None:
            answer.usage = read_usage(usage.left) or TokenCounts()
            for key in (*_COUNTS, TOOLS, "totalTokenCount"):
                usage.left.pop(key, None)
            members.put_back("usageMetadata", usage)
        answer.residue = members.rest(NAME)
        return answer

    def encode(self, answer: Answer, writing: Writing) -> JsonObject:
        parts: list[JsonObject] = []
        notes: JsonObject = {}
        for part in answer.parts:
            own = [each for each in part.annotations if each.namespace == ISSUER and isinstance(each.data, dict)]
            for each in own:
                notes |= each.data
            part.annotations = [each for each in part.annotations if each not in own]
            parts += write_part(part, writing, user=False)
            part.annotations = [*own, *part.annotations]
        word = reason_words(answer.reason)
        told_reason(answer.reason, word, None, writing)
        content = {"role": "model", "parts": parts}
        candidate: JsonObject = {"content": content, "finishReason": word, "index": 0, **notes}
        out: JsonObject = {"candidates": [candidate]}
        if is_known(answer.usage):
            usage = usage_words(answer.usage)
            if type(tools := answer.usage.other.get(TOOLS)) is int and answer.usage.input_tokens is not None:
                usage |= {"promptTokenCount": answer.usage.input_tokens - tools, TOOLS: tools}
            out["usageMetadata"] = usage
        if answer.model.name is not None:
            out["modelVersion"] = answer.model.name
        if answer.id is not None:
            out["responseId"] = answer.id
        if answer.stop_sequence is not None:
            writing.lost("incidental", "stop_sequence", "stop_sequence", "member")
        if answer.created is not None:
            writing.lost("incidental", "created", "created", "member")
        writing.rest(answer, out)
        return out


def _candidate(candidate: Names, answer: Answer, reading: Reading) -> None:
    content = candidate.inner("content")
    if content is not None:
        content.take("role", str)
        answer.parts = read_parts(content, reading)
        candidate.put_back("content", content)
    raw = candidate.take("finishReason")
    answer.reason = read_reason(str(raw)) if raw is not None else Reason()
    last = answer.parts[-1] if answer.parts else None
    for name in NOTES:
        if candidate.left.get(name) and last is not None and last.kind == "text":
            last.annotations.append(Annotation(ISSUER, {name: candidate.take(name)}, candidate.at(name)))
