"""JSON, exactly: the one place that reads and writes it.

Policy:

1. ``orjson`` first. What it refuses is read by the exact path (the standard library): integers beyond 64 bits, lone
   surrogate escapes, ``NaN``, ``Infinity``, numbers beyond a double.
2. ``orjson`` reads an integer beyond 64 bits as a float without a word. Whoever takes a float or a nested value from
   a unit must have it through :func:`loads`; only a unit whose members are all text, small integers or null may be
   read by ``orjson.loads`` alone. :func:`doubtful` tells of a value that was so read.
3. A number beyond a double keeps its spelling (:class:`Beyond`); where it is asked for, so does any (:class:`Spelled`).
4. Writing is compact, without escapes but those that JSON demands, and U+0085, U+2028 and U+2029, which break the
   lines of some readers. ``orjson`` writes NaN as ``null`` without a word, so a value with a ``null`` in its text
   is looked through unless its own members are as many. What it cannot write goes through the exact path.
5. Nesting beyond the limit is refused before it is read, in text that is long enough to close what it opens; shorter
   text is no JSON then, and is refused as that. Where the limit is raised, the interpreter's own limit of
   recursion stands, under its own name.
6. Strict text (the carry, ``events-jsonl``) holds no ``NaN``: a number that JSON has not is ``{"$number": "NaN"}``,
   and a member whose name begins with ``$`` gets one more ``$``.
"""

from __future__ import annotations

import json
import math
import re
from base64 import b64encode
from json.encoder import encode_basestring
from typing import Any, Self

import orjson

from .errors import DecodeError, LimitExceeded, excerpt, not_utf8, too_deep

NESTING = 256
_MANY = 8
_DIGITS = bytes(ord("0") if byte in b"0123456789" else ord(" ") for byte in range(256))
_LONG = b"0" * 19
_SAMPLED = 1024
_LARGE = 2.0**63
# possessive, and an open end: text without its closing quote is scanned once
_BRACKETS = re.compile(rb'"(?:[^"\\]++|\\.)*+"?|[\[{]|[\]}]', re.DOTALL)
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_SURROGATE = re.compile("[\ud800-\udfff]")
_CONTROL = re.compile("[\ud800-\udfff\x85\u2028\u2029]")
_SEPARATORS = ((b"\xc2\x85", b"\\u0085"), (b"\xe2\x80\xa8", b"\\u2028"), (b"\xe2\x80\xa9", b"\\u2029"))
RESPELLED = re.compile(rb"\\u|\\/|" + b"|".join(raw for raw, _ in _SEPARATORS))
"""Finds what the inside of a valid JSON string may hold that is spelled otherwise here, or may be (policy 4)."""


class Spelled(float):
    """A number that keeps its spelling: equal to any other of its value."""

    text: str

    def __new__(cls, text: str) -> Self:
        """From the spelling."""
        self = super().__new__(cls, text)
        self.text = text
        return self

    def __getnewargs__(self) -> tuple[str]:  # type: ignore[override]
        return (self.text,)


class Beyond(Spelled):
    """A number beyond a double, ``inf`` to arithmetic: equal where it is spelled so."""


def _float(text: str) -> float:
    value = float(text)
    return Beyond(text) if math.isinf(value) else value


def _spelled(text: str) -> float:
    value = _float(text)
    return value if isinstance(value, Beyond) or float.__repr__(value) == text else Spelled(text)


def _integer(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise LimitExceeded("digits", 4300, what=f"an integer of {len(text)} digits") from None


_EXACT = json.JSONDecoder(parse_float=_float, parse_int=_integer)
_AS_SPELLED = json.JSONDecoder(parse_float=_spelled, parse_int=_integer)


def doubtful(raw: bytes, value: Any) -> bool:
    """Whether ``orjson``, which read ``value``, may have changed a number of ``raw`` without a word."""
    # of so many digits, three would be among each sixth byte, side by side
    if (len(raw) > _SAMPLED and b"000" not in raw[::6].translate(_DIGITS)) or _LONG not in raw.translate(_DIGITS):
        return False
    # such an integer is a float now that none of 64 bits comes to
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if type(item) is list and {*map(type, item)} == {float}:
            item = max(map(abs, item))
        if type(item) is float and abs(item) >= _LARGE:
            return True
        waiting.extend(item.values() if type(item) is dict else item if type(item) is list else ())
    return False


def loads(raw: bytes, nesting: int = NESTING, *, spelled: bool = False, read: Any = None) -> Any:
    """The value of one JSON text in UTF-8; ``spelled``: its numbers keep their spelling.

    ``read``: what ``orjson`` read of it, within ``nesting`` levels, where it was asked before.

    Raises :class:`DecodeError` for bytes that are not UTF-8 or not JSON, and :class:`LimitExceeded` for more than
    ``nesting`` levels or an integer of more than 4,300 digits.
    """
    if read is None and len(raw) > 2 * nesting and raw.count(b"[") + raw.count(b"{") > nesting:
        check_nesting(raw, nesting)
    if not spelled:
        try:
            value = orjson.loads(raw) if read is None else read
            if not doubtful(raw, value):
                return value
        except orjson.JSONDecodeError:
            pass
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise not_utf8(raw, error) from None
    return loads_text(text, spelled=spelled)


def loads_str(text: str, nesting: int = NESTING, *, spelled: bool = False) -> Any:
    """As :func:`loads`, of text, which unlike UTF-8 may hold half of a surrogate pair."""
    text = whole(text)
    try:
        return loads(text.encode("utf-8"), nesting, spelled=spelled)
    except UnicodeEncodeError:
        check_nesting(text.encode("utf-8", "surrogatepass"), nesting)
        return loads_text(text, spelled=spelled)


def loads_text(text: str, *, spelled: bool = False) -> Any:
    """The exact path: as the standard library reads it, white space around the value allowed."""
    try:
        return (_AS_SPELLED if spelled else _EXACT).decode(text)
    except json.JSONDecodeError as error:
        raise DecodeError(f"not JSON: {error.msg} at character {error.pos}", excerpt=excerpt(text)) from None
    except RecursionError:
        raise too_deep() from None


def check_nesting(raw: bytes, limit: int) -> None:
    """Raises :class:`LimitExceeded` where ``raw`` nests deeper than ``limit`` levels."""
    depth = 0
    for match in _BRACKETS.finditer(raw):
        token = match[0]
        if token in b"[{":
            depth += 1
            if depth > limit:
                raise LimitExceeded("nesting", limit)
        elif token in b"]}":
            depth -= 1


def dumps(value: Any) -> bytes:
    """The compact JSON text of ``value`` in UTF-8, every number and code unit as it is (policy 4)."""
    out = _dumps(value)
    return _exact(value).encode("utf-8") if out is None else out


def dumps_plain(value: Any) -> bytes:
    """As :func:`dumps`, of a value that holds text, integers, true, false and null alone."""
    try:
        out = orjson.dumps(value)
    except TypeError:
        return dumps(value)
    return out if out.isascii() else _escape_separators(out)


def _dumps(value: Any) -> bytes | None:
    """As ``orjson`` writes it, with separators escaped; ``None`` where it cannot, or would change a number."""
    try:
        out = orjson.dumps(value)
    except TypeError:
        return None
    nulls = out.count(b"null")
    # where each of them is a member's own null, none is left to stand for a number
    if nulls and not (type(value) is dict and [*value.values()].count(None) == nulls) and _has_unreal(value):
        return None
    return out if out.isascii() else _escape_separators(out)


def _escape_separators(out: bytes) -> bytes:
    """Text of JSON with the line separators that some readers split at escaped."""
    for raw, escaped in _SEPARATORS:
        out = out.replace(raw, escaped)
    return out


def dumps_strict(value: Any) -> bytes:
    """As :func:`dumps`, and strict JSON whatever the value holds (policy 6)."""
    try:
        plain = orjson.dumps(value)
        if plain.isascii() and b"$" not in plain and b"null" not in plain:
            return plain
    except TypeError:
        pass
    out = _dumps(value)
    return dumps(to_strict(value)) if out is None or b"$" in out else out


def to_strict(value: Any) -> Any:
    """``value`` with the numbers that JSON has not written as objects; itself where nothing is to be done."""
    if type(value) is dict:
        new = {("$" + k if k[:1] == "$" else k): to_strict(v) for k, v in value.items()}
        kept = not any(k[:1] == "$" for k in value)
        return value if kept and all(a is b for a, b in zip(new.values(), value.values(), strict=True)) else new
    if type(value) is list:
        items = [to_strict(v) for v in value]
        return items if any(a is not b for a, b in zip(items, value, strict=True)) else value
    if isinstance(value, float) and not math.isfinite(value):
        return {"$number": _real(value)}
    return value


def from_strict(value: Any) -> Any:
    """The reverse of :func:`to_strict`: of the value of text that :func:`dumps_strict` wrote."""
    if type(value) is dict:
        if len(value) == 1 and isinstance(spelling := value.get("$number"), str):
            return _unreal(spelling)
        return {(k[1:] if k[:2] == "$$" else k): from_strict(v) for k, v in value.items()}
    if type(value) is list:
        return [from_strict(v) for v in value]
    return value


def _unreal(spelling: str) -> float:
    if spelling in ("NaN", "Infinity", "-Infinity"):
        return float(spelling)
    if _NUMBER.fullmatch(spelling) and math.isinf(number := _float(spelling)):
        return number
    expected = "NaN, Infinity, or a number beyond a double"
    raise DecodeError("a member '$number' that is none", expected=expected, excerpt=excerpt(spelling))


def same(a: Any, b: Any) -> bool:
    """Equality as JSON values: 1 is not 1.0 nor true, 1.0 is 1.00, NaN is NaN, text is compared by code unit."""
    if a is b:
        return True
    kind = type(a)
    if kind is not type(b):
        return isinstance(a, float) and isinstance(b, float) and _real(a) == _real(b)
    if kind is str:
        return a == b or (not a.isascii() and units(a) == units(b))
    if kind is dict:
        # most are texts that are equal: they are not worth a call
        return a.keys() == b.keys() and all((type(v) is str and v == b[k]) or same(v, b[k]) for k, v in a.items())
    if kind is list:
        if len(a) > _MANY and a == b and {*map(type, a)} == {float} == {*map(type, b)} and 0.0 not in a:
            # a vector
            return True
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, float):
        # zero has a sign
        return bool(a == b and a and kind is float) or _real(a) == _real(b)
    return bool(a == b)


def units(text: str) -> bytes:
    """The UTF-16 code units of ``text``: what JSON text is made of, lone surrogates included."""
    return text.encode("utf-16-le", "surrogatepass")


def has_surrogates(text: str) -> bool:
    """Whether halves of pairs are in a text."""
    return not text.isascii() and _SURROGATE.search(text) is not None


def whole(text: str) -> str:
    """``text`` with surrogate pairs that were joined from two fragments made one character."""
    return units(text).decode("utf-16-le", "surrogatepass") if has_surrogates(text) else text


def _real(value: float) -> str:
    """A number, however it is spelled."""
    if isinstance(value, Beyond):
        return value.text
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return float.__repr__(value)


def _has_unreal(value: Any) -> bool:
    """Whether a number of ``value`` is none that JSON has."""
    within: list[Any] = [(value,)]
    for top in within:
        for item in top if type(top) is list else top.values() if isinstance(top, dict) else top:
            cls = type(item)
            if cls is str or cls is int or item is None:
                continue
            if cls is dict or cls is list:
                within.append(item)
            elif cls is float:
                if not math.isfinite(item):
                    return True
            elif isinstance(item, (dict, list, tuple)):
                within.append(item)
    return False


def _exact(value: Any) -> str:
    """The exact writer, without recursion: a stack of iterators and of what closes them."""
    out: list[str] = []
    stack: list[tuple[Any, str, int]] = []
    within: set[int] = set()
    pending: Any = value
    while True:
        if isinstance(pending, (dict, list, tuple)):
            if id(pending) in within:
                raise DecodeError("a value that holds itself has no JSON form")
            within.add(id(pending))
            opening, closing = "{}" if isinstance(pending, dict) else "[]"
            out.append(opening)
            stack.append((iter(pending.items() if isinstance(pending, dict) else pending), closing, id(pending)))
        else:
            out.append(_scalar(pending))
        while stack:
            items, closing, holder = stack[-1]
            try:
                item = next(items)
            except StopIteration:
                out.append(closing)
                within.discard(holder)
                stack.pop()
                continue
            if out[-1] not in "[{":
                out.append(",")
            if closing == "}":
                if not isinstance(item[0], str):
                    raise DecodeError(f"a member name of type {type(item[0]).__name__} has no JSON form")
                out.append(_string(item[0]) + ":")
                item = item[1]
            pending = item
            break
        else:
            return "".join(out)


def _scalar(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        try:
            return int.__repr__(value)
        except ValueError:
            raise LimitExceeded("digits", 4300, what="an integer of more than 4,300 digits") from None
    if isinstance(value, float):
        return value.text if isinstance(value, Spelled) else _real(value)
    if isinstance(value, bytes):
        return f'"{b64encode(value).decode("ascii")}"'
    raise DecodeError(f"a value of type {type(value).__name__} has no JSON form")


def check_value(value: Any, nesting: int = NESTING) -> None:
    """Raises for a Python value that is no JSON value (:class:`DecodeError`) or nests too deeply.

    ``bytes`` are allowed: they have a form in JSON, which is base64 text.
    """
    stack: list[tuple[Any, int]] = [(value, 1)]
    while stack:
        top, depth = stack.pop()
        if isinstance(top, (dict, list)):
            if depth > nesting:
                raise LimitExceeded("nesting", nesting)
            if isinstance(top, dict) and not all(isinstance(key, str) for key in top):
                raise DecodeError("an object with a member name that is no text", expected="text")
            stack += [(item, depth + 1) for item in (top.values() if isinstance(top, dict) else top)]
        elif top is not None and not isinstance(top, (str, int, float, bytes)):
            raise DecodeError(f"a value of type {type(top).__name__} has no JSON form")


def copied(value: Any) -> Any:
    """A copy of a JSON value that shares nothing that can change with it."""
    within: list[Any] = [[value]]
    for node in within:
        for key, item in node.items() if isinstance(node, dict) else enumerate(node):
            if isinstance(item, (dict, list)):
                node[key] = copy = item.copy()
                within.append(copy)
    return within[0][0]


def _string(text: str) -> str:
    return _CONTROL.sub(lambda m: f"\\u{ord(m[0]):04x}", encode_basestring(whole(text)))
