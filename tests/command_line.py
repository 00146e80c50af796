"""The page of the command line, made of its parser. ``python -m tests.command_line`` writes it anew."""

from __future__ import annotations

import sys
from argparse import SUPPRESS, Action, ArgumentParser, _SubParsersAction
from collections.abc import Iterator
from pathlib import Path

from translate.cli._examples import EXAMPLES
from translate.cli._parser import PROGRAM, build_parser
from translate.cli._status import STATUSES

PAGE = Path(__file__).resolve().parents[1] / "docs" / "cli.md"

HEAD = f"""\
# Command line

`{PROGRAM} COMMAND --help` says the same; `python -m translate` is the same program. Made of the program's own words:
`python -m tests.command_line` writes this page anew.
"""


def page() -> str:
    """All of it, as Markdown."""
    parser = build_parser()
    (commands,) = (action for action in parser._actions if isinstance(action, _SubParsersAction))
    parts = [HEAD, _paragraphs(parser.description)]
    for name, command in commands.choices.items():
        parts += [f"## {name}\n", _paragraphs(command.description), _usage(command), _examples(name), *_groups(command)]
    parts += ["## Exit status\n", _statuses()]
    return "\n".join(parts)


def _paragraphs(text: str | None) -> str:
    return f"{text or ''}".strip() + "\n"


def _examples(name: str) -> str:
    return "\n".join(["```text", *EXAMPLES[name], "```"]) + "\n"


def _usage(parser: ArgumentParser) -> str:
    """The command with all that it must be given."""
    if parser.usage:
        return f"```text\n{parser.usage % {'prog': parser.prog}}\n```\n"
    positional = [_positional(action) for action in parser._actions if not action.option_strings]
    options = [action for action in parser._actions if action.option_strings]
    needed = [f"{action.option_strings[-1]} {action.metavar}" for action in options if action.required]
    return f"```text\n{' '.join([parser.prog, *needed, '[OPTION …]', *positional])}\n```\n"


def _positional(action: Action) -> str:
    name = str(action.metavar)
    return {"?": f"[{name}]", "*": f"[{name} …]", "+": f"{name} …"}.get(str(action.nargs), name)


def _groups(parser: ArgumentParser) -> Iterator[str]:
    """A table for each group of options that has any."""
    for group in parser._action_groups:
        rows = [_row(action) for action in group._group_actions if action.help not in (None, SUPPRESS)]
        rows = [row for row in rows if not row.startswith("| `-h`")]
        if not rows:
            continue
        title = {"positional arguments": "argument", "options": "option"}.get(str(group.title), str(group.title))
        yield "\n".join([f"| {title} | |", "| --- | --- |", *rows]) + "\n"


def _row(action: Action) -> str:
    value = "" if action.nargs == 0 or not action.option_strings else f" {_value(action)}"
    names = [f"`{name}{value}`" for name in action.option_strings] or [f"`{action.metavar}`"]
    about = str(action.help).replace("%%", "%").replace("[", "\\[")
    return f"| {', '.join(names)} | {about} |"


def _value(action: Action) -> str:
    return f"{{{','.join(map(str, action.choices))}}}" if action.choices else str(action.metavar or action.dest.upper())


def _statuses() -> str:
    rows: list[list[str]] = []
    for line in STATUSES.splitlines()[1:]:
        code, about = line[:7].strip(), line[7:].strip()
        if code:
            rows.append([code, about])
        else:
            rows[-1][1] += f" {about}"
    return "\n".join(["| status | when |", "| --- | --- |", *(f"| {code} | {about} |" for code, about in rows)]) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    sys.stdout.write(f"{PAGE} is written\n")
