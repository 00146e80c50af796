"""What stands between the two ends of a translation, and changes the events on their way."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

from ..algebra.events import Event
from .runs import Run
from .translator import Translator


class Stage(ABC):
    """Changes the events of one stream; what it gives out follows the grammar as what it takes does."""

    @abstractmethod
    def take(self, events: Sequence[Event]) -> Sequence[Event]:
        """What becomes of the events of one unit."""

    @abstractmethod
    def grow(self, text: str) -> Sequence[Event]:
        """Plain fragments of the open part come, with this text: what is to be said before them."""


class Staged(Translator[bytes]):
    """A translation with a stage between its ends, to a format of bytes."""

    def __init__(self, src: str, dst: str, stage: Stage, **options: Any) -> None:
        self._stage = stage
        super().__init__(src, dst, **options)

    def _takers(self) -> tuple[Callable[[Sequence[Event]], None], Callable[[Run], object]]:
        stage, writing = self._stage, self._writing

        def emit(events: Sequence[Event]) -> None:
            writing.encode_all(stage.take(events))

        def run(run: Run) -> None:
            if before := stage.grow(run.text):
                writing.encode_all(before)
            writing.run(run)

        return emit, run
