"""The options of a conversion, looked at where they are given: an error names the option."""

from __future__ import annotations

import difflib
import math
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import fields
from typing import Any, Final, TypeAlias

from ..algebra.events import Model
from ..carry.losses import Report
from ..codec import Options
from ..errors import shown
from ..limits import Limits
from .trace import Trace

ModelOption: TypeAlias = Model | Mapping[str, str | None] | str
"""Who answers: a :class:`Model`, a mapping of its fields, or its name."""

_DEFAULT: Final = Limits()
_MODEL: Final = tuple(field.name for field in fields(Model))
_NONE: Final = type(None)
_TAKES: Final[dict[str, tuple[tuple[Any, ...], str]]] = {
    "model": ((Model, Mapping, str, _NONE), "a translate.Model, a mapping of its fields, its name, or None"),
    "clock": ((Callable, _NONE), "a function that gives milliseconds, or None"),
    "strict": ((bool,), "True or False"),
    "limits": ((Limits, _NONE), "a translate.Limits, or None"),
    "report": ((Report, _NONE), "a translate.Report, or None"),
    "trace": ((Trace, _NONE), "a translate.Trace, or None"),
}
"""Option → the types of its values, and what it takes. The others are of few words: see :func:`one_of`."""


def now() -> int:
    """The default clock: milliseconds of Unix time."""
    return time.time_ns() // 1_000_000


def as_model(model: ModelOption | None) -> Model:
    """The ``model`` option as a :class:`Model`. Raises ``TypeError``, or ``ValueError`` for a field that it has not."""
    if model is None:
        return Model()
    of_type("model", model)
    if isinstance(model, str):
        return Model(name=model)
    if isinstance(model, Mapping):
        unknown = [key for key in model if key not in _MODEL]
        if unknown:
            raise ValueError(f"model has no field {shown(unknown[0])}: its fields are {', '.join(_MODEL)}")
        model = Model(**model)
    for name in _MODEL:
        value = getattr(model, name)
        if value is not None and not isinstance(value, str):
            raise TypeError(f"the {name} of model is text or None, not {type(value).__name__}")
    return model


def as_clock(clock: Callable[[], int] | None) -> Callable[[], int]:
    """The ``clock`` option. It raises ``TypeError`` and ``ValueError``, when it is asked, for what is no time."""
    if clock is None:
        return now
    of_type("clock", clock)

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
    if strict is not True or limits is not None or report is not None:
        of_type("strict", strict)
        of_type("limits", limits)
        of_type("report", report)
    return Options(as_model(model), as_clock(clock), strict, limits or _DEFAULT, report)


def of_type(option: str, value: object) -> None:
    """Raises ``TypeError`` for an option that is of none of its types."""
    types, takes = _TAKES[option]
    if type(value) in types:
        return
    if not isinstance(value, types):
        raise TypeError(f"{option} is {takes}, not {shown(value)}")


def check_names(call: str, given: Collection[str], names: Collection[str]) -> None:
    """Raises ``TypeError`` for an option that a call has not, with the one that was meant."""
    for name in given:
        if name not in names:
            near = difflib.get_close_matches(name, names, 1)
            hint = f"; did you mean {near[0]!r}?" if near else "."
            raise TypeError(f"{call}() has no option {name!r}{hint} Its options are {', '.join(sorted(names))}")


def one_of(option: str, value: str, *allowed: str) -> None:
    """Raises ``ValueError`` for an option that is none of the words allowed."""
    if value not in allowed:
        raise ValueError(f"{option} is one of {', '.join(map(repr, allowed))}, not {shown(value)}")
