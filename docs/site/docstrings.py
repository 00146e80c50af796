"""Docstrings as Markdown: the project's are written for a terminal, with roles and with columns of names."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Any

import griffe

_ROLE = re.compile(r":(?:class|func|meth|mod|data|attr|exc):`~?([\w.]+)`")
_NAMES = r"``[^`\n]+``(?:, ``[^`\n]+``)*"
_COLUMNS = re.compile(rf"^{_NAMES}  +.+(?:\n(?: |{_NAMES} ).*)*", re.M)
_ROW = re.compile(rf"^({_NAMES}) +(.+(?:\n +.+)*)", re.M)
_DIRECTIVE = re.compile(r"^\.\. code-block:: \w+\n", re.M)


class Docstrings(griffe.Extension):
    """Makes Markdown of each docstring."""

    def on_object(self, *, obj: griffe.Object, loader: griffe.GriffeLoader, **options: Any) -> None:
        """Rewrite one docstring, once all names are known."""
        if obj.docstring is not None:
            obj.docstring.value = _markdown(obj.docstring.value, obj)


def _markdown(text: str, obj: griffe.Object) -> str:
    text = _DIRECTIVE.sub("", text)
    text = _COLUMNS.sub(lambda found: "\n" + _ROW.sub(_item, found[0]) + "\n", text)
    return _ROLE.sub(lambda found: _reference(found[1], obj), text)


def _item(found: re.Match[str]) -> str:
    """A row of columns as an item of a list."""
    return f"- {found[1]}: {' '.join(found[2].split())}"


def _reference(name: str, obj: griffe.Object) -> str:
    """A link to what a role names, where the site has it."""
    path = name
    with suppress(griffe.NameResolutionError):
        path = obj.resolve(name)
    return f'<autoref optional identifier="{path}"><code>{name}</code></autoref>'
