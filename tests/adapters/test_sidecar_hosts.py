"""Whom a sidecar on a loopback address answers: what names this machine, and no page of another site."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator

import pytest

from tests.adapters.sidecars import Asked, Process, Recorder, Wire, answers, ask, request, sidecar, until, upstream
from tests.peers.serving import PATIENCE

pytest.importorskip("uvicorn", reason="uvicorn is not installed: pip install -e '.[serve]'")
pytest.importorskip("httpx2", reason="httpx2 is not installed: pip install -e '.[serve]'")

HERE = (
    *(b"127.0.0.1", b"127.0.0.1:8080", b"127.1.2.3", b"localhost", b"LOCALHOST:80", b"localhost.", b"[::1]"),
    *(b"[::1]:8080", b"[::ffff:127.0.0.1]:1", b"[0:0:0:0:0:0:0:1]"),
)
ELSEWHERE = (
    *(b"sidecar", b"evil.example", b"127.0.0.1.evil.example", b"localhost.evil.example", b"localhost@evil.example"),
    *(b"192.0.2.1", b"[2001:db8::1]", b"[::ffff:192.0.2.1]", b"0.0.0.0", b"", b"127.0.0.1:x", b"127.0.0.1:99999"),
    *(b"127.1", b"2130706433", b"::1", b"[::1", b"[::1]x", b"x:y:z", b"127.0.0.1/x", b"\xe9", b"localhost localhost"),
)
SIMPLE = (
    (),
    (b"Content-Type: text/plain",),
    (b"Content-Type: Text/Plain;charset=utf-8",),
    (b"Content-Type: application/x-www-form-urlencoded",),
    (b"Content-Type: multipart/form-data; boundary=application/json",),
)


@pytest.fixture(scope="module")
def up() -> Iterator[Recorder]:
    with upstream(answers()) as made:
        yield made


@pytest.fixture(scope="module")
def running(up: Recorder) -> Iterator[Process]:
    with sidecar(up.url, "--playground", "--allow-host", "Models.example", "--allow-host", "192.0.2.7") as made:
        yield made


@pytest.fixture
def port(running: Process, up: Recorder) -> int:
    up.asked.clear()
    return running.port


@pytest.mark.parametrize("host", [*HERE, b"models.EXAMPLE:8080", b"192.0.2.7"])
def test_what_names_this_machine_is_forwarded(host: bytes, up: Recorder, port: int) -> None:
    assert ask(port, request("/x", host=host)).status == 200
    assert len(up.asked) == 1


@pytest.mark.parametrize("host", ELSEWHERE)
@pytest.mark.parametrize("target", ["/x", "/metrics", "/playground"])
def test_a_name_that_was_made_to_point_here_is_refused(target: str, host: bytes, up: Recorder, port: int) -> None:
    got = ask(port, request(target, host=host))
    # what is no host at all the server refuses before
    assert got.status in (403, 400)
    assert up.asked == []


def test_the_refusal_says_what_to_do(up: Recorder, port: int) -> None:
    got = ask(port, request("/x", host=b"evil.example"))
    assert got.status == 403
    assert "--allow-host" in json.dumps(json.loads(got.body))
    assert b"evil" not in got.body


def test_probes_answer_under_any_name(port: int) -> None:
    for target in ("/healthz", "/readyz"):
        assert ask(port, request(target, host=b"10.1.2.3:8080")).status == 200


@pytest.mark.parametrize("lines", SIMPLE)
def test_what_a_page_of_another_site_may_post_unasked_is_refused(
    lines: tuple[bytes, ...], up: Recorder, port: int
) -> None:
    for site in (b"Sec-Fetch-Site: cross-site", b"Origin: https://evil.example", b"Origin: null"):
        assert ask(port, request("/x", site, *lines, method="POST", body=b"{}")).status == 403
    assert up.asked == []


@pytest.mark.parametrize("lines", SIMPLE)
@pytest.mark.parametrize(
    "site",
    [
        b"Sec-Fetch-Site: none",
        b"Sec-Fetch-Site: same-origin",
        b"Sec-Fetch-Site: same-site",
        b"Origin: http://localhost:3000",
        b"Origin: https://models.example",
        b"X: y",
    ],
)
def test_what_this_machine_posts_is_forwarded(site: bytes, lines: tuple[bytes, ...], up: Recorder, port: int) -> None:
    assert ask(port, request("/x", site, *lines, method="POST", body=b"{}")).status == 200
    assert len(up.asked) == 1


def test_what_a_browser_asks_about_first_is_for_the_upstream_to_allow(up: Recorder, port: int) -> None:
    lines = (b"Sec-Fetch-Site: cross-site", b"Origin: https://app.example", b"Content-Type: application/json")
    assert ask(port, request("/x", *lines, method="OPTIONS")).status == 200
    assert ask(port, request("/x", *lines, method="POST", body=b"{}")).status == 200
    assert ask(port, request("/x", *lines[:2])).status == 200
    assert len(up.asked) == 3


def test_an_address_that_others_reach_has_any_name_unless_some_are_given(up: Recorder) -> None:
    up.asked.clear()
    with sidecar(up.url, "--host", "0.0.0.0") as made:
        assert ask(made.port, request("/x", b"Sec-Fetch-Site: cross-site", host=b"any", method="POST")).status == 200
    with sidecar(up.url, "--host", "0.0.0.0", "--allow-host", "models.example") as made:
        assert ask(made.port, request("/x", host=b"models.example")).status == 200
        assert ask(made.port, request("/x", host=b"any")).status == 403
    assert len(up.asked) == 2


@pytest.mark.parametrize("name", ["", "a b", "http://x", "x:80", "[::1", "é", "*"])
def test_a_host_that_is_none_is_no_argument(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    from translate.cli import main

    line = ["serve", "--upstream", "http://127.0.0.1:9", "--from", "gateway-sse", "--to", "unievent-sse"]
    assert main([*line, "--allow-host", name]) == 2
    assert capsys.readouterr().err.count("\n") == 1


# ---- the playground --------------------------------------------------------------------------------------

VIEW = (b"Content-Type: application/json",)
ASKED = json.dumps({"text": "", "from": "unievent-sse", "to": "gateway-sse"}).encode()


@pytest.mark.parametrize(
    "line",
    [
        *(b"Forwarded: for=192.0.2.1", b"X-Forwarded-For: 192.0.2.1", b"Via: 1.1 proxy", b"X-Real-IP: 192.0.2.1"),
        *(b"X-Forwarded-Host: x", b"x_forwarded_for: 1"),
    ],
)
def test_the_playground_refuses_what_came_through_a_proxy(line: bytes, port: int) -> None:
    assert ask(port, request("/playground")).status == 200
    assert ask(port, request("/playground", line)).status == 403
    assert ask(port, request("/playground/view", line, *VIEW, method="POST", body=ASKED)).status == 403


def test_the_playground_has_the_limits_of_everything_else() -> None:
    go = threading.Event()

    def says(asked: Asked) -> Iterator[bytes]:
        assert go.wait(PATIENCE)
        yield from answers()(asked)

    limits = ("--playground", "--max-concurrent", "1", "--body", "0.5", "--grace", "0.2")
    with upstream(says) as up, sidecar(up.url, *limits) as made:
        late = request("/playground/view", *VIEW, b"Content-Length: 100", method="POST")
        with Wire(made.port, late) as wire:
            assert wire.answer().status == 408
        with Wire(made.port, request("/x")) as wire:
            until(lambda: up.asked)
            assert ask(made.port, request("/playground")).status == 503
            go.set()
            assert wire.answer().status == 200
        assert ask(made.port, request("/playground")).status == 200


def test_the_drain_knows_of_the_playground(up: Recorder) -> None:
    with sidecar(up.url, "--playground", "--grace", "0.3") as made:
        arriving = Wire(made.port, request("/playground/view", *VIEW, b"Content-Length: 100", method="POST"))
        until(lambda: ask(made.port, request("/playground")).status == 200)
        made.signal()
        until(lambda: "draining" in made.log)
        assert ask(made.port, request("/playground")).status == 503
        assert arriving.answer().status == 503
        assert made.code(5) == 0
        arriving.close()
