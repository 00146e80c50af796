"""The figures that OpenTelemetry's conventions for generative AI name, of streams of models.

Their buckets are those of the conventions. Labels are names of models and of who provides them, as streams say them: of
some few words, and so many different ones at most, since whoever answers chooses them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ._instruments import Instrument
from .observe import Stats

_OF_ALL = ("gen_ai.operation.name", "gen_ai.provider.name", "gen_ai.response.model")
_SECONDS = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92)
_FIRST = (0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0)
_PER_TOKEN = (0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1.0, 2.5)
_TOKENS = tuple(float(4**power) for power in range(14))
_NAME = re.compile(r"[\w.:/@+-]{1,64}", re.ASCII)
_MOST = 100
OPERATION = "chat"

DURATION = Instrument(
    *("histogram", "gen_ai.server.request.duration", "s", "From a stream's start to its end"),
    (*_OF_ALL, "error.type"),
    _SECONDS,
    general=True,
)
FIRST = Instrument(
    *("histogram", "gen_ai.server.time_to_first_token", "s", "From a stream's start to the output of its first unit"),
    _OF_ALL,
    _FIRST,
    general=True,
)
PER_TOKEN = Instrument(
    *("histogram", "gen_ai.server.time_per_output_token", "s", "Mean time from a token to the next, behind the first"),
    _OF_ALL,
    _PER_TOKEN,
    general=True,
)
TOKENS = Instrument(
    *("histogram", "gen_ai.client.token.usage", "{token}", "Tokens that a stream says it took"),
    (*_OF_ALL, "gen_ai.token.type"),
    _TOKENS,
    general=True,
)
GEN_AI = (DURATION, FIRST, PER_TOKEN, TOKENS)


class Names:
    """Names that become labels: as they are, where they look like names, and there are not too many; else ``other``."""

    def __init__(self) -> None:
        self._known: set[str] = set()

    def __call__(self, name: str | None) -> str:
        """The label that stands for a name; ``unknown`` for none."""
        if name is None or name == "unknown":
            return "unknown"
        if name not in self._known:
            if len(self._known) >= _MOST or not _NAME.fullmatch(name):
                return "other"
            self._known.add(name)
        return name


def moves_of(stats: Stats, names: Names) -> Iterator[tuple[Instrument, float, tuple[str, ...]]]:
    """What a stream that ended adds: to which instrument, how much, and its labels."""
    if stats.outcome == "passed":
        return
    said = OPERATION, names(stats.provider or stats.src), names(stats.model)
    yield DURATION, stats.duration, (*said, "" if stats.outcome == "finished" else str(stats.outcome))
    if stats.first is not None:
        yield FIRST, stats.first, said
    if stats.last is not None and stats.first is not None and (stats.output_tokens or 0) > 1:
        yield PER_TOKEN, max(stats.last - stats.first, 0.0) / ((stats.output_tokens or 0) - 1), said
    for kind, count in (("input", stats.input_tokens), ("output", stats.output_tokens)):
        if count is not None:
            yield TOKENS, count, (*said, kind)
