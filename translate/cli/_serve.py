"""The command that runs the sidecar."""

from __future__ import annotations

import logging
import sys
from argparse import Namespace
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING

from ._config import Layers
from ._formats import readable, writable
from ._status import InputError, Status, UsageError
from ._values import limits_of

if TYPE_CHECKING:
    from translate.adapters.sidecar import Listening, Settings

_LINE = "%(asctime)s %(levelname)s %(name)s: %(message)s"


def serve(given: Namespace, layers: Layers) -> Status:
    """Serve until a signal ends it."""
    args, routes = layers.filled(given)
    try:
        # what no other command needs
        from translate.adapters.sidecar import Route
        from translate.adapters.sidecar import serve as run
        from translate.adapters.sidecar.logs import JsonLines
    except ImportError as error:
        raise UsageError(f"{error.name} is not installed: pip install -e '.[serve]', in its checkout") from None
    try:
        found = [Route(_settings(each), own.get("path", "/"), own.get("host")) for own, each in routes]
        settings = found[0].settings if found else _settings(args)
        listening = _listening(args)
    except ValueError as error:
        raise UsageError(str(error)) from None
    if args.check:
        return Status.FINE
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines() if args.log_format == "json" else logging.Formatter(_LINE))
    logging.basicConfig(handlers=[handler], level=args.log_level.upper())
    try:
        run(settings, listening, found)
    except ImportError as error:
        raise UsageError(f"{error.name} is not installed: pip install -e '.[otlp]', in its checkout") from None
    except ValueError as error:
        raise UsageError(str(error)) from None
    except (OSError, OverflowError) as error:
        raise InputError(f"cannot listen on {args.host} port {args.port}: {error}") from None
    return Status.FINE


def _settings(args: Namespace) -> Settings:
    from translate.adapters import StreamOptions, Timeouts
    from translate.adapters.sidecar import Credential, Settings

    for name, option in (("upstream", "--upstream"), ("src", "--from"), ("dst", "--to")):
        if getattr(args, name) is None:
            raise UsageError(f"{option} is not given: on the command line, in the environment or in the file")
    return Settings(
        args.upstream,
        readable(args.src),
        writable(args.dst),
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
        credentials=tuple(map(Credential.read, args.credential or ())),
        roots=args.upstream_ca,
        certificate=_pair(args.upstream_cert, args.upstream_key, "upstream-cert", "upstream-key"),
        forwarded=args.forwarded,
        via=args.via,
        stream_types=args.stream_type or (),
        timeouts=Timeouts(**{each.name: getattr(args, each.name) or None for each in fields(Timeouts)}),
        options=StreamOptions(loss=args.loss, strict=args.strict, model=args.model, limits=limits_of(args)),
    )


def _listening(args: Namespace) -> Listening:
    from translate.adapters.sidecar import Listening

    return Listening(
        host=args.host,
        port=args.port,
        metrics_host=args.metrics_host,
        metrics_port=args.metrics_port,
        certificate=_pair(args.tls_cert, args.tls_key, "tls-cert", "tls-key"),
        clients=args.client_ca,
        grace=args.grace,
        workers=args.workers,
        otlp=args.otlp,
    )


def _pair(certificate: Path | None, key: Path | None, *names: str) -> tuple[Path, Path] | None:
    """A certificate and its key, which may be in one file."""
    if certificate is None:
        if key is not None:
            raise UsageError(f"--{names[1]} is given, and no --{names[0]}")
        return None
    return certificate, key or certificate
