"""Files as tools write them, made of the project's own streams: two in each, that are to be converted."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
import zipfile
from base64 import b64encode
from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any

from tests.logs import packing
from translate import convert

SSE = "unievent-sse"
STREAMS = packing.examples(SSE, 3)[2:4]
AGENT = "anthropic-jsonl"
EVENTS = "text/event-stream; charset=utf-8"


def har(streams: Sequence[bytes] = STREAMS) -> bytes:
    """As a browser exports it, of one text and one base64; with what else it loaded."""
    entries = [_har("text/html", "<html></html>"), *(_har(EVENTS, stream.decode()) for stream in streams)]
    entries[-1]["response"]["content"] |= {"text": b64encode(streams[-1]).decode(), "encoding": "base64"}
    return json.dumps({"log": {"version": "1.2", "creator": {"name": "a"}, "entries": entries}}, indent=2).encode()


def _har(kind: str, text: str, **content: Any) -> dict[str, Any]:
    body = {"size": len(text), "mimeType": kind, "text": text, **content}
    asked = {"mimeType": "application/json", "text": '{"model": "m1", "stream": true}'}
    request = {"method": "POST", "url": "https://api.example/v1", "postData": asked}
    return {"startedDateTime": "2026-01-01T00:00:00Z", "request": request, "response": {"status": 200, "content": body}}


def polly(streams: Sequence[bytes] = STREAMS) -> bytes:
    """As Polly keeps it: of one text, and of one the compressed pieces, in hexadecimal."""
    packed = gzip.compress(streams[-1], mtime=0)
    pieces = json.dumps([packed[:100].hex(), packed[100:].hex()])
    entries = [_har(EVENTS, stream.decode()) | {"_id": "5f", "_order": 0} for stream in streams[:-1]]
    entries.append(_har(EVENTS, pieces, _isBinary=True) | {"_id": "60", "_order": 0})
    return json.dumps({"log": {"_recordingName": "a", "creator": {"name": "Polly.JS"}, "entries": entries}}).encode()


def vcrpy(streams: Sequence[bytes] = STREAMS) -> bytes:
    """As vcrpy writes it: of one text, and of one the compressed bytes."""
    import yaml

    bodies = [*(stream.decode() for stream in streams[:-1]), gzip.compress(streams[-1], mtime=0)]
    found = [
        {
            "request": {"body": '{"model": "m1"}', "headers": {}, "method": "POST", "uri": "https://api.example/v1"},
            "response": {
                "body": {"string": body},
                "headers": {"Content-Type": [EVENTS], "Content-Length": [str(len(body))]},
                "status": {"code": 200, "message": "OK"},
            },
        }
        for body in ["<html></html>", *bodies]
    ]
    found[0]["response"]["headers"]["Content-Type"] = ["text/html"]  # type: ignore[index]
    return str(yaml.dump({"interactions": found, "version": 1})).encode()


def ruby(streams: Sequence[bytes] = STREAMS) -> bytes:
    """As ruby's VCR writes it in JSON."""
    found = [
        {
            "request": {"method": "post", "uri": "https://api.example/v1", "body": {"string": "{}"}},
            "response": {
                "status": {"code": 200, "message": None},
                "headers": {"content-type": [EVENTS]},
                "body": {"encoding": "UTF-8", "string": stream.decode()},
                "http_version": None,
            },
            "recorded_at": "Tue, 01 Nov 2011 04:58:44 GMT",
        }
        for stream in streams
    ]
    del found[-1]["response"]["body"]["string"]  # type: ignore[index]
    found[-1]["response"]["body"]["base64_string"] = b64encode(streams[-1]).decode()  # type: ignore[index]
    return json.dumps({"http_interactions": found, "recorded_with": "VCR 6.0.0"}).encode()


def ruby_yaml(streams: Sequence[bytes] = STREAMS) -> bytes:
    """The same in YAML."""
    import yaml

    return b"---\n" + str(yaml.safe_dump(json.loads(ruby(streams)), sort_keys=False)).encode()


def array(streams: Sequence[bytes] = STREAMS) -> bytes:
    """An export: one array of records."""
    return json.dumps([{"id": n, "response": {"body": text.decode()}} for n, text in enumerate(streams)]).encode()


def export(streams: Sequence[bytes] = STREAMS) -> bytes:
    """An export: a page of records, the units of each in a list."""
    rows = [{"id": n, "output": {"streamed_data": packing.objects(text, SSE)}} for n, text in enumerate(streams)]
    return json.dumps({"meta": {"page": 1}, "data": rows}, indent=1).encode()


def docker(data: bytes, channel: str = "stdout", most: int = 500) -> list[bytes]:
    """A record a line, a long one in several."""
    lines = chain.from_iterable(
        [line[at : at + most] for at in range(0, len(line), most)] for line in data.decode().splitlines(keepends=True)
    )
    return [
        json.dumps({"log": line, "stream": channel, "time": f"2026-01-01T00:00:00.{n}Z"}).encode() + b"\n"
        for n, line in enumerate(lines)
    ]


def cri(data: bytes, channel: str = "stdout", most: int = 500) -> list[bytes]:
    """P for a line that goes on."""
    found = []
    for line in data.splitlines():
        cut = [line[at : at + most] for at in range(0, len(line), most)] or [b""]
        for number, piece in enumerate(cut):
            mark = b"P" if number < len(cut) - 1 else b"F"
            found.append(b"2026-01-01T00:00:00.000000000+01:00 %s %s %s\n" % (channel.encode(), mark, piece))
    return found


def journald(data: bytes, channel: str = "stdout", most: int = 500) -> list[bytes]:
    """No blank lines; a long line in several records; bytes where it is not text alone."""
    found = []
    for line in filter(bytes.strip, data.splitlines()):
        cut = [line[at : at + most] for at in range(0, len(line), most)]
        for number, piece in enumerate(cut):
            record = {"__CURSOR": f"s={number}", "__REALTIME_TIMESTAMP": "1767225600000000", "PRIORITY": "6"}
            record |= {"_SYSTEMD_UNIT": "app.service", "_PID": "7", "_STREAM_ID": channel}
            record |= {"_LINE_BREAK": "line-max"} if number < len(cut) - 1 else {}
            message = piece.decode() if piece.isascii() else list(piece)
            found.append(json.dumps({**record, "MESSAGE": message}).encode() + b"\n")
    return found


def stamped(data: bytes, stamp: bytes = b"2026-01-01T00:00:00.123Z") -> bytes:
    """A time before each line."""
    return b"".join(stamp + b" " + line + b"\n" for line in data.splitlines())


def bare(data: bytes) -> bytes:
    """``data:`` lines alone."""
    return b"".join(line + b"\n" for line in data.splitlines() if line.strip())


def curl_i(data: bytes, status: bytes = b"200 OK") -> bytes:
    """``curl -i``."""
    return b"HTTP/1.1 %s\r\nContent-Type: text/event-stream\r\nDate: now\r\n\r\n%s" % (status, data)


def curl_v(data: bytes) -> bytes:
    """``curl -v``, both channels in one file."""
    lines = b"* Trying 127.0.0.1...\n* Connected\n> POST /v1/messages HTTP/2\n> Host: api.example\n> \n"
    head = b"} [26 bytes data]\n< HTTP/2 200 \r\n< content-type: text/event-stream\r\n< \r\n{ [5 bytes data]\n"
    return lines + head + data + b"* Connection #0 left intact\n"


def told_by_an_agent(stream: bytes) -> bytes:
    """A stream as an agent is told it."""
    return b"".join(convert(stream, SSE, AGENT, loss="drop", clock=lambda: packing.NOW))


def agent(streams: Sequence[bytes] = STREAMS) -> bytes:
    """An agent's file: two messages of a session, and what is between them."""
    records: list[dict[str, Any]] = [{"type": "system", "subtype": "init", "session_id": "s"}]
    for stream in streams:
        for unit in told_by_an_agent(stream).splitlines():
            event = {"event": json.loads(unit), "parent_tool_use_id": None, "uuid": "u"}
            records.append({"type": "stream_event", "session_id": "s", **event})
        records.append({"type": "assistant", "session_id": "s", "message": {"role": "assistant", "content": []}})
    records.append({"type": "result", "session_id": "s", "result": "done"})
    return b"".join(map(packing.line, records))


def zipped(files: dict[str, bytes]) -> bytes:
    """A ZIP archive."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0)), data)
    return out.getvalue()


def tarred(files: dict[str, bytes], mode: str = "w:gz") -> bytes:
    """A tar archive."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode) as archive:  # type: ignore[call-overload]
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size, info.mtime = len(data), 1767225600
            archive.addfile(info, io.BytesIO(data))
    return out.getvalue()


JOINED = b"".join(STREAMS)
SHAPES: dict[str, tuple[str, Callable[[], bytes]]] = {
    "streams": ("streams", lambda: JOINED),
    "records": ("lines", lambda: packing.of_streams(STREAMS)),
    "units": ("lines", lambda: packing.of_units(STREAMS, lambda stream: packing.units(stream, SSE))),
    "base64": ("lines", lambda: b"".join(packing.line({"body": b64encode(each).decode()}) for each in STREAMS)),
    "pieces": ("lines", lambda: b"".join(packing.line({"body": packing.units(each, SSE)}) for each in STREAMS)),
    "array": ("json", array),
    "export": ("json", export),
    "har": ("har", har),
    "polly": ("har", polly),
    "vcrpy": ("vcr", vcrpy),
    "ruby": ("vcr", ruby),
    "ruby-yaml": ("vcr", ruby_yaml),
    "docker": ("docker", lambda: b"".join(docker(JOINED))),
    "cri": ("cri", lambda: b"".join(cri(JOINED))),
    "journald": ("journald", lambda: b"".join(journald(JOINED))),
    "stamped": ("recorded", lambda: stamped(JOINED)),
    "curl-i": ("curl", lambda: b"".join(map(curl_i, STREAMS))),
    "curl-v": ("curl", lambda: b"".join(map(curl_v, STREAMS))),
    "stream-json": ("stream-json", agent),
}
"""Each shape, with the container that it is."""
