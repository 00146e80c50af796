"""The switch for runs, which benchmarks and tests alone use, and a count of Python's calls."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from importlib import import_module
from types import FrameType, ModuleType
from typing import ParamSpec
from unittest.mock import patch

MODULE = "translate.engine.runs"
P = ParamSpec("P")


def switch() -> ModuleType | None:
    """The module whose ``ON`` says whether runs are taken together; ``None`` where the engine has no such switch."""
    try:
        module = import_module(MODULE)
    except ModuleNotFoundError:
        return None
    return module if hasattr(module, "ON") else None


@contextmanager
def runs(on: bool) -> Iterator[None]:
    """Runs on or off while the block runs. Without a switch nothing changes."""
    module = switch()
    with nullcontext() if module is None else patch.object(module, "ON", on):
        yield


def calls(work: Callable[P, object], *args: P.args, **kwargs: P.kwargs) -> int:
    """How many Python functions ``work`` calls, itself included; each step of a generator is a call, C's are none."""
    count = 0

    def seen(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal count
        count += event == "call"

    before = sys.getprofile()
    sys.setprofile(seen)
    try:
        work(*args, **kwargs)
    finally:
        sys.setprofile(before)
    return count
