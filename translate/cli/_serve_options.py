"""The arguments of the command that runs the sidecar."""

from __future__ import annotations

from argparse import ArgumentParser

from translate import Limits
from translate.messages.telling import CLASSES

from ._values import count, file, seconds, served_model, size

SERVE = """\
Forwards requests to an upstream and translates the streams that it answers with;
all else passes as it is. With --server, clients speak formats of their own: requests,
whole answers and errors are translated, too. Serves /healthz, /readyz and /metrics
itself. SIGTERM or SIGINT drains: running streams may end, new ones are refused; a
second signal ends at once. Logs what became of each request on standard error, never
what it held.
"""
SERVE_ENDING = """\
Each option is also one of a file (--config) and of the environment: --max-body is
max-body in the file, and TRANSLATE_SERVE_MAX_BODY. The command line says first, then
the environment. A file can have several routes, [[route]].
"""
LIMITS = Limits(unit=16 * 1024 * 1024, part=16 * 1024 * 1024, carry=16 * 1024 * 1024)
"""Those of each stream: there are many."""
_WAITS = (
    ("ping", 15.0, "silence after which a keep-alive is sent"),
    ("first", 600.0, "from the request to the first unit"),
    ("between", 600.0, "from one unit to the next, whatever else the upstream says"),
    ("idle", 300.0, "until the upstream says more, if only a comment"),
    ("total", 0.0, "from the request to the end"),
    ("write", 60.0, "until the client has taken a piece of the answer"),
    ("connect", 10.0, "until the upstream takes a connection"),
    ("body", 60.0, "until a request has arrived whole"),
    ("keep-client", 75.0, "for which a client's connection is kept for its next request"),
    ("keep-upstream", 1.0, "for which a connection to the upstream is kept, where the last answer ended clean"),
    ("grace", 30.0, "for running streams to end, after a signal"),
)
_LIMITS = (
    ("concurrent", 1000, "requests at once"),
    ("body", 32 * 1024 * 1024, "bytes of a request's body"),
    ("head", 32 * 1024, "bytes of a request's header fields"),
    ("memory", 128 * 1024 * 1024, "bytes that all requests hold: bodies, what is not whole, output that is not taken"),
)


def add_serve(parser: ArgumentParser) -> None:
    """Add what only this command takes."""
    parser.add_argument("--config", metavar="FILE", help="options in TOML")
    parser.add_argument("--check", action="store_true", help="look at the options, and end")
    parser.add_argument(
        "--upstream", metavar="URL", help="http(s)://host[:port][/path]; all requests go below that path"
    )
    parser.add_argument("--from", dest="src", metavar="FORMAT", help="the format that the upstream streams")
    parser.add_argument("--to", dest="dst", metavar="FORMAT", help="the format that clients read")
    parser.add_argument(
        "--server", metavar="FORMAT", help="the format that the upstream is asked in: requests are translated, too"
    )
    parser.add_argument(
        "--client",
        metavar="FORMAT",
        action="append",
        help="a format that clients speak, by its name without a shape; may be given again. "
        "Default, with --server: all",
    )
    parser.add_argument(
        "--profile", metavar="NAME", help="what the upstream takes: a built-in profile, or a file of TOML"
    )
    parser.add_argument(
        "--refuse",
        metavar="CLASS",
        action="append",
        choices=CLASSES,
        help=f"a class of losses for which a request is refused: {', '.join(CLASSES)}; may be given again. "
        "Default: content",
    )
    parser.add_argument(
        "--model",
        type=served_model,
        metavar="MODEL",
        action="append",
        help="with --server PATTERN=MODEL, the model to ask for those that clients name, the first that fits; may be "
        "given again. Else who answers, where the upstream does not say: a name, or pairs such as name=...,tier=...",
    )
    parser.add_argument(
        "--host", default="127.0.0.1", help="address to listen on; default: 127.0.0.1, which this machine alone reaches"
    )
    parser.add_argument(
        "--port", type=count, default=8080, help="port to listen on; 0: one that is free, see the log; default: 8080"
    )
    parser.add_argument("--metrics-port", type=count, metavar="PORT", help="a port for /metrics alone, and the probes")
    parser.add_argument("--metrics-host", metavar="HOST", help="address to listen on there; default: that of --host")
    parser.add_argument(
        "--workers",
        type=count,
        metavar="N",
        default=1,
        help="processes that serve the same port; limits are of all together. Default: 1",
    )
    parser.add_argument("--otlp", metavar="URL", help="a collector that figures and spans are sent to, below this URL")
    parser.add_argument(
        "--allow-host",
        metavar="NAME",
        action="append",
        help="a name or address that requests may be for, beside this machine's; may be given again. Default: on a "
        "loopback address this machine's alone, else any",
    )
    parser.add_argument(
        "--stream-type",
        metavar="TYPE",
        action="append",
        help="a media type of streams, with any status of success; may be given again. Default: those of the format, "
        "with status 200",
    )
    parser.add_argument(
        "--log-format", choices=("text", "json"), default="text", help="lines of the log: text, the default, or JSON"
    )
    parser.add_argument(
        "--log-level",
        choices=("debug", "info", "warning", "error"),
        default="info",
        help="what is logged; requests are at info, the default, streams that are well at debug",
    )
    parser.add_argument(
        "--playground", action="store_true", help="serve the playground at /playground, to this machine alone"
    )
    upstream = parser.add_argument_group("to the upstream")
    upstream.add_argument(
        "--credential",
        metavar="NAME=SOURCE",
        action="append",
        help="a field that it is sent in place of the client's: 'authorization=Bearer env:VARIABLE', or "
        "'x-api-key=file:PATH', which is read again when it changes; may be given again. Never logged",
    )
    upstream.add_argument(
        "--upstream-key-env",
        metavar="VARIABLE",
        help="with --server, a variable whose value is the key that it is sent, in place of the client's",
    )
    upstream.add_argument(
        "--client-key-env", metavar="VARIABLE", help="a variable whose value is the key that clients must have"
    )
    upstream.add_argument(
        "--upstream-ca", type=file, metavar="FILE", help="certificates that its own is signed by; default: the system's"
    )
    upstream.add_argument("--upstream-cert", type=file, metavar="FILE", help="a certificate that it is shown")
    upstream.add_argument("--upstream-key", type=file, metavar="FILE", help="the key of that")
    upstream.add_argument(
        "--forwarded", action="store_true", help="tell it who asks: X-Forwarded-For, -Proto and -Host"
    )
    upstream.add_argument(
        "--via",
        metavar="NAME",
        default="translate-streams",
        help="our name in Via; empty: none. Default: translate-streams",
    )
    tls = parser.add_argument_group("TLS for clients")
    tls.add_argument("--tls-cert", type=file, metavar="FILE", help="the certificate, with those it is signed by")
    tls.add_argument("--tls-key", type=file, metavar="FILE", help="its key")
    tls.add_argument(
        "--client-ca", type=file, metavar="FILE", help="certificates that a client's own must be signed by"
    )
    waits = parser.add_argument_group("seconds; 0: for ever, or never")
    for name, default, about in _WAITS:
        waits.add_argument(
            f"--{name}", type=seconds, metavar="S", default=default, help=f"{about}; default: {default:g}"
        )
    group = parser.add_argument_group("limits on requests; 8M is 8 * 1024 * 1024")
    for name, default, about in _LIMITS:
        group.add_argument(
            f"--max-{name}", type=size, metavar="N", default=default, help=f"{about}; default: {default:,}"
        )
