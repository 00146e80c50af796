"""The documentation says what is so: its Python runs, its commands print what it shows, its tables are the code's.

The blocks of a page run in order, in one namespace and one folder, which has ``examples/``. A block with a title is
written to a file of that name, too. A block titled ``prints`` is what the Python before it prints. ``…`` stands for
anything.
"""

from __future__ import annotations

import inspect
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from io import StringIO
from pathlib import Path
from pydoc import locate
from typing import Any

import pytest

import translate
from tests import command_line
from tests.peers.serving import PATIENCE
from translate import TranslateError, errors
from translate.adapters import Outcome
from translate.carry.reasons import GUESSES, LOSSES, REPAIRS, Why

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
OPTIONAL = ("httpx2", "hypothesis", "pyarrow", "pyspark", "starlette")
ELSEWHERE = {"adapters.md": "tests/adapters/test_documents.py"}
"""Pages whose Python another test runs."""

SPARK = "spark.md"
"""The page that has a test of its own."""

RUN = ("translate-streams", "python", "head", "tail", "cat", "cmp", "echo")
"""The commands that are run; those that install are not."""

BLOCK = re.compile(r"^```(\w+)(?: title=\"([^\"]+)\")?\n(.*?)^```$", re.M | re.S)
PAGES = sorted(path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md"))


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    page: str
    line: int
    language: str
    title: str
    text: str

    @property
    def place(self) -> str:
        return f"docs/{self.page}:{self.line}"


def blocks(page: str) -> list[Block]:
    text = (DOCS / page).read_text(encoding="utf-8")
    return [
        Block(page, text.count("\n", 0, found.start()) + 1, found[1], found[2] or "", found[3])
        for found in BLOCK.finditer(text)
    ]


def says(shown: str, printed: str) -> bool:
    """Whether this was printed, ``…`` being anything."""
    pattern = ".*".join(map(re.escape, shown.strip().split("…")))
    return re.fullmatch(pattern, printed.strip(), re.S) is not None


class Reader:
    """Someone who does what a page says, in a folder."""

    def __init__(self, folder: Path) -> None:
        self.namespace: dict[str, Any] = {"__name__": "documentation"}
        self.printed = ""
        self._folder = folder
        self._status = 0
        shutil.copytree(ROOT / "examples", folder / "examples")
        (folder / "bin").mkdir()
        for name, words in (("python", ""), ("translate-streams", "-m translate ")):
            path = folder / "bin" / name
            path.write_text(f'#!/bin/sh\nexec "{sys.executable}" {words}"$@"\n', encoding="utf-8")
            path.chmod(0o755)

    def follow(self, block: Block) -> None:
        """Do what a block says."""
        if block.language == "console":
            for command, shown in _commands(block.text):
                self._run(block, command, shown)
        elif block.language == "python":
            self._exec(block)
        elif block.title == "prints":
            assert says(block.text, self.printed), f"{block.place} prints\n{self.printed}"

    def _exec(self, block: Block) -> None:
        if block.title:
            (self._folder / block.title).write_text(block.text, encoding="utf-8")
        # blank lines ahead, so that an error names the line of the page
        code = compile("\n" * block.line + block.text, block.page, "exec")
        with redirect_stdout(StringIO()) as out:
            exec(code, self.namespace)
        self.printed = out.getvalue()

    def _run(self, block: Block, command: str, shown: str) -> None:
        if command.partition(" ")[0] not in RUN:
            return
        paths = [str(ROOT), str(ROOT / "codecs"), str(self._folder)]
        path = os.pathsep.join([str(self._folder / "bin"), os.environ["PATH"]])
        done = subprocess.run(
            ["sh", "-c", f"(exit {self._status})\n{command}"],
            cwd=self._folder,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), "PATH": path, "PYTEST_ADDOPTS": ""},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=3 * PATIENCE,
            check=False,
        )
        self._status = done.returncode
        printed = done.stdout.decode()
        assert says(shown, printed), f"{block.place}, {command} prints\n{printed}"


def _commands(text: str) -> Iterator[tuple[str, str]]:
    """Each command of a console, with what is shown of its output."""
    for part in re.split(r"^\$ ", text, flags=re.M)[1:]:
        command, _, shown = part.partition("\n")
        yield command, shown


@pytest.fixture
def reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Reader]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    before = {*sys.modules}
    yield Reader(tmp_path)
    for name in {*sys.modules} - before:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(tmp_path)):
            del sys.modules[name]


def missing(page: str) -> list[str]:
    """What the Python of a page imports that is not installed."""
    code = "".join(block.text for block in blocks(page) if block.language == "python")
    wanted = [name for name in OPTIONAL if re.search(rf"^(import|from) {name}\b", code, re.M)]
    wanted += ["hypothesis"] if "translate.testing" in code else []
    absent = [name for name in wanted if find_spec(name) is None]
    return [*absent, *(["java"] if "pyspark" in wanted and shutil.which("java") is None else [])]


RUNNABLE = [
    page
    for page in PAGES
    if page not in (*ELSEWHERE, SPARK) and any(block.language in ("python", "console") for block in blocks(page))
]


@pytest.mark.parametrize("page", RUNNABLE)
def test_a_page_does_what_it_says(page: str, reader: Reader) -> None:
    if absent := missing(page):
        pytest.skip(f"docs/{page} needs {', '.join(absent)}")
    for block in blocks(page):
        reader.follow(block)
    if page == "tutorial.md":
        assert answered(reader.namespace["app"]).startswith(b": carry {"), "the service of the tutorial"


def test_spark_does_what_its_page_says(tmp_path: Path) -> None:
    """In a process of its own: what Spark runs in is started once, with the settings of whoever was first."""
    if absent := missing(SPARK):
        pytest.skip(f"docs/{SPARK} needs {', '.join(absent)}")
    quick = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
    settings = {"ui.enabled": "false", "sql.shuffle.partitions": "2", "driver.extraJavaOptions": f"'{quick}'"}
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "codecs")]),
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_SUBMIT_ARGS": " ".join([*(f"--conf spark.{k}={v}" for k, v in settings.items()), "pyspark-shell"]),
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    command = [sys.executable, "-m", "tests.test_documentation", SPARK]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, timeout=180, check=False)
    assert done.returncode == 0, done.stderr.decode()


def answered(app: Any) -> bytes:
    """The body that an ASGI application answers with."""
    httpx2 = pytest.importorskip("httpx2", reason="httpx2 is not installed: pip install -e '.[adapters]'")
    import anyio

    async def ask() -> bytes:
        with anyio.fail_after(PATIENCE):
            async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://service") as client:
                body: bytes = (await client.get("/chat")).content
                return body

    return anyio.run(ask)


def test_what_another_test_runs_is_run_there() -> None:
    for page, test in ELSEWHERE.items():
        assert page in (ROOT / test).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("shown", "printed", "same"),
    [
        ("a …\nb", "a long line\nb\n", True),
        ("a …\nb", "a\nb", False),
        ("a(b", "a(b", True),
        ("a", "a b", False),
        ("", "", True),
        ("", "a", False),
    ],
)
def test_what_is_shown_is_compared(shown: str, printed: str, same: bool) -> None:
    assert says(shown, printed) is same


def test_the_page_of_the_command_line_is_that_of_the_parser() -> None:
    page = (DOCS / "cli.md").read_text(encoding="utf-8")
    assert page == command_line.page(), "`python -m tests.command_line` writes it anew"


# ---- tables ----------------------------------------------------------------------------------------------


def rows(page: str, heading: str) -> list[list[str]]:
    """The table under a heading, without its head."""
    text = (DOCS / page).read_text(encoding="utf-8").partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[2:]]


def kinds_of_errors() -> dict[str, type[TranslateError]]:
    found = {name: value for name, value in vars(errors).items() if inspect.isclass(value)}
    return {name: value for name, value in found.items() if issubclass(value, TranslateError)}


def test_the_table_of_errors_has_all_of_them_and_their_codes() -> None:
    table = {row[0].strip("`"): row for row in rows("errors.md", "Kinds")}
    kinds = kinds_of_errors()
    assert {*table, "TranslateError"} == kinds.keys()
    assert kinds.keys() <= {*translate.__all__}
    for name, row in table.items():
        own = "__init__" in vars(kinds[name])
        attributes = re.findall(r"self\.(\w+) = ", inspect.getsource(kinds[name].__init__)) if own else []
        assert re.findall(r"`(\w+)`", row[2]) == attributes, name
        expected = "the reported one" if "code" in attributes else str(kinds[name].code)
        assert row[3] == expected, name


@pytest.mark.parametrize(
    ("heading", "table"), [("Reasons", LOSSES), ("What was assumed", GUESSES), ("What was mended", REPAIRS)]
)
def test_the_tables_of_reasons_have_all_of_them(heading: str, table: dict[str, Why]) -> None:
    told = [[re.sub(r"\{\w+(!r)?\}", "…", why.says.replace("{target}", "TARGET")), why.do] for why in table.values()]
    assert rows("losses.md", heading) == told


def test_the_table_of_attributes_is_that_of_the_base() -> None:
    base = TranslateError("")
    assert {row[0].strip("`") for row in rows("errors.md", "What every error knows")} == {*vars(base), "code"}


def test_the_table_of_outcomes_has_all_of_them() -> None:
    shown = [row[0].strip("`") for row in rows("adapters.md", "Anything else")]
    assert shown == [*Outcome.__args__]  # type: ignore[attr-defined]


def test_the_clauses_of_a_codec_are_those_of_the_kit() -> None:
    testing = pytest.importorskip("translate.testing", reason="hypothesis is not installed: pip install -e '.[test]'")
    shown = {row[0].strip("`"): row[1] for row in rows("writing-a-codec.md", "What the kit checks")}
    assert shown == testing.CLAUSES


# ---- the site --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("module", "pages"),
    [
        ("translate", ["translate", "requests", "codecs"]),
        ("translate.adapters", ["adapters"]),
        ("translate.logs", ["logs"]),
        ("translate.shapes", ["shapes"]),
        ("translate.testing", ["testing"]),
    ],
)
def test_the_reference_has_every_public_name(module: str, pages: list[str]) -> None:
    text = "".join((DOCS / "reference" / f"{page}.md").read_text(encoding="utf-8") for page in pages)
    shown = re.findall(r"^::: ([\w.]+)$", text, re.M)
    if module in shown:
        return
    names = {name.rpartition(".")[2] for name in shown}
    assert {*import_module(module).__all__} <= names
    gone = [name for name in shown if locate(name) is None]
    assert gone == []


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built with warnings as errors."""
    for name in ("material", "mkdocstrings"):
        pytest.importorskip(name, reason="mkdocs-material is not installed: pip install -e '.[docs]'")
    out = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-f", "docs/site/mkdocs.yml", "-d", str(out)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return out


def test_the_site_asks_nothing_of_other_hosts(site: Path) -> None:
    pages = [path.read_text(encoding="utf-8") for path in site.rglob("*.html")]
    assert len(pages) > len(PAGES)
    loaded = [tag for page in pages for tag in re.findall(r"<(?:link|script|img|iframe|source)\b[^>]*>", page)]
    assert loaded
    assert [tag for tag in loaded if re.search(r"(?:href|src|srcset)=[\"']?(?:https?:)?//", tag)] == []
    sheets = [path.read_text(encoding="utf-8") for path in site.rglob("*.css")]
    assert not any(re.search(r"(?:url\(|@import )[\"']?(?:https?:)?//", sheet) for sheet in sheets)


def test_the_site_has_what_is_written_elsewhere(site: Path) -> None:
    assert "Round trip: A→B→A" in (site / "guarantees.html").read_text(encoding="utf-8")
    assert "Keep a Changelog" in (site / "changelog.html").read_text(encoding="utf-8")
    assert "How a change is checked" in (site / "contributing.html").read_text(encoding="utf-8")
    assert 'id="translate.Translator.feed"' in (site / "reference" / "translate.html").read_text(encoding="utf-8")


def test_no_role_is_left_in_the_reference(site: Path) -> None:
    for path in (site / "reference").glob("*.html"):
        assert not re.search(r":(?:class|func|mod|meth|data|attr):", path.read_text(encoding="utf-8")), path.name


if __name__ == "__main__":
    alone = Reader(Path.cwd())
    for each in blocks(sys.argv[1]):
        alone.follow(each)
