"""What upstreams and clients do wrong, and what comes of it. ``python -m tests.adapters.faults`` prints the table."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable
from dataclasses import replace

from tests.adapters.fault import Fault, printed
from tests.adapters.faulty import REPORTED, Step, Wire, chunk, head

SOON = 0.05


def cut(wire: Wire) -> int:
    """An index amid a character of the unit that follows the first ones."""
    return len(wire.begin) + wire.more.index("é".encode()) + 1


def packed(wire: Wire) -> bytes:
    """The first units, compressed; what says that no more comes is missing."""
    packer = zlib.compressobj(wbits=31)
    return packer.compress(wire.begin) + packer.flush(zlib.Z_SYNC_FLUSH)


def length(by: int) -> Callable[[Wire], bytes]:
    """A head whose length is that of the first units, and so much more."""
    return lambda wire: head(content_length=str(len(wire.begin) + by))


HEAD, END = head(), b"0\r\n\r\n"
BEGUN: tuple[Step, ...] = (HEAD, chunk("begin"), SOON)
WHOLE: tuple[Step, ...] = (HEAD, chunk("whole"))
LONG: tuple[Step, ...] = (HEAD, *(chunk("parts"),) * 3)
ERROR = head("application/json", status="500 Internal Server Error")
GZIP = head(content_encoding="gzip")
BROKEN = b"event: content\ndata: {oops}\n\n"
ENDLESS = tuple(chunk(b"data: " + b"x" * 999) for _ in range(20))
TRUNCATED = "the input ended without a terminal unit"
READ, HTTP = "the source failed: ReadError", "the source failed: RemoteProtocolError"
POST = b"POST / HTTP/1.1\r\nhost: h\r\n"


def failed(what: str, *steps: Step, message: str = HTTP, failure: str = "RemoteProtocolError") -> Fault:
    """A fault before the first unit, which is told by the status."""
    return Fault(what, steps, "status", 502, message, outcome="cut", failure=failure)


def late(what: str, *steps: Step, message: str = HTTP, failure: str = "RemoteProtocolError") -> Fault:
    """A fault after it, told by a failure unit."""
    return Fault(what, steps, "failure unit", 200, message, outcome="cut", failure=failure)


def broken(fault: Fault) -> Fault:
    """A fault of what the stream says."""
    return replace(fault, outcome="broken")


def slow(fault: Fault, phase: str, seconds: float) -> Fault:
    """A fault that is a time-out."""
    message = f"the stream timed out ({phase}), after {seconds:g} s"
    status = 504 if fault.ends == "status" else fault.status
    failure = f"StreamTimeout, {phase}"
    return replace(fault, status=status, code=504, message=message, outcome="timed out", failure=failure)


def fine(what: str, *steps: Step) -> Fault:
    """No fault, or one that nobody sees."""
    return Fault(what, steps, "whole", outcome="finished")


HUNG_UP = (("uvicorn.error", "ERROR", "ASGI callable returned without completing response."),)
NOT_HTTP = (("uvicorn.error", "WARNING", "Invalid HTTP request received."),)

CONNECTION = (
    replace(
        failed("refuses the connection", message="the source failed: ConnectError", failure="ConnectError"),
        steps="refuse",
        upstream="not connected",
    ),
    replace(
        slow(failed("does not answer the connection"), "connect", 0.3), steps="no answer", upstream="not connected"
    ),
    failed("resets before the head", "reset", message=READ, failure="ReadError"),
    failed("closes before the head", "half-close"),
    failed("resets in the head", HEAD[:30], SOON, "reset", message=READ, failure="ReadError"),
    failed("says what is not HTTP", b"hello\r\n\r\n"),
    failed("switches protocols", b"HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n"),
    failed("resets after the head", HEAD, SOON, "reset", message=READ, failure="ReadError"),
    late("resets in mid-stream", *BEGUN, "reset", message=READ, failure="ReadError"),
    late("hangs up in mid-stream, without the last chunk", *BEGUN, "half-close"),
    late("sends less than the length it named", length(1000), lambda wire: wire.begin, SOON, "half-close"),
    late(
        "sends more than the length it named",
        length(10),
        lambda wire: wire.begin + b"x" * 10,
        message=TRUNCATED,
        failure="TruncatedStream",
    ),
)
SILENCE = (
    slow(failed("stalls before the head"), "first", 0.6),
    slow(failed("stalls before the first unit", HEAD), "first", 0.6),
    replace(slow(late("says nothing but comments", HEAD, *(chunk(b": wait\n\n"), 0.15) * 4), "first", 0.6), bare=True),
    slow(late("stalls in mid-stream", *BEGUN), "idle", 0.3),
    fine("pauses for less than that", *BEGUN, 0.1, chunk("more+rest"), END),
)
_CUT = {"message": TRUNCATED, "failure": "TruncatedStream"}
_JSON = {"message": "not JSON", "failure": "DecodeError"}
_ENCODING = {"message": "the body is not in the content encoding", "failure": "DecodeError"}
_LIMIT = {"failure": "LimitExceeded"}
CONTENT = (
    failed("ends the body with nothing in it", HEAD, END, **_CUT),
    late("ends the body without a terminal unit", *BEGUN, END, **_CUT),
    replace(
        late(
            "has no framing, and closes without a terminal unit",
            b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n",
            lambda wire: wire.begin,
            "half-close",
            **_CUT,
        )
    ),
    late("ends the body in half a unit", *BEGUN, chunk(lambda wire: wire.more[:40]), END, **_CUT),
    late("ends the body in half a character", HEAD, chunk(lambda wire: wire.whole[: cut(wire)]), END, **_CUT),
    fine(
        "pauses in half a character",
        HEAD,
        chunk(lambda wire: wire.whole[: cut(wire)]),
        SOON,
        chunk(lambda wire: wire.whole[cut(wire) :]),
        END,
    ),
    failed("says what holds no unit", HEAD, chunk(b"<!doctype html>\n<p>hi</p>\n\n"), END, **_CUT),
    broken(failed("says what is not JSON, first", HEAD, chunk(BROKEN), **_JSON)),
    broken(
        failed(
            "says what is not UTF-8, first",
            HEAD,
            chunk(bytes(range(128, 256)) + b"\n\n"),
            message="byte 0x80 at position 0 of the unit is not UTF-8",
            failure="DecodeError",
        )
    ),
    broken(
        late(
            "says what is not JSON, in the chunk of good units", HEAD, chunk(lambda wire: wire.begin + BROKEN), **_JSON
        )
    ),
    broken(late("says what is not JSON, later", *BEGUN, chunk(BROKEN), **_JSON)),
    broken(
        failed("says an endless unit, first", HEAD, *ENDLESS, message="the input passes the limit 'unit'", **_LIMIT)
    ),
    broken(
        late("says an endless unit, later", *BEGUN, *ENDLESS, message="the input passes the limit 'unit'", **_LIMIT)
    ),
    broken(
        late(
            "says an endless part",
            *BEGUN,
            *(chunk("lump"),) * 30,
            message="the input passes the limit 'part'",
            **_LIMIT,
        )
    ),
    Fault(
        "reports a failure, first",
        (HEAD, chunk("failure"), END),
        "status",
        429,
        REPORTED,
        outcome="failed",
        failure="UpstreamFailure",
    ),
    Fault(
        "reports a failure, later",
        (HEAD, chunk("begin+failure"), END),
        "failure unit",
        200,
        REPORTED,
        code=429,
        outcome="failed",
        failure="UpstreamFailure",
    ),
)
AFTER = (
    Fault(
        "says more after the terminal unit",
        (*WHOLE, SOON, chunk("begin")),
        "whole",
        outcome="broken",
        failure="GrammarError",
    ),
    Fault(
        "says more after it, in the same chunk",
        (HEAD, chunk("whole+begin")),
        "whole",
        outcome="broken",
        failure="GrammarError",
    ),
    fine("says it, and the body does not end", *WHOLE),
    fine("says it, and hangs up without the last chunk", *WHOLE, SOON, "half-close"),
    fine("says it, and resets", *WHOLE, SOON, "reset"),
)
ENCODED = (
    fine("compresses with gzip, unasked", GZIP, chunk(lambda wire: gzip.compress(wire.whole)), END),
    late(
        "cuts what is compressed",
        GZIP,
        chunk(packed),
        END,
        message="the input ended within its content encoding",
        failure="TruncatedStream",
    ),
    broken(failed("says gzip, and is not compressed", GZIP, chunk("whole"), **_ENCODING)),
    broken(late("says what is not compressed, later", GZIP, chunk(packed), SOON, chunk(b"\xff" * 99), **_ENCODING)),
    broken(
        failed(
            "uses another encoding, unasked",
            head(content_encoding="br"),
            chunk(b"\x0b\x02\x80"),
            END,
            message="the upstream uses a content encoding",
            failure="Refused",
        )
    ),
)
OTHER = (
    Fault(
        "answers 200 with a page",
        (head("text/html"), chunk(b"<p>hi</p>"), END),
        "passed",
        200,
        "<p>hi</p>",
        outcome="passed",
    ),
    Fault("names no content type", (head(""), chunk(b"data: 1\n\n"), END), "passed", 200, "data: 1", outcome="passed"),
    Fault(
        "answers an error status with a body",
        (head("application/json", status="429 Slow Down"), chunk(b'{"error": 1}'), END),
        "passed",
        429,
        '{"error": 1}',
        outcome="passed",
    ),
    Fault(
        "hangs up in the body of such an answer",
        (ERROR, chunk(b'{"error":'), SOON, "half-close"),
        "cut",
        500,
        '{"error":',
        outcome="cut",
        failure="RemoteProtocolError",
        logged=HUNG_UP,
    ),
    replace(
        slow(
            Fault("stalls in the body of such an answer", (ERROR, chunk(b'{"error":')), "cut", 500, logged=HUNG_UP),
            "idle",
            0.3,
        ),
        message='{"error":',
    ),
    slow(failed("stalls before the body of such an answer", ERROR), "idle", 0.3),
    Fault(
        "redirects to a path of its own",
        (head("", status="307 Moved", location="/v2", content_length="0"),),
        "passed",
        307,
        outcome="passed",
    ),
    broken(
        failed(
            "redirects elsewhere",
            head("", status="307 Moved", location="http://192.0.2.1/"),
            END,
            message="the upstream redirects elsewhere",
            failure="Refused",
        )
    ),
    broken(
        failed(
            "redirects to what is no address",
            head("", status="307 Moved", location="http://[x"),
            END,
            message="the upstream redirects to what is no address",
            failure="Refused",
        )
    ),
)
CLIENT = (
    replace(slow(Fault("stalls in a stream", LONG, "cut", client="stalls", logged=HUNG_UP), "write", 0.3), message=""),
    replace(
        slow(
            Fault(
                "stalls in a body that is passed on",
                (head("application/json"), *(chunk(b"x" * 400_000),) * 4),
                "cut",
                client="stalls",
                logged=HUNG_UP,
            ),
            "write",
            0.3,
        ),
        message="x",
    ),
    Fault("leaves before the head", (), "gone", None, outcome="disconnected", client="leaves"),
    Fault("leaves in mid-stream", BEGUN, "gone", outcome="disconnected", client="leaves"),
    Fault("leaves a stream that it does not read", LONG, "gone", outcome="disconnected", client="leaves"),
    Fault("sends what is not HTTP", (), "text", 400, "Invalid HTTP", request=b"\x16\x03\x01\r\n\r\n", logged=NOT_HTTP),
    Fault("connects, and says nothing", (), "nothing", None, request=b""),
    Fault("stalls in the head of its request", (), "text", 408, request=POST),
    Fault(
        "stalls in the body of its request",
        (),
        "status",
        408,
        "the request did not arrive in time",
        request=POST + b"content-length: 9\r\n\r\n{",
        refused=True,
    ),
    Fault(
        "leaves in the body of its request",
        (),
        "gone",
        None,
        request=POST + b"content-length: 9\r\n\r\n{",
        client="leaves",
        refused=True,
    ),
    Fault(
        "sends a body that is too long",
        (),
        "status",
        413,
        "the body is too large",
        request=POST + b"content-length: 500000\r\n\r\n" + b"x" * 500_000,
        refused=True,
    ),
    Fault(
        "sends one in chunks",
        (),
        "status",
        413,
        "the body is too large",
        request=POST + b"transfer-encoding: chunked\r\n\r\n" + (b"3e8\r\n" + b"x" * 1000 + b"\r\n") * 500,
        refused=True,
    ),
)
FAULTS = {
    "The upstream's connection": CONNECTION,
    "The upstream's silence": SILENCE,
    "What the upstream says": CONTENT,
    "The upstream, after the terminal unit": AFTER,
    "The upstream's content encoding": ENCODED,
    "The upstream's other answers": OTHER,
    "The client": CLIENT,
}

if __name__ == "__main__":
    print(printed(FAULTS), end="")
