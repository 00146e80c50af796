"""The values that arguments may have."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentTypeError, Namespace
from dataclasses import fields
from pathlib import Path
from typing import Final

from translate import Limits, Model

_UNITS = {"K": 1024, "M": 1024**2, "G": 1024**3}
COLOURS: Final = ("auto", "always", "never")
MODEL_FIELDS = tuple(field.name for field in fields(Model))


def count(text: str) -> int:
    """A number from zero."""
    try:
        number = int(text)
    except ValueError:
        number = -1
    if number < 0:
        raise ArgumentTypeError(f"{text!r} is no whole number from 0")
    return number


def size(text: str) -> int:
    """A number from zero, such as ``8M``: K, M and G are powers of 1024."""
    number, unit = text[:-1], _UNITS.get(text[-1:].upper())
    try:
        return count(text) if unit is None else count(number) * unit
    except ArgumentTypeError:
        raise ArgumentTypeError(f"{text!r} is no whole number from 0, with K, M or G behind it or not") from None


def coloured(choice: str) -> bool:
    """Whether standard output is coloured: as was asked for, else as the environment has it, else on terminals."""
    if choice != "auto":
        return choice == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR", "0") != "0":
        return True
    return os.environ.get("TERM") != "dumb" and sys.stdout is not None and sys.stdout.isatty()


def seconds(text: str) -> float:
    """A length of time."""
    try:
        number = float(text)
    except ValueError:
        number = -1
    if not 0 <= number < 1e9:
        raise ArgumentTypeError(f"{text!r} is no number of seconds")
    return number


def file(text: str) -> Path:
    """A file that is there."""
    path = Path(text)
    if not path.is_file():
        raise ArgumentTypeError(f"there is no file {text!r}")
    return path


def model(text: str) -> Model:
    """A name, or ``name=...,tier=...``; nothing is nobody."""
    if "=" not in text:
        return Model(name=text or None)
    given: dict[str, str] = {}
    for pair in text.split(","):
        key, equals, value = pair.partition("=")
        key = key.strip()
        if not equals or key not in MODEL_FIELDS or key in given:
            raise ArgumentTypeError(
                f"{pair!r} is not one of {', '.join(f'{name}=...' for name in MODEL_FIELDS)}, once each"
            )
        given[key] = value
    return Model(**given)


def served_model(text: str) -> Model | tuple[str, str]:
    """Who answers, as :func:`model`; or, ``PATTERN=MODEL``, which model is asked for those that clients name."""
    name, equals, asked = text.partition("=")
    return (name, asked) if equals and asked and name not in MODEL_FIELDS else model(text)


def limits_of(args: Namespace) -> Limits:
    """The limits that were asked for."""
    given = {field.name: getattr(args, f"max_{field.name}") for field in fields(Limits)}
    return Limits(**{name: value for name, value in given.items() if value is not None})
