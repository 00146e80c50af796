"""The arguments."""

from __future__ import annotations

from argparse import SUPPRESS, ArgumentParser
from dataclasses import fields
from functools import partial
from typing import Any

from translate import Limits, __version__
from translate.logs.containers import CONTAINERS

from . import _commands
from ._config import Layers
from ._conformance import conformance as run_conformance
from ._diff import ABOUT as DIFF
from ._diff import ENDING as DIFF_ENDING
from ._diff import add_diff
from ._documents import WHATS
from ._examples import examples, overview
from ._files import STANDARD
from ._help import Parser, add_help
from ._inspect import inspect as run_inspect
from ._playground import add_playground
from ._serve import serve as run_serve
from ._serve_options import LIMITS, SERVE, SERVE_ENDING, add_serve
from ._status import STATUSES
from ._values import COLOURS, MODEL_FIELDS, count, model, size

PROGRAM = "translate-streams"

_LIMITS = {
    "unit": "bytes of one unit: a line, an event's block",
    "part": "characters or bytes of one part: a text, a call's arguments",
    "message": "characters of one message, in formats whose end repeats it",
    "nesting": "levels of arrays and objects",
    "carry": "bytes of one carry",
    "state": "characters of one envelope of state",
}

_ABOUT = """\
Translates the streaming wire formats of language models into one another,
without losing anything: what a target format cannot say travels beside, in a
carry that its readers skip, and comes back on the way home.
"""
_CONVERT = """\
Translates one stream. Each unit is translated and written as soon as it has
arrived, so it can stand in a pipe. Where the stream fails, all output before that
is written, to a file too.

Logs of many streams are converted where there are several files, a folder, a glob
or a URL (fsspec), a file of records or of several streams, something compressed, or
an option of logs. Then a stream that fails goes to OUT.rejects.jsonl, whole, and the
job goes on; an output has its name when it is whole; a summary is printed on standard
error. One input of logs can be piped through: then streams that fail are told of.
"""
_STATS = """\
Reads logs, and counts: streams, formats, models, parts, finish reasons, failures.
"""
_INSPECT = """\
Shows what becomes of a stream: its units on the left, those of the target on the
right, what waited, what became one, what was made up, what only a carry says, and
what is lost. Units that are alike share a line. A stream that is broken is shown up
to there, with the failure that its reader would be told.
"""
_CHECK = """\
Checks one stream against its format: every unit, and their order. Prints one line
for each fault, nothing for a stream that conforms. The first unit that may not
stand where it stands ends the check.
"""
_ASSEMBLE = """\
Reads one stream to its end and prints the message it adds up to, as one line of
JSON; bytes are base64 text. A stream that fails prints none.
"""
_FORMATS = """\
Lists all formats, those of installed codecs included, and what each has native
words for. What it has none for travels in the carry. With two formats: what becomes
of streams of the first in the second, measured over the project's own streams, which
are hard cases for the most part: how many a reader of the second alone sees whole,
what the carry holds, and an example of each.
"""
_CONFORMANCE = """\
Runs the conformance vectors, conversions with their results as data, and prints
those that differ: in this library, with the input cut in every way, or in a
program that converts standard input to standard output and exits with 0 for a
whole stream and with 1 for a broken one. In its arguments {from} {to} {loss}
{errors} {strict} {model} and {clock} are replaced by what each case asks for.
"""


def build_parser() -> Parser:
    """The parser. The arguments it makes have ``run``: the command, or ``None`` where none is given."""
    parser = Parser(prog=PROGRAM, description=_ABOUT, epilog=overview() + STATUSES)
    parser.add_argument("-V", "--version", action="version", version=f"{PROGRAM} {__version__}")
    parser.set_defaults(run=None)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", parser_class=Parser)

    convert = commands.add_parser("convert", help="translate a stream, or logs", description=_CONVERT, epilog=STATUSES)
    convert.set_defaults(run=_commands.convert_any)
    _add_convert(convert)

    stats = commands.add_parser("stats", help="count what logs hold", description=_STATS, epilog=STATUSES)
    stats.set_defaults(run=_commands.stats)
    stats.add_argument("files", nargs="+", metavar="FILE", help="files, folders, globs or URLs")
    _add_format(stats, auto=True)
    stats.add_argument("--to", dest="dst", metavar="FORMAT", help="count what this format would lose, too")
    stats.add_argument("--json", action="store_true", help="as JSON")
    _add_records(stats)
    _add_strictness(stats)
    _add_limits(stats)

    inspect = commands.add_parser(
        "inspect", help="show what becomes of a stream", description=_INSPECT, epilog=STATUSES
    )
    inspect.set_defaults(run=run_inspect)
    _add_inspect(inspect)

    check = commands.add_parser("check", help="find what is wrong with a stream", description=_CHECK, epilog=STATUSES)
    check.set_defaults(run=_commands.check)
    _add_input(check)
    _add_what(check, WHATS[:3])
    _add_limits(check)

    assemble = commands.add_parser(
        "assemble", help="print the message of a stream", description=_ASSEMBLE, epilog=STATUSES
    )
    assemble.set_defaults(run=_commands.assemble)
    _add_input(assemble)
    assemble.add_argument(
        "--to", dest="dst", metavar="CODEC", required=True, help="whose form the message takes, such as unievent"
    )
    _add_strictness(assemble)
    _add_limits(assemble)

    diff = commands.add_parser("diff", help="compare two streams", description=DIFF, epilog=DIFF_ENDING)
    add_diff(diff)
    _add_strictness(diff)
    _add_limits(diff)

    formats = commands.add_parser("formats", help="list the formats", description=_FORMATS, epilog=STATUSES)
    formats.set_defaults(run=_commands.formats)
    formats.add_argument("source", nargs="?", metavar="A", help="what this format says in its own words")
    formats.add_argument("target", nargs="?", metavar="B", help="what becomes of streams of A in this one")
    formats.add_argument("--json", action="store_true", help="as JSON")

    serve = commands.add_parser(
        "serve", help="translate between clients and an upstream", description=SERVE, epilog=SERVE_ENDING + STATUSES
    )
    _add_serve(serve)
    serve.set_defaults(run=partial(run_serve, layers=Layers(serve)))

    add_playground(commands)
    add_help(commands, parser)

    _add_conformance(commands)
    for name, command in parser.commands().items():
        command.epilog = examples(name) + (command.epilog or STATUSES)
    return parser


def _add_conformance(commands: Any) -> None:
    conformance = commands.add_parser(
        "conformance",
        help="run the conformance vectors",
        description=_CONFORMANCE,
        epilog=STATUSES,
        usage="%(prog)s [-h] [--vectors DIR] [--only TEXT] [-- PROGRAM [ARGUMENT ...]]",
    )
    conformance.set_defaults(run=run_conformance)
    conformance.add_argument("--vectors", metavar="DIR", help="their folder (default: the project's own)")
    conformance.add_argument(
        "--only", metavar="TEXT", default="", help="only cases that have it in their file's name or their id"
    )
    conformance.add_argument(
        "program", nargs="*", metavar="PROGRAM", help="the program and its arguments (default: this library)"
    )


def _add_convert(parser: ArgumentParser) -> None:
    parser.add_argument(
        "files", nargs="*", metavar="FILE", help="the stream (- is standard input, the default), or logs of many"
    )
    _add_format(parser, auto=True)
    parser.add_argument(
        "--to",
        dest="dst",
        metavar="FORMAT",
        help="the format to write, one with a suffix; default: what the name of the output ends in, as in "
        "OUT.unievent.jsonl",
    )
    parser.add_argument(
        "-o", "--output", metavar="OUT", default=STANDARD, help="where to write; - is standard output, the default"
    )
    _add_what(parser)
    parser.add_argument(
        "--profile",
        metavar="PROFILE",
        help="of a request: what the server takes, a name such as openai-compatible or a .toml file",
    )
    _add_loss(parser)
    parser.add_argument(
        "--errors",
        choices=("raise", "encode"),
        default="raise",
        help="a stream that fails: only makes this command fail (the default), or is also written as the failure of "
        "the target format",
    )
    _add_strictness(parser)
    _add_model(parser)
    _add_clock(parser)
    parser.add_argument(
        "--report",
        metavar="FILE",
        help="write what was lost, guessed and repaired as JSON lines, a summary as the last; - is standard error",
    )
    said = parser.add_mutually_exclusive_group()
    said.add_argument("-q", "--quiet", action="store_true", help="say on standard error only what went wrong")
    said.add_argument("-v", "--verbose", action="store_true", help="say of each input what became of it")
    _add_records(parser)
    jobs = parser.add_argument_group("logs")
    jobs.add_argument("--jobs", type=count, metavar="N", help="processes; default: 1")
    jobs.add_argument("--verify", action="store_true", help="convert each stream back, and reject it if it has changed")
    jobs.add_argument("--rejects", metavar="FILE", help="of what is piped through: where streams go that fail")
    jobs.add_argument("--resume", action="store_true", help="go on with a job that was ended")
    jobs.add_argument("--force", action="store_true", help="write over outputs that exist")
    jobs.add_argument("--dry-run", action="store_true", help="say what would be done, and do nothing")
    _add_limits(parser)


def _add_inspect(parser: ArgumentParser) -> None:
    parser.add_argument(
        "file", nargs="?", metavar="FILE", default=STANDARD, help="the stream; - is standard input, the default"
    )
    _add_format(parser, auto=True)
    parser.add_argument(
        "--to", dest="dst", metavar="FORMAT", help="the format to look at it in; default: the other built-in one"
    )
    _add_loss(parser)
    _add_strictness(parser)
    _add_model(parser)
    _add_clock(parser)
    parser.add_argument("--width", type=count, metavar="N", help="columns, at least 40; default: the terminal's")
    parser.add_argument(
        "--color",
        choices=COLOURS,
        default="auto",
        help="default: auto, on terminals; NO_COLOR and FORCE_COLOR are heeded",
    )
    parser.add_argument("--all", action="store_true", help="a line for every unit, also where many are alike")
    parser.add_argument("--json", action="store_true", help="print it as JSON")
    parser.add_argument("--html", metavar="OUT", help="write a page to look at it, one file, in place of the timeline")
    parser.add_argument("--svg", metavar="OUT", help="write a picture, of some hundred units at most")
    _add_limits(parser)


def _add_what(parser: ArgumentParser, words: tuple[str, ...] = WHATS) -> None:
    parser.add_argument(
        "--what",
        choices=words,
        default="stream",
        help="what the input is: a stream (the default), or JSON, one document or one a line",
    )


def _add_clock(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--clock",
        type=count,
        metavar="MS",
        help="milliseconds of Unix time to stamp units with, for output that can be reproduced (default: now)",
    )


def _add_serve(parser: ArgumentParser) -> None:
    add_serve(parser)
    _add_loss(parser)
    _add_strictness(parser)
    _add_limits(parser, LIMITS)


def _add_loss(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--loss",
        choices=("carry", "drop", "raise"),
        default="carry",
        help="what the target cannot say: travels beside in the carry (the default), is left out, or, where the "
        "message would lose content, stops the conversion before that",
    )


def _add_model(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--model",
        type=model,
        metavar="MODEL",
        help="who answers, for targets that say it where the source does not: a name, or pairs such as "
        f"{','.join(f'{name}=...' for name in MODEL_FIELDS)}",
    )


def _add_input(parser: ArgumentParser) -> None:
    parser.add_argument(
        "file", nargs="?", metavar="FILE", default=STANDARD, help="the stream; - is standard input, the default"
    )
    _add_format(parser, auto=True)


def _add_format(parser: ArgumentParser, *, auto: bool = False) -> None:
    parser.add_argument(
        "--from",
        dest="src",
        metavar="FORMAT",
        required=not auto,
        default="auto" if auto else None,
        help="its format, as `translate-streams formats` lists them; one without a suffix recognises its shape: lines, "
        "SSE or a JSON array" + ("; auto, the default, recognises all, and says what it took" if auto else ""),
    )


def _add_records(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("logs of records (members of members: names with dots between)")
    group.add_argument(
        "--container",
        choices=tuple(CONTAINERS),
        metavar="NAME",
        help="what files are: " + "; ".join(f"{name}: {kind.title}" for name, kind in CONTAINERS.items()) + ". "
        "Default: what they hold",
    )
    group.add_argument("--stream-field", metavar="NAME", help="a record holds a stream, in this field")
    group.add_argument("--unit-field", metavar="NAME", help="a record holds one unit of a stream, in this field")
    group.add_argument("--id-field", metavar="NAME", help="the field that says of which stream it is")
    group.add_argument("--order-field", metavar="NAME", help="that for where in it; default: as the lines stand")
    group.add_argument("--gaps", action="store_true", help="whole numbers of the order may leave some out")
    group.add_argument(
        "--where",
        metavar="EXPRESSION",
        help="only records for which it is true: JMESPath, over their members, and url, method, status, type, model",
    )
    group.add_argument("--max-record", type=size, metavar="N", help="bytes of a record; default: 268,435,456")
    group.add_argument("--limit", type=count, metavar="N", help="streams of each input at most")


def _add_strictness(parser: ArgumentParser) -> None:
    group = parser.add_mutually_exclusive_group()
    group.add_argument(
        "--strict", action="store_true", default=True, help="refuse what breaks the format (the default)"
    )
    group.add_argument(
        "--lenient", dest="strict", action="store_false", default=SUPPRESS, help="repair what has one obvious reading"
    )


def _add_limits(parser: ArgumentParser, limits: Limits | None = None) -> None:
    group = parser.add_argument_group("limits on memory; 8M is 8 * 1024 * 1024")
    for field in fields(Limits):
        group.add_argument(
            f"--max-{field.name}",
            type=size,
            metavar="N",
            default=limits and getattr(limits, field.name),
            help=f"{_LIMITS.get(field.name, field.name)}; default: {getattr(limits or Limits(), field.name):,}",
        )
