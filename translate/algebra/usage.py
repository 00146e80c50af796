"""Counts of tokens as they come in: cumulative, the latest stands."""

from __future__ import annotations

from .events import TokenCounts


def latest(counts: TokenCounts, before: TokenCounts | None) -> TokenCounts:
    """What is known once ``counts`` came after ``before``: what they leave unknown is as it was."""
    if before is None:
        return counts
    return TokenCounts(
        before.input_tokens if counts.input_tokens is None else counts.input_tokens,
        before.output_tokens if counts.output_tokens is None else counts.output_tokens,
        before.cached_tokens if counts.cached_tokens is None else counts.cached_tokens,
        before.reasoning_tokens if counts.reasoning_tokens is None else counts.reasoning_tokens,
        before.provider if counts.provider is None else counts.provider,
        {**before.other, **counts.other},
    )
