"""What crosses the sidecar in either direction, how much of it, how long it may take, and that it is nobody else's."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from tests.adapters.sidecars import (
    HANG_UP,
    Asked,
    Process,
    Recorder,
    Wire,
    answers,
    ask,
    request,
    sidecar,
    until,
    upstream,
)
from tests.peers.serving import PATIENCE

pytest.importorskip("uvicorn", reason="uvicorn is not installed: pip install -e '.[serve]'")
pytest.importorskip("httpx2", reason="httpx2 is not installed: pip install -e '.[serve]'")

LENGTH, CHUNKED = b"Content-Length: 5", b"Transfer-Encoding: chunked"


@pytest.fixture(scope="module")
def recorder() -> Iterator[Recorder]:
    with upstream(answers()) as made:
        yield made


@pytest.fixture(scope="module")
def running(recorder: Recorder) -> Iterator[Process]:
    limits = ("--max-head", "2000", "--max-body", "1000", "--body", "1")
    with sidecar(f"{recorder.url}/base/", *limits) as made:
        yield made


@pytest.fixture
def up(recorder: Recorder) -> Recorder:
    recorder.asked.clear()
    recorder.says = answers()
    return recorder


@pytest.fixture
def port(running: Process, up: Recorder) -> int:
    return running.port


# ---- fields ----------------------------------------------------------------------------------------------


def names(asked: Asked) -> list[bytes]:
    return sorted(name.lower() for name, _ in asked.fields)


OURS = [b"accept-encoding", b"host", b"via", b"x-request-id"]


def test_fields_of_one_connection_do_not_reach_the_upstream(up: Recorder, port: int) -> None:
    lines = (
        *(b"Connection: keep-alive, X-Foo ,,AUTHORIZATION", b"Connection: x-bar", b"X-Foo: 1", b"x-bar: 2"),
        *(b"Authorization: Bearer mine", b"Keep-Alive: timeout=5", b"Proxy-Authorization: Basic x"),
        *(b"Proxy-Connection: keep-alive", b"TE: trailers", b"Trailer: X", b"Upgrade: websocket, h2c"),
        *(b"HTTP2-Settings: AAMAAABk", b"Expect: 100-continue", b"X-Kept: 1", b"x-KEPT: 2"),
    )
    with Wire(port, request("/x", *lines)) as wire:
        assert wire.answer().status == 200
        wire.send(request("/x", b"Authorization: Bearer other", b"X-Foo: 3"))
        assert wire.answer().status == 200
    first, second = up.asked
    assert names(first) == sorted([*OURS, b"x-kept", b"x-kept"])
    assert first.all("x-kept") == [b"1", b"2"]
    # what one request names is that of no other
    assert (second.all("authorization"), second.all("x-foo")) == ([b"Bearer other"], [b"3"])


def test_a_client_cannot_name_away_what_the_sidecar_says(up: Recorder, port: int) -> None:
    line = b"Connection: host, content-length, accept-encoding, x-request-id, connection, transfer-encoding"
    with Wire(port, request("/x", line, b"X-Request-Id: me", method="POST", body=b"hello" * 3) + request("/y")) as wire:
        assert wire.answer()["x-translate-request-id"] == b"me"
        assert wire.answer().status == 200
    first, second = up.asked
    assert names(first) == sorted([*OURS, b"content-length"])
    assert (first.body, first.all("host"), first.all("x-request-id")) == (
        b"hello" * 3,
        [b"127.0.0.1:%d" % up.port],
        [b"me"],
    )
    assert second.target == b"/base/y"


def test_a_spelling_with_underscores_does_not_go_around_that(up: Recorder, port: int) -> None:
    lines = (
        *(b"X_Request_Id: theirs", b"Accept_Encoding: gzip", b"Accept-encoding_: x", b"Keep_Alive: timeout=5"),
        *(b"Connection: x_foo, X-Bar", b"X-Foo: 1", b"X_BAR: 2", b"Proxy_Authorization: Basic x", b"X_Kept: 1"),
    )
    assert ask(port, request("/x", *lines, b"X-Request-Id: me")).status == 200
    (asked,) = up.asked
    assert names(asked) == sorted([*OURS, b"accept-encoding_", b"x_kept"])
    assert (asked.all("x-request-id"), asked.all("accept-encoding")) == ([b"me"], [b"identity"])


def test_fields_of_one_connection_do_not_reach_the_client(up: Recorder, port: int) -> None:
    up.says = answers(
        b"fine",
        *(b"Connection: keep-alive, X-Foo", b"X-Foo: 1", b"Keep-Alive: timeout=5", b"Proxy-Authenticate: Basic"),
        *(b"Trailer: X", b"Upgrade: h2c", b"Alt-Svc: h3=':443'", b"Refresh: 0; url=http://other", b"Server: theirs"),
        *(b"Date: then", b"X-Request-Id: theirs", b"X-Kept: 1", b"Set-Cookie: a=1", b"Set-Cookie: b=2"),
    )
    got = ask(port, request("/x", b"X-Request-Id: me"))
    assert sorted(name.lower() for name, _ in got.fields) == sorted(
        [
            *(b"date", b"content-type", b"content-length", b"x-kept", b"set-cookie", b"set-cookie", b"x-request-id"),
            b"x-translate-request-id",
        ]
    )
    assert got["date"] != b"then"
    assert got["x-request-id"] == b"theirs"
    assert got["x-translate-request-id"] == b"me"


def test_an_upgrade_is_a_plain_request(up: Recorder, port: int) -> None:
    lines = (b"Connection: Upgrade", b"Upgrade: websocket", b"Sec-WebSocket-Version: 13", b"Sec-WebSocket-Key: x")
    with Wire(port, request("/x", *lines)) as wire:
        assert wire.answer().status == 200
    assert (up.asked[0].all("upgrade"), up.asked[0].all("connection")) == ([], [])


def test_a_client_that_waits_for_100_gets_it_if_the_body_may_come(up: Recorder, port: int) -> None:
    with Wire(port, request("/x", b"Expect: 100-continue", b"Content-Length: 5", method="POST")) as wire:
        assert wire.line() == b"HTTP/1.1 100 Continue\r\n"
        wire.send(b"hello")
        assert wire.line() == b"\r\n"
        assert wire.answer().status == 200
    with Wire(port, request("/x", b"Expect: 100-continue", b"Content-Length: 5000", method="POST")) as wire:
        assert wire.line() == b"HTTP/1.1 413 Request Entity Too Large\r\n"
    assert [asked.body for asked in up.asked] == [b"hello"]


def test_cookies_and_credentials_of_one_client_reach_no_other(up: Recorder, port: int) -> None:
    up.says = lambda asked: answers(b"fine", *([b"Set-Cookie: id=mine"] if asked.target == b"/base/login" else []))(
        asked
    )
    assert ask(port, request("/login", b"Cookie: a=b", b"Authorization: mine"))["set-cookie"] == b"id=mine"
    assert ask(port, request("/x"))["set-cookie"] is None
    assert names(up.asked[1]) == OURS


# ---- sizes and times -------------------------------------------------------------------------------------


def test_header_fields_that_are_too_large_are_refused(up: Recorder, port: int) -> None:
    assert ask(port, request("/x", b"X: " + b"x" * 1980)).status == 200
    assert ask(port, request("/x", b"X: " + b"x" * 2000)).status == 431
    assert ask(port, request("/x", *[b"X: y"] * 1100)).status == 431
    assert len(up.asked) == 1


@pytest.mark.parametrize("start", [b"", b"GET /x HTTP/1.1\r\n", b"GET /x HTTP/1.1\r\nHost: x\r\nX: "])
def test_a_head_without_an_end_is_refused(start: bytes, up: Recorder, port: int) -> None:
    with Wire(port, start + b"x" * 30_000) as wire:
        assert wire.answer().status in (400, 431)
    assert up.asked == []


def test_a_body_that_is_too_large_is_refused(up: Recorder, port: int) -> None:
    assert ask(port, request("/x", method="POST", body=b"x" * 1000)).status == 200
    # it is not waited for
    assert ask(port, request("/x", b"Content-Length: 1001", method="POST")).status == 413
    assert ask(port, request("/x", b"Content-Length: 9999999999999999999", method="POST")).status == 413
    chunks = b"1f4\r\n" + b"x" * 500 + b"\r\n"
    assert ask(port, request("/x", CHUNKED, method="POST") + 3 * chunks).status == 413
    with Wire(port, request("/x", CHUNKED, method="POST") + 3 * chunks + b"0\r\n\r\n" + request("/next")) as wire:
        assert [wire.answer().status, wire.answer().status] == [413, 200]
    assert [asked.target for asked in up.asked] == [b"/base/x", b"/base/next"]


@pytest.mark.parametrize(
    "framing", [b"Content-Length: 5\r\n\r\nhell", b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"]
)
def test_a_body_that_does_not_arrive_is_refused(framing: bytes, up: Recorder, port: int) -> None:
    with Wire(port, b"POST /x HTTP/1.1\r\nHost: 127.0.0.1\r\n" + framing) as wire:
        assert wire.answer().status == 408
        assert wire.rest() == b""
    assert up.asked == []


def test_a_client_that_leaves_within_its_request_is_no_request(running: Process, up: Recorder, port: int) -> None:
    Wire(port, request("/x", b"X-Request-Id: it-left", LENGTH, method="POST")).close()
    until(lambda: "it-left POST: 0, disconnected" in running.log)
    assert up.asked == []


def test_more_requests_than_at_once_are_refused() -> None:
    go = threading.Event()

    def says(asked: Asked) -> Iterator[bytes]:
        assert go.wait(PATIENCE)
        yield from answers()(asked)

    with upstream(says) as up, sidecar(up.url, "--max-concurrent", "2") as made:
        with Wire(made.port, request("/1")) as first, Wire(made.port, request("/2")) as second:
            until(lambda: len(up.asked) == 2)
            refused = ask(made.port, request("/3"))
            assert (refused.status, refused["retry-after"]) == (503, b"1")
            assert ask(made.port, request("/healthz")).status == 200
            go.set()
            assert [first.answer().status, second.answer().status] == [200, 200]
        assert ask(made.port, request("/4")).status == 200
    assert sorted(asked.target for asked in up.asked) == [b"/1", b"/2", b"/4"]


# ---- answers ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "location",
    [
        *("http://other/base/x", "https://{here}/base/x", "http://127.0.0.1:1/base/x", "http://user@{here}/base/x"),
        *("http://user:pw@{here}/base/x", "http://@{here}/base/x", "//other/base/x", "\\\\other\\base", "/\\other"),
        *(
            "http:\\\\other\\base",
            "///other",
            "http:////other",
            "/",
            "/x",
            "/basement",
            "/base/../x",
            "../..",
            "../../x",
        ),
        *("http://{here}/base/../x", "http://{here}/base/%2e%2e/x", "/base/%2E%2e/x", "/base/..;/x", "/base//other"),
        *("http://[::1", "http://{here}x/base", "http://{here}/", "javascript:alert(1)", "mailto:a@b", "/\t/other"),
        *(
            "\x01//other",
            "ht\ttp://other/base",
            "http://{here}.other/base",
            "http://{here}:80/base",
            "ftp://{here}/base",
        ),
    ],
)
def test_an_answer_that_sends_the_client_elsewhere_is_refused(location: str, up: Recorder, port: int) -> None:
    line = b"Location: " + location.format(here=f"127.0.0.1:{up.port}").encode("latin-1")
    up.says = answers(b"there", line, status=b"302 Found")
    got = ask(port, request("/a/b"))
    assert got.status == 502
    assert (got["location"], b"there" in got.body) == (None, False)


@pytest.mark.parametrize(
    ("location", "seen"),
    [
        *(("http://{here}/base/x?y#z", b"/x?y#z"), ("HTTP://{here}/base", b"/"), ("/base/x", b"/x"), ("/base/", b"/")),
        *(("c", b"/a/c"), ("../c", b"/c"), ("?c", b"/a/b?c"), ("//{here}/base/c", b"/c"), ("", b"/a/b")),
        ("/base/a?to=http://other/", b"/a?to=http://other/"),
        *(("/base/\xe9", b"/\xe9"), ("/base/\xc3\xa0", b"/\xc3\xa0"), ("/base/x?\xe2\x82\xac", b"/x?\xe2\x82\xac")),
    ],
)
def test_an_answer_that_sends_the_client_on_names_the_sidecar(
    location: str, seen: bytes, up: Recorder, port: int
) -> None:
    line = b"Location: " + location.format(here=f"127.0.0.1:{up.port}").encode("latin-1")
    for status in (b"302 Found", b"201 Created"):
        up.says = answers(b"there", line, status=status)
        got = ask(port, request("/a/b"))
        assert (got.status, got["location"], got.body) == (int(status[:3]), seen, b"there")


@pytest.mark.parametrize("location", [b"http://other/", b"/x", b"http://[::1", b"/base/../x"])
@pytest.mark.parametrize("status", [b"201 Created", b"200 OK", b"404 Not Found"])
def test_an_answer_that_only_names_another_place_does_not_name_it(
    location: bytes, status: bytes, up: Recorder, port: int
) -> None:
    up.says = answers(b"there", b"Location: " + location, b"X-Kept: \xe9", status=status)
    got = ask(port, request("/a/b"))
    assert (got.status, got["location"], got["x-kept"], got.body) == (int(status[:3]), None, b"\xe9", b"there")


@pytest.mark.parametrize(
    "said",
    [
        *(
            b"",
            b"secret\r\n\r\n",
            b"HTTP/1.1 secret\r\n\r\n",
            b"HTTP/2 200\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nX: \0\r\n\r\n",
        ),
        *(b"HTTP/1.1 999 OK\r\nContent-Length: 6\r\n\r\nsecret", b"HTTP/1.1 600 OK\r\nContent-Length: 0\r\n\r\n"),
        b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\nContent-Length: 7\r\n\r\nsecrets",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: xchunked\r\n\r\nsecret",
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: secret\r\nConnection: Upgrade\r\n\r\nsecret",
        b"HTTP/1.1 200 OK\r\nX: " + b"secret" * 50_000,
        b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n",
    ],
    ids=lambda said: repr(said[:40]),
)
def test_a_head_that_is_none_is_a_bad_gateway(said: bytes, running: Process, up: Recorder, port: int) -> None:
    up.says = lambda _: [said, HANG_UP]
    got = ask(port, request("/x", b"Connection: Upgrade", b"Upgrade: secret"))
    assert (got.status, got.whole, b"secret" in got.body) == (502, True, False)
    assert "secret" not in running.log


def test_no_proxy_of_the_environment_is_used() -> None:
    with upstream(answers(b"the proxy")) as proxy, upstream(answers(b"the upstream")) as up:
        names = ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY", "all_proxy")
        with sidecar(up.url, NO_PROXY="", no_proxy="", **dict.fromkeys(names, proxy.url)) as made:
            assert ask(made.port, request("/x")).body == b"the upstream"
    assert not proxy.raw
