"""The timeline on the terminal."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.inspect.pins import WIDTHS, pin
from tests.inspect.streams import CASES, Case, delta, lines, stop
from tests.sources import MODEL, frame
from tests.strategies import FORMATS, clock, sources
from translate.inspect import view
from translate.inspect.rows import ABOVE, BELOW, rows
from translate.inspect.terminal import MEANING, NARROWEST, draw
from translate.inspect.text import fit, plain, width, wrapped

COLOUR = re.compile(r"\x1b\[[0-9;]*m")
BY_NAME = {case.name: case for case in CASES}
every_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


@every_case
@pytest.mark.parametrize("columns", WIDTHS)
def test_it_is_drawn_as_it_was(case: Case, columns: int) -> None:
    pinned = pin(case, columns).read_text(encoding="utf-8")
    assert draw(case.view(), columns) == pinned, "`python -m tests.inspect.pins` writes it anew"


@every_case
@pytest.mark.parametrize("columns", [1, NARROWEST, 41, 59, 60, 100, 240])
def test_no_line_is_too_wide(case: Case, columns: int) -> None:
    for all in (False, True):
        drawn = draw(case.view(), columns, all=all).splitlines()
        assert max(map(width, drawn)) <= max(columns, NARROWEST)


@every_case
def test_colours_add_nothing_but_colours(case: Case) -> None:
    coloured = draw(case.view(), 120, colour=True)
    without = "".join(f"{line.rstrip()}\n" for line in COLOUR.sub("", coloured).splitlines())
    assert without == draw(case.view(), 120)
    assert coloured != without


@every_case
@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
def test_a_terminal_without_the_characters_gets_others(case: Case, encoding: str) -> None:
    drawn = draw(case.view(), 100, encoding=encoding)
    drawn.encode(encoding)
    assert max(map(width, drawn.splitlines())) <= 100
    assert len(drawn.splitlines()) >= 4


@every_case
def test_every_unit_is_drawn_once(case: Case) -> None:
    found = case.view()
    drawn = rows(found)
    assert [row.left["index"] for row in drawn if row.left] == [unit["index"] for unit in found["source"]["units"]]
    assert [row.right["index"] for row in drawn if row.right] == [unit["index"] for unit in found["target"]["units"]]


@pytest.mark.parametrize("dst", FORMATS)
@given(st.data())
def test_lines_that_go_down_arrive(dst: str, data: st.DataObject) -> None:
    source = data.draw(sources([format for format in FORMATS if "-" in format]))
    found = view(source.joined, source.format, dst, clock=clock)
    drawn = rows(found)
    below = False
    for row in drawn:
        if row.left is None and row.joint & (ABOVE | BELOW) == 0:
            continue
        assert bool(row.joint & ABOVE) == below
        below = bool(row.joint & BELOW)
    assert not below
    text = draw(found, 80)
    assert all(c.isprintable() for line in text.split("\n") for c in line)
    assert max(map(width, text.splitlines())) <= 80


@every_case
def test_the_legend_explains_the_marks_that_are_there(case: Case) -> None:
    found, drawn = case.view(), draw(case.view(), 120)
    marks = {mark for side in ("source", "target") for unit in found[side]["units"] for mark in unit["marks"]}
    legend = drawn.rpartition("\n\n")[2]
    for mark, meaning in MEANING.items():
        assert (f"{mark}: {meaning}" in " ".join(legend.split())) == (mark in marks)


def test_marks_are_letters_where_words_have_no_room() -> None:
    drawn = draw(BY_NAME["vector"].view(), 60)
    assert "HC ╌┐" in drawn
    assert "H held: " in " ".join(drawn.split())


def test_units_that_are_alike_share_a_line() -> None:
    start = frame("streamStart", model=MODEL)
    texts = [frame("content", value=str(i)) for i in range(6)]
    stream = lines([start, frame("contentStart"), *texts])
    found = view(stream, "gateway-jsonl", "events-jsonl", clock=clock)
    drawn = draw(found, 100).splitlines()
    assert any('2-6 content ×5 "01234"' in line and '2-6 append ×5 "01234"' in line for line in drawn)
    whole = draw(found, 100, all=True).splitlines()
    assert [f'{i + 2} content "{i}"' in "\n".join(whole) for i in range(6)] == [True] * 6


@pytest.mark.parametrize(("last", "told"), [(10**10, "+10000000000 "), (10**11, " … "), (10**300, " … ")])
def test_the_clock_leaves_room_whatever_the_times(last: int, told: str) -> None:
    found = view(lines([delta(0, "text.delta", text="a"), stop(0)]), "unievent-jsonl", "gateway-sse", clock=clock)
    for unit, at in zip(found["source"]["units"], (0, last), strict=False):
        unit["time"] = at
    drawn = draw(found, 60)
    assert max(map(width, drawn.splitlines())) <= 60
    assert any(line.startswith(told) for line in drawn.splitlines())
    assert "0 text.delta" in drawn


def test_nothing_steers_the_terminal() -> None:
    drawn = draw(BY_NAME["steering"].view(), 240, colour=True)
    assert set(COLOUR.sub("", drawn)) & {"\x1b", "\r", "\u202e"} == set()
    assert r"\x1b[2Jred\r\n\u202etxt" in drawn


@pytest.mark.parametrize(
    ("text", "columns"), [("abc", 3), ("中文", 4), ("e\u0301", 1), ("ｆ", 2), ("🌍", 2), ("", 0), ("\u0301", 0)]
)
def test_characters_take_the_columns_of_a_terminal(text: str, columns: int) -> None:
    assert width(text) == columns


@given(st.text(max_size=12), st.integers(1, 12))
def test_text_fits_exactly(text: str, columns: int) -> None:
    assert width(fit(plain(text), columns, "…")) == columns


@given(st.lists(st.text("ab中 ", max_size=9), max_size=9).map(" ".join), st.integers(8, 30))
def test_wrapped_lines_hold_all_words(text: str, columns: int) -> None:
    found = wrapped(text.strip(), columns)
    assert all(width(line) <= columns for line in found)
    assert "".join("".join(found).split()) == "".join(text.split())
