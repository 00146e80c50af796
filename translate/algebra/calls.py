"""What is true of calls in every format: made-up ids (of messages too), and arguments that are or are not whole."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from .. import jsontext
from ..errors import DecodeError, ToolArgumentsError, TranslateError
from .events import JsonObject, Open, ReasonWord
from .reading import kind_of

BLANK: Final = " \t\n\r"
"""What JSON takes for white space: arguments of nothing else are blank, and mean ``{}`` in a call that was not cut."""
_MADE: Final = "made_"


def made_id(n: int) -> str:
    """The id of the stream's call ``n``, from 0, where its wire gave none and the format demands one."""
    return f"{_MADE}{n}"


def made_stem(now: float) -> str:
    """What other ids are made of that nobody gave, at ``now``, milliseconds of Unix time."""
    # a clock may tell fractions, or a time before 1970
    return f"{max(0, int(now)):x}"


def same_call(said: Open, meant: Open) -> bool:
    """Whether a call that was said is the one meant: a made-up id stands for none."""
    if said.name != meant.name:
        return False
    return said.id == meant.id or (not meant.id and said.id is not None and said.id.startswith(_MADE))


def is_whole(raw: str, nesting: int) -> bool:
    """Whether the arguments of a call that was cut off are a whole object all the same, ``nesting`` levels at most."""
    try:
        return bool(raw.strip(BLANK)) and isinstance(jsontext.loads_str(raw, nesting), dict)
    except TranslateError:
        return False


def parse_arguments(raw: str, name: str, id: str, nesting: int) -> JsonObject:
    """A call's arguments as an object, as readers take them: blank is ``{}``, exact integers, the last duplicate wins.

    Raises :class:`ToolArgumentsError`, and :class:`LimitExceeded` for more than ``nesting`` levels.
    """
    if not raw.strip(BLANK):
        return {}
    try:
        value = jsontext.loads_str(raw, nesting)
    except DecodeError as error:
        position = getattr(error.__cause__ or error.__context__, "pos", None)
        what = f"the arguments of the call {name!r} are not JSON ({error.what})"
        raise ToolArgumentsError(what, name=name, id=id, raw=raw, position=position) from None
    if not isinstance(value, dict):
        what = f"the arguments of the call {name!r} are {kind_of(value)}"
        raise ToolArgumentsError(what, name=name, id=id, raw=raw, position=None)
    return value


def word_to_act_on(word: ReasonWord, *, calls: bool) -> ReasonWord:
    """The word for a format whose clients run calls on its own word for them; ``calls``: the message holds some.

    To say another word than the source's is a guess, to be reported.
    """
    return "tool_call" if calls and word == "stop" else word


FREE: Final = '{"input":"'
FREE_END: Final = '"}'
"""Around the free text of a tool that takes no JSON, which so becomes arguments."""


def escaped(text: str) -> str:
    """Free text as it stands in the arguments."""
    return jsontext.dumps(text).decode("utf-8", "surrogatepass")[1:-1]


def unescaped(text: str) -> str:
    """The way back; text that is none of it stays as it is."""
    try:
        found = jsontext.loads_str(f'"{text.removeprefix(FREE)}"')
    except TranslateError:
        return text
    return found if type(found) is str else text


class Arguments:
    """The growing argument text of one call, and whether it is one whole JSON value.

    Its pieces are looked at where that is asked, each once: time is linear in the text. A bare number or word may go
    on; it is taken for whole where it is short and is one now.
    """

    __slots__ = ("_looked", "_nesting", "_pieces", "_size", "_state", "_whole")

    def __init__(self, nesting: int) -> None:
        """``nesting``: levels of the value, at most."""
        self._nesting = nesting
        self._pieces: list[str] = []
        self._looked = self._size = 0
        self._state = _State(0, False, False, False, False)
        self._whole: bool | None = None

    def add(self, piece: str) -> None:
        """More of it."""
        self._pieces.append(piece)
        self._size += len(piece)
        if self._whole and piece.strip(BLANK):
            self._whole = False

    def whole(self, more: str = "") -> bool:
        """Whether it is one whole value, with ``more`` behind it."""
        for i in range(self._looked, len(self._pieces)):
            self._state = _scanned(self._state, self._pieces[i])
        self._looked = len(self._pieces)
        state = _scanned(self._state, more) if more else self._state
        if state.stray and self._size + len(more) <= _BARE:
            return _is_json("".join([*self._pieces, more]), self._nesting)
        if not state.ended or state.stray:
            return False
        if self._state.ended and self._whole is not None:
            return self._whole
        found = _is_json("".join([*self._pieces, more]), self._nesting)
        if self._state.ended:
            self._whole = found
        return found


_BARE: Final = 32
"""Characters of a bare number or word, at most."""


class _State(NamedTuple):
    """Where a text stands in JSON. ``ended``: a value is over; ``stray``: something else came at its place."""

    depth: int
    in_text: bool
    escaped: bool
    ended: bool
    stray: bool


_IN_TEXT: Final = re.compile(r'["\\]')
_IN_VALUE: Final = re.compile(r'["{}\[\]]')
_OUTSIDE: Final = re.compile(r"[^ \t\r\n]")


def _scanned(state: _State, text: str) -> _State:
    depth, in_text, escaped, ended, stray = state
    at = 0
    while at < len(text) and not stray:
        if escaped:
            escaped, at = False, at + 1
            continue
        found = (_IN_TEXT if in_text else _IN_VALUE if depth else _OUTSIDE).search(text, at)
        if found is None:
            break
        at, mark = found.end(), found[0]
        if in_text:
            escaped = mark == "\\"
            in_text = escaped
        elif ended or mark not in '"{}[]':
            stray = True
        elif mark == '"':
            in_text = True
        else:
            depth += 1 if mark in "{[" else -1
        ended = ended or (depth <= 0 and not in_text and not stray)
    return _State(depth, in_text, escaped, ended, stray)


def _is_json(text: str, nesting: int) -> bool:
    try:
        jsontext.loads_str(text, nesting)
    except TranslateError:
        return False
    return True
