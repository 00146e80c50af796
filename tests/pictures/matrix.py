"""What each format can say in its own words, as a table."""

from __future__ import annotations

from collections.abc import Sequence

from translate import Codec

from .svg import Canvas, width_of

_ROW, _MARGIN = 26, 20
_SAYS = {"yes": "natively", "partly": "partly", "no": "in the carry"}


def matrix(codecs: Sequence[Codec], words: Sequence[str]) -> Canvas:
    """``words``: what there is to say, the rows."""
    names = [codec.name for codec in codecs]
    canvas = Canvas("What each format says in its own words", _in_words(codecs, words))
    first = _MARGIN + max(map(width_of, words)) + 40
    columns = [first + (width_of(max(names, key=len)) + 36) * (i + 0.5) for i in range(len(names))]
    right, y = columns[-1] + width_of(names[-1]), 40.0
    for name, x in zip(names, columns, strict=True):
        canvas.text(x, y, name, "bold", middle=True)
    for word in words:
        y += _ROW
        canvas.path("lane", "M", _MARGIN, y - 17, "H", right)
        canvas.text(_MARGIN, y, word)
        for codec, x in zip(codecs, columns, strict=True):
            _mark(canvas, x, y - 5, _says(codec, word))
    y += 20
    canvas.path("lane", "M", _MARGIN, y - 10, "H", right)
    x = float(_MARGIN)
    y += _ROW / 2
    for says, meaning in _SAYS.items():
        _mark(canvas, x + 7, y - 5, says)
        canvas.text(x + 22, y, meaning)
        x += 22 + width_of(meaning) + 28
    for line in _notes(codecs):
        y += _ROW
        canvas.text(_MARGIN, y, line)
    canvas.reach(right, y)
    return canvas


def _says(codec: Codec, word: str) -> str:
    return "yes" if word in codec.says else "partly" if word in codec.partly else "no"


def _mark(canvas: Canvas, x: float, y: float, says: str) -> None:
    canvas.circle("head" if says == "yes" else "move", x, y, 6)
    if says == "partly":
        canvas.path("head", "M", x, y - 6, "A", 6, 6, 0, 0, 0, x, y + 6, "Z")


def _notes(codecs: Sequence[Codec]) -> list[str]:
    lines = [reason for codec in codecs for reason in codec.partly.values()]
    return lines + [f"{codec.name} alone says {what}" for codec in codecs for what in codec.only.values()]


def _in_words(codecs: Sequence[Codec], words: Sequence[str]) -> str:
    said = []
    for codec in codecs:
        rows = {says: [word for word in words if _says(codec, word) == says] for says in _SAYS}
        parts = [f"{_SAYS[says]}: {', '.join(found)}" for says, found in rows.items() if found]
        said.append(f"{codec.name} says {'; '.join(parts)}.")
    return " ".join([*said, *(f"{note}." for note in _notes(codecs))])
