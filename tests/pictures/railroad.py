"""Grammars as railroad diagrams: what may come is what a train from left to right may pass."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from .grammars import Choice, Name, Node, Repeat, Sequence, parsed
from .svg import SIZE, Canvas, width_of

_TALL, _GAP, _BEND, _APART, _HEAD = 28, 22, 10, 14, 12
_MARGIN = 20


class _Track(Protocol):
    """A piece of rail: its width, and how far it reaches above and below its line."""

    width: float
    up: float
    down: float

    def draw(self, canvas: Canvas, x: float, y: float, *, back: bool) -> None:
        """From ``x`` on along ``y``; ``back``: it is passed from right to left."""


def railroad(name: str, grammar: Mapping[str, str]) -> Canvas:
    """``grammar``: name of a rule → its text."""
    canvas = Canvas(f"The grammar of {name}", "; ".join(f"{rule} := {text}" for rule, text in grammar.items()))
    y = 20.0
    for rule, text in grammar.items():
        track = _track(parsed(text), grammar)
        canvas.text(_MARGIN, y + SIZE, rule, "bold")
        y += 30 + track.up
        canvas.circle("solid", _MARGIN + 5, y, 5)
        start, end = _MARGIN + 30, _MARGIN + 30 + track.width
        _straight(canvas, _MARGIN + 5, start, y)
        track.draw(canvas, start, y, back=False)
        _straight(canvas, end, end + 24, y)
        canvas.arrow(end + 20, y, "right", "solid")
        canvas.path("line", "M", end + 22, y - 8, "V", y + 8)
        canvas.reach(end + 24, y + track.down)
        y += track.down + 24
    return canvas


def _track(node: Node, grammar: Mapping[str, str]) -> _Track:
    match node:
        case Name(name):
            return _Box(name, name in grammar)
        case Sequence(items):
            return _Row([_track(item, grammar) for item in items])
        case Choice(items):
            return _Stack([_track(item, grammar) for item in items])
        case Repeat(item, least):
            return _Loop(_track(item, grammar), least)


def _straight(canvas: Canvas, x: float, end: float, y: float) -> None:
    canvas.path("line", "M", x, y, "H", end)


class _Box:
    """A unit, round; or a rule, angular."""

    def __init__(self, name: str, rule: bool) -> None:
        self.name, self.rule = name, rule
        self.width = width_of(name) + 24
        self.up = self.down = _TALL / 2

    def draw(self, canvas: Canvas, x: float, y: float, *, back: bool) -> None:
        canvas.box(x, y - _TALL / 2, self.width, _TALL, 3 if self.rule else _TALL / 2)
        canvas.text(x + self.width / 2, y + SIZE * 0.33, self.name, *(["bold"] if self.rule else []), middle=True)


@dataclass
class _Row:
    tracks: list[_Track]

    def __post_init__(self) -> None:
        self.width = sum(track.width for track in self.tracks) + _GAP * (len(self.tracks) - 1)
        self.up = max(track.up for track in self.tracks)
        self.down = max(track.down for track in self.tracks)

    def draw(self, canvas: Canvas, x: float, y: float, *, back: bool) -> None:
        for i, track in enumerate(reversed(self.tracks) if back else self.tracks):
            if i:
                _straight(canvas, x, x + _GAP, y)
                canvas.arrow(x + 4 if back else x + _GAP, y, "left" if back else "right", "solid")
                x += _GAP
            track.draw(canvas, x, y, back=back)
            x += track.width


@dataclass
class _Stack:
    """One of several: the first on the line, the others below it."""

    tracks: list[_Track]

    def __post_init__(self) -> None:
        self.width = max(track.width for track in self.tracks) + 4 * _BEND + 2 * _HEAD
        self.up = self.tracks[0].up
        self.at = [0.0]
        for above, below in zip(self.tracks, self.tracks[1:], strict=False):
            self.at.append(self.at[-1] + above.down + _APART + below.up)
        self.down = self.at[-1] + self.tracks[-1].down

    def draw(self, canvas: Canvas, x: float, y: float, *, back: bool) -> None:
        end = x + self.width
        for track, below in zip(self.tracks, self.at, strict=True):
            left = x + (self.width - track.width) / 2
            right, line = left + track.width, y + below
            if not below:
                _straight(canvas, x, left, y)
                _straight(canvas, right, end, y)
            else:
                _bend(canvas, x, y, left, line)
                _bend(canvas, end, y, right, line)
            track.draw(canvas, left, line, back=back)
            canvas.arrow(right if back else left, line, "left" if back else "right", "solid")


def _bend(canvas: Canvas, x: float, y: float, inner: float, line: float) -> None:
    """From the line at ``x`` down, and on towards ``inner``."""
    r = _BEND if inner > x else -_BEND
    down = ("Q", x + r, y, x + r, y + _BEND, "V", line - _BEND)
    canvas.path("line", "M", x, y, *down, "Q", x + r, line, x + 2 * r, line, "H", inner)


class _Loop:
    """Again and again. What may be left out is passed on the way back, below a line that passes by."""

    def __init__(self, track: _Track, least: int) -> None:
        self.track, self.least = track, least
        # a choice has room for the heads of its own arrows
        self.head = 0 if isinstance(track, _Stack) else _HEAD
        self.width = track.width + 4 * _BEND + 2 * self.head
        if least:
            self.up, self.below = track.up, track.down + _APART
            self.down = self.below + 4
        else:
            self.up, self.below = 6.0, _APART + track.up
            self.down = self.below + track.down

    def draw(self, canvas: Canvas, x: float, y: float, *, back: bool) -> None:
        end, line = x + self.width, y + self.below
        left, right = x + 2 * _BEND, end - 2 * _BEND
        for outer, r in ((left, -_BEND), (right, _BEND)):
            canvas.path("line", "M", outer, y, "Q", outer + r, y, outer + r, y + _BEND, "V", line - _BEND,
                        "Q", outer + r, line, outer, line)  # fmt: skip
        if self.least:
            _straight(canvas, x, left, y)
            _straight(canvas, right, end, y)
            _straight(canvas, left, left + self.head, y)
            self.track.draw(canvas, left + self.head, y, back=back)
            _straight(canvas, right - self.head, right, y)
            _straight(canvas, left, right, line)
            canvas.arrow((left + right) / 2 + (4 if back else -4), line, "right" if back else "left", "solid")
        else:
            _straight(canvas, x, end, y)
            _straight(canvas, left, left + self.head, line)
            self.track.draw(canvas, left + self.head, line, back=not back)
            _straight(canvas, right - self.head, right, line)
            if self.head:
                tip = left + self.head if back else right - self.head
                canvas.arrow(tip, line, "right" if back else "left", "solid")
