"""Which records are converted: an expression of JMESPath, https://jmespath.org, over each. Needs jmespath.

1. It sees a record as it is, and beside its own members ``url``, ``method``, ``status``, ``type`` (the media type of
   the answer) and ``model``, where its container has them.
2. A record is chosen where the expression is true: neither null, false nor empty. One that it cannot be asked of, such
   as ``contains(url, 'x')`` without a ``url``, is not.
3. Long strings are not seen.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from importlib import import_module
from typing import Any, TypeAlias

from .places import MissingExtra

Chosen: TypeAlias = "Callable[[dict[str, Any]], bool]"


class BadExpression(ValueError):
    """It is none of JMESPath."""


@lru_cache(8)
def selection(where: str | None) -> Chosen | None:
    """What tells whether a record is chosen; ``None`` where all are. Raises :class:`BadExpression`."""
    if where is None:
        return None
    try:
        jmespath: Any = import_module("jmespath")
        errors: Any = import_module("jmespath.exceptions")
    except ImportError:
        raise MissingExtra("jmespath is not installed: pip install -e '.[logs]', in the project's checkout") from None
    try:
        expression = jmespath.compile(where)
    except errors.JMESPathError as error:
        raise BadExpression(f"no expression of JMESPath: {error}") from None

    def chosen(record: dict[str, Any]) -> bool:
        try:
            found = expression.search(record)
        except errors.JMESPathError:
            return False
        return found is not None and found is not False and found not in ("", [], {})

    return chosen
