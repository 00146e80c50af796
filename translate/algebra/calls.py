"""What is true of calls in every format: made-up ids, and arguments that are or are not whole."""

from __future__ import annotations

from typing import Final

from .. import jsontext
from ..errors import TranslateError
from .events import Open, ReasonWord

BLANK: Final = " \t\n\r"
"""What JSON takes for white space: arguments of nothing else are blank, and mean ``{}`` in a call that was not cut."""
_MADE: Final = "made_"


def made_id(n: int) -> str:
    """The id of the stream's call ``n``, from 0, where its wire gave none and the format demands one."""
    return f"{_MADE}{n}"


def same_call(said: Open, meant: Open) -> bool:
    """Whether a call that was said is the one meant: a made-up id stands for none."""
    if said.name != meant.name:
        return False
    return said.id == meant.id or (not meant.id and said.id is not None and said.id.startswith(_MADE))


def is_whole(raw: str) -> bool:
    """Whether the arguments of a call that was cut off are a whole object all the same."""
    try:
        return bool(raw.strip(BLANK)) and isinstance(jsontext.loads_str(raw), dict)
    except TranslateError:
        return False


def word_to_act_on(word: ReasonWord, *, calls: bool) -> ReasonWord:
    """The word for a format whose clients run calls on its own word for them; ``calls``: the message holds some.

    To say another word than the source's is a guess, to be reported.
    """
    return "tool_call" if calls and word == "stop" else word
