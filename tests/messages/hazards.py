"""What the tests of hazards share: conversions for a server and for a client, and what was told."""

import json
from typing import Any

from tests.messages.documents import Json
from translate import Report, convert_answer, convert_request

A, C, R, G, U = "anthropic", "openai-chat", "openai-responses", "gemini", "unievent"


class Told:
    """One conversion: its output, and the report."""

    def __init__(self, said: Any, report: Report) -> None:
        self.said, self.report = said, report

    def classes(self) -> set[str]:
        return {found.kind for found in self.report.losses}

    def paths(self, kind: str) -> list[str]:
        return [found.path for found in self.report.losses if found.kind == kind]


def sent(document: Json, src: str, dst: str, **options: Any) -> Told:
    """A request, as it goes to a server."""
    report = Report()
    return Told(convert_request(document, src, dst, loss="drop", report=report, **options), report)


def answered(document: Json, src: str, dst: str, **options: Any) -> Told:
    """A whole answer, as it goes to a client."""
    report = Report()
    return Told(convert_answer(document, src, dst, loss="drop", report=report, **options), report)


def home(document: Json, src: str, dst: str) -> Json:
    """A request, there and back with its carry."""
    return convert_request(convert_request(document, src, dst), dst, src)


def answer_home(document: Json, src: str, dst: str) -> Json:
    """An answer, there and back with its carry."""
    return convert_answer(convert_answer(document, src, dst), dst, src)


def text_of(document: Any) -> str:
    return json.dumps(document, ensure_ascii=False)


def roles(document: Json) -> list[str]:
    return [message["role"] for message in document["messages"]]
