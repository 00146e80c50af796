"""The picture: well-formed, whole, and no more than some hundred lines."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

from tests.inspect import views
from tests.inspect.browser import Page
from translate.inspect.picture import LINES, picture, placed
from translate.inspect.report import report

SVG = "{http://www.w3.org/2000/svg}"


def texts(drawn: str) -> list[str]:
    return ["".join(each.itertext()) for each in ElementTree.fromstring(drawn).iter(f"{SVG}text")]


def test_it_has_every_unit_mark_and_part() -> None:
    view = views.turn()
    found = texts(picture(view))
    for side in ("source", "target"):
        for unit in view[side]["units"]:
            assert any(unit["kind"] in text and unit["label"] in text for text in found)
    marks = [mark for side in ("source", "target") for unit in view[side]["units"] for mark in unit["marks"]]
    assert sorted(text for text in found if text in set(marks)) == sorted(marks)
    assert [found.count(part) for part in ("thinking", "text", "call", "embedding")] == [2, 2, 2, 2]


def test_every_link_is_drawn() -> None:
    view = views.turn()
    links = sum(len(unit["to"]) for unit in view["source"]["units"])
    threads = [path for path in ElementTree.fromstring(picture(view)).iter(f"{SVG}path") if "C" in path.attrib["d"]]
    assert len(threads) == links
    assert sum("stroke-dasharray" in path.attrib for path in threads) == 1, "what is only carried is dashed"


def test_it_says_what_it_leaves_out() -> None:
    drawn = picture(views.long(2 * LINES))
    assert len(drawn) < 250_000
    assert f"… and {LINES:,} lines more, which the HTML report has" in texts(drawn)
    assert not any("more, which" in text for text in texts(picture(views.long(LINES))))


def test_a_hostile_stream_is_text() -> None:
    drawn = picture(views.hostile())
    names = {each.tag.removeprefix(SVG) for each in ElementTree.fromstring(drawn.encode("utf-8")).iter()}
    assert names == {"svg", "style", "path", "text", "tspan"}
    assert any("<img src=x onerror=window.hurt=1>" in text for text in texts(drawn))


def test_a_long_text_stays_in_its_rail() -> None:
    view = views.view([views.source(0, "text", "字" * 5000, [], "lost"), views.source(1, "k" * 500, "x", [])], [])
    assert all(len(text) < 70 for text in texts(picture(view)))


def test_its_lines_are_those_of_the_page(page: Page, tmp_path: Path) -> None:
    for view in (views.turn(), views.long(60), views.hostile(), views.view([], []), made_up()):
        file = tmp_path / "report.html"
        file.write_text(report(view), "utf-8")
        page.open(file.as_uri())
        drawn = page.run("(() => { const v = lay(page.data.source.units, page.data.target.units); return v.slots; })()")
        assert drawn == placed(view)


def made_up() -> dict[str, object]:
    """Target units before and after all others."""
    targets = [views.target(index, "x", "", [0] if index == 2 else []) for index in range(6)]
    return views.view([views.source(0, "a", "", [2]), views.source(1, "b", "", [])], targets)


def test_it_is_light_and_dark_by_itself(page: Page, tmp_path: Path) -> None:
    file = tmp_path / "picture.svg"
    file.write_text(picture(views.turn()), "utf-8")
    found = []
    for scheme in ("light", "dark"):
        page.prefers(scheme)
        page.open(file.as_uri())
        found.append(page.run("getComputedStyle(document.querySelector('text')).fill"))
    assert found[0] != found[1]
