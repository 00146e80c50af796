"""What the sidecar says of requests: a line each, with the id, what came of it and why; and the same in figures."""

from __future__ import annotations

import errno
import json
import socket
import ssl
from typing import Any

import pytest

from tests.adapters.sidecars import answers, ask, request, sidecar, until, upstream
from tests.peers.serving import HOST
from translate import GrammarError, StreamTimeout

pytest.importorskip("uvicorn", reason="uvicorn is not installed: pip install -e '.[serve]'")
httpx2 = pytest.importorskip("httpx2", reason="httpx2 is not installed: pip install -e '.[serve]'")

from translate.adapters.sidecar.logs import cause_of  # noqa: E402
from translate.adapters.sidecar.rules import Refused  # noqa: E402

FORMATS = {"src": "unievent-sse", "dst": "gateway-sse"}


def connecting(cause: BaseException) -> Any:
    """The error of a connection that could not be had, as the client library makes it."""
    error, between = httpx2.ConnectError("secret"), OSError("All connection attempts failed")
    error.__cause__, between.__cause__ = between, cause
    return error


def untrusted() -> ssl.SSLCertVerificationError:
    error = ssl.SSLCertVerificationError(1, "secret")
    error.verify_message = "self-signed certificate"
    return error


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        (None, None),
        (Refused(400, "the target is not a path"), "the target is not a path"),
        (connecting(OSError(errno.ECONNREFUSED, "secret")), "refused by the upstream"),
        (connecting(ExceptionGroup("", [OSError(errno.EMFILE, "secret")])), "no descriptors"),
        (connecting(socket.gaierror(-2, "secret")), "DNS: the upstream's name is not known"),
        (connecting(untrusted()), "TLS: self-signed certificate"),
        (connecting(OSError(errno.EHOSTUNREACH, "secret")), "no way to the upstream"),
        (connecting(ValueError("secret")), "ConnectError"),
        (httpx2.RemoteProtocolError("secret"), "the upstream broke off, or HTTP"),
        (StreamTimeout("between", 5), "StreamTimeout, between"),
        (GrammarError("secret"), "GrammarError"),
    ],
)
def test_a_cause_is_told_in_words_of_ours(error: BaseException | None, cause: str | None) -> None:
    assert cause_of(error) == cause


def test_the_line_of_a_request_says_why() -> None:
    with socket.create_server((HOST, 0)) as taken:
        nobody = taken.getsockname()[1]
    with sidecar(f"http://{HOST}:{nobody}", **FORMATS) as made:
        ask(made.port, request("/x", b"X-Request-Id: one"))
        ask(made.port, request("/../x", b"X-Request-Id: two"))
    assert " one GET: 502, cut (refused by the upstream), 0." in made.log
    assert " two GET: 400, refused (the path has segments that are relative), 0." in made.log


def test_lines_can_be_json() -> None:
    with upstream(answers(b"fine", b"X-Request-Id: theirs")) as up:
        with sidecar(up.url, "--log-format", "json", **FORMATS) as made:
            port = made.port
            got = ask(port, request("/x", b"X-Request-Id: one"))
            ask(port, request("/x", b"X-Request-Id: two", method="PROPFIND"))
            until(lambda: "PROPFIND" in made.log or '"two"' in made.log)
    assert (got["x-request-id"], got["x-translate-request-id"]) == (b"theirs", b"one")
    lines = [json.loads(line) for line in made.lines]
    assert all({"time", "level", "logger", "message"} <= line.keys() for line in lines)
    one, two = [line["request"] for line in lines if "request" in line]
    assert 0 <= one.pop("seconds") < 5
    first = {"id": "one", "method": "GET", "status": 200, "outcome": "passed", "upstream": 200}
    figures = {"units": 0, "bytes_in": 4, "bytes_out": 4, "pings": 0}
    assert one == {"src": "unievent-sse", "dst": "gateway-sse", **first, **figures}
    assert (two["status"], two["outcome"], two["cause"]) == (405, "refused", "the method is not forwarded")


def test_requests_are_counted_whatever_came_of_them() -> None:
    pytest.importorskip("prometheus_client", reason="prometheus-client is not installed")
    says: Any = lambda asked: answers(b"no", status=b"500 Oh" if asked.target == b"/bad" else b"200 OK")(asked)  # noqa: E731
    with upstream(says) as up, sidecar(up.url, "--max-body", "10", **FORMATS) as made:
        port = made.port
        for _ in range(3):
            assert ask(port, request("/bad")).status == 500
        assert ask(port, request("/good")).status == 200
        assert ask(port, request("/../x")).status == 400
        assert ask(port, request("/x", method="POST", body=b"x" * 11)).status == 413
        text = ask(port, request("/metrics")).body.decode()
    found = {}
    for line in text.splitlines():
        name, _, value = line.rpartition(" ")
        found[name] = value
    for name, count in (
        ('translate_requests_total{reason="passed",status="200"}', 1),
        ('translate_requests_total{reason="passed",status="500"}', 3),
        ('translate_requests_total{reason="the path has segments that are relative",status="400"}', 1),
        ('translate_requests_total{reason="the body is too large",status="413"}', 1),
        ('translate_upstream_answers_total{status="5xx"}', 3),
        ('translate_upstream_answers_total{status="2xx"}', 1),
    ):
        key = next((each for each in found if _same(each, name)), None)
        assert key is not None, (name, text)
        assert float(found[key]) == count


def _same(line: str, name: str) -> bool:
    """Whether a series is the one of that name and these labels, among others."""
    series, _, labels = line.partition("{")
    wanted, _, named = name.partition("{")
    return series == wanted and all(label in labels for label in named.rstrip("}").split(","))
