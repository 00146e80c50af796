"""Text on a terminal: how wide it is, and what may not reach it."""

from __future__ import annotations

import unicodedata

UNICODE = {
    "line": "─",
    "dashed": "╌",
    "arrow": "▶",
    "hollow": "▷",
    "cut": "…",
    "times": "×",
    "begin": "╭",
    "within": "│",
    "end": "╰",
    "whole": "▪",
    "nothing": "╳",
    "joints": " ╴╶─╵┘└┴╷┐┌┬│┤├┼",
}
ASCII = {
    "line": "-",
    "dashed": "~",
    "arrow": ">",
    "hollow": ">",
    "cut": "~",
    "times": "x",
    "begin": "/",
    "within": "|",
    "end": "\\",
    "whole": "*",
    "nothing": "x",
    "joints": " ---|+++|+++|+++",
}
"""What lines and marks are drawn with. ``joints``: by what they join, 1 left + 2 right + 4 above + 8 below."""


def glyphs(encoding: str) -> dict[str, str]:
    """The drawing characters that an encoding can say."""
    try:
        "".join(UNICODE.values()).encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return ASCII
    return UNICODE


def plain(text: str, encoding: str = "utf-8") -> str:
    """``text`` in one line, with all escaped that could steer a terminal or that the encoding cannot say."""
    text = "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)
    return text.encode(encoding, "backslashreplace").decode(encoding)


def width(text: str) -> int:
    """The columns that ``text`` takes."""
    return len(text) if text.isascii() else sum(map(_columns, text))


def _columns(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1


def fit(text: str, columns: int, cut: str) -> str:
    """``text`` in exactly so many columns: filled with spaces, or ended by ``cut``."""
    taken = width(text)
    if taken <= columns:
        return text + " " * (columns - taken)
    out, left = "", columns - 1
    for character in text:
        left -= _columns(character)
        if left < 0:
            break
        out += character
    return fit(out + cut, columns, cut) if columns > 0 else ""


def wrapped(text: str, columns: int, indent: str = "  ") -> list[str]:
    """``text`` in lines, those after the first indented."""
    lines, line = [], " " * (len(text) - len(text.lstrip()))
    begun = False
    for word in text.split():
        if begun and width(line) + 1 + width(word) > columns:
            lines.append(line)
            line, begun = indent, False
        line += f" {word}" if begun else word
        begun = True
        while width(line) > columns:
            head = line
            while width(head) > columns:
                head = head[:-1]
            lines.append(head)
            line = indent + line[len(head) :]
    return [*lines, line]
