"""Requests, whole answers and conversations on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.messages.documents import Q, anthropic, assistant, chat, completion, message, text, thinking
from translate import convert_answer, convert_messages, convert_request
from translate.cli import main
from translate.recognise.documents import document_format


def written(path: Path, document: object) -> str:
    path.write_text(json.dumps(document))
    return str(path)


def test_a_request_is_recognised_and_comes_home(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    document = anthropic(Q, assistant(thinking(), text()), Q, system=[text("s")])
    given, there, home = written(tmp_path / "a.json", document), str(tmp_path / "b.json"), str(tmp_path / "c.json")
    assert main(["convert", given, "--what", "request", "--to", "openai-chat", "-o", there]) == 0
    assert json.loads(Path(there).read_text()) == convert_request(document, "anthropic", "openai-chat")
    assert main(["convert", there, "--what", "request", "--from", "openai-chat", "--to", "anthropic", "-o", home]) == 0
    assert json.loads(Path(home).read_text()) == document
    assert capfd.readouterr().err == f"{given}: anthropic\n"


def test_an_answer_and_its_report(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    document = completion({"content": "hi", "reasoning_content": "hm"})
    given, report = written(tmp_path / "a.json", document), tmp_path / "report"
    options = ["--what", "answer", "--to", "anthropic", "--loss", "drop", "--report", str(report)]
    assert main(["convert", given, *options]) == 0
    out = capfd.readouterr()
    assert json.loads(out.out) == convert_answer(document, "openai-chat", "anthropic", loss="drop")
    assert out.err == f"{given}: openai-chat\n"
    assert report.exists()


def test_messages_are_a_list(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    document = [Q, assistant(text("x"))]
    given = written(tmp_path / "a.json", document)
    assert main(["convert", given, "--what", "messages", "--from", "anthropic", "--to", "unievent"]) == 0
    assert json.loads(capfd.readouterr().out) == convert_messages(document, "anthropic", "unievent")


def test_a_profile_says_what_the_server_takes(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    given = written(tmp_path / "a.json", anthropic())
    options = ["--from", "anthropic", "--to", "openai-chat", "--loss", "drop", "--profile", "openai-compatible"]
    assert main(["convert", given, "--what", "request", *options]) == 0
    assert "max_tokens" in json.loads(capfd.readouterr().out)


@pytest.mark.parametrize(
    ("document", "options", "said"),
    [
        ({"model": "m", "messages": [Q]}, [], "of which format the request is cannot be told"),
        ({"x": 1}, [], "of which format the request is cannot be told"),
        ({"model": "m", "messages": 3}, ["--from", "anthropic"], "messages: found"),
    ],
)
def test_what_is_wrong_is_said(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], document: object, options: list[str], said: str
) -> None:
    given = written(tmp_path / "a.json", document)
    assert main(["convert", given, "--what", "request", "--to", "unievent", *options]) != 0
    assert said in capfd.readouterr().err


@pytest.mark.parametrize(
    ("document", "what", "found"),
    [
        (message(text()), "answer", "anthropic"),
        (completion(), "answer", "openai-chat"),
        (anthropic(Q, system="s", tools=[{"name": "w", "input_schema": {}}]), "request", "anthropic"),
        (chat(Q, max_completion_tokens=3), "request", "openai-chat"),
        ({"model": "m", "input": "q"}, "request", "openai-responses"),
        ({"contents": [{"parts": [{"text": "q"}]}]}, "request", "gemini"),
        ([], "request", None),
        ([{"role": "user", "parts": []}], "messages", "gemini"),
        ([{"role": "tool", "content": "x"}], "messages", "openai-chat"),
    ],
)
def test_documents_are_told_apart(document: object, what: str, found: str | None) -> None:
    assert document_format(document, what) == found
