"""The command that runs the sidecar."""

from __future__ import annotations

import logging
import sys
from argparse import Namespace
from dataclasses import fields

from ._formats import readable, writable
from ._status import InputError, Status, UsageError
from ._values import limits_of

_LINE = "%(asctime)s %(levelname)s %(name)s: %(message)s"


def serve(args: Namespace) -> Status:
    """Serve until a signal ends it."""
    src, dst = readable(args.src), writable(args.dst)
    try:
        # what no other command needs
        from translate.adapters import StreamOptions, Timeouts
        from translate.adapters.sidecar import Settings
        from translate.adapters.sidecar import serve as run
        from translate.adapters.sidecar.logs import JsonLines
    except ImportError as error:
        raise UsageError(f"{error.name} is not installed: pip install -e '.[serve]', in its checkout") from None
    try:
        settings = Settings(
            args.upstream,
            src,
            dst,
            max_concurrent=args.max_concurrent,
            max_body=args.max_body,
            max_head=args.max_head,
            max_memory=args.max_memory,
            body_timeout=args.body or None,
            connect_timeout=args.connect or None,
            ping=args.ping or None,
            hosts=args.allow_host,
            keep_client=args.keep_client,
            keep_upstream=args.keep_upstream,
            playground=args.playground,
            stream_types=args.stream_type or (),
            timeouts=Timeouts(**{each.name: getattr(args, each.name) or None for each in fields(Timeouts)}),
            options=StreamOptions(loss=args.loss, strict=args.strict, model=args.model, limits=limits_of(args)),
        )
    except ValueError as error:
        raise UsageError(str(error)) from None
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines() if args.log_format == "json" else logging.Formatter(_LINE))
    logging.basicConfig(handlers=[handler], level=args.log_level.upper())
    try:
        run(settings, host=args.host, port=args.port, grace=args.grace)
    except (OSError, OverflowError) as error:
        raise InputError(f"cannot listen on {args.host} port {args.port}: {error}") from None
    return Status.FINE
