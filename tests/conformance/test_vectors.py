"""The conformance vectors hold, are well formed, and can be run from the command line."""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import jsonschema
import orjson
import pytest

from translate.cli import main
from translate.conformance import Case, Expected, VectorError, find_vectors, load_cases, run_library, run_program
from translate.conformance.case import loads
from translate.conformance.verdict import read_units, same

VECTORS = Path(__file__).parents[1] / "vectors"
FILES = sorted(path for path in VECTORS.glob("*.json") if path.name != "schema.json")
CASES = list(load_cases(VECTORS))
OURS = [sys.executable, "-m", "translate", "convert", "--from", "{from}", "--to", "{to}", "--loss", "{loss}"]
OURS += ["--errors", "{errors}", "--{strict}", "--clock", "{clock}", "--model", "{model}"]


@pytest.mark.parametrize("file", [path.stem for path in FILES])
def test_vectors(file: str) -> None:
    problems = [run_library(case) for of, case in CASES if of == file]
    assert problems
    assert [problem for problem in problems if problem is not None] == []


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_files_follow_the_schema(path: Path) -> None:
    schema = json.loads((VECTORS / "schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.Draft202012Validator(schema).validate(json.loads(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize("path", [path for path in FILES if path.stem != "json-unusual"], ids=lambda path: path.stem)
def test_files_are_json_to_every_reader(path: Path) -> None:
    orjson.loads(path.read_bytes())
    found = re.search("[\r\t\x85\u2028\u2029\ufeff]", path.read_text(encoding="utf-8"))
    assert found is None, "what an editor may change is escaped"


def test_ids_are_unique_and_every_kind_is_there() -> None:
    counts = Counter(case.id for _, case in CASES)
    assert [id for id, count in counts.items() if count > 1] == []
    assert {id[0] for id in counts} == set("yni")


def test_rules_are_somewhere() -> None:
    pages = "|".join(path.stem for path in (VECTORS.parents[1] / "docs").glob("*.md"))
    place = re.compile(rf"({pages}|README|shapes): .+|errors(: .+)?|law [1-9](: .+)?|WHATWG .+|RFC 8259 [1-9].*")
    assert [case.rule for _, case in CASES if not all(map(place.fullmatch, case.rule.split("; ")))] == []


def test_the_readme_names_every_file() -> None:
    readme = (VECTORS / "README.md").read_text(encoding="utf-8")
    assert [path.name for path in FILES if f"`{path.name}`" not in readme] == []


def changed(case: Case, **change: Any) -> Case:
    return case.model_copy(update=change)


@pytest.mark.parametrize("prefix", ["y_there_state", "n_there_error", "y_written_", "n_refused_usage"])
def test_a_wrong_result_is_found(prefix: str) -> None:
    for _, case in CASES:
        if case.id.startswith(prefix):
            wrong = [changed(case, output=[*case.output, {}]), changed(case, error=Expected(code="CodecError"))]
            wrong += [changed(case, output=case.output[1:])] if case.output else []
            wrong += [changed(case, lost=[*case.lost, "more"])] if case.lost is not None else []
            if case.error is not None and case.error.unit is not None:
                wrong.append(changed(case, error=case.error.model_copy(update={"unit": 99})))
            assert all(run_library(each) is not None for each in wrong), case.id


def test_the_command_runs_them_against_the_library(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main(["conformance", "--only", "mapping-unievent-gateway/y_"]) == 0
    out, error = capfdbinary.readouterr()
    assert re.fullmatch(rb"\d+ cases \(\d+ y_, 0 n_, 0 i_\), 0 failed\n", out)
    assert error == b""


@pytest.mark.parametrize(
    "only", ["y_there_model_p", "n_there_error_p", "y_lenient_sse", "y_back_clock", "y_written_call_b", "sse/i_"]
)
def test_our_own_command_passes_as_a_program(only: str, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main(["conformance", "--only", only, "--", *OURS]) == 0, capfdbinary.readouterr()


def test_a_program_that_copies_fails(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main(["conformance", "--only", "y_there_call", "--", sys.executable, "-c", COPY]) == 1
    out = capfdbinary.readouterr().out.decode()
    assert "y_there_call_whole: A call in one fragment (gateway: mapping)\n  in one write\n  expected: " in out
    assert re.search(r"\n6 cases \(6 y_, 0 n_, 0 i_\), 6 failed\n$", out)


COPY = "import sys, shutil; shutil.copyfileobj(sys.stdin.buffer, sys.stdout.buffer)"


def plain(**change: Any) -> Case:
    case = {"id": "n_x", "about": "a", "rule": "r", "from": "unievent-jsonl", "to": "unievent-jsonl", "input": "{}\n"}
    return Case.model_validate({**case, "output": [{}], "error": {"code": "DecodeError"}, **change})


@pytest.mark.parametrize(
    ("said", "status", "passes"),
    [
        ("x: DecodeError: not JSON", 1, True),
        ('{"code": "DecodeError"}', 1, True),
        ('noise\n{"code": "DecodeError"}', 1, True),
        ("", 1, True),
        ("GrammarError", 1, False),
        ('{"code": "GrammarError", "not": "DecodeError"}', 1, False),
        ("DecodeErrors", 1, False),
        ("DecodeError", 0, False),
        ("DecodeError", 2, False),
    ],
)
def test_what_a_program_says_of_an_error(said: str, status: int, passes: bool) -> None:
    program = f"import sys; sys.stdin.read(); print('{{}}'); print({said!r}, file=sys.stderr); sys.exit({status})"
    assert (run_program(plain(), [sys.executable, "-c", program]) is None) is passes


def test_a_program_may_leave_early_and_differ_where_it_may() -> None:
    program = [sys.executable, "-c", "import sys; print('{}'); print('DecodeError', file=sys.stderr); sys.exit(1)"]
    assert run_program(plain(input={"repeat": "{}\n", "times": 100_000}), program) is None
    assert run_program(plain(id="i_x", output=[1, 2]), program) is None


@pytest.mark.parametrize(
    ("output", "units"),
    [
        ("", []),
        (": a\n\n", [{"ping": True}]),
        ("id: 1\nevent: x\n\n", []),
        ("\r\nid:1\r\nevent:x\r\ndata:{\r\ndata:}\r\n\r\n", [{"event": "x", "data": {}}]),
        (': carry {"a":1}\n\n: carry on\ndata: [DONE]\n\n', [{"carry": {"a": 1}}, {"data": "[DONE]"}]),
    ],
)
def test_what_is_read_of_sse(output: str, units: list[Any]) -> None:
    assert read_units(output.encode(), "x-sse") == units


NOT_SSE = [b"data: {}\n", b"data: x\n\n", b"\xff\n\n"]


@pytest.mark.parametrize(
    ("output", "format"), [(b"{}", "x-jsonl"), (b"\xff\n", "x-jsonl"), *((output, "x-sse") for output in NOT_SSE)]
)
def test_what_is_no_output(output: bytes, format: str) -> None:
    with pytest.raises(ValueError, match=r"end|Expecting|decode"):
        read_units(output, format)


EQUAL = [("1.0", "1.00"), ("1e400", "1e400"), ("[1,{}]", "[1,{}]"), ('{"a":1,"b":2}', '{"b":2,"a":1}')]
UNEQUAL = [("1", "1.0"), ("1", "true"), ("0.0", "-0.0"), ("null", "false"), ("{}", "[]"), ('{"a":null}', "{}")]


@pytest.mark.parametrize(("a", "b"), [*EQUAL, *UNEQUAL])
def test_values_are_compared_exactly(a: str, b: str) -> None:
    assert same(loads(a), loads(b)) is ((a, b) in EQUAL)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--only", "nothing of the kind"], "no case has 'nothing of the kind'"),
        (["--vectors", "nowhere"], "there are no vectors in nowhere"),
        (["--only", "y_there_text", "--", "no-such-program"], "cannot run no-such-program: No such file"),
    ],
)
def test_wrong_usage(arguments: list[str], message: str, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main(["conformance", *arguments]) == 2
    assert message in capfdbinary.readouterr().err.decode()


def test_a_file_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text('{"cases": [{"id": "z"}]}')
    with pytest.raises(VectorError, match=r"x\.json cannot be read"):
        list(load_cases(tmp_path))


def test_the_vectors_are_found() -> None:
    assert find_vectors() == VECTORS
