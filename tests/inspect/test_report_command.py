"""``translate-streams inspect --html OUT --svg OUT``: files that need nothing else."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.inspect.browser import Page
from translate.cli import main

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
TURN = str(EXAMPLES / "claude-turn.unievent.sse")
CUT = str(EXAMPLES / "cut.unievent.sse")
TO = ["--from", "unievent-sse", "--to", "gateway-sse"]


def test_the_page_shows_the_stream(page: Page, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    out = tmp_path / "turn.html"
    assert main(["inspect", TURN, *TO, "--html", str(out)]) == 0
    assert capfdbinary.readouterr() == (b"", b"")
    page.open(out.as_uri())
    assert page.run("document.querySelector('#summary').textContent") == "84 units became 70 units"
    page.hover("#target-2")
    assert page.run("[...document.querySelectorAll('.unit.lit')].map((unit) => unit.id)") == ["source-0", "target-2"]
    page.run("document.querySelector('#target-2').focus()")
    page.press("End")
    assert page.run("document.activeElement.querySelector('.kind').textContent") == "stop"
    assert page.requests == [out.as_uri()]


def test_both_are_written_beside_the_json(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    html, svg = tmp_path / "turn.html", tmp_path / "turn.svg"
    line = ["inspect", TURN, *TO, "--html", str(html), "--svg", str(svg), "--clock", "0", "--json"]
    assert main(line) == 0
    view = json.loads(capfdbinary.readouterr().out)
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', html.read_text("utf-8"), re.DOTALL)
    assert found is not None
    assert json.loads(found[1]) == view
    assert (
        ElementTree.fromstring(svg.read_bytes()).attrib["aria-label"].startswith("84 units of unievent-sse became 70")
    )


def test_a_stream_that_fails_is_shown_and_the_command_fails(page: Page, tmp_path: Path) -> None:
    out = tmp_path / "cut.html"
    out.write_text("something longer than nothing" * 100_000)
    assert main(["inspect", CUT, *TO, "--html", str(out)]) == 1
    assert out.read_text("utf-8").rstrip().endswith("</html>")
    page.open(out.as_uri())
    assert page.run("document.querySelector('#error').textContent").startswith("UpstreamFailure: ")


def test_the_stream_is_not_written_over(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    stream = tmp_path / "turn.sse"
    stream.write_bytes(Path(TURN).read_bytes())
    assert main(["inspect", str(stream), *TO, "--html", str(stream)]) == 2
    assert "one file" in capfd.readouterr().err
    assert stream.read_bytes() == Path(TURN).read_bytes()


def test_a_page_that_cannot_be_written_is_status_3(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", TURN, *TO, "--svg", str(tmp_path / "no" / "such.svg")]) == 3
    assert "cannot write" in capfd.readouterr().err


def test_it_goes_to_standard_output_where_asked(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main(["inspect", TURN, *TO, "--html", "-"]) == 0
    out = capfdbinary.readouterr().out
    assert out.startswith(b"<!doctype html>")
    assert out.rstrip().endswith(b"</html>")
