"""The public interface as text: every public name with its signature. ``python -m tests.public_api`` writes it anew.

``tests/public_api.txt`` is that text as it was decided on; a change of it is a change of the interface.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

PINNED = Path(__file__).with_suffix(".txt")
MODULES = ("translate", "translate.adapters", "translate.logs", "translate.shapes", "translate.testing")
"""Modules that others import from: users, services, jobs, authors of shapes, and authors of codecs."""


def public_api() -> str:
    """All of it, sorted."""
    return "".join(f"{line}\n" for module in MODULES for line in _lines(module))


def _lines(name: str) -> Iterator[str]:
    module = import_module(name)
    names = getattr(module, "__all__", None) or [
        key for key, value in vars(module).items() if key[0] != "_" and getattr(value, "__module__", None) == name
    ]
    for key in sorted(names):
        yield from _described(f"{name}.{key}", getattr(module, key))


def _described(name: str, value: Any) -> Iterator[str]:
    if not inspect.isclass(value):
        yield name + (_signature(value) if inspect.isfunction(value) else "")
        return
    bases = ", ".join(base.__name__ for base in value.__bases__ if base is not object)
    yield f"class {name}({bases})"
    for member, found in sorted(vars(value).items()):
        if (member[0] != "_" or member == "__init__") and not inspect.ismemberdescriptor(found):
            yield f"    {member}{_member(found)}"


def _member(found: Any) -> str:
    if isinstance(found, (staticmethod, classmethod)):
        found = found.__func__
    return _signature(found) if inspect.isfunction(found) else ""


def _signature(function: Any) -> str:
    """What a caller may give; a default that is no plain value is ``...``."""
    found = inspect.signature(function)
    given = [
        parameter
        if parameter.default is parameter.empty or isinstance(parameter.default, (str, int, type(None)))
        else parameter.replace(default=...)
        for parameter in found.parameters.values()
    ]
    # annotations are text where they are deferred, and no text where a class is generated
    return str(found.replace(parameters=given)).replace("'", "").replace("Ellipsis", "...")


if __name__ == "__main__":
    PINNED.write_text(public_api(), encoding="utf-8")
    sys.stdout.write(f"{PINNED.name} is written\n")
