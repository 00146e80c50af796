"""The report in a browser: what is lit, the keys, dark and light, many units, and streams that mean harm."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from tests.inspect import views
from tests.inspect.browser import Page
from translate.algebra.events import PART_KINDS
from translate.inspect.report import embedded, report

SIZE = 10_000
SOON = 2.0
"""Seconds that many units may take."""


@pytest.fixture
def shown(page: Page, tmp_path: Path) -> Any:
    def show(view: dict[str, Any]) -> float:
        file = tmp_path / "report.html"
        file.write_text(report(view), "utf-8")
        return page.open(file.as_uri())

    return show


def lit(page: Page) -> list[str]:
    found = page.run("[...document.querySelectorAll('.unit.lit')].map((unit) => unit.id)")
    return sorted(found)


def focused(page: Page) -> str:
    return str(page.run("document.activeElement.id"))


def text(page: Page, selector: str) -> str:
    return str(page.run(f"document.querySelector({json.dumps(selector)}).textContent"))


def test_every_unit_is_a_row_of_its_side(page: Page, shown: Any) -> None:
    view = views.turn()
    shown(view)
    for side in ("source", "target"):
        rows = page.run(f"[...document.querySelectorAll('#{side} .unit')].map((unit) => [unit.innerText, unit.role])")
        assert len(rows) == len(view[side]["units"])
        for (said, role), unit in zip(rows, view[side]["units"], strict=True):
            assert role == "option"
            for word in (unit["kind"], unit["label"].strip(), *unit["marks"]):
                assert word in said


def test_a_target_unit_stands_beside_the_last_unit_it_came_from_or_below(page: Page, shown: Any) -> None:
    view = views.turn()
    shown(view)
    tops = {
        side: page.run(f"[...document.querySelectorAll('#{side} .unit')].map((unit) => unit.offsetTop)")
        for side in ("source", "target")
    }
    for unit, top in zip(view["target"]["units"], tops["target"], strict=True):
        assert not unit["from"] or top >= tops["source"][unit["from"][-1]]
    assert tops["target"][9] == tops["source"][8]
    for side in tops.values():
        assert side == sorted(set(side))


def test_hovering_lights_what_a_unit_became_and_what_one_came_from(page: Page, shown: Any) -> None:
    shown(views.turn())
    page.hover("#source-0")
    assert lit(page) == ["source-0", "target-1", "target-2"]
    assert page.run("document.querySelectorAll('#threads path.lit').length") == 2
    page.hover("#target-9")
    assert lit(page) == ["source-6", "source-7", "source-8", "target-9"]
    page.wait("document.querySelector('#status').textContent.includes('came from source units 6, 7, 8')")
    page.hover("h1")
    assert lit(page) == []


def test_what_is_only_carried_is_dashed(page: Page, shown: Any) -> None:
    shown(views.turn())
    paths = "[...document.querySelectorAll('#threads path')]"
    assert page.run(f"{paths}.filter((path) => getComputedStyle(path).strokeDasharray !== 'none').length") == 1
    dashed = page.run("[...document.querySelectorAll('.bracket.foreign')].map((each) => each.textContent)")
    assert dashed == ["embedding", "embedding"]
    page.hover("#source-9")
    assert page.run("getComputedStyle(document.querySelector('#threads path.lit')).strokeDasharray") != "none"


def test_what_failed_is_edged_on_both_sides_and_has_no_colour_of_a_part(page: Page, shown: Any) -> None:
    sources = [views.source(0, "tool_call.delta", "{", [0], part=0), views.source(1, "error", "502", [1])]
    targets = [views.target(0, "carry", "", [0], "carry", part=0, carried=[0]), views.target(1, "error", "502", [1])]
    part = {"kind": "tool_call", "source": [0, 0], "target": [0, 0], "native": False}
    error = {"type": "UpstreamFailure", "message": "no", "unit": 1, "offset": 9}
    shown(views.view(sources, targets, parts=[part], error=error))
    edge = "getComputedStyle(document.querySelector('{}')).boxShadow"
    assert page.run(edge.format("#source-1")) == page.run(edge.format("#target-1")) != "none"
    colour = "getComputedStyle(document.querySelector('{} .kind')).color"
    assert page.run(colour.format("#source-1")) != page.run(colour.format("#source-0"))
    assert "broken" not in text(page, "#source-1"), "a stream that reports a failure breaks no format"


@pytest.mark.parametrize("width", [1280, 1000])
def test_names_of_parts_are_whole(page: Page, shown: Any, width: int) -> None:
    kinds = PART_KINDS
    sources = [views.source(index, "x", "", [index], part=index) for index in range(len(kinds))]
    targets = [views.target(index, "x", "", [index], part=index) for index in range(len(kinds))]
    parts = [{"kind": kind, "source": [at, at], "target": [at, at], "native": True} for at, kind in enumerate(kinds)]
    page.size(width, 800)
    shown(views.view(sources, targets, parts=parts))
    cut = page.run(
        "[...document.querySelectorAll('.bracket span')].filter((name) => name.scrollWidth > name.clientWidth"
        " || name.scrollHeight > name.clientHeight).map((name) => name.textContent)"
    )
    assert cut == []


def test_focus_lights_and_is_told(page: Page, shown: Any) -> None:
    shown(views.turn())
    page.run("document.querySelector('#source-0').focus()")
    assert lit(page) == ["source-0", "target-1", "target-2"]
    page.wait("document.querySelector('#status').textContent.startsWith('Source unit 0, thinking.delta, became t')")
    assert page.run("document.querySelector('#status').getAttribute('aria-live')") == "polite"
    assert name(page, "#source-0").startswith("0 thinking.delta The")
    assert name(page, "#source-0").endswith(". source unit 0, became target units 1, 2")


def name(page: Page, selector: str) -> str:
    """What an element is called by those who do not see it."""
    page.call("Accessibility.enable")
    found = page.call("Runtime.evaluate", expression=f"document.querySelector({json.dumps(selector)})")
    nodes = page.call("Accessibility.getPartialAXTree", objectId=found["result"]["objectId"], fetchRelatives=False)
    return " ".join(str(nodes["nodes"][0]["name"]["value"]).split())


def test_the_name_of_a_row_has_all_that_is_seen_of_it(page: Page, shown: Any) -> None:
    shown(views.turn())
    page.click("#show-carries")
    for row in ("#source-6", "#source-0", "#target-0", "#target-9"):
        seen = page.run(
            f"[...document.querySelectorAll('{row} > :not(.unseen)')].map((part) => part.innerText).join(' ')"
        )
        assert " ".join(seen.split()) in name(page, row)


@pytest.mark.parametrize(("width", "panel"), [(1280, "#open"), (1440, "#open"), (1280, "#show-losses")])
def test_a_unit_stays_in_sight_when_the_panel_opens_and_closes(page: Page, shown: Any, width: int, panel: str) -> None:
    page.size(width, 800)
    shown(views.long(1000))
    # the rails as narrow as beside the playground's own column
    page.run("document.querySelector('#bench').hidden = false")
    page.run("document.querySelector('#source-3').focus()")
    for _ in range(40):
        page.press("PageDown")
    for _ in range(9):
        page.press("ArrowDown")
    where = (
        "(() => { const row = document.querySelector('#source-412').getBoundingClientRect();"
        " const all = document.querySelector('#scroller').getBoundingClientRect();"
        " return row.top >= all.top - 1 && row.bottom <= all.bottom + 1; })()"
    )
    frames = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))"
    assert page.run(where)
    before = page.run("getComputedStyle(document.querySelector('#canvas')).getPropertyValue('--row')")
    for _ in range(2):
        page.click(panel)
        page.run(frames)
        assert page.run("!document.querySelector('#panel').hidden")
        if width == 1280:
            assert page.run("getComputedStyle(document.querySelector('#canvas')).getPropertyValue('--row')") != before
        assert page.run(where)
        page.click("#close")
        page.run(frames)
        assert page.run(where)


def test_lines_have_contrast_in_both(page: Page, shown: Any) -> None:
    shown(views.turn())
    script = """(() => {
      const paint = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
      const light = (color) => {
        paint.fillStyle = color;
        paint.fillRect(0, 0, 1, 1);
        const [r, g, b] = [...paint.getImageData(0, 0, 1, 1).data].slice(0, 3).map((part) => {
          const c = part / 255;
          return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
        });
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
      };
      const on = light(getComputedStyle(document.querySelector("#scroller")).backgroundColor);
      const lines = [...document.querySelectorAll("#threads path")].map((line) => getComputedStyle(line).stroke);
      const brackets = [...document.querySelectorAll(".bracket")].map((each) => getComputedStyle(each).borderTopColor);
      return [...lines, ...brackets].map((color) => {
        const [a, b] = [light(color), on].sort((a, b) => b - a);
        return (a + 0.05) / (b + 0.05);
      });
    })()"""
    for scheme in ("light", "dark"):
        page.prefers(scheme)
        for state in ("h1", "#source-6"):
            page.hover(state)
            found = page.run(script)
            assert len(found) > 15
            assert min(found) >= 3


def test_a_low_page_scrolls_as_a_whole(page: Page, shown: Any) -> None:
    page.size(360, 225)
    shown(views.long(100))
    assert page.run("document.querySelector('#scroller').clientHeight") >= 200
    assert page.run("document.documentElement.scrollHeight") > 225
    assert page.run("document.documentElement.scrollWidth") <= 360


def test_the_tab_key_reaches_one_unit_of_the_list(page: Page, shown: Any) -> None:
    shown(views.turn())
    for _ in range(20):
        page.press("Tab")
        if focused(page).startswith("source-"):
            break
    assert focused(page) == "source-0"
    assert page.run("document.querySelectorAll('.unit[tabindex=\"0\"]').length") == 1


def test_the_keys_move_cross_open_and_close(page: Page, shown: Any) -> None:
    shown(views.turn())
    page.run("document.querySelector('#source-0').focus()")
    page.press("ArrowDown")
    assert focused(page) == "source-1"
    page.press("ArrowRight")
    assert focused(page) == "target-3"
    page.press("ArrowLeft")
    assert focused(page) == "source-1"
    page.press("End")
    assert focused(page) == "source-12"
    page.press("PageUp")
    assert focused(page) == "source-2"
    page.press("Home")
    page.press("ArrowUp")
    assert focused(page) == "source-0"
    page.press("Enter")
    assert focused(page) == "panel-title"
    assert json.loads(text(page, ".raw")) == {"type": "thinking.delta", "value": "The"}
    page.press("Escape")
    assert focused(page) == "source-0"
    assert page.run("document.querySelector('#panel').hidden")
    page.press("?")
    assert page.run("document.querySelector('#help').open")
    page.press("Escape")
    assert not page.run("document.querySelector('#help').open")


def test_back_from_a_merged_unit_is_where_one_came_from(page: Page, shown: Any) -> None:
    shown(views.turn())
    page.run("document.querySelector('#source-7').focus()")
    page.press("ArrowRight")
    page.press("ArrowLeft")
    assert focused(page) == "source-7"


def test_a_unit_without_a_counterpart_says_so(page: Page, shown: Any) -> None:
    shown(views.turn())
    page.run("document.querySelector('#source-11').focus()")
    page.press("ArrowRight")
    assert focused(page) == "source-11"
    page.wait("document.querySelector('#status').textContent.includes('lost: content that nothing carries')")


def test_what_is_not_said_and_the_carries_are_shown_on_request(page: Page, shown: Any) -> None:
    shown(views.turn())
    assert "no word for it" not in text(page, "main") + text(page, "#panel")
    page.click("#show-losses")
    panel = text(page, "#panel")
    assert "refusal — no word for it (content, lost)" in panel
    assert "Part 0 (thinking): 2 × created_at — no time stamps (travels in the carry)" in panel
    order = [panel.index(each) for each in ("Content of the message: 2", "refusal —", "Not content: 2", "created_at —")]
    assert order == sorted(order), "content comes first"
    page.click("#panel .loss.content .jump")
    assert focused(page) == "source-11"
    page.click("#show-losses")
    page.click("#show-losses")
    assert page.run("document.querySelectorAll('.aside').length") == 0
    page.click("#show-carries")
    asides = page.run("[...document.querySelectorAll('.aside')].map((aside) => aside.textContent)")
    assert len(asides) == 4
    assert asides[0] == 'carry {"v":1,"synthetic":true}'


def test_what_is_cut_off_can_be_opened(page: Page, shown: Any) -> None:
    shown(views.long(1000))
    page.click("#show-losses")
    counted = "document.querySelectorAll('#panel .jump').length"
    assert page.run(counted) == 24
    for size in (24 + 240, 1000):
        page.run("document.querySelector('#panel .more').click()")
        assert page.run(counted) == size
    assert page.run("document.querySelector('#panel .more') === null")


def test_the_panel_shows_numbers_as_they_were_written(page: Page, shown: Any) -> None:
    raw = '{"big": 18446744073709551617, "list": [], "of": [1.50, {"a": "{[,:]}\\""}]}'
    view = views.view([{**views.source(0, "x", "", []), "raw": raw}], [])
    shown(view)
    page.run("document.querySelector('#source-0').focus()")
    page.press("Enter")
    said = text(page, ".raw")
    assert "".join(said.split()) == "".join(raw.split())
    assert '"of": [\n    1.50,\n    {\n' in said


def test_a_mark_goes_to_the_next_unit_that_has_it(page: Page, shown: Any) -> None:
    shown(views.turn())
    for there in ("source-6", "source-7", "source-6"):
        page.click("#legend .held")
        assert focused(page) == there


def test_dark_and_light_follow_the_system_until_they_are_chosen(page: Page, shown: Any) -> None:
    shown(views.turn())
    paper = "getComputedStyle(document.body).backgroundColor"
    light = page.run(paper)
    page.prefers("dark")
    dark = page.run(paper)
    assert light != dark
    page.click("#theme")
    assert page.run(paper) == light
    page.click("#theme")
    page.prefers("light")
    assert page.run(paper) == dark


def test_text_has_contrast_in_both(page: Page, shown: Any) -> None:
    shown(views.turn())
    script = """(() => {
      const paint = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
      const light = (color) => {
        paint.fillStyle = color;
        paint.fillRect(0, 0, 1, 1);
        const [r, g, b] = [...paint.getImageData(0, 0, 1, 1).data].slice(0, 3).map((part) => {
          const share = part / 255;
          return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
        });
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
      };
      const below = (element) => {
        for (; element; element = element.parentElement) {
          const color = getComputedStyle(element).backgroundColor;
          if (color !== "rgba(0, 0, 0, 0)") return color;
        }
      };
      return [...document.querySelectorAll("h1, button, p, .kind, .label, .time, .index, .mark, .bracket span")]
        .filter((element) => element.checkVisibility() && element.textContent)
        .map((element) => {
          const [a, b] = [light(getComputedStyle(element).color), light(below(element))].sort((x, y) => y - x);
          return [element.className || element.id, (a + 0.05) / (b + 0.05)];
        });
    })()"""
    for scheme in ("light", "dark"):
        page.prefers(scheme)
        for state in ("h1", "#source-6"):
            page.hover(state)
            page.run("new Promise((done) => setTimeout(done, 150))")
            found = page.run(script)
            assert len(found) > 60
            assert [each for each in found if each[1] < 4.5] == []


def test_a_narrow_page_has_both_sides_and_nothing_beyond_its_edge(page: Page, shown: Any) -> None:
    page.size(380, 700)
    shown(views.turn())
    assert page.run("document.documentElement.scrollWidth") <= 380
    for side in ("source", "target"):
        assert page.run(f"document.querySelector('#{side}-0 .label').getBoundingClientRect().width") > 80


@pytest.mark.alone
def test_many_units_are_soon_shown_scrolled_and_reached(page: Page, shown: Any, summary: list[str]) -> None:
    took = shown(views.long(SIZE))
    assert text(page, "#summary") == "10,000 units became 9,000 units"
    scrolled = page.run(
        """(async () => {
          const scroller = document.querySelector("#scroller"), began = performance.now();
          for (let step = 1; step <= 20; step++) {
            scroller.scrollTop = (scroller.scrollHeight * step) / 20;
            await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
          }
          return (performance.now() - began) / 1000;
        })()"""
    )
    assert page.run("document.querySelector('#source-9999') !== null")
    assert page.run("document.querySelectorAll('.unit').length") < 300
    page.run("document.querySelector('#source-9999').focus()")
    page.press("Home")
    assert focused(page) == "source-0"
    page.press("End")
    assert focused(page) == "source-9999"
    summary.append(f"report of {SIZE:,} units: painted after {took:.2f} s, scrolled through in {scrolled:.2f} s")
    assert took < SOON
    assert scrolled < SOON


@pytest.mark.alone
def test_a_unit_made_of_very_many_opens_at_once(page: Page, shown: Any, summary: list[str]) -> None:
    size = 4 * SIZE
    sources = [views.source(index, "tool_call.delta", "x", [0]) for index in range(size)]
    losses = [
        {"unit": index, "field": "created_at", "reason": "none", "content": False, "carried": True}
        for index in range(size)
    ]
    shown(views.view(sources, [views.target(0, "tool", "x", list(range(size)))], losses=losses))
    page.run("document.querySelector('#source-0').focus()")
    page.press("ArrowRight")
    assert focused(page) == "target-0"
    began = time.monotonic()
    page.press("Enter")
    page.wait("document.activeElement.id === 'panel-title'")
    took = time.monotonic() - began
    summary.append(f"a unit made of {size:,}: opened in {took:.2f} s")
    assert took < SOON


def test_the_focus_stays_on_a_unit_that_is_scrolled_away(page: Page, shown: Any) -> None:
    shown(views.long(1000))
    page.run("document.querySelector('#source-3').focus()")
    page.run("document.querySelector('#scroller').scrollTop = 20000")
    page.wait("document.querySelector('#source-680') !== null")
    assert focused(page) == "source-3"
    page.press("ArrowDown")
    assert focused(page) == "source-4"
    assert page.run("document.querySelector('#scroller').scrollTop") < 200


def test_a_hostile_stream_is_text_and_nothing_else(page: Page, shown: Any) -> None:
    view = views.hostile()
    shown(view)
    page.click("#show-carries")
    page.click("#show-losses")
    for index in range(len(views.HOSTILE)):
        page.run(f"document.querySelector('#target-{index}').focus()")
        page.press("Enter")
        page.press("Escape")
    assert page.run("window.hurt") is None
    assert page.run("document.querySelectorAll('img, script').length") == 2  # the data, and the page's own
    labels = page.run("[...document.querySelectorAll('#source .label')].map((label) => label.textContent)")
    assert labels[:3] == list(views.HOSTILE[:3])
    assert labels[3:] == [
        "a\\u2028b\\u2029c",
        "lone \\ud800 surrogate",
        "אבג \\u202e stays in its row",
        "nul \\u0000 bell \\u0007",
        "{{data}} {{js}}",
    ]
    assert page.run("document.documentElement.scrollWidth") <= 1280
    assert len(page.requests) == 1


def test_the_policy_lets_nothing_be_asked_for_or_run_that_is_not_of_the_page(page: Page, shown: Any) -> None:
    shown(views.turn())
    ways = (
        "fetch('http://127.0.0.1:9/').then(() => 'asked', () => 'refused')",
        "new Promise((done) => { const made = new Image(); made.onload = () => done('asked');"
        " made.onerror = () => done('refused'); made.src = 'http://127.0.0.1:9/'; })",
        "(() => { const made = document.createElement('script'); made.textContent = 'window.hurt = 1';"
        " document.body.append(made); return window.hurt ? 'ran' : 'refused'; })()",
    )
    for way in ways:
        assert page.run(way) == "refused"
    assert page.errors != []
    assert all("Content Security Policy" in error for error in page.errors)
    page.errors.clear()


def test_an_error_says_where(page: Page, shown: Any) -> None:
    view = views.turn()
    view["error"] = {"type": "GrammarError", "message": "no", "unit": 4, "offset": 99}
    shown(view)
    assert text(page, "#error").startswith("GrammarError: no (unit 4, byte 99)")
    page.click("#error button")
    assert focused(page) == "source-4"
    assert "broken" in text(page, "#source-4")


def test_a_view_of_nothing_is_shown(page: Page, shown: Any) -> None:
    shown(views.view([], []))
    assert text(page, "#summary") == "0 units became 0 units"


def test_what_is_embedded_is_the_view_and_cannot_end_its_element() -> None:
    found = embedded(views.hostile())
    assert json.loads(found) == views.hostile()
    assert found.isascii()
    assert not set("<>&") & set(found)


def test_the_report_names_no_address() -> None:
    found = report(views.turn())
    assert "://" not in found.replace("http://www.w3.org/2000/svg", "")
    assert "{{" not in found
