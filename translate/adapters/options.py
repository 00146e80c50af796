"""What all adapters can be told."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeAlias, TypedDict

from ..carry.losses import LossPolicy
from ..engine.options import ModelOption
from ..limits import Limits

Sink: TypeAlias = Callable[[bytes], Awaitable[None]]
"""Takes output, and returns when it wants more. ``OSError`` and the errors of anyio's streams: the receiver left."""


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Seconds that each wait may take, ``None`` for ever. Passing one ends the stream with :class:`StreamTimeout`.

    ``first``    from the start, opening the source included, to the first unit
    ``idle``     until the source says more, if only a comment; with ``first``, only after it has said something
    ``total``    from the start to the end
    ``write``    until the receiver has taken a piece of output
    ``between``  from one unit to the next, whatever else the source says; with ``first``, only after the first one
    """

    first: float | None = None
    idle: float | None = None
    total: float | None = None
    write: float | None = None
    between: float | None = None


class StreamOptions(TypedDict, total=False):
    """The options of a conversion: see :func:`translate.convert`. What is lost is in :class:`Stats`."""

    model: ModelOption | None
    clock: Callable[[], int] | None
    loss: LossPolicy
    strict: bool
    limits: Limits | None
