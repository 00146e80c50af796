"""The examples of the playground and of the site: streams that each show one thing."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

from ..algebra.events import JsonObject


class Example(NamedTuple):
    """``file``: its name in ``examples/``; ``target``: the format to look at it in; ``shows``: a sentence."""

    name: str
    title: str
    file: str
    source: str
    target: str
    shows: str

    @property
    def path(self) -> Path | None:
        """Where it is: in an installed package, or in a checkout; ``None`` where it was taken away."""
        checkout = Path(__file__).resolve().parents[2] / "examples" / self.file
        installed = files("translate.inspect").joinpath("examples", self.file)
        return next((path for path in (Path(str(installed)), checkout) if path.is_file()), None)


EXAMPLES = (
    Example(
        "turn",
        "Calls wait",
        "claude-turn.unievent.sse",
        "unievent-sse",
        "gateway-sse",
        "Text goes out as it comes in. The target says a call whole, so its fragments wait for the last one.",
    ),
    Example(
        "signed",
        "A signature rides along",
        "signed.anthropic.sse",
        "anthropic-sse",
        "openai-chat-sse",
        "Thinking is signed. The target has no field for the signature: it rides in the carry, and comes home.",
    ),
    Example(
        "image",
        "An image has no words",
        "image.gemini.sse",
        "gemini-sse",
        "anthropic-sse",
        "The target cannot say an image. Its native readers see the two texts, and the carry holds the image.",
    ),
    Example(
        "home",
        "The way home",
        "home.gateway.sse",
        "gateway-sse",
        "anthropic-sse",
        "What the carry held comes back: each unit is as the first server sent it.",
    ),
    Example(
        "cut",
        "A failure stays one",
        "cut.unievent.sse",
        "unievent-sse",
        "gateway-sse",
        "The server fails amid a call. The target fails too, and nobody gets half a call to run.",
    ),
    Example(
        "broken",
        "A frame is missing",
        "broken.gateway.sse",
        "gateway-sse",
        "openai-chat-sse",
        "The frame that ends a text is missing. That is an error, with its place; lenient mode mends it.",
    ),
)


def shipped() -> Iterator[JsonObject]:
    """Those that are there, as the playground has them."""
    for example in EXAMPLES:
        path = example.path
        if path is not None:
            known = {name: getattr(example, name) for name in ("name", "title", "file", "source", "target", "shows")}
            yield {**known, "text": path.read_text("utf-8")}
