"""What helps to write a command line: the parser that answers slips, `help`, and completions for shells."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter, _SubParsersAction
from difflib import get_close_matches
from itertools import groupby
from textwrap import wrap
from typing import Any, NoReturn

from translate import __version__, formats

from ._files import STANDARD, Output, print_lines
from ._status import STATUSES, Status, UsageError, one_line

SHELLS = ("bash", "zsh", "fish")
_COMPLETION = """\
Prints a script that completes commands, options and their values. For zsh, put it
into a folder of $fpath, as _translate-streams.
"""


class _Formatter(RawDescriptionHelpFormatter):
    """Keeps the lines of descriptions where the terminal has room for them, and fills paragraphs anew where not."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        lines = text.splitlines()
        if all(len(line) <= width for line in lines):
            return super()._fill_text(text, width, indent)
        filled: list[str] = []
        # lines that are indented stand for themselves: examples, tables
        for flush, run in groupby(lines, lambda line: bool(line) and not line.startswith(" ")):
            found = list(run)
            filled += self._split_lines(" ".join(found), width) if flush else found
        return "\n".join(filled) + "\n"

    def _split_lines(self, text: str, width: int) -> list[str]:
        """Broken at words alone: an option that is cut at its hyphen is no option."""
        return wrap(" ".join(text.split()), width, break_long_words=False, break_on_hyphens=False)


class Parser(ArgumentParser):
    """One that takes no abbreviations: an option added later must not make a script ambiguous."""

    def __init__(self, **options: Any) -> None:
        super().__init__(formatter_class=_Formatter, allow_abbrev=False, **options)

    def parse_known_args(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, args: Any = None, namespace: Any = None
    ) -> Any:
        """As usual, but an option or a command that does not exist is the first thing that is said."""
        given = sys.argv[1:] if args is None else [*args]
        commands = self.commands()
        for token in given:
            name = token.partition("=")[0]
            if token == "--":
                break
            if name.startswith("--") and name not in self._option_string_actions:
                self.error(f"there is no option {name}{_near(name, self._option_string_actions)}")
            if commands and not token.startswith("-"):
                if token not in commands:
                    self.error(_no_command(token, commands))
                break
        return super().parse_known_args(given, namespace)

    def commands(self) -> dict[str, Parser]:
        """Its commands, by name."""
        found = [action for action in self._actions if isinstance(action, _SubParsersAction)]
        return dict(found[0].choices) if found else {}

    def error(self, message: str) -> NoReturn:
        """Leave with one line; the whole usage would hide it."""
        self.exit(Status.USAGE.code, f"{self.prog}: {one_line(message)}; see {self.prog} --help\n")


def _near(name: str, known: Any) -> str:
    near = get_close_matches(name, known, 1)
    return f" (did you mean {near[0]}?)" if near else ""


def _no_command(name: str, known: Any) -> str:
    return f"there is no command {name!r}{_near(name, known)}; commands are {', '.join(known)}"


def add_help(commands: Any, parser: Parser) -> None:
    """Add the commands that help to the commands of a parser."""
    about = commands.add_parser("help", help="explain a command", description="Explains a command, as --help does.")
    about.add_argument("command", nargs="?", metavar="COMMAND", help="the command; default: all of them, shortly")
    about.add_argument("--man", action="store_true", help="as a page for man: the text that it formats")
    about.set_defaults(run=lambda args: _help(parser, args))
    shells = commands.add_parser("completion", help="completions for a shell", description=_COMPLETION, epilog=STATUSES)
    shells.add_argument("shell", choices=SHELLS, metavar="SHELL", help=", ".join(SHELLS))
    shells.set_defaults(run=lambda args: _completion(parser, args))


def _help(parser: Parser, args: Namespace) -> Status:
    known: dict[str, Parser] = parser.commands()
    if args.command is not None and args.command not in known:
        raise UsageError(_no_command(args.command, known))
    shown = known[args.command] if args.command else parser
    if args.man:
        return _man(shown)
    with Output(STANDARD) as target:
        print_lines(target, shown.format_help().rstrip())
    return Status.FINE


def _man(parser: Parser) -> Status:
    try:
        from argparse_manpage.manpage import Manpage  # type: ignore[import-untyped,import-not-found,unused-ignore]
    except ImportError:
        raise UsageError("argparse-manpage is not installed: pip install argparse-manpage") from None
    page = Manpage(parser, format="single-commands-section")
    page.manual, page.source = "translate-streams", f"translate-streams {__version__}"
    with Output(STANDARD) as target:
        print_lines(target, str(page).rstrip())
    return Status.FINE


def _completion(parser: Parser, args: Namespace) -> Status:
    try:
        import shtab  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        raise UsageError("shtab is not installed: pip install shtab") from None
    for command in parser.commands().values():
        for action in command._actions:
            if action.metavar in ("FILE", "OUT", "A", "B"):
                action.complete = shtab.FILE  # type: ignore[attr-defined]
            elif action.metavar == "FORMAT":
                action.choices = formats()
    with Output(STANDARD) as target:
        print_lines(target, shtab.complete(parser, shell=args.shell).rstrip())
    return Status.FINE
