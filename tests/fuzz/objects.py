"""Units as objects, and a consumer that spoils all that it gets, and all that it gave.

Events are values that nobody changes: of those only that they stay as they are is looked at.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from typing import Any

from translate import TranslateError, Translator, jsontext
from translate.algebra.json_form import from_json

from . import laws
from .choices import Choices, parted
from .laws import check
from .spelling import stream

FORMATS = (*laws.OBJECTS, "events")


def _units(choices: Choices, format: str) -> list[Any]:
    """Units of a stream that are objects, mostly."""
    out: list[Any] = []
    for line in stream(choices, format, "jsonl"):
        try:
            unit = jsontext.loads(line)
            out.append(from_json(jsontext.from_strict(unit)) if format == "events" else unit)
        except TranslateError:
            continue
    return out


def objects(data: bytes) -> None:
    """No two units share what can change, and none is shared with the input or the library."""
    head, rest = parted(data)
    src, dst = head.of(FORMATS), head.of([*FORMATS, "gateway-sse", "unievent-sse"])
    options: dict[str, Any] = {
        "strict": not head.rarely(3),
        "loss": head.of(["carry", "carry", "drop"]),
        "errors": head.of(["raise", "encode"]),
    }
    units = _units(rest, src)
    before = [repr(unit) for unit in units]
    kept = _seen(units, src, dst, spoil=False, **options)
    check([repr(unit) for unit in units] == before, "the input stays as it is", units, before)
    given = deepcopy(units)
    again = _seen(given, src, dst, spoil=True, **options)
    check(kept == again, "units belong to whoever gets them", kept, again)
    if src == "events":
        check([repr(unit) for unit in given] == before, "what comes of events changes none", given, before)


def _seen(units: Sequence[Any], src: str, dst: str, *, spoil: bool, **options: Any) -> list[str]:
    """What a consumer sees of each step; the same one may spoil what it has seen before the next."""
    machine = Translator(src, dst, clock=laws.Clock(), **options)
    out: list[str] = []
    for i in range(len(units) + 1):
        try:
            made = machine.feed(units[i]) if i < len(units) else machine.close()
        except TranslateError as error:
            out.append(str(error))
            break
        out += map(repr, made)
        if spoil:
            spoiled([made, units[i : i + 1]])
    return out


def spoiled(value: Any) -> None:
    """Change all that can be changed in JSON values."""
    if isinstance(value, dict):
        for each in value.values():
            spoiled(each)
        value["spoiled"] = True
    elif isinstance(value, list):
        for each in value:
            spoiled(each)
        value.append("spoiled")
