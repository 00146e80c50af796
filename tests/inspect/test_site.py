"""The site in a browser, opened as files: its search, what is copied, and what is in sight."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.inspect.browser import Page
from tests.test_documentation import site
from translate.inspect.examples import EXAMPLES
from translate.inspect.matrix import WORDS, cell, names

__all__ = ["site"]


@pytest.fixture
def opened(page: Page, site: Path) -> Page:
    page.size(1280, 800)
    page.open((site / "index.html").as_uri())
    return page


def test_the_search_finds_without_a_server(opened: Page) -> None:
    opened.run("document.querySelector('[data-md-toggle=search]').click()")
    opened.click(".md-search__input")
    opened.call("Input.insertText", text="carry")
    opened.wait("document.querySelectorAll('.md-search-result__item').length > 3")


def test_what_is_copied_of_a_console_are_the_commands(opened: Page, site: Path) -> None:
    opened.open((site / "inspect.html").as_uri())
    block = "[...document.querySelectorAll('pre > code')].find((code) => code.querySelector('.gp'))"
    shown = opened.run(f"{block}.innerText")
    assert shown.startswith("$ translate-streams inspect")
    assert "unievent-sse, 12 units" in shown
    copied = opened.run(
        f"(() => {{ const code = {block}; code.setAttribute('data-md-copying', '');"
        " const text = code.innerText; code.removeAttribute('data-md-copying'); return text; })()"
    )
    assert copied.strip() == "translate-streams inspect examples/cut.unievent.sse --width 100"


def test_code_and_drawings_are_in_sight_at_1280_pixels(opened: Page, site: Path) -> None:
    hidden, seen = [], 0
    for path in sorted(site.glob("*.html")):
        if path.name == "404.html":
            continue
        opened.open(path.as_uri())
        blocks = "[...document.querySelectorAll('pre > code')]"
        seen += opened.run(f"{blocks}.length")
        if opened.run(f"{blocks}.some((code) => code.scrollWidth > code.clientWidth + 1)"):
            hidden.append(path.name)
    assert seen > 50
    assert hidden == []
    opened.open((site / "inspect.html").as_uri())
    drawing = "[...document.querySelectorAll('pre > code')].find((code) => code.querySelector('.gp'))"
    height = f"{drawing}.getClientRects()[0].height"
    rows = opened.run(f"{drawing}.innerText.trimEnd().split('\\n').length")
    line = f"parseFloat(getComputedStyle({drawing}).lineHeight)"
    assert opened.run(height) < (rows + 2) * opened.run(line), "no line of it is wrapped"


def test_the_gallery_has_a_report_and_a_picture_of_each_example(opened: Page, site: Path) -> None:
    opened.open((site / "gallery.html").as_uri())
    for example in EXAMPLES:
        assert opened.run(f"document.querySelector('img[src=\"gallery/{example.name}.svg\"]').naturalWidth") > 800
        assert opened.run(f"document.querySelectorAll('a[href=\"gallery/{example.name}.html\"]').length") == 2
    for example in EXAMPLES:
        opened.open((site / "gallery" / f"{example.name}.html").as_uri())
        assert opened.run("document.querySelectorAll('#target .unit').length") > 0
        assert example.file in opened.run("document.querySelector('#facts').textContent")


def test_the_matrix_is_made_of_streams_and_each_cell_opens(opened: Page, site: Path) -> None:
    opened.open((site / "matrix.html").as_uri())
    assert opened.run("document.documentElement.scrollWidth") <= 1280
    shown = opened.run("document.querySelector('table').textContent")
    assert all(word in shown for word in WORDS)
    cells = opened.run("[...document.querySelectorAll('td a')].map((each) => each.getAttribute('href'))")
    assert len(cells) == len(names()) * (len(names()) - 1)
    assert all(opened.run(f"document.querySelector('{each}') !== null") for each in cells)
    found = cell("anthropic", "gemini")
    assert f"{found.whole} of {found.streams} streams are seen whole" in opened.run("document.body.textContent")
