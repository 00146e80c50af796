"""The command that runs the sidecar."""

from __future__ import annotations

import logging
import os
import sys
from argparse import Namespace
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING

from translate import Model
from translate.registry import codec

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
        found = [
            Route(_settings(each), own.get("path", "/"), own.get("host"), _words(own.get("models", "")))
            for own, each in routes
        ]
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

    clients = _spoken(args)
    needed = [("upstream", "--upstream"), *([] if clients else [("src", "--from"), ("dst", "--to")])]
    for name, option in needed:
        if getattr(args, name) is None:
            raise UsageError(f"{option} is not given: on the command line, in the environment or in the file")
    src, dst = (args.src, args.dst) if not clients else (_stream(args.server), _stream(clients[0]))
    models = args.model or []
    who = next((each for each in reversed(models) if isinstance(each, Model)), None)
    return Settings(
        args.upstream,
        readable(src),
        writable(dst),
        server=args.server,
        clients=clients,
        profile=args.profile,
        model_map=dict(each for each in models if isinstance(each, tuple)),
        refuse=args.refuse or ("content",),
        upstream_key=_secret(args.upstream_key_env),
        client_key=_secret(args.client_key_env),
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
        options=StreamOptions(loss=args.loss, strict=args.strict, model=who, limits=limits_of(args)),
    )


def _spoken(args: Namespace) -> list[str]:
    """The formats of clients, where requests are translated."""
    if args.server is None:
        if args.client:
            raise UsageError("--client is of no use without --server")
        return []
    from translate.adapters.sidecar.doors import spoken

    known = spoken()
    for name in [args.server, *(args.client or ())]:
        if name not in known:
            raise UsageError(f"requests of {name!r} are not known: {', '.join(known)} are")
    return [*(args.client or known)]


def _stream(format: str) -> str:
    """The format of the streams of a codec's servers."""
    endpoint = codec(format).endpoint
    return f"{format}-{endpoint.shape if endpoint is not None else 'sse'}"


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())


def _secret(variable: str | None) -> str | None:
    """What a variable of the environment holds."""
    if variable is None:
        return None
    found = os.environ.get(variable, "").strip()
    if not found:
        raise UsageError(f"the variable {variable!r} of the environment is not set")
    return found


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
