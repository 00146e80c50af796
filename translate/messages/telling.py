"""Telling what a translation of a document loses, assumes and mends, each with its class and its place."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias, get_args

from ..carry.losses import Finding, LossPolicy, Report
from ..errors import LossError

LossClass: TypeAlias = Literal["content", "control", "state", "tuning", "incidental"]
CLASSES: Final[tuple[LossClass, ...]] = get_args(LossClass)
RAISED: Final = ("content", "control")
"""Classes of losses that ``loss="raise"`` stops at."""


class Telling:
    """Where losses, guesses and repairs of one document go.

    ``quiet``: nothing is told, as what is written is only to be compared with.
    """

    __slots__ = ("policy", "quiet", "report")

    def __init__(self, report: Report | None = None, policy: LossPolicy = "drop", *, quiet: bool = False) -> None:
        self.report = report
        self.policy = policy
        self.quiet = quiet

    def lost(self, kind: LossClass, path: str, field: str, reason: str) -> None:
        """The target does not say what stands at ``path``. Raises :class:`LossError` where that was asked for."""
        if self.quiet:
            return
        if self.policy == "raise" and kind in RAISED:
            error = LossError(f"{path}: {reason}" if path else reason, field=field)
            error.path = path
            raise error
        if self.report is not None:
            carried = self.policy == "carry"
            self.report.add("losses", Finding(None, field, reason, kind == "content", carried, kind, path))

    def guess(self, path: str, field: str, reason: str) -> None:
        """Something was assumed."""
        self._note("guesses", path, field, reason)

    def repair(self, path: str, field: str, reason: str) -> None:
        """Something was said another way than it stood."""
        self._note("repairs", path, field, reason)

    def _note(self, where: Literal["guesses", "repairs"], path: str, field: str, reason: str) -> None:
        if self.report is not None and not self.quiet:
            self.report.add(where, Finding(None, field, reason, path=path))
