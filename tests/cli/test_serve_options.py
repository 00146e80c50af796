"""Options of the sidecar: from the command line, the environment and a file, in this order, for all and for routes."""

from __future__ import annotations

import json
import textwrap
from argparse import Namespace
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from translate.cli import main
from translate.cli._config import PREFIX, Layers
from translate.cli._parser import build_parser

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = ROOT / "docs" / "serve.schema.json"
DEPLOY = ROOT / "examples" / "deploy"
MUST = ("--upstream", "http://127.0.0.1:9", "--from", "gateway-sse", "--to", "unievent-sse")


def layers() -> Layers:
    args = build_parser().parse_args(["serve"])
    assert isinstance(args.run, partial)
    found = args.run.keywords["layers"]
    assert isinstance(found, Layers)
    return found


def filled(*argv: str) -> tuple[Namespace, list[tuple[Mapping[str, str], Namespace]]]:
    args = build_parser().parse_args(["serve", *argv])
    run = args.run
    delattr(args, "run")
    found: tuple[Namespace, list[tuple[Mapping[str, str], Namespace]]] = run.keywords["layers"].filled(args)
    return found


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "options.toml"


def test_the_command_line_comes_before_the_environment_and_that_before_the_file(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file.write_text('port = 1\nmax-body = "1M"\nidle = 5\nallow-host = ["a", "b"]\nplayground = true\nstrict = false\n')
    monkeypatch.setenv(f"{PREFIX}MAX_BODY", "2M")
    monkeypatch.setenv(f"{PREFIX}PORT", "2")
    monkeypatch.setenv(f"{PREFIX}STREAM_TYPE", "text/x\ntext/y\n")
    monkeypatch.setenv(f"{PREFIX}CONFIG", str(file))
    found, routes = filled("--port", "3")
    assert (found.port, found.max_body, found.idle) == (3, 2 << 20, 5.0)
    assert (found.allow_host, found.stream_type) == (["a", "b"], ["text/x", "text/y"])
    assert (found.playground, found.strict, found.first, routes) == (True, False, 600.0, [])
    assert filled("--config", str(file), "--lenient", "--allow-host", "c")[0].allow_host == ["c"]


def test_routes_have_what_all_have_but_for_their_own(file: Path) -> None:
    file.write_text(
        'from = "gateway-sse"\nto = "unievent-sse"\nidle = 5\n'
        '[[route]]\npath = "/a"\nupstream = "http://a"\n'
        '[[route]]\nhost = "b.example"\nupstream = "http://b"\nidle = 6\nto = "gateway-jsonl"\n'
    )
    _, ((first, one), (second, two)) = filled("--config", str(file))
    assert (first, one.upstream, one.idle, one.dst) == ({"path": "/a"}, "http://a", 5.0, "unievent-sse")
    assert (second, two.upstream, two.idle, two.dst) == ({"host": "b.example"}, "http://b", 6.0, "gateway-jsonl")
    assert main(["serve", "--config", str(file), "--check"]) == 0


BAD: list[tuple[str, str]] = [
    ("prot = 1\n", "no option is called 'prot'; 'port' is"),
    ('port = "x"\n', "'port': 'x' is no whole number from 0"),
    ("port = true\n", "'port' is a text or a number"),
    ("playground = 1\n", "'playground' is true or false"),
    ('loss = "all"\n', "'loss' is one of carry, drop, raise"),
    ("port = [\n", "is no TOML"),
    ("route = 1\n", "'route' is a list of tables"),
    ("[[route]]\nport = 1\n", "route 1: 'port' is not of a route, but of all"),
    ("[[route]]\npath = 1\n", "route 1: 'path', 'host' and 'models' are texts"),
    ('[[route]]\npath = "x"\n', "'x' is no path that requests can be below"),
    ('[[route]]\nhost = "a:1"\n', "'a:1' is no name and no address of a host"),
    ('upstream-ca = "/nowhere"\n', "there is no file '/nowhere'"),
    ('tls-key = "pyproject.toml"\n', "--tls-key is given, and no --tls-cert"),
    ('client-ca = "pyproject.toml"\n', "only where the sidecar has one itself"),
    ("workers = 0\n", "there is one worker at least"),
    ('credential = "authorization=secret"\n', "a credential is NAME=env:VARIABLE or NAME=file:PATH"),
    ('credential = "host=env:HOME"\n', "'host' is no field of a credential"),
    ('credential = "x-key=env:NOWHERE_TO_BE_FOUND"\n', "the variable 'NOWHERE_TO_BE_FOUND'"),
    ('via = "a b"\n', "a name in Via"),
]


@pytest.mark.parametrize(("text", "what"), BAD)
def test_what_is_wrong_is_said_with_its_place(
    text: str, what: str, file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("httpx2", reason="httpx2 is not installed: pip install -e '.[serve]'")
    monkeypatch.chdir(ROOT)
    file.write_text(text)
    assert main(["serve", *MUST, "--config", str(file), "--check"]) == 2
    said = capsys.readouterr().err
    assert what in said
    assert "secret" not in said


def test_a_file_that_is_not_there_is_an_input_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", *MUST, "--config", "/nowhere/x.toml", "--check"]) not in (0, 2)
    assert "/nowhere/x.toml cannot be read" in capsys.readouterr().err


def test_variables_are_said_by_their_names(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv(f"{PREFIX}MAX_MEMORY", "much")
    assert main(["serve", *MUST, "--check"]) == 2
    assert f"{PREFIX}MAX_MEMORY: 'much' is no whole number" in capsys.readouterr().err


# ---- the schema, and the files that are shown -------------------------------------------------------------


def test_the_schema_is_that_of_the_parser() -> None:
    assert json.loads(SCHEMA.read_text()) == layers().schema(), "`python -m tests.cli.test_serve_options` writes it"


def test_the_schema_takes_what_is_taken_and_refuses_what_is_not() -> None:
    schema: Any = layers().schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    fine = {"port": 1, "max-body": "1M", "allow-host": ["a"], "route": [{"path": "/a", "upstream": "http://a"}]}
    jsonschema.validate(fine, schema)
    for bad in ({"prot": 1}, {"loss": "all"}, {"playground": 1}, {"route": [{"port": 1}]}, {"config": "x"}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(bad, schema)


def shown() -> dict[str, str]:
    """The files of options that are shown."""
    kubernetes = (DEPLOY / "kubernetes.yaml").read_text()
    inside = kubernetes.partition("  sidecar.toml: |\n")[2].partition("---")[0]
    return {"sidecar.toml": (DEPLOY / "sidecar.toml").read_text(), "kubernetes.yaml": textwrap.dedent(inside)}


@pytest.mark.parametrize("name", ["sidecar.toml", "kubernetes.yaml"])
def test_the_files_that_are_shown_are_taken(name: str, file: Path, tmp_path: Path) -> None:
    import tomllib

    pytest.importorskip("httpx2", reason="httpx2 is not installed: pip install -e '.[serve]'")
    text = shown()[name]
    jsonschema.validate(tomllib.loads(text), layers().schema())
    key = tmp_path / "key"
    key.write_text("secret")
    for place in ("/run/secrets/upstream-key", "/var/run/secrets/upstream/key"):
        text = text.replace(place, str(key))
    assert str(key) in text
    file.write_text(text)
    assert main(["serve", "--config", str(file), "--check"]) == 0


if __name__ == "__main__":
    SCHEMA.write_text(json.dumps(layers().schema(), indent=2) + "\n", encoding="utf-8")
