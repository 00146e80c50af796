"""The command that serves the playground."""

from __future__ import annotations

from argparse import Namespace
from contextlib import suppress
from typing import Any

from ._files import STANDARD, Output, print_lines
from ._status import STATUSES, InputError, Status
from ._values import count

_ABOUT = """\
Serves a page on 127.0.0.1 that shows what becomes of a stream: paste or drop one,
choose formats, slide the size of chunks, cut it, change a unit, drop the carry.
Nothing leaves this machine.
"""


def add_playground(commands: Any) -> None:
    """Add the command to the commands of a parser."""
    parser = commands.add_parser("playground", help="a page to try streams on", description=_ABOUT, epilog=STATUSES)
    parser.set_defaults(run=playground)
    parser.add_argument("--port", type=count, metavar="N", default=0, help="where to listen; default: 0, a free one")
    parser.add_argument("--open", action="store_true", help="open it in the browser")


def playground(args: Namespace) -> Status:
    """Serve the page until it is interrupted."""
    # what no other command needs
    from translate.inspect.playground import Server

    try:
        server = Server(args.port)
    except (OSError, OverflowError) as error:
        raise InputError(f"cannot listen on 127.0.0.1 port {args.port}: {error}") from None
    with server, Output(STANDARD) as target:
        print_lines(target, f"{server.url} (Ctrl-C ends it)")
        if args.open:
            import webbrowser

            webbrowser.open(server.url)
        with suppress(KeyboardInterrupt):
            server.serve_forever()
    return Status.FINE
