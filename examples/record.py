"""Record the UniEvent streams in this folder from the reference implementation's own server.

    python -m pip install mmsp
    python examples/record.py                     # both files, written beside this script
    python examples/record.py --only cut --out /tmp

For each example the script starts a small upstream on 127.0.0.1 that answers `POST /v1/messages` with a hand-written
Anthropic Messages stream, starts the server of `mmsp` in front of it (a models table of one row, whose `base_url` is
the upstream), sends one `POST /v1/stream` to it and writes the body of the answer to `<name>.unievent.sse`, byte for
byte. Nothing leaves the machine and no key is needed.

Both ports are free ones chosen by the system, both servers are closed whatever happens, and a recording that takes
longer than `--timeout` seconds or does not end as its script says fails without writing a file. Two recordings with
the same versions of `mmsp` and of the `anthropic` SDK below it differ in `created_at` only.
"""

import argparse
import base64
import http.client
import importlib
import importlib.metadata
import json
import logging
import os
import re
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

HOST = "127.0.0.1"
MODEL = "claude-sonnet-5"
DONE = b"data: [DONE]\n\n"

Frame = Mapping[str, Any]
"""The JSON of one upstream event; its `type` is the name of the event as well."""


# The upstream's scripts. Each is the list of frames that Anthropic's Messages API streams for one turn.

THINKING = (
    "The user wants tonight's concert in Orléans and the weather for the walk back. "
    "The two look-ups do not depend on each other, so I can call both tools at once."
)
TEXT = (
    "Good evening! 🌍 I'll look up “Une nuit à Orléans” and the weather at the same time:\n\n"
    "1. the concert at the théâtre\n2. the forecast for your walk back"
)
# Cut as a model cuts them: inside a key, a number and an escape. Only the fragments keep the spacing, the spelling
# 24.50 and the escape; the first integer is beyond 2**53 and the second beyond 2**64.
CONCERT_ARGUMENTS = (
    '{"title',
    '":  "Une nuit à Orl\\u00',
    'e9ans \\"live\\""',
    ' ,"event_id": 90071992',
    "54740993",
    ',\n  "max_price": 24.5',
    "0}",
)
WEATHER_ARGUMENTS = (
    '{ "city" : ',
    '"Orléans"',
    ',"since_ns":184467440',
    "73709551617",
    ',  "hours": [ 21,22 ,23 ]',
    ',"note":"🌧️ ?"',
    " }",
)
# Readable on purpose, so that nobody takes it for a signature that some provider issued.
SIGNATURE = base64.b64encode(b"not a real signature; " * 8).decode()


def tokens(text: str) -> list[str]:
    """Cut a text into pieces of about the size of a token, whose join is the text."""
    return re.findall(r"\s*\S{1,8}|\s+", text)


def message_start() -> Iterator[Frame]:
    usage = {
        "input_tokens": 41,
        "cache_creation_input_tokens": 256,
        "cache_read_input_tokens": 2048,
        "output_tokens": 3,
        "service_tier": "standard",
    }
    message: dict[str, Any] = {
        "id": "msg_example",
        "type": "message",
        "role": "assistant",
        "model": MODEL,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": usage,
    }
    yield {"type": "message_start", "message": message}
    yield {"type": "ping"}


def block(index: int, start: Frame, deltas: Iterable[Frame], *, closed: bool = True) -> Iterator[Frame]:
    yield {"type": "content_block_start", "index": index, "content_block": start}
    for delta in deltas:
        yield {"type": "content_block_delta", "index": index, "delta": delta}
    if closed:
        yield {"type": "content_block_stop", "index": index}


def thinking_block(index: int, thinking: str) -> Iterator[Frame]:
    deltas: list[Frame] = [{"type": "thinking_delta", "thinking": piece} for piece in tokens(thinking)]
    deltas.append({"type": "signature_delta", "signature": SIGNATURE})
    return block(index, {"type": "thinking", "thinking": "", "signature": ""}, deltas)


def text_block(index: int, text: str) -> Iterator[Frame]:
    deltas = [{"type": "text_delta", "text": piece} for piece in tokens(text)]
    return block(index, {"type": "text", "text": ""}, deltas)


def tool_block(index: int, call_id: str, name: str, pieces: Iterable[str], *, closed: bool = True) -> Iterator[Frame]:
    # the API opens the arguments of every call with an empty fragment
    deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in ("", *pieces)]
    return block(index, {"type": "tool_use", "id": call_id, "name": name, "input": {}}, deltas, closed=closed)


def claude_turn() -> Iterator[Frame]:
    """A turn that thinks, answers and makes two parallel tool calls."""
    yield from message_start()
    yield from thinking_block(0, THINKING)
    yield from text_block(1, TEXT)
    yield from tool_block(2, "toolu_example_1", "find_concert", CONCERT_ARGUMENTS)
    yield from tool_block(3, "toolu_example_2", "get_weather", WEATHER_ARGUMENTS)
    yield {
        "type": "message_delta",
        "delta": {"stop_reason": "tool_use", "stop_sequence": None},
        "usage": {"output_tokens": 187},
    }
    yield {"type": "message_stop"}


def cut() -> Iterator[Frame]:
    """A turn whose upstream reports an overload in the middle of a tool call."""
    yield from message_start()
    yield from text_block(0, "One moment, I'll check the théâtre.")
    yield from tool_block(1, "toolu_example_3", "find_concert", CONCERT_ARGUMENTS[:3], closed=False)
    yield {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}


@dataclass(frozen=True)
class Example:
    """One file to record: what the upstream says, and the member its last event must have."""

    frames: tuple[Frame, ...]
    last_has: str


EXAMPLES = {
    "claude-turn": Example(tuple(claude_turn()), last_has="finish_reason"),
    "cut": Example(tuple(cut()), last_has="error"),
}


# The two servers.


class Upstream(ThreadingHTTPServer):
    """A Messages API of one answer: its frames, `pace` seconds apart."""

    def __init__(self, frames: tuple[Frame, ...], pace: float) -> None:
        super().__init__((HOST, 0), UpstreamHandler)
        self.frames = frames
        self.pace = pace


class UpstreamHandler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        assert isinstance(self.server, Upstream)
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path.partition("?")[0] != "/v1/messages":
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self.end_headers()
        # a recording that ran out of time hangs up on its upstream
        with suppress(ConnectionError):
            for frame in self.server.frames:
                data = json.dumps(frame, ensure_ascii=False, separators=(",", ":"))
                self.wfile.write(f"event: {frame['type']}\ndata: {data}\n\n".encode())
                time.sleep(self.server.pace)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: standard error is for the result."""


@contextmanager
def upstream(frames: tuple[Frame, ...], pace: float) -> Iterator[int]:
    """Serve the frames while the block runs; yields the port."""
    server = Upstream(frames, pace)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()


@contextmanager
def mmsp_server(upstream_port: int) -> Iterator[int]:
    """Run the server of `mmsp` in front of the upstream while the block runs; yields its port.

    `mmsp.integration.server.start_server` has neither a way to stop nor one to tell the port it was given, so the
    application is served here by the server that it uses as well.
    """
    # mmsp ships no types, and the script is checked where mmsp is not installed too
    create_server_app: Any = importlib.import_module("mmsp.integration.server").create_server_app
    make_server: Any = importlib.import_module("werkzeug.serving").make_server
    logging.getLogger("werkzeug").setLevel(logging.ERROR)

    row = {
        "model_id": MODEL,
        "server_model_id": MODEL,
        "client_type": "anthropic-official",
        "base_url": f"http://{HOST}:{upstream_port}",
        "api_key": "unused",
    }
    app = create_server_app([row])
    try:
        server = make_server(HOST, 0, app, threaded=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield server.port
        finally:
            server.shutdown()
            server.server_close()
    finally:
        app.config["MMSP_SERVER_METRICS"].close()


# The recording.


def request_body() -> bytes:
    def tool(name: str, description: str, **properties: str) -> dict[str, Any]:
        schema = {"type": "object", "properties": {key: {"type": kind} for key, kind in properties.items()}}
        return {"name": name, "description": description, "parameters": schema}

    find_concert = tool("find_concert", "Find a concert.", title="string", event_id="integer", max_price="number")
    get_weather = tool(
        "get_weather", "Forecast the weather.", city="string", since_ns="integer", hours="array", note="string"
    )
    text = "What is on at the théâtre in Orléans tonight, and will I get wet on the way home?"
    body = {
        "model": MODEL,
        "messages": [{"role": "user", "content_items": [{"type": "text.done", "text": text}]}],
        "config": {"max_tokens": 4096, "thinking_level": "medium", "tools": [find_concert, get_weather]},
    }
    return json.dumps(body, ensure_ascii=False).encode()


def fetch(port: int, timeout: float) -> bytes:
    """The body of one streamed answer of the `mmsp` server."""
    deadline = time.monotonic() + timeout
    connection = http.client.HTTPConnection(HOST, port, timeout=timeout)
    try:
        connection.request("POST", "/v1/stream", request_body(), {"Content-Type": "application/json"})
        response = connection.getresponse()
        body = bytearray()
        while piece := response.read1():
            body += piece
            if time.monotonic() > deadline:
                raise TimeoutError(f"no end after {timeout:g} s")
    finally:
        connection.close()
    if response.status != http.HTTPStatus.OK:
        raise RuntimeError(f"HTTP {response.status}: {body.decode(errors='replace')}")
    return bytes(body)


def record(example: Example, pace: float, timeout: float) -> bytes:
    with upstream(example.frames, pace) as upstream_port, mmsp_server(upstream_port) as port:
        body = fetch(port, timeout)
    if not body.endswith(DONE):
        raise RuntimeError("the answer does not end in [DONE]")
    last = json.loads(body.removesuffix(DONE).rpartition(b"data: ")[2])
    if not last.get(example.last_has):
        raise RuntimeError(f"the last event has no {example.last_has!r}: {last}")
    return body


def main() -> int:
    description = "Record the UniEvent streams in this folder from the mmsp server."
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument(
        "--out", type=Path, default=Path(__file__).parent, help="folder to write to (default: this one)"
    )
    parser.add_argument("--only", choices=EXAMPLES, help="record this one only (default: all)")
    parser.add_argument("--pace", type=float, default=12.0, help="milliseconds between upstream frames (default: 12)")
    parser.add_argument("--timeout", type=float, default=30.0, help="seconds that one recording may take (default: 30)")
    arguments = parser.parse_args()

    try:
        versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in ("mmsp", "anthropic"))
    except importlib.metadata.PackageNotFoundError:
        parser.error("mmsp is not installed: python -m pip install mmsp")

    # the SDK that mmsp uses would otherwise send the request for 127.0.0.1 to a proxy named in the environment
    os.environ["no_proxy"] = HOST
    for name in [arguments.only] if arguments.only else EXAMPLES:
        path = arguments.out / f"{name}.unievent.sse"
        try:
            body = record(EXAMPLES[name], arguments.pace / 1000, arguments.timeout)
        except (OSError, RuntimeError, http.client.HTTPException) as error:
            print(f"{name}: {error}", file=sys.stderr)
            return 1
        path.write_bytes(body)
        print(f"{path}: {body.count(b'data: ') - 1} events, {len(body)} bytes, {versions}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
