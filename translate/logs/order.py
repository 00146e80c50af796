"""Places in the order of a stream: numbers, times, and text that is numbered, made such that they compare.

1. Numbers are compared as what they are. Text that is a number everywhere is one; so are floats and decimals that are
   whole everywhere integers.
2. Text that is a date with a time of day everywhere, as RFC 3339 and ISO 8601 write it, is compared as time: fractions
   of any length, time zones of any kind, or none anywhere.
3. Other text is compared field by field, as punctuation parts it. A field that is digits everywhere, but for the same
   letters before and behind, is a number; one of one width everywhere is text. So Redis ids, ULIDs and names with a
   number in them have their order.
4. What has no order by these is refused: it would put units anywhere.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from typing import Any

from ..errors import GrammarError, shown

_LONGEST = 1000
"""Characters of a place at most."""
_NUMBER = re.compile(r"[+-]?\d+(?:\.(\d+))?")
_EPOCH = 10**8
"""Numbers with a fraction from here on are seconds of time, which are written without the zeros at their end."""
_TIME = re.compile(
    r"(\d{4}-\d\d-\d\d|\d{8})[Tt ](\d\d):?(\d\d)(?::?(\d\d)(?:[.,](\d+))?)? ?"
    r"([Zz]|UTC|([+-])(\d\d):?(\d\d)?)?",
    re.ASCII,
)
_CLOCK = re.compile(r"\d:\d\d:\d\d")
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-([0-9a-f])[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE)
_BETWEEN = re.compile(r"([\W_]+)")
_NUMBERED = re.compile(r"(\D*)(\d+)(\D*)")


def comparable(orders: Sequence[Any]) -> list[Any]:
    """For each place of one stream what it is compared by: integers where all of them are whole numbers.

    Places are text, integers, floats and decimals. Raises :class:`GrammarError` where they have no order.
    """
    if {*map(type, orders)} == {int}:
        return list(orders)
    text = [isinstance(order, str) for order in orders]
    if all(text):
        return _of_text(orders)
    if any(text):
        raise GrammarError("the order has text among numbers")
    return _whole(orders)


def _whole(numbers: Sequence[Any]) -> list[Any]:
    """Numbers, as integers where all of them are whole."""
    return [int(number) for number in numbers] if all(map(_is_whole, numbers)) else list(numbers)


def _is_whole(number: Any) -> bool:
    if isinstance(number, Decimal):
        return number.is_finite() and number == number.to_integral_value()
    return type(number) is int or (isinstance(number, float) and number.is_integer())


def _of_text(orders: Sequence[str]) -> list[Any]:
    if any(len(order) > _LONGEST for order in orders):
        raise GrammarError(f"a place in the order has more than {_LONGEST} characters")
    numbers = [_NUMBER.fullmatch(order) for order in orders]
    if all(numbers):
        return _numbers(orders, {len(found[1] or "") for found in numbers if found})
    times = [_time(order) for order in orders]
    found = [time for time in times if time is not None]
    if len(found) == len(times):
        if len({zoned for zoned, *_ in found}) > 1:
            raise GrammarError("the order has times with a zone, and without one")
        return found
    other = next((order for order in orders if _CLOCK.search(order)), None)
    if other is not None:
        what = f"the order has a time that is not read: {shown(other)}"
        raise GrammarError(what, expected="a date and a time, RFC 3339")
    ids = [_UUID.fullmatch(order) for order in orders]
    if all(ids):
        if any(found[1] not in "67" for found in ids if found):
            raise GrammarError("the order is of UUIDs that say no time", expected="those of version 6 or 7")
        return [order.lower() for order in orders]
    return _fields(orders)


def _numbers(orders: Sequence[str], widths: set[int]) -> list[Any]:
    found = _whole([Decimal(order) for order in orders])
    if len(widths) > 1 and max(map(abs, found)) < _EPOCH:
        counted = [tuple(map(int, order.split("."))) for order in orders]
        if _sorted(found) != _sorted(counted):
            raise GrammarError("the order may be numbers with a fraction, or counts with a dot between them")
    return found


def _sorted(keys: Sequence[Any]) -> list[int]:
    return sorted(range(len(keys)), key=keys.__getitem__)


def _time(text: str) -> tuple[bool, int, Decimal] | None:
    """Whether a time has a zone, its seconds, and their fraction."""
    found = _TIME.fullmatch(text)
    if found is None:
        return None
    day, hour, minute, second, fraction, zone, sign, hours, minutes = found.groups()
    if int(hour) > 23 or int(minute) > 59 or int(second or 0) > 60:
        return None
    try:
        days = date.fromisoformat(day).toordinal()
    except ValueError:
        return None
    offset = (int(hours or 0) * 60 + int(minutes or 0)) * (-1 if sign == "-" else 1)
    seconds = (days * 24 * 60 + int(hour) * 60 + int(minute) - offset) * 60 + int(second or 0)
    return zone is not None, seconds, Decimal(f"0.{fraction or 0}")


def _fields(orders: Sequence[str]) -> list[Any]:
    pieces = [_BETWEEN.split(order) for order in orders]
    if len({tuple(each[1::2]) for each in pieces}) > 1:
        raise _no_order(orders)
    columns = [_column([each[index] for each in pieces], orders) for index in range(0, len(pieces[0]), 2)]
    return list(zip(*columns, strict=True))


def _column(fields: Sequence[str], orders: Sequence[str]) -> list[Any]:
    found = [_NUMBERED.fullmatch(field) for field in fields]
    if all(found) and len({each.group(1, 3) for each in found if each}) == 1:
        return [int(each[2]) for each in found if each]
    if len(set(map(len, fields))) > 1:
        raise _no_order(orders)
    return list(fields)


def _no_order(orders: Sequence[str]) -> GrammarError:
    examples = " and ".join(map(shown, list(dict.fromkeys(orders))[:2]))
    return GrammarError(f"the order has text of different forms, such as {examples}", expected="numbers, or times")
