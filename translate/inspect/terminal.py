"""A view on a terminal: the source on the left, the target on the right, and lines between what became what."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from ..algebra.events import JsonObject
from .rows import LEFT, RIGHT, Row, folded, rows
from .text import fit, glyphs, plain, width, wrapped
from .words import counted

NARROWEST = 40
"""Columns that are drawn at least."""
_WORDY = 44
_TIMED = 60
_CLOCK = 12
"""Columns that a time takes at most."""
MEANING = {
    "held": "waits for what completes it",
    "merged": "one of several that became one",
    "lost": "content that reaches no one",
    "carried": "only in a carry",
    "silent": "nothing to say in the target",
    "made up": "the target needs it, no unit says it",
    "filled in": "the target needs values in it that no unit says",
    "carry": "a carry alone, which native readers skip",
    "restored": "its words came home from a carry",
}
"""Mark → what it means."""
LETTERS = dict(zip(MEANING, "HMLCSUFCR", strict=True))
"""Mark → its letter, where words have no room."""
_STYLES = {
    **{"held": "33", "merged": "36", "lost": "1;31", "carried": "35", "silent": "2", "made up": "34", "carry": "35"},
    **{"filled in": "34", "restored": "32", "error": "1;31", "faint": "2", "title": "1"},
}


def draw(view: JsonObject, columns: int, *, colour: bool = False, encoding: str = "utf-8", all: bool = False) -> str:
    """The lines of a view, each ended, at most ``columns`` wide (40 at least).

    ``encoding``: of the terminal; what it cannot say is drawn otherwise. ``all``: every unit has a line of its own,
    where many alike would be one.
    """
    return "".join(f"{line.rstrip()}\n" for line in _Drawing(view, columns, colour, encoding).lines(all=all))


class _Drawing:
    def __init__(self, view: JsonObject, columns: int, colour: bool, encoding: str) -> None:
        self._view = view
        self._columns = max(columns, NARROWEST)
        self._colour = colour
        self._encoding = encoding
        self._glyphs = glyphs(encoding)
        times = [unit["time"] for unit in view["source"]["units"] if unit["time"] is not None]
        self._first = times[0] if times else 0
        self._clock = max(len(self._at(time)) for time in times) + 1 if times and self._columns >= _TIMED else 0
        self._left = (self._columns - self._clock - 5) // 2
        self._right = self._columns - self._clock - 5 - self._left
        self._wordy = self._left >= _WORDY
        self._marks = list(dict.fromkeys(mark for side in ("source", "target") for mark in _marks(view[side])))

    def lines(self, *, all: bool) -> Iterator[str]:
        found = rows(self._view)
        yield self._title()
        for row in found if all else folded(found):
            yield self._row(row)
        yield ""
        yield from self._summary()
        yield ""
        yield from self._legend()

    def _title(self) -> str:
        sides = [(self._view[side], size) for side, size in (("source", self._left), ("target", self._right))]
        left, right = [fit(f" {s['format']}, {counted(len(s['units']), 'unit')}", size, "") for s, size in sides]
        clock = fit("ms", self._clock, "") if self._clock else ""
        return self._paint(f"{clock}{left}     {right}", "title")

    def _row(self, row: Row) -> str:
        clock = ""
        if self._clock:
            time = row.left["time"] if row.left is not None else None
            clock = self._paint(self._at(time).rjust(self._clock - 1) + " " if time is not None else "", "faint")
            clock += " " * self._clock if time is None else ""
        left = self._cell(row.left, row.brackets[0], row.count, self._left)
        right = self._cell(row.right, row.brackets[1], row.count, self._right)
        return f"{clock}{left} {self._line(row)} {right}"

    def _line(self, row: Row) -> str:
        """What joins the two: three columns."""
        g, unit, target = self._glyphs, row.left, row.right
        if unit is not None and not row.joint & LEFT and not unit["to"]:
            broken = self._error_at() == unit["index"]
            mark = "lost" if "lost" in unit["marks"] else "error" if broken else "faint"
            return self._paint(f" {g['nothing']} " if mark != "faint" else " . ", mark)
        unsaid = any(side and {"carry", "carried"} & {*side["marks"]} for side in (unit, target))
        line = g["dashed" if unsaid else "line"]
        arrow = g["hollow" if unsaid else "arrow"] if row.joint & RIGHT else " "
        joint = g["joints"][row.joint]
        if row.joint in (RIGHT, LEFT | RIGHT):
            joint = line
        text = (line if row.joint & LEFT else " ") + joint + arrow
        return self._paint(text, "carried" if unsaid else "faint")

    def _cell(self, unit: JsonObject | None, bracket: str, count: int, size: int) -> str:
        if unit is None:
            return " " * size
        g = self._glyphs
        where = f"{unit['index']}" if "last" not in unit else f"{unit['index']}-{unit['last']}"
        many = f" {g['times']}{count}" if count > 1 and "last" in unit else ""
        marks = self._marked(unit["marks"])
        room = size - 1 - (width(marks) + 1 if marks else 0)
        text = plain(f"{where} {unit['kind']}{many} {unit['label']}", self._encoding)
        body = fit(text, room, g["cut"])
        if body.startswith(where):
            body = self._paint(where, "faint") + body[len(where) :]
        end = " " + self._paint(marks, unit["marks"][0]) if marks else ""
        return (g[bracket] if bracket else " ") + body + end

    def _marked(self, marks: Sequence[str]) -> str:
        if self._wordy:
            return f"[{', '.join(marks)}]" if marks else ""
        return "".join(LETTERS[mark] for mark in marks)

    def _summary(self) -> Iterator[str]:
        view = self._view
        counts = Counter(mark for side in ("source", "target") for mark in _marks(view[side]))
        told = [f"{counted(len(view['source']['units']), 'unit')} in", f"{len(view['target']['units'])} out"]
        told += [f"{counts[mark]} {mark}" for mark in MEANING if counts[mark]]
        yield from self._wrapped("; ".join(told))
        yield from self._hidden("carried", f"In carries, which a native reader of {view['target']['format']} skips:")
        yield from self._hidden("lost", f"Lost in {view['target']['format']}:")
        for name in ("guesses", "repairs"):
            if view[name]:
                yield from self._wrapped(f"{name.capitalize()}:")
                yield from self._grouped(view[name])
        if not view["losses"] and view["error"] is None:
            yield from self._wrapped(f"A native reader of {view['target']['format']} sees all of it.")
        if view["error"] is not None:
            error = view["error"]
            where = [f"{name} {error[name]}" for name in ("unit", "offset") if error[name] is not None]
            text = f"{error['type']}{' at ' + ', byte '.join(where) if where else ''}: {error['message']}"
            yield from self._wrapped(text.replace("byte offset", "byte"), "error")

    def _hidden(self, which: str, title: str) -> Iterator[str]:
        found = [loss for loss in self._view["losses"] if loss["carried"] == (which == "carried")]
        if found:
            yield from self._wrapped(title, which)
            yield from self._grouped(found)

    def _grouped(self, findings: Sequence[JsonObject]) -> Iterator[str]:
        groups = Counter((finding["content"], finding["field"], finding["reason"]) for finding in findings)
        times = self._glyphs["times"]
        for (content, field, reason), count in sorted(groups.items(), key=lambda item: (not item[0][0], -item[1])):
            yield from self._wrapped(f"  {count} {times} {field}{' (content)' if content else ''}: {reason}")

    def _legend(self) -> Iterator[str]:
        g = self._glyphs
        lines = f"{g['line'] * 2}{g['arrow']} became"
        dashed = f"{g['dashed'] * 2}{g['hollow']} only in a carry"
        nothing = f"{g['nothing']} nothing came of it"
        marks = [f"{m if self._wordy else LETTERS[m] + ' ' + m}: {MEANING[m]}" for m in MEANING if m in self._marks]
        yield from self._wrapped("; ".join([f"{lines}, {dashed}, {nothing}", *marks]), "faint")

    def _wrapped(self, text: str, style: str = "") -> Iterator[str]:
        indent = " " * (len(text) - len(text.lstrip()) + 2)
        for line in wrapped(plain(text, self._encoding), self._columns, indent):
            yield self._paint(line, style)

    def _paint(self, text: str, style: str) -> str:
        return f"\x1b[{_STYLES[style]}m{text}\x1b[0m" if self._colour and style and text else text

    def _at(self, time: float) -> str:
        since = f"{time - self._first:+.0f}"
        return since if len(since) <= _CLOCK else self._glyphs["cut"]

    def _error_at(self) -> int | None:
        error = self._view["error"]
        return error["unit"] if error is not None else None


def _marks(side: JsonObject) -> Iterator[str]:
    for unit in side["units"]:
        yield from unit["marks"]
