"""The vectors of documents: requests, whole answers, error bodies and envelopes, as data for any language."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.messages.documents import Json
from translate import Report, TranslateError, convert_answer, convert_error, convert_request
from translate.messages.envelope import Unreadable, opened, sealed

FOLDER = Path(__file__).resolve().parents[1] / "vectors" / "documents"
FILES = ("requests", "answers", "errors", "envelopes")


def cases(name: str) -> list[Any]:
    found = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))["cases"]
    return [pytest.param(case, id=case["id"]) for case in found]


def converted(case: Json, what: str) -> tuple[Json, list[str]]:
    report = Report()
    if what == "request":
        said = convert_request(case["input"], case["from"], case["to"], loss="drop", report=report)
    else:
        said = convert_answer(
            case["input"], case["from"], case["to"], seal=case.get("seal", "off"), loss="drop", report=report
        )
    return said, sorted({f"{found.kind} {found.path}" for found in report.losses})


@pytest.mark.parametrize(
    ("case", "what"),
    [pytest.param(*case.values, what, id=case.id) for what in ("request", "answer") for case in cases(f"{what}s")],
)
def test_a_document_becomes_what_its_vector_says(case: Json, what: str) -> None:
    if "error" in case:
        with pytest.raises(TranslateError) as caught:
            converted(case, what)
        assert {"code": type(caught.value).__name__, "path": caught.value.path} == case["error"]
        return
    said, lost = converted(case, what)
    assert json.dumps(said) == json.dumps(case["output"])
    assert lost == case["lost"]


@pytest.mark.parametrize("case", cases("errors"))
def test_an_error_body_becomes_what_its_vector_says(case: Json) -> None:
    body = json.dumps(case["input"]).encode()
    status, _, said = convert_error(case["status"], {}, body, case["from"], case["to"])
    assert {"status": status, "body": json.loads(said)} == case["output"]


@pytest.mark.parametrize("case", cases("envelopes"))
def test_an_envelope_is_what_its_vector_says(case: Json) -> None:
    if case["id"].startswith("n_"):
        with pytest.raises(Unreadable):
            opened(case["envelope"], 1 << 18)
        return
    assert opened(case["envelope"], 1 << 18) == case["members"]
    if not {"+", "/"} & {*case["envelope"]}:
        assert sealed(case["members"]) == case["envelope"]


def test_all_files_have_cases_of_their_own() -> None:
    assert {path.stem for path in FOLDER.glob("*.json")} == {*FILES}
    for name in FILES:
        ids = [case.id for case in cases(name)]
        assert len({*ids}) == len(ids)
