"""The picture: a view as an SVG, in the colour of the text around it, or light and dark by itself."""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterator
from typing import Any

from ..algebra.events import JsonObject
from .places import SIDES, closed, folds, placed

LINES = 400
"""Lines that are drawn at most; what is below is counted."""
_ROW, _RAIL, _GUTTER, _MARGIN, _HEAD = 24, 430, 90, 128, 46
_WIDTH = 2 * (_RAIL + _MARGIN) + _GUTTER
_LEFT = {"source": _MARGIN, "target": _MARGIN + _RAIL + _GUTTER}
_CHAR = 7.3
_DASHED = ' stroke-dasharray="3 3"'
"""What is only in a carry."""
_CHIPS = {
    "carried": 'stroke-dasharray="2 3"',
    "carry": 'stroke-dasharray="2 3"',
    "made up": 'stroke-dasharray="5 3"',
    "filled in": 'stroke-dasharray="5 3"',
    "lost": 'stroke-width="2"',
}
_STYLE = """\
.rails { font: 12px ui-monospace, monospace; fill: currentColor; stroke: none }
.rails .soft { opacity: 0.65 } .rails .line { fill: none; stroke: currentColor; opacity: 0.5 }
.rails .rule { stroke: currentColor; opacity: 0.15 } .rails .chip { fill: none; stroke: currentColor; opacity: 0.7 }
.rails .mark, .rails .part { font-size: 10px } .rails .mark { text-anchor: middle } .rails .lost { font-weight: bold }
@media (prefers-color-scheme: dark) { .rails:root { color: #e6e8ee; background: #1a1d25 } }
"""
_STEERS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")


def picture(view: dict[str, Any]) -> str:
    """The picture of a :func:`translate.inspect.view`: its first :data:`LINES` lines, and how many more there are."""
    found = folds(view)
    slots = closed(placed(view), found)
    lines = 1 + max((slot for side in slots.values() for slot in side), default=-1)
    drawn = min(lines, LINES)
    names = {side: view[side]["format"] for side in slots}
    counts = {side: len(view[side]["units"]) for side in slots}
    said = f"{counts['source']} units of {names['source']} became {counts['target']} units of {names['target']}"
    height = _HEAD + drawn * _ROW + 16 + 24 * ((lines > drawn) + (view["error"] is not None))
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="rails" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" '
        f'height="{height}" role="img" aria-label="{_escaped(said)}">',
        f"<style>{_STYLE}</style>",
    ]
    out += [_text(_LEFT[side] + 8, 26, f"{names[side]}: {counts[side]} units", "soft") for side in slots]
    for side in SIDES:
        out += _brackets(view, side, slots[side], drawn)
    threads: dict[tuple[int, int, bool], None] = {}
    for target, unit in zip(slots["target"], view["target"]["units"], strict=True):
        carried = {*unit["carried"]}
        links = {(slots["source"][index], index in carried) for index in unit["from"]}
        threads |= {(source, target, dashed): None for source, dashed in links if max(source, target) < drawn}
    out += [_thread(source, target, dashed=dashed) for source, target, dashed in threads]
    for at, side in enumerate(SIDES):
        runs = {fold[side][0]: (fold, at) for fold in found if fold[side] is not None}
        last = -1
        for slot, unit in zip(slots[side], view[side]["units"], strict=True):
            if last < slot < drawn:
                out += _unit(_LEFT[side], _HEAD + slot * _ROW, _run(unit, *runs.get(unit["index"], (None, 0))))
            last = slot
    below = _HEAD + drawn * _ROW + 24
    if lines > drawn:
        out.append(_text(_MARGIN + 8, below, f"… and {lines - drawn:,} lines more, which the HTML report has", "soft"))
        below += 24
    if view["error"] is not None:
        message = f"{view['error']['type']}: {view['error']['message']}"
        out.append(_text(_MARGIN + 8, below, _cut(message, (_WIDTH - 2 * _MARGIN) / _CHAR), "lost"))
    return "\n".join([*out, "</svg>", ""])


def _unit(x: int, y: int, unit: dict[str, Any]) -> Iterator[str]:
    middle = y + _ROW // 2 + 4
    right = x + _RAIL - 6
    yield f'<path class="rule" d="M{x} {y + _ROW}h{_RAIL}"/>'
    for mark in reversed(unit["marks"]):
        width = round(len(mark) * 6.2 + 12)
        box = f'x="{right - width}" y="{y + 4}" width="{width}" height="{_ROW - 8}" rx="8"'
        yield f'<rect class="chip" {box} {_CHIPS.get(mark, "")}/>'
        yield _text(right - width / 2, middle - 1, mark, "mark lost" if mark == "lost" else "mark")
        right -= width + 5
    room = (right - x - 8) / _CHAR
    last = f"-{unit['last']}" if "last" in unit else ""
    many = f" ×{unit['last'] - unit['index'] + 1}" if last else ""
    head = _cut(f"{unit['index']:>4}{last} {unit['kind']}{many}", room)
    label = _cut(unit["label"], room - len(head) - 1)
    said = f'<tspan class="soft">{_escaped(head)} </tspan>{_escaped(label)}'
    yield f'<text x="{x + 6}" y="{middle}" xml:space="preserve">{said}</text>'


def _run(unit: JsonObject, fold: JsonObject | None, at: int) -> JsonObject:
    """A unit, or the run that begins with it."""
    side = SIDES[at]
    return unit if fold is None else {**unit, "last": fold[side][1], "label": fold["labels"][at]}


def _brackets(view: dict[str, Any], side: str, slots: list[int], drawn: int) -> Iterator[str]:
    for part in view["parts"]:
        if part[side] is None or slots[part[side][0]] >= drawn:
            continue
        first, last = slots[part[side][0]], min(slots[part[side][1]], drawn - 1)
        top, length = _HEAD + first * _ROW + 3, (last - first + 1) * _ROW - 6
        at, arm = (_MARGIN - 4, -8) if side == "source" else (_WIDTH - _MARGIN + 4, 8)
        dash = "" if part["native"] else _DASHED
        yield f'<path class="line" d="M{at} {top}h{arm}v{length}h{-arm}"{dash}/>'
        anchor = "end" if side == "source" else "start"
        yield _text(at + 1.6 * arm, top + 13, _cut(part["kind"], 18), "part soft", anchor)


def _thread(source: int, target: int, *, dashed: bool) -> str:
    left, right = _MARGIN + _RAIL, _MARGIN + _RAIL + _GUTTER
    middle = (left + right) / 2
    y, to = (_HEAD + slot * _ROW + _ROW // 2 for slot in (source, target))
    return f'<path class="line" d="M{left} {y}C{middle} {y} {middle} {to} {right} {to}"{_DASHED if dashed else ""}/>'


def _text(x: float, y: float, text: str, style: str = "", anchor: str = "") -> str:
    given = f' class="{style}"' if style else ""
    given += f' text-anchor="{anchor}"' if anchor else ""
    return f'<text x="{x:g}" y="{y:g}"{given} xml:space="preserve">{_escaped(text)}</text>'


def _escaped(text: str) -> str:
    """Text for XML, which has no place for some characters; those that steer lines are spelled out."""
    return html.escape(_STEERS.sub(_spelled, text))


def _spelled(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"


def _cut(text: str, room: float) -> str:
    """As much of a text as so many columns hold."""
    text = _STEERS.sub(_spelled, text[: 2 * max(0, int(room))])
    used = 0.0
    for at, char in enumerate(text):
        used += 2 if unicodedata.east_asian_width(char) in "WF" else 0 if unicodedata.combining(char) else 1
        if used > room:
            return text[: max(0, at - 1)] + "…"
    return text
