"""What finds units on a page: folded runs, the search, the filters, the strip of time, the message."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.inspect import views
from tests.inspect.browser import Page
from tests.inspect.test_fate import BY_NAME, seen
from translate.inspect.report import report

Show = Callable[[dict[str, Any]], None]


@pytest.fixture
def shown(page: Page, tmp_path: Path) -> Show:
    def show(view: dict[str, Any]) -> None:
        file = tmp_path / "report.html"
        file.write_text(report(view), "utf-8")
        page.open(file.as_uri())

    return show


def ids(page: Page, side: str = "source") -> list[str]:
    return list(page.run(f"[...document.querySelectorAll('#{side} .unit')].map((unit) => unit.id)"))


def text(page: Page, selector: str) -> str:
    return str(page.run(f"document.querySelector('{selector}').textContent"))


def put(page: Page, selector: str, value: str, event: str) -> None:
    page.run(
        f"(() => {{ const found = document.querySelector('{selector}'); found.value = {value!r};"
        f"found.dispatchEvent(new Event('{event}')); }})()"
    )


def test_runs_are_folded_above_forty_units_and_open_by_their_triangle(page: Page, shown: Show) -> None:
    shown(seen("turn"))
    assert len(ids(page)) == 84 - 30 - 28 - 6 - 6
    row = text(page, "#source-1")
    assert "1-31" in row
    assert "thinking.delta ×31" in row
    page.click("#source-1 .fold")
    assert {"source-1", "source-2", "source-3"} <= {*ids(page)}
    assert "1-31" not in text(page, "#source-1")
    assert page.run("document.activeElement.id") == "source-1"
    page.press("f")
    assert "source-2" not in ids(page)
    page.click("#fold")
    assert page.run("document.querySelector('#fold').getAttribute('aria-pressed')") == "false"
    page.run("document.querySelector('#scroller').scrollTop = 0")
    page.wait("document.querySelector('#source-2') !== null")


def test_a_short_stream_is_not_folded(page: Page, shown: Show) -> None:
    shown(seen("signed"))
    assert {f"source-{index}" for index in range(10)} <= {*ids(page)}
    assert page.run("document.querySelector('#fold').getAttribute('aria-pressed')") == "false"


def test_arrows_go_over_a_run_and_a_jump_opens_it(page: Page, shown: Show) -> None:
    shown(seen("turn"))
    page.run("document.querySelector('#source-1').focus()")
    page.press("ArrowDown")
    assert page.run("document.activeElement.id") == "source-32"
    page.press("ArrowUp")
    page.press("ArrowRight")
    assert page.run("document.activeElement.id") == "target-3"
    page.press("End")
    assert page.run("document.activeElement.id") == "target-69"
    page.run("page.focus('source', 40)")
    assert page.run("document.activeElement.id") == "source-40"
    assert "thinking.delta ×31" in text(page, "#source-1")


def test_a_run_that_is_lit_lights_the_run_beside_it(page: Page, shown: Show) -> None:
    shown(seen("turn"))
    page.hover("#source-1")
    lit = page.run("[...document.querySelectorAll('.unit.lit')].map((unit) => unit.id)")
    assert lit == ["source-1", "target-3"]
    page.wait("document.querySelector('#status').textContent.includes('with 30 more like it, became target units 3')")


def test_the_search_finds_what_no_row_shows(page: Page, shown: Show) -> None:
    shown(views.long(10_000))
    assert "source-7777" not in ids(page)
    put(page, "#find", "Word 7777 of", "input")
    page.wait("document.querySelector('#found').textContent === '1 of 19,000 units'")
    assert ids(page) == ["source-7777"]
    assert len(ids(page, "target")) == 1, "what it became stands beside it"
    page.click("#find")
    page.press("Enter")
    assert page.run("document.activeElement.id") == "source-7777"
    page.click("#find")
    page.press("Escape")
    page.wait("document.querySelector('#found').textContent === ''")
    assert len(ids(page)) > 10


def test_units_are_filtered_by_kind_and_mark(page: Page, shown: Show) -> None:
    shown(seen("turn"))
    put(page, "#kind", "tool", "change")
    assert ids(page, "target") == ["target-67", "target-68"]
    assert len(ids(page)) == 18, "all that they were made of"
    assert text(page, "#found") == "2 of 154 units"
    put(page, "#mark", "made up", "change")
    assert (ids(page), ids(page, "target")) == ([], [])
    put(page, "#kind", "", "change")
    assert ids(page, "target") == ["target-0"]
    page.run("page.focus('source', 50)")
    assert page.run("document.activeElement.id") == "source-50", "a jump goes to what was filtered out"
    assert page.run("document.querySelector('#mark').value") == ""


def test_the_strip_says_what_waiting_costs(page: Page, shown: Show) -> None:
    shown(seen("turn"))
    assert text(page, "#span") == "1,092 ms; the longest wait is 150, for tool 68"
    assert page.run("document.querySelector('#strip').getAttribute('aria-label')").endswith("for tool 68")
    assert page.run("document.querySelector('#strip .wait').getAttribute('d')").count("M") == 3
    shown(seen("image"))
    assert page.run("document.querySelector('#time').hidden"), "nobody knows when its units came"


def test_a_stream_is_played_again_at_its_time_stamps(page: Page, shown: Show) -> None:
    shown(seen("turn"))
    began = page.run("performance.now()")
    page.click("#replay")
    seen_now = "[...document.querySelectorAll('#source .unit:not(.later)')].length"
    page.run("new Promise((done) => setTimeout(done, 200))")
    assert text(page, "#replay") == "■ Stop"
    assert page.run("document.querySelectorAll('.unit.later').length") > 0
    assert page.run(seen_now) > 0
    page.wait("document.querySelector('#replay').textContent === '▶ Replay'")
    assert page.run("performance.now()") - began > 1000
    assert page.run("document.querySelectorAll('.unit.later').length") == 0
    assert len(ids(page)) == 14, "folded as before"
    page.click("#replay")
    page.click("#replay")
    assert text(page, "#replay") == "▶ Replay"


def test_the_band_says_what_it_is_about(page: Page, shown: Show) -> None:
    found = seen("turn", file=BY_NAME["turn"].file)
    shown(found)
    assert text(page, "#fate") == found["fate"]
    facts = text(page, "#facts")
    for fact in ("claude-turn.unievent.sse", "carry what is not said natively", "1970-01-01 00:00 UTC", "0.1.0"):
        assert fact in facts


def test_the_message_is_as_each_reader_has_it(page: Page, shown: Show) -> None:
    shown(seen("image"))
    page.run("document.querySelector('#tab-drawing').focus()")
    page.press("ArrowRight")
    assert page.run("document.activeElement.id") == "tab-message"
    assert page.run("document.querySelector('#drawing').hidden")
    sides = page.run("[...document.querySelectorAll('#message section')].map((each) => each.innerText)")
    assert "inline_data" in sides[0]
    assert "inline_data" not in sides[1]
    assert page.run("document.querySelector('#message img').naturalWidth") == 24
    assert page.run("document.querySelectorAll('#message img').length") == 1
    assert page.run("document.querySelector('#tab-output').hidden"), "a report has no output"
