"""The picture: well-formed, whole, and no more than some hundred lines."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from tests.inspect import views
from tests.inspect.browser import Page
from translate.inspect.picture import LINES, picture
from translate.inspect.places import closed, folds, placed
from translate.inspect.report import report
from translate.inspect.view import view as seen_of

TURN = Path(__file__).resolve().parents[2] / "examples" / "claude-turn.unievent.sse"
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
    drawn = picture(unlike(2 * LINES))
    assert len(drawn) < 250_000
    assert f"… and {LINES:,} lines more, which the HTML report has" in texts(drawn)
    assert not any("more, which" in text for text in texts(picture(unlike(LINES))))


def unlike(size: int) -> dict[str, Any]:
    """Units of which none is like the one before."""
    return views.view([views.source(index, f"kind {index % 2}", "x", []) for index in range(size)], [])


def test_the_picture_of_the_example_fits_a_readme() -> None:
    """Runs are folded in it as on a terminal."""
    drawn = picture(seen_of(TURN.read_bytes(), "unievent-sse", "gateway-sse", clock=lambda: 1))
    assert int(ElementTree.fromstring(drawn).attrib["height"]) <= 600
    found = texts(drawn)
    assert any("35-63 text.delta ×29" in text for text in found)
    assert any("66-72 tool_call.delta ×7" in text for text in found)
    assert not any(text.lstrip().startswith("40 ") for text in found)


def test_a_run_folds_where_it_has_its_lines_for_itself() -> None:
    seen = seen_of(TURN.read_bytes(), "unievent-sse", "gateway-sse", clock=lambda: 1)
    found = folds(seen)
    assert [(fold["source"], fold["target"]) for fold in found] == [
        ([1, 31], [3, 33]),
        ([35, 63], [37, 65]),
        ([66, 72], None),
        ([75, 81], None),
    ]
    slots = placed(seen)
    for fold in found:
        for side in ("source", "target"):
            if fold[side] is not None:
                first, last = fold[side]
                assert slots[side][first : last + 1] == [*range(fold["line"], fold["line"] + fold["count"])]
    shut = closed(slots, found)
    assert len({shut["source"][index] for index in range(1, 32)}) == 1
    assert shut["source"][32] == shut["source"][31] + 1
    beside = views.view(
        [views.source(index, "a", "", [1] if index == 4 else []) for index in range(5)],
        [views.target(0, "x", "", []), views.target(1, "x", "", [4])],
    )
    assert all(fold["line"] + fold["count"] <= 4 for fold in folds(beside))


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
