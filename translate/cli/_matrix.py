"""What a format says of another, as `formats A B` prints it."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Iterator
from typing import Any

from translate import codec

from ._files import STANDARD, Output, print_lines
from ._status import Status, one_line

_MOST = 12
"""Kinds of what a carry holds that are printed."""


def matrix(args: Namespace) -> Status:
    """Print what a format says, or what becomes of one in another."""
    # what no other command needs
    from translate.inspect.matrix import cell, says

    names = [codec(name).name for name in (args.source, args.target) if name is not None]
    found: Any = says(names[0]) if len(names) == 1 else cell(*names).shown()
    with Output(STANDARD) as target:
        if args.json:
            print_lines(target, json.dumps(found, indent=2))
        else:
            print_lines(target, "\n".join(_one(names[0]) if len(names) == 1 else _pair(*names)))
    return Status.FINE


def _one(name: str) -> Iterator[str]:
    from translate.inspect.matrix import says, verdict

    yield f"What {name} says in its own words, of what streams of all formats hold:"
    yield ""
    yield from _rows({word: (verdict(*counts), counts) for word, counts in says(name).items()})


def _pair(source: str, target: str) -> Iterator[str]:
    from translate.inspect.matrix import WORDS, cell, verdict

    found = cell(source, target)
    yield f"{source} into {target}: {found.streams:,} streams, {found.units:,} units, of the project's own."
    if not found.streams:
        return
    yield f"A reader of {target} alone sees all content of {found.whole:,} streams ({found.share:.0%})."
    yield f"The carry has {found.bytes_a_unit:.0f} bytes a unit."
    yield ""
    counts = {word: (found.said[word], found.there[word]) for word in WORDS}
    yield from _rows({word: (verdict(*each), each) for word, each in counts.items()})
    if found.hidden:
        yield ""
        yield "What the carry holds, content first:"
    for each in found.hidden[:_MOST]:
        yield f"  {each.count:,} × {each.field}{' (content)' if each.content else ''}: {each.reason}"
        yield f"      first in {each.stream}{one_line(': ' + each.unit) if each.unit else ''}"
    if len(found.hidden) > _MOST:
        yield f"  {len(found.hidden) - _MOST:,} more kinds; --json has all"


def _rows(found: dict[str, tuple[str, tuple[int, int]]]) -> Iterator[str]:
    width = max(map(len, found))
    for word, (says, (said, there)) in found.items():
        yield f"{word.ljust(width)}  {f'{says}: {said:,} of {there:,}' if there else 'in none of them'}"
