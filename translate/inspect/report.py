"""The report: a view as one HTML file that needs nothing else, and asks no one for anything."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from functools import cache
from importlib.resources import files
from typing import Any

SCRIPTS = ("parts.js", "band.js", "tools.js", "replay.js", "panel.js", "page.js")
_STYLE = "page.css"
_SLOT = re.compile(r"\{\{(\w+)\}\}")
_ESCAPES = {ord(char): f"\\u{ord(char):04x}" for char in "<>&"}


def report(view: dict[str, Any]) -> str:
    """The page of a view, see :func:`translate.inspect.view`; plain ASCII but for what the page itself says."""
    title = f"{view['source']['format']} → {view['target']['format']}"
    return page(title, view)


def page(title: str, data: Any, *, scripts: tuple[str, ...] = SCRIPTS, connect: str = "'none'") -> str:
    """The page with ``data`` in it, and a policy that lets run what is in it, and nothing else.

    ``connect``: what it may ask, as the policy says it.
    """
    css, js = _text(_STYLE), _code(scripts)
    parts = {"title": html.escape(title), "csp": policy(scripts, connect), "css": css, "js": js, "data": embedded(data)}
    return _SLOT.sub(lambda slot: parts[slot[1]], _text("page.html"))


def policy(scripts: tuple[str, ...] = SCRIPTS, connect: str = "'none'") -> str:
    """The content security policy of a page."""
    return (
        f"default-src 'none'; script-src '{_digest(_code(scripts))}'; style-src '{_digest(_text(_STYLE))}'; "
        f"img-src data:; connect-src {connect}; base-uri 'none'; form-action 'none'"
    )


def embedded(data: Any) -> str:
    """JSON that stays JSON inside a script element, whatever its strings hold."""
    return json.dumps(data, separators=(",", ":")).translate(_ESCAPES)


def _code(scripts: tuple[str, ...]) -> str:
    return "".join(map(_text, scripts))


@cache
def _text(name: str) -> str:
    return files("translate.inspect").joinpath(name).read_text("utf-8")


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
