"""The command that compares two streams. As of ``diff``, all that is trouble is status 2."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from itertools import chain
from typing import Any

import translate
from translate import Event, TranslateError, jsontext
from translate.compare import Difference, Level
from translate.errors import UnknownFormat
from translate.recognise import format_of, what

from ._files import STANDARD, Input, Output, print_lines, why
from ._formats import readable
from ._status import Problem, Status, UsageError, explain, one_line
from ._values import COLOURS, coloured, limits_of

ABOUT = """\
Compares two streams of any formats by what they mean: the messages they add up to,
then what else was said. Fragments are joined; what changes no meaning (where text
was cut, time stamps, keep-alives, how arguments are spelled) is compared with --all
only. Prints nothing where nothing differs. Files may be compressed.
"""
ENDING = """\
exit status, as of diff:
  0    the streams are the same, incidentals apart
  1    they differ; with --all, in incidentals too
  2    trouble: wrong usage, an input that cannot be read, no such format, or a
       stream that is broken or truncated (one that reports a failure is not)
  130  interrupted
"""
_TITLES: dict[Level, str] = {
    "message": "In the message",
    "events": "Apart from the message",
    "incidental": "Incidental",
}
_HEAD = 1 << 20
_WIDTH = 100
_BOLD, _RED, _GREEN = "1", "31", "32"


class Trouble(Problem):
    """The streams cannot be compared."""

    status = Status.USAGE


@dataclass(slots=True)
class _Side:
    """A stream by its file, and its format when that is known."""

    file: str
    format: str

    @property
    def name(self) -> str:
        return "standard input" if self.file == STANDARD else self.file


def add_diff(parser: ArgumentParser) -> None:
    """The arguments."""
    parser.set_defaults(run=diff)
    parser.add_argument("a", metavar="A", help="a stream; - is standard input, for one of the two")
    parser.add_argument("b", metavar="B", help="the other stream")
    parser.add_argument(
        "--from",
        dest="src",
        metavar="FORMAT",
        default="auto",
        help="the format of both, as `translate-streams formats` lists them; auto, the default, recognises each",
    )
    parser.add_argument("--from-b", dest="src_b", metavar="FORMAT", help="the format of B, where it is another")
    parser.add_argument("--all", action="store_true", help="incidental differences too")
    parser.add_argument("--json", action="store_true", help="as one line of JSON")
    parser.add_argument(
        "--color",
        choices=COLOURS,
        default="auto",
        help="colours; auto, the default: on a terminal; NO_COLOR and FORCE_COLOR are heeded",
    )


def diff(args: Namespace) -> Status:
    """Print in what two streams differ. Even a fault of the program must not look as if they did."""
    try:
        return _diff(args)
    except Exception as error:
        if sys.flags.dev_mode or isinstance(error, (Trouble, UsageError)):
            raise
        raise Trouble(explain(error)) from error


def _diff(args: Namespace) -> Status:
    # it takes its time to load, and no other command needs it
    from translate.compare import compare

    if args.a == args.b == STANDARD:
        raise UsageError("standard input is one of the streams, not both")
    a, b = _Side(args.a, args.src), _Side(args.b, args.src_b or args.src)
    found = compare(_events(a, args), _events(b, args))
    shown = [difference for difference in found if args.all or difference.level != "incidental"]
    try:
        with Output(STANDARD) as target:
            if args.json:
                target.write(jsontext.dumps_strict(_as_json(a, b, shown)) + b"\n")
            elif shown:
                print_lines(target, "\n".join(_told(a, b, shown, colours=coloured(args.color))))
    except BrokenPipeError:
        pass  # whoever reads has left, but what was found stands
    return Status.FAILED if shown else Status.FINE


def _events(side: _Side, args: Namespace) -> Iterator[Event]:
    with _trouble(side.name), _opened(side) as chunks:
        head, format = next(chunks, b""), side.format
        if format == "auto":
            head = b"".join(chain((head,), _first(chunks, _HEAD - len(head))))
            format = _recognised(head)
        side.format = readable(format)
        yield from translate.decode(chain((head,), chunks), side.format, strict=args.strict, limits=limits_of(args))


@contextmanager
def _opened(side: _Side) -> Iterator[Iterator[bytes]]:
    from translate.logs.places import CHUNK, Place, reading

    if side.file == STANDARD:
        with Input(STANDARD) as source:
            yield iter(source)
    else:
        with reading(Place(side.file, side.file)) as file:
            yield iter(lambda: file.read(CHUNK), b"")


def _first(chunks: Iterable[bytes], size: int) -> Iterator[bytes]:
    """As many chunks as it takes to have so many bytes."""
    while size > 0 and (chunk := next(iter(chunks), b"")):
        size -= len(chunk)
        yield chunk


def _recognised(head: bytes) -> str:
    format = format_of(head)
    if format is None:
        raise Trouble(what(head))
    return format


@contextmanager
def _trouble(name: str) -> Iterator[None]:
    """Whatever stands in the way of reading a stream, as trouble with it."""
    from translate.logs.places import InputFault, MissingExtra

    try:
        yield
    except InputFault as error:
        what = why(error.__cause__) if isinstance(error.__cause__, OSError) else error
        raise Trouble(f"cannot read {name}: {what}") from None
    except MissingExtra as error:
        raise Trouble(f"cannot read {name}: {error}") from None
    except (TranslateError, UnknownFormat, Problem) as error:
        raise Trouble(f"{name}: {explain(error)}") from None


def _as_json(a: _Side, b: _Side, found: list[Difference]) -> dict[str, Any]:
    return {
        "a": {"file": a.name, "format": a.format},
        "b": {"file": b.name, "format": b.format},
        "same": not found,
        "differences": [asdict(difference) for difference in found],
    }


def _told(a: _Side, b: _Side, found: list[Difference], *, colours: bool) -> Iterator[str]:
    def painted(colour: str, text: str) -> str:
        return f"\x1b[{colour}m{one_line(text)}\x1b[0m" if colours else one_line(text)

    yield painted(_RED, f"--- {a.name} ({a.format})")
    yield painted(_GREEN, f"+++ {b.name} ({b.format})")
    level = None
    for difference in found:
        if difference.level != level:
            level = difference.level
            yield painted(_BOLD, _TITLES[level])
        mine, theirs = ("nothing" if said is None else said for said in (difference.a, difference.b))
        about = one_line(difference.about)
        if len(about) + len(mine) + len(theirs) + 7 <= _WIDTH:
            yield f"  {about}: {painted(_RED, mine)} | {painted(_GREEN, theirs)}"
        else:
            yield from (f"  {about}", f"    {painted(_RED, f'- {mine}')}", f"    {painted(_GREEN, f'+ {theirs}')}")
