"""A table of states as lanes: each state is a line, each step from one to another an arrow of its own between them."""

from __future__ import annotations

from collections.abc import Mapping

from .svg import LINE, SIZE, Canvas, width_of

_MARGIN, _BETWEEN, _LOOP = 20, 26, 14
Table = Mapping[str, Mapping[str, str]]


def states(name: str, table: Table) -> Canvas:
    """``table``: state → what may come → next state; the first state is where a stream begins."""
    canvas = Canvas(f"The states of {name}", f"A stream begins {next(iter(table))}. {_in_words(table)}")
    steps = _steps(table)
    lanes = _lanes(table, steps)
    right = _MARGIN + max(map(width_of, table)) + 24
    taken: list[tuple[float, float, float, float]] = []
    for (before, after), words in steps.items():
        start, end = lanes[before], lanes[after]
        tall, wide = len(words) * LINE + 12, max(map(width_of, words)) + _BETWEEN + (_LOOP if before == after else 0)
        top, bottom = (start, max(end, start + tall)) if end >= start else (min(end, start - tall), start)
        x = right + 40
        # as far left as nothing else is
        beside = [(left, edge) for left, high, edge, low in taken if high <= bottom and top <= low]
        while (over := next((edge for left, edge in beside if left < x + wide and x < edge), None)) is not None:
            x = over
        taken.append((x, top, x + wide, bottom))
        _step(canvas, x, start, end, words)
    x = max(right for _, _, right, _ in taken)
    ends = Canvas(canvas.title, canvas.about)
    for state, y in lanes.items():
        ends.path("lane", "M", right, y, "H", x)
        last = not table[state]
        ends.box(_MARGIN, y - 15, right - _MARGIN, 30, 15)
        if last:
            ends.box(_MARGIN + 3, y - 12, right - _MARGIN - 6, 24, 12)
        ends.text((right + _MARGIN) / 2, y + SIZE * 0.33, state, "bold", middle=True)
        if state == next(iter(table)):
            ends.circle("solid", (right + _MARGIN) / 2, y - 46, 6)
            ends.path("line", "M", (right + _MARGIN) / 2, y - 40, "V", y - 18)
            ends.arrow((right + _MARGIN) / 2, y - 15, "down", "solid")
    ends.include(canvas)
    ends.reach(x, 0)
    return ends


def _steps(table: Table) -> dict[tuple[str, str], list[str]]:
    """From one state to another → by what."""
    steps: dict[tuple[str, str], list[str]] = {}
    for state, row in table.items():
        for word, following in row.items():
            steps.setdefault((state, following), []).append(word)
    return steps


def _lanes(table: Table, steps: dict[tuple[str, str], list[str]]) -> dict[str, float]:
    """Where the line of each state is: as far below the one before as the words between them need."""
    order = list(table)
    lanes, y = dict[str, float](), 70.0
    for i, state in enumerate(order):
        lanes[state] = y
        if i + 1 < len(order):
            here = [words for (a, b), words in steps.items() if a == state and order.index(b) >= i]
            below = [words for (a, b), words in steps.items() if a == order[i + 1] and order.index(b) <= i]
            y += max(len(words) for words in [*here, *below, ["x"]]) * LINE + 34
    return lanes


def _step(canvas: Canvas, x: float, start: float, end: float, words: list[str]) -> None:
    """An arrow, its words beside it where it begins."""
    if start == end:
        low = start + 30
        back = x + _LOOP
        bend = ("Q", x, low, x + _LOOP / 2, low, "Q", back, low, back, low - 8)
        canvas.path("move", "M", x, start, "V", low - 8, *bend, "V", start + 6)
        canvas.arrow(back, start + 1, "up")
    else:
        down = end > start
        canvas.path("move", "M", x, start, "V", end - 6 if down else end + 6)
        canvas.arrow(x, end - 1 if down else end + 1, "down" if down else "up")
    canvas.circle("head", x, start, 3.5)
    left = x + 8 + (_LOOP if start == end else 0)
    top = start + LINE + 2 if end >= start else start - 10 - LINE * (len(words) - 1)
    for i, word in enumerate(words):
        canvas.text(left, top + i * LINE, word, "mark")


def _in_words(table: Table) -> str:
    said = []
    for (before, after), words in _steps(table).items():
        leads = "stays there" if before == after else f"leads to: {after}"
        said.append(f"{before.capitalize()}, {' or '.join(words)} {leads}.")
    return " ".join(said)
