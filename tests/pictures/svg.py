"""A small canvas for SVG that is readable in light and dark, and by screen readers."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

SIZE = 14
LINE = 18
ADVANCE = 0.61 * SIZE
"""Width of a character: all text is set in a monospaced font, and fitted to the width that is counted on here."""
_FONT = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace"
_STYLE = f"""\
svg{{color-scheme:light dark;color:#1f2328;--paper:#fff;--box:#eef3fb;--faint:#8c959f;--mark:#0a5fb4}}
@media (prefers-color-scheme:dark){{svg{{color:#e6edf3;--paper:#0d1117;--box:#1c2a3f;--faint:#7d8590;--mark:#79b8ff}}}}
text{{font:{SIZE}px {_FONT};fill:currentColor}}
.bold{{font-weight:600}}.mark{{fill:var(--mark)}}
.paper{{fill:var(--paper)}}.box{{fill:var(--box);stroke:currentColor;stroke-width:1.2}}
.line{{fill:none;stroke:currentColor;stroke-width:1.6}}
.lane{{fill:none;stroke:var(--faint);stroke-width:1;stroke-dasharray:2 4}}
.move{{fill:none;stroke:var(--mark);stroke-width:1.6}}.head{{fill:var(--mark)}}.solid{{fill:currentColor}}"""


def width_of(text: str) -> float:
    """The width of a text."""
    return len(text) * ADVANCE


class Canvas:
    """A picture that grows as it is drawn. Coordinates are those of SVG."""

    def __init__(self, title: str, about: str) -> None:
        """``title``: what it is; ``about``: all that it says, in words."""
        self.title = title
        self.about = about
        self.labels: list[tuple[float, float, float, float]] = []
        """Where text is: left, top, right, bottom."""
        self.style = ""
        """What is to be added to the styles."""
        self._out: list[str] = []
        self._right = self._bottom = 0.0

    def text(self, x: float, y: float, text: str, *classes: str, middle: bool = False) -> None:
        """Text with its baseline at ``y``; ``middle``: around ``x``, not from it."""
        width = width_of(text)
        left = x - width / 2 if middle else x
        kind = f' class="{" ".join(classes)}"' if classes else ""
        self._out.append(
            f'<text x="{_n(left)}" y="{_n(y)}"{kind} textLength="{_n(width)}" '
            f'lengthAdjust="spacingAndGlyphs">{escape(text)}</text>'
        )
        self.labels.append((left, y - SIZE * 0.8, left + width, y + SIZE * 0.25))
        self._grow(left + width, y + SIZE * 0.25)

    def box(self, x: float, y: float, width: float, height: float, radius: float, kind: str = "box") -> None:
        """A box with round corners."""
        self._out.append(
            f'<rect class="{kind}" x="{_n(x)}" y="{_n(y)}" width="{_n(width)}" height="{_n(height)}" '
            f'rx="{_n(radius)}"/>'
        )
        self._grow(x + width, y + height)

    def path(self, kind: str, *steps: str | float) -> None:
        """A path: commands of SVG, with their numbers."""
        self._out.append(f'<path class="{kind}" d="{" ".join(s if isinstance(s, str) else _n(s) for s in steps)}"/>')

    def circle(self, kind: str, x: float, y: float, radius: float) -> None:
        """A circle."""
        self._out.append(f'<circle class="{kind}" cx="{_n(x)}" cy="{_n(y)}" r="{_n(radius)}"/>')
        self._grow(x + radius, y + radius)

    def reach(self, x: float, y: float) -> None:
        """The picture holds this point."""
        self._grow(x, y)

    def arrow(self, x: float, y: float, way: str, kind: str = "head") -> None:
        """The head of an arrow with its tip here: ``right``, ``left``, ``up`` or ``down``."""
        along = {"right": (-8, 0), "left": (8, 0), "up": (0, 8), "down": (0, -8)}[way]
        across = (0, 4) if along[1] == 0 else (4, 0)
        ends = [(along[0] + sign * across[0], along[1] + sign * across[1]) for sign in (1, -1)]
        points: Iterable[str | float] = (value for dx, dy in ends for value in ("L", x + dx, y + dy))
        self.path(kind, "M", x, y, *points, "Z")

    def include(self, other: Canvas) -> None:
        """Draw all of another picture on top."""
        self._out += other._out
        self.labels += other.labels
        self._grow(other._right, other._bottom)

    def svg(self) -> str:
        """The whole picture."""
        width, height = round(self._right + 20), round(self._bottom + 20)
        return "\n".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
                f'viewBox="0 0 {width} {height}" role="img" aria-labelledby="title about">',
                f'<title id="title">{escape(self.title)}</title>',
                f'<desc id="about">{escape(self.about)}</desc>',
                f"<style>{_STYLE}{self.style}</style>",
                f'<rect class="paper" width="{width}" height="{height}" rx="8"/>',
                *self._out,
                "</svg>\n",
            ]
        )

    def _grow(self, x: float, y: float) -> None:
        self._right, self._bottom = max(self._right, x), max(self._bottom, y)


def _n(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
