"""Which requests the sidecar refuses, and what becomes of the others: an attacker in front, a recorder behind."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.adapters.sidecars import (
    Process,
    Recorder,
    Wire,
    answers,
    ask,
    request,
    sidecar,
    upstream,
)

pytest.importorskip("uvicorn", reason="uvicorn is not installed: pip install -e '.[serve]'")
pytest.importorskip("httpx2", reason="httpx2 is not installed: pip install -e '.[serve]'")

SMUGGLED = b"0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n"


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


# ---- targets ---------------------------------------------------------------------------------------------

ELSEWHERE = (
    *("http://other/x", "http://sidecar/base/x", "https://user@other/", "HTTP://other", "*", "other:443", "x", "?x"),
    *("//other/x", "///x", "//", "/x#f", "/x?a#b", "/#", "\\\\other\\x", "/x y", "/x\ty", "/\x01", "/\x7f", "/é"),
)
CLIMBING = (
    *("/..", "/../x", "/a/../b", "/.", "/a/./b", "/a/..", "/a/.", "/..?x"),
    *("/%2e%2e/x", "/%2E%2e", "/.%2e/x", "/%2e./x", "/a/%2E", "/%252e%252e/x", "/%25%32%65%25%32%65/x"),
    *("/a%2f..%2fb", "/a%2F..", "/..%2fx", "/..%252fx", "/%252e%252e%252Fx", "/a%2f%2e"),
    *("/..\\x", "/a\\..\\b", "/..%5cx", "/%2e%2e%5Cx", "/.\\x", "/a%255c.."),
    *("/%25252e%25252e/x", "/%2525252e%2525252e/x", "/%" + "25" * 2000 + "2e"),
    *("/..%00/x", "/..%00", "/%2e%2e%00.txt/x"),
    *("/%c0%ae%c0%ae/x", "/%C0%AE./x", "/a%c0%af..%c0%afb", "/..%c1%9cx", "/%e0%80%ae%e0%80%ae/x"),
    *("/%f0%80%80%ae./x", "/%u002e%u002e/x", "/%25u002e./x", "/..%20/x", "/..%09", "/%25c0%25ae./x"),
    *("/..;/x", "/..;a=b/x", "/%2e%2e%3b/x", "/.;/x", "/..%3Bx/y", "/a/..;x?y", "/a;b/..;c/d"),
)


@pytest.mark.parametrize("target", [*ELSEWHERE, *CLIMBING])
def test_a_target_that_is_no_path_below_is_refused(target: str, up: Recorder, port: int) -> None:
    assert ask(port, request(target)).status == 400
    assert up.asked == []


@pytest.mark.parametrize("target", ["other:443", "/x", "*"])
def test_no_tunnel_is_opened(target: str, up: Recorder, port: int) -> None:
    got = ask(port, request(target, method="CONNECT"))
    assert (got.status, got["allow"]) == (405, b"DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT")
    assert up.asked == []


@pytest.mark.parametrize("method", ["TRACE", "get", "PROPFIND", "PRI", "X" * 500])
def test_other_methods_are_refused_with_those_that_are_not(method: str, up: Recorder, port: int) -> None:
    got = ask(port, request(method=method))
    assert (got.status, got["allow"]) == (405, b"DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT")
    assert up.asked == []


def test_a_target_that_is_too_long_is_refused(up: Recorder, port: int) -> None:
    assert ask(port, request("/" + "x" * 8191)).status == 200
    assert ask(port, request("/" + "x" * 8192)).status == 414
    assert ask(port, request("/?" + "x" * 8192)).status == 414
    assert len(up.asked) == 1


@pytest.mark.parametrize(
    "target",
    [
        *("/", "/a//b", "/...", "/.a", "/a..b", "/..a", "/a./b", "/%2f%2F", "/%2541", "/a;b=c;d", "/%00%0d%0a", "/a%"),
        *('/p"{x}<y>\\^`|', '/x?q={"a":"b"}<>`|^\\', "/x?p=../..", "/x?p=//other", "/x?a=%0D%0Ab", "/x??a?b", "/@:a"),
        *("/x?a=1&a=2&&=", "/http://other/", "/%E2%82%AC?%e2%82%ac", "/a;..", "/base"),
        *("/%C0/x", "/%C3%80%C2%AE", "/%u00e9", "/a%00..", "/..a%20", "/%25252541", "/%E0%A4%85"),
    ],
)
def test_a_path_below_arrives_byte_by_byte(target: str, up: Recorder, port: int) -> None:
    assert ask(port, request(target)).status == 200
    assert [each.line for each in up.asked] == [f"GET /base{target} HTTP/1.1".encode()]


def test_a_query_that_is_empty_loses_its_mark(up: Recorder, port: int) -> None:
    assert ask(port, request("/x?")).status == 200
    assert [each.target for each in up.asked] == [b"/base/x"]


# ---- framing ---------------------------------------------------------------------------------------------

LENGTH, CHUNKED = b"Content-Length: 5", b"Transfer-Encoding: chunked"
UNCLEAR = {
    "both": (LENGTH, CHUNKED),
    "both, the other way": (CHUNKED, LENGTH),
    "both, the same length": (b"Content-Length: %d" % len(SMUGGLED), CHUNKED),
    "two lengths": (LENGTH, b"Content-Length: 6"),
    "two lengths in one": (b"Content-Length: 5, 6",),
    "two codings": (CHUNKED, CHUNKED),
    "two codings that differ": (CHUNKED, b"Transfer-Encoding: identity"),
    "a space before the colon": (b"Content-Length : 5",),
    "a space before the colon of a coding": (b"Transfer-Encoding : chunked",),
    "an underscore": (b"Content_Length: 5",),
    "an underscore in a coding": (b"transfer_encoding: chunked",),
    "an underscore in one of both": (LENGTH, b"Transfer_Encoding: chunked"),
    **{
        f"length {value!r}": (b"Content-Length: " + value,)
        for value in (b"+5", b"-5", b"5_0", b"5 0", b"0x5", b"", b"5;", b"1e1", b"5.0", b"9" * 20, b"\xb2", b"\x0b5")
    },
    **{
        f"coding {value!r}": (b"Transfer-Encoding: " + value,)
        for value in (
            *(b"xchunked", b"chunkedx", b"chunked, chunked", b"identity", b"gzip, chunked", b"chunked, identity", b""),
            *(b"chunked;q=1", b"\x0bchunked", b"chunked\x0b", b'"chunked"', b"chunked,", b", chunked", b"chun ked"),
        )
    },
    "two hosts": (b"Host: sidecar",),
    "two hosts of another case": (b"hOsT: other",),
    "a host with an underscore": (LENGTH, b"Hos_t: x", b"X: \x00"),
    "a NUL": (b"X: a\x00b",),
    "a bare CR": (b"X: a\rTransfer-Encoding: chunked",),
    "no name": (b": x",),
    "a space in a name": (b"X Y: z",),
    "a NUL in a name": (b"X\x00: z",),
    "no colon": (b"X",),
}


@pytest.mark.parametrize("path", ["/x", "/healthz"])
@pytest.mark.parametrize("name", UNCLEAR)
def test_what_two_servers_may_read_as_two_requests_is_refused_and_the_connection_ends(
    name: str, path: str, up: Recorder, port: int
) -> None:
    with Wire(port, request(path, *UNCLEAR[name], method="GET") + SMUGGLED) as wire:
        got = wire.answer()
        assert (got.status, got["connection"]) == (400, b"close")
        assert wire.rest() == b""
    assert up.asked == []


@pytest.mark.parametrize("lines", [b"", b" Transfer-Encoding: chunked\r\nHost: x\r\n", b"\tHost: x\r\n"])
def test_a_request_without_a_host_is_refused_and_one_that_begins_with_a_fold(
    lines: bytes, up: Recorder, port: int
) -> None:
    assert ask(port, b"GET /x HTTP/1.1\r\n" + lines + b"\r\n").status == 400
    assert up.asked == []


@pytest.mark.parametrize(
    "body", [b"5x\r\nhello\r\n", b"-5\r\nhello\r\n", b"0x5\r\nhello\r\n", b"5\r\nhelloXX0\r\n\r\n"]
)
def test_chunks_that_are_none_are_refused(body: bytes, up: Recorder, port: int) -> None:
    with Wire(port, request("/x", CHUNKED, method="POST") + body + SMUGGLED) as wire:
        assert wire.answer().status == 400
        assert wire.rest() == b""
    assert up.asked == []


@pytest.mark.parametrize(
    "line",
    [CHUNKED, b"tRANSFER-eNCODING: ChUnKeD", b"Transfer-Encoding:\t chunked \t", b"Transfer-Encoding:\r\n chunked"],
)
def test_a_body_in_chunks_arrives_with_its_length(line: bytes, up: Recorder, port: int) -> None:
    data = request("/x", line, b"Trailer: X", method="POST") + b"2;a=b\r\nhe\r\n03\r\nllo\r\n0\r\nX: y\r\n\r\n"
    with Wire(port, data + request("/next")) as wire:
        assert [wire.answer().status, wire.answer().status] == [200, 200]
    first, second = up.asked
    assert (first.body, first.all("content-length"), first.all("transfer-encoding")) == (b"hello", [b"5"], [])
    assert (first.all("x"), first.all("trailer"), second.target) == ([], [], b"/base/next")


def test_lines_that_end_or_fold_oddly_arrive_as_plain_ones(up: Recorder, port: int) -> None:
    raw = b"GET /x HTTP/1.1\nHost: localhost\nX-A: a\nX-B:  b \t\r\nX-C: c\r\n \t d\r\nX-D: \xe9\xff\r\n\r\n"
    assert ask(port, raw).status == 200
    (asked,) = up.asked
    assert [asked.all(f"x-{name}") for name in "abcd"] == [[b"a"], [b"b"], [b"c d"], [b"\xe9\xff"]]


@pytest.mark.parametrize(
    ("method", "sends", "length"), [("POST", b"", [b"0"]), ("GET", b"", []), ("DELETE", b"x", [b"1"])]
)
def test_what_arrives_is_framed_anew(method: str, sends: bytes, length: list[bytes], up: Recorder, port: int) -> None:
    lines = (b"Accept-Encoding: gzip, br", b"X-Request-Id: me", b"Content-Length: %d" % len(sends))
    assert ask(port, request("/x", *lines, method=method) + sends).status == 200
    (asked,) = up.asked
    raw = bytes(up.raw[asked.connection])
    # the connection was perhaps another request's before
    head, end, body = raw[raw.rindex(b"%b /base/x" % method.encode()) :].partition(b"\r\n\r\n")
    line, *fields = head.split(b"\r\n")
    assert (line, end, body) == (b"%b /base/x HTTP/1.1" % method.encode(), b"\r\n\r\n", sends)
    host = b"Host: 127.0.0.1:%d" % up.port
    lengths = [b"Content-Length: " + each for each in length]
    ours = [b"accept-encoding: identity", b"via: 1.1 translate-streams", b"x-request-id: me"]
    assert sorted(fields) == sorted([host, *lengths, *ours])


def test_requests_that_are_pipelined_are_answered_in_turn(up: Recorder, port: int) -> None:
    up.says = lambda asked: answers(asked.target + asked.body)(asked)
    many = [request(f"/{n}", method="POST", body=b"%d" % n) for n in range(20)]
    with Wire(port, b"".join(many)) as wire:
        assert [wire.answer().body for _ in many] == [b"/base/%d%d" % (n, n) for n in range(20)]
        wire.send(request("/last"))
        assert wire.answer().body == b"/base/last"


# ---- what the server finds while the sidecar answers -----------------------------------------------------


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize(
    "lines", [(LENGTH, CHUNKED), (CHUNKED, b"Sec-Fetch-Site: cross-site"), (CHUNKED, b"Host: evil.example")]
)
def test_a_body_that_breaks_while_its_request_is_refused_is_no_fault(
    lines: tuple[bytes, ...], late: bool, up: Recorder
) -> None:
    broken = b"GET /smuggled HTTP/1.1\r\n\r\n"
    with sidecar(up.url) as made:
        for _ in range(20):
            with Wire(made.port, request("/x", *lines, method="POST") + (b"" if late else broken)) as wire:
                got = wire.answer()
                assert got.status in (400, 403)
                if late:
                    wire.send(broken)
                # another request is none that it could be followed by
                assert wire.rest() == b""
        assert ask(made.port, request("/healthz")).status == 200
    assert up.asked == []
    assert "ASGI" not in made.log
