"""The options of a conversion, looked at where they are given: an error names the option."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Final, TypeAlias

from ..algebra.events import Model
from ..carry.losses import Report
from ..codec import Options
from ..errors import shown
from ..limits import Limits

ModelOption: TypeAlias = Model | Mapping[str, str | None] | str
"""Who answers: a :class:`Model`, a mapping of its fields, or its name."""

_DEFAULT: Final = Limits()
_MODEL: Final = tuple(field.name for field in fields(Model))


def now() -> int:
    """The default clock: milliseconds of Unix time."""
    return time.time_ns() // 1_000_000


def as_model(model: ModelOption | None) -> Model:
    """The ``model`` option as a :class:`Model`. Raises ``TypeError``, or ``ValueError`` for a field that it has not."""
    if model is None:
        return Model()
    if isinstance(model, str):
        return Model(name=model)
    if isinstance(model, Mapping):
        unknown = [key for key in model if key not in _MODEL]
        if unknown:
            raise ValueError(f"model has no field {shown(unknown[0])}; it has {', '.join(_MODEL)}")
        model = Model(**model)
    if not isinstance(model, Model):
        raise TypeError(f"model is a Model, a mapping of its fields, or a name, not {type(model).__name__}")
    for name in _MODEL:
        value = getattr(model, name)
        if value is not None and not isinstance(value, str):
            raise TypeError(f"the {name} of model is text or None, not {type(value).__name__}")
    return model


def as_clock(clock: Callable[[], int] | None) -> Callable[[], int]:
    """The ``clock`` option. It raises ``TypeError`` and ``ValueError``, when it is asked, for what is no time."""
    if clock is None:
        return now
    if not callable(clock):
        raise TypeError(f"clock is a callable that gives milliseconds, not {type(clock).__name__}")

    def checked() -> int:
        at = clock()
        if type(at) is int:
            return at
        if isinstance(at, bool) or not isinstance(at, (int, float)):
            raise TypeError(f"clock gives milliseconds, a number, not {type(at).__name__}")
        if not math.isfinite(at):
            raise ValueError(f"clock gives milliseconds, a finite number, not {at}")
        return at

    return checked


def make_options(
    model: ModelOption | None = None,
    clock: Callable[[], int] | None = None,
    strict: bool = True,
    limits: Limits | None = None,
    report: Report | None = None,
) -> Options:
    """The options of one conversion as codecs see them. Raises ``TypeError`` and ``ValueError``, with their names."""
    if limits is not None and not isinstance(limits, Limits):
        raise TypeError(f"limits is a Limits, not {type(limits).__name__}")
    if report is not None and not isinstance(report, Report):
        raise TypeError(f"report is a Report, not {type(report).__name__}")
    return Options(as_model(model), as_clock(clock), strict, limits or _DEFAULT, report)


def one_of(option: str, value: str, *allowed: str) -> None:
    """Raises ``ValueError`` for an option that is none of the words allowed."""
    if value not in allowed:
        raise ValueError(f"{option} is one of {', '.join(map(repr, allowed))}, not {shown(value)}")
