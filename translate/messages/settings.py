"""Settings of requests: their names in the algebra, what each may be, and the class of its loss."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from .members import Members
from .nodes import Setting
from .telling import LossClass


class Known(NamedTuple):
    """``kind``: the type of its value (``float``: any number; ``None``: any). ``loss``: the class of its loss."""

    kind: type | None
    loss: LossClass = "tuning"


SETTINGS: Final[dict[str, Known]] = {
    "max_tokens": Known(int),
    "temperature": Known(float),
    "top_p": Known(float),
    "top_k": Known(float),
    "stop": Known(list, "control"),
    "seed": Known(int),
    "presence_penalty": Known(float),
    "frequency_penalty": Known(float),
    "logit_bias": Known(dict),
    "logprobs": Known(bool),
    "top_logprobs": Known(int),
    "candidates": Known(int, "control"),
    "user": Known(str),
    "metadata": Known(dict),
    "service": Known(str),
    "verbosity": Known(str),
    "caching": Known(None),
    "safety": Known(None),
    "modalities": Known(list),
}
"""Name → what is known of it. ``service`` is ``fast``; other words of a codec are its residue."""

SAMPLED: Final = ("temperature", "top_p", "top_k", "seed", "presence_penalty", "frequency_penalty")
"""Those of sampling, which some servers do not take."""


def read_settings(members: Members, words: Mapping[str, str]) -> dict[str, Setting]:
    """The settings that a codec has simple members for; ``words``: member → name."""
    out: dict[str, Setting] = {}
    for member, name in words.items():
        value = members.take(member, SETTINGS[name].kind)
        if value is not None and name not in out:
            out[name] = Setting(value, members.at(member))
    return out
