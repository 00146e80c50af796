"""What all requests of a service may hold in memory at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ..errors import TranslateError

SMALL = 64 * 1024
"""Bytes of output that are not counted: each stream has as many, whatever becomes of them."""
LITTLE = 4 * 1024
"""Bytes of input that are not counted one by one."""


class OverBudget(TranslateError):
    """All requests together would hold more than they may; ``code`` is 503, and ``fields`` say when to try again."""

    code = 503
    fields = ((b"retry-after", b"1"),)

    def __init__(self) -> None:
        super().__init__("all requests together hold as much as they may")


class Budget:
    """So many bytes, shared by all who :meth:`share` them; ``held`` is what they hold."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.held = 0

    def share(self) -> Share:
        """A part of it, of nothing yet."""
        return Share(self)


class Share:
    """What one request holds of a :class:`Budget`."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._held = self._units = self._part = self._new = 0

    def hold(self, size: int) -> None:
        """Hold so many bytes instead of those before. Raises :class:`OverBudget`, and holds what it held."""
        more = size - self._held
        if more > 0 and self._budget.held + more > self._budget.most:
            raise OverBudget
        self._budget.held += more
        self._held = size

    def read(self, size: int, units: int, part: Callable[[], int]) -> None:
        """Hold so many bytes of a stream more, ``units`` of which have come whole; then none of those before.

        ``part``: what the open part takes, instead of what it took. Where little is held, that is asked seldom.
        """
        self._new += size
        if self._new < LITTLE and self._held < LITTLE:
            return
        open, size, self._new = part(), self._new, 0
        self.hold(size + open + (self._held - self._part if units == self._units else 0))
        self._units, self._part = units, open

    @contextmanager
    def lent(self, size: int) -> Iterator[None]:
        """Hold so many bytes more while the block runs, in which a receiver takes them."""
        self.hold(self._held + size)
        try:
            yield
        finally:
            self.hold(self._held - size)

    def free(self) -> None:
        """Hold nothing any more."""
        self.hold(0)
