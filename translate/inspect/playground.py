"""The playground: a page that shows what becomes of a stream, and what answers it. Everything stays on the machine.

Requests are answered by one function, whatever server they come through: the small one here, or the sidecar.
"""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

from .. import jsontext
from ..algebra.events import JsonObject
from ..engine.options import now
from ..engine.trace import Trace
from ..engine.translator import Translator
from ..errors import TranslateError
from ..recognise import format_of, what
from ..registry import formats, resolve
from .examples import shipped
from .report import SCRIPTS, page, policy
from .view import fed, viewed

PATH = "/playground"
LIMIT = 4 * 1024 * 1024
"""Bytes of a stream at most."""
CHUNKS = 50_000
"""Chunks that a stream comes in at most: a long one comes in larger ones."""
_BODY = 2 * LIMIT + 4096
"""Bytes of a request at most: JSON may spell a character with several."""
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_SCRIPTS = (*SCRIPTS, "link.js", "playground.js")
_CONNECT = "'self'"
_PATIENCE = 30.0
_lock = threading.Lock()
"""One stream is looked at at a time: those who type make many requests."""


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer to a request."""

    status: int
    body: bytes = b""
    kind: str = "text/plain; charset=utf-8"
    location: str | None = None

    def fields(self) -> list[tuple[str, str]]:
        """The header fields."""
        found = [
            ("content-type", self.kind),
            ("content-length", str(len(self.body))),
            ("cache-control", "no-store"),
            ("x-content-type-options", "nosniff"),
            ("referrer-policy", "no-referrer"),
            ("cross-origin-resource-policy", "same-origin"),
            ("content-security-policy", f"{policy(_SCRIPTS, _CONNECT)}; frame-ancestors 'none'"),
        ]
        return [*found, ("location", self.location)] if self.location is not None else found


def refusal(method: str, path: str, fields: Iterable[tuple[str, str]]) -> Reply | None:
    """Why a request is not answered, before its body is read; ``None`` where it is. Names of fields are lower-case.

    A page of another site must neither ask nor, by a name that it has made point here, read what is answered.
    """
    fields = list(fields)
    hosts = [value for name, value in fields if name == "host"]
    if len(hosts) != 1 or _host(hosts[0]) not in _LOOPBACK:
        return Reply(403, b"only as 127.0.0.1 or localhost\n")
    if method in ("GET", "HEAD"):
        return None if path == PATH else Reply(404, b"there is nothing here\n")
    if method != "POST" or path != f"{PATH}/view":
        return Reply(405 if path in (PATH, f"{PATH}/view") else 404, b"not here\n")
    given = dict(fields)
    origin = given.get("origin")
    site = given.get("sec-fetch-site", "none")
    if origin not in (None, f"http://{hosts[0]}") or site not in ("none", "same-origin"):
        return Reply(403, b"not from another site\n")
    if given.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        return Reply(415, b"JSON only\n")
    lengths = [value for name, value in fields if name == "content-length"]
    length = lengths[0] if len(lengths) == 1 else ""
    if "transfer-encoding" in given or not length.isascii() or not length.isdigit():
        return Reply(411, b"the length of the body is not clear\n")
    return Reply(413, b"too large\n") if len(length) > 12 or int(length) > _BODY else None


def answer(method: str, body: bytes) -> Reply:
    """The answer to a request that was not refused."""
    if method != "POST":
        return Reply(200, _page(), "text/html; charset=utf-8")
    try:
        with _lock:
            seen = look(json.loads(body))
    except (ValueError, RecursionError, TranslateError) as error:
        return Reply(400, f"{error}\n".encode("utf-8", "backslashreplace"))
    return Reply(200, json.dumps(seen, separators=(",", ":")).encode(), "application/json")


def look(asked: dict[str, Any]) -> JsonObject:
    """What became of a stream, and how it came in chunks.

    ``asked``: ``text``, ``from``, ``to`` and, where wanted, ``cut`` (bytes that are read), ``chunk`` (bytes of each),
    ``loss`` and ``strict``. The view's units have ``chunk`` besides: of a source unit, the one that completed it; of a
    target unit, the one that let it be said. ``output`` is what was written. Where ``from`` is ``auto`` and the
    format is not recognised, ``problem`` says what the text is, alone. Raises ``ValueError`` for what makes no sense.
    """
    if not isinstance(asked, dict) or not all(isinstance(asked.get(name), str) for name in ("text", "from", "to")):
        raise ValueError("an object with the texts 'text', 'from' and 'to' is asked for")
    data = asked["text"].encode("utf-8", "surrogatepass")
    if len(data) > LIMIT:
        raise ValueError(f"a stream of at most {LIMIT:,} bytes, not {len(data):,}")
    src, dst, began = asked["from"], asked["to"], now()
    if src == "auto":
        src = format_of(data)
        if src is None:
            return {"problem": what(data)}
    size, data = len(data), data[: _count(asked, "cut", len(data))]
    options: dict[str, Any] = {"loss": asked.get("loss", "carry"), "strict": asked.get("strict", True) is not False}
    options["clock"] = lambda: began
    seen, out, error = viewed(data, src, dst, **options)
    whole = _joined(out, error)
    seen["output"] = whole.decode("utf-8", "replace")
    step = max(_count(asked, "chunk", 0) or len(data), -(-len(data) // CHUNKS), 1)
    seen["bytes"] = {"all": size, "read": len(data)}
    machine = partial(Translator, src, dst, errors="encode", **options)
    seen["chunks"] = _in_chunks(data, step, seen, whole, lambda trace: machine(trace=trace))
    return seen


def _in_chunks(
    data: bytes, step: int, seen: JsonObject, whole: bytes, machine: Callable[[Trace], Translator]
) -> JsonObject:
    """How many chunks, whether the output is the same, and how many units were said as soon as they could be."""
    if step >= len(data):
        return {"size": step, "count": 1, "same": True, "prompt": None}
    sources, targets = seen["source"]["units"], seen["target"]["units"]
    chunks = [data[at : at + step] for at in range(0, len(data), step)]
    trace = Trace()
    said: tuple[list[int], list[int]] = ([], [])

    def after(index: int) -> None:
        for found, size in zip(said, (len(trace.sources), len(trace.targets)), strict=True):
            found.extend([index] * (size - len(found)))

    same = _joined(*fed(machine(trace), chunks, after)) == whole
    after(len(chunks) - 1)
    for unit, chunk in (*zip(sources, said[0], strict=False), *zip(targets, said[1], strict=False)):
        unit["chunk"] = chunk
    spoken = [unit for unit in targets if unit["from"] and "chunk" in unit]
    prompt = sum(unit["chunk"] <= max(sources[at].get("chunk", 0) for at in unit["from"]) for unit in spoken)
    return {"size": step, "count": len(chunks), "same": same, "prompt": [prompt, len(spoken)]}


def _joined(out: list[Any], error: TranslateError | None) -> bytes:
    """The output, and what the error says where one ended it."""
    told = b"".join(part if isinstance(part, bytes) else jsontext.dumps_strict(part) for part in out)
    return told + (str(error).encode() if error is not None else b"")


def _count(asked: dict[str, Any], name: str, default: int) -> int:
    value = asked.get(name)
    if value is None:
        return default
    if type(value) is not int or value < 0:
        raise ValueError(f"{name} is no whole number from 0")
    return value


def _host(value: str) -> str:
    """The name in a ``Host`` field, lower-case; nothing where it is none."""
    try:
        parts = urlsplit(f"//{value}")
        port, name = parts.port, (parts.hostname or "").lower()
    except ValueError:
        return ""
    plain = f"[{name}]" if ":" in name else name
    return plain if value.lower() in (plain, f"{plain}:{port}") else ""


def _page() -> bytes:
    names = [name for name in formats() if not resolve(name)[1].objects]
    data = {"formats": names, "limit": LIMIT, "examples": list(shipped())}
    return page("Playground · translate-streams", data, scripts=_SCRIPTS, connect=_CONNECT).encode()


# ---- a server of its own ---------------------------------------------------------------------------------


class Server(ThreadingHTTPServer):
    """Serves the playground on 127.0.0.1. ``port`` 0 is one that the system chooses; ``url`` says which."""

    daemon_threads = True

    def __init__(self, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), _Handler)

    def handle_error(self, request: object, client_address: object) -> None:
        """Whoever types on leaves answers behind: that is no fault."""
        if not isinstance(sys.exception(), (ConnectionError, TimeoutError)):
            super().handle_error(request, client_address)  # type: ignore[arg-type]

    @property
    def url(self) -> str:
        """Where the page is."""
        return f"http://127.0.0.1:{self.server_port}{PATH}"


class _Handler(BaseHTTPRequestHandler):
    server_version, sys_version = "translate-streams", ""
    timeout = _PATIENCE

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        fields = [(name.lower(), value) for name, value in self.headers.items()]
        reply = refusal(self.command, PATH if path == "/" else path, fields)
        if reply is None and path == "/":
            reply = Reply(302, location=PATH)
        if reply is None:
            length = int(self.headers["content-length"]) if self.command == "POST" else 0
            body = self.rfile.read(length)
            if len(body) < length:
                return
            reply = answer(self.command, body)
        self.send_response(reply.status)
        for name, value in reply.fields():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(reply.body)

    do_HEAD = do_POST = do_PUT = do_DELETE = do_OPTIONS = do_GET

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: what is looked at is no one's concern."""
