"""Several upstreams behind one sidecar, what each is sent, TLS on both sides, and several processes."""

from __future__ import annotations

import os
import signal
import socket
import ssl
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.adapters.sidecars import Asked, Recorder, Wire, answers, ask, process, request, sidecar, until, upstream
from tests.peers.serving import HOST, PATIENCE

pytest.importorskip("uvicorn", reason="uvicorn is not installed: pip install -e '.[serve]'")
pytest.importorskip("httpx2", reason="httpx2 is not installed: pip install -e '.[serve]'")
credentials = pytest.importorskip("translate.adapters.sidecar.credentials")


# ---- routes, and what their upstreams are sent ------------------------------------------------------------


@pytest.fixture(scope="module")
def two() -> Iterator[tuple[Recorder, Recorder]]:
    with upstream(answers(b"one")) as one, upstream(answers(b"two")) as another:
        yield one, another


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("files")


@pytest.fixture(scope="module")
def routed(two: tuple[Recorder, Recorder], files: Path) -> Iterator[int]:
    one, another = two
    (files / "key").write_text("first\n")
    options = files / "options.toml"
    options.write_text(f"""
        from = "gateway-sse"
        to = "unievent-sse"
        port = 0
        allow-host = ["two.example"]
        via = "me"
        [[route]]
        path = "/one"
        upstream = "{one.url}/base"
        credential = ["authorization=Bearer env:SECRET_OF_ONE", "x-key=file:{files / "key"}"]
        max-body = 10
        [[route]]
        host = "two.example"
        upstream = "{another.url}"
        forwarded = true
    """)
    with process("--config", str(options), SECRET_OF_ONE="hidden-1") as made:
        yield made.port
        made.signal()
        assert made.code() == 0
        assert "hidden" not in made.log
        assert "first" not in made.log


def last(recorder: Recorder) -> Asked:
    return recorder.asked[-1]


def test_requests_go_where_their_path_and_their_host_say(routed: int, two: tuple[Recorder, Recorder]) -> None:
    one, another = two
    assert ask(routed, request("/one/a%20b?c=/one")).body == b"one"
    assert last(one).target == b"/base/a%20b?c=/one"
    assert ask(routed, request("/one?x")).body == b"one"
    assert last(one).target == b"/base/?x"
    # who names a host comes first
    assert ask(routed, request("/one/a", host=b"TWO.example:99")).body == b"two"
    assert last(another).target == b"/one/a"
    for target in ("/", "/onetwo", "/two/../one"):
        assert ask(routed, request(target)).status in (400, 404)
    # limits are of the route
    assert ask(routed, request("/one/a", method="POST", body=b"x" * 11)).status == 413
    assert ask(routed, request("/a", method="POST", body=b"x" * 11, host=b"two.example")).status == 200


def test_a_place_that_an_answer_names_is_below_the_path_of_its_route(
    routed: int, two: tuple[Recorder, Recorder]
) -> None:
    one, _ = two
    before, one.says = one.says, answers(b"", b"Location: /base/there?x", status=b"302 Found")
    try:
        assert ask(routed, request("/one/a"))["location"] == b"/one/there?x"
    finally:
        one.says = before


def test_credentials_stand_in_place_of_the_clients(routed: int, two: tuple[Recorder, Recorder], files: Path) -> None:
    one, another = two
    ask(routed, request("/one/a", b"Authorization: mine", b"X_Key: mine", b"Connection: authorization"))
    assert (last(one).all("authorization"), last(one).all("x-key")) == ([b"Bearer hidden-1"], [b"first"])
    assert not last(one).all("x_key")
    ask(routed, request("/a", b"Authorization: mine", host=b"two.example"))
    assert last(another).all("authorization") == [b"mine"]
    # one that has changed is read again; one that is gone is not forgotten
    (files / "key").write_text("hidden-2")
    ask(routed, request("/one/a"))
    assert last(one).all("x-key") == [b"hidden-2"]
    (files / "key").unlink()
    ask(routed, request("/one/a"))
    assert last(one).all("x-key") == [b"hidden-2"]


def test_the_upstream_is_told_who_asks_where_it_is_to_know(routed: int, two: tuple[Recorder, Recorder]) -> None:
    one, another = two
    ask(routed, request("/one/a", b"Via: 1.0 them", b"X-Forwarded-For: 192.0.2.1"))
    assert (last(one).all("via"), last(one).all("x-forwarded-for")) == ([b"1.0 them, 1.1 me"], [b"192.0.2.1"])
    given = (b"X-Forwarded-For: 192.0.2.1", b"X-Forwarded-Proto: https", b"X_Forwarded_Host: forged")
    ask(routed, request("/a", *given, host=b"two.example"))
    found = {name: last(another).all(f"x-forwarded-{name}") for name in ("for", "proto", "host")}
    assert found == {"for": [b"192.0.2.1, 127.0.0.1"], "proto": [b"https"], "host": [b"two.example"]}
    assert not last(another).all("x_forwarded_host")


def test_what_comes_round_again_and_again_is_refused(routed: int) -> None:
    assert ask(routed, request("/one/a", b"Via: " + b", ".join([b"1.1 me"] * 8))).status == 508
    assert ask(routed, request("/one/a", b"Via: " + b", ".join([b"1.1 me"] * 7))).status == 200


def test_a_credential_tells_nobody(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SECRET", "hidden")
    made = credentials.Credential.read("x-key=token env:SECRET")
    assert (made.name, made.value()) == (b"x-key", b"token hidden")
    assert "hidden" not in repr(made)
    bad = tmp_path / "bad"
    for content in (b"", b"hidden\nsplit: x", b"hid\0den"):
        bad.write_bytes(content)
        with pytest.raises(ValueError, match="holds nothing that can stand in a field") as raised:
            credentials.Credential.read(f"x-key=file:{bad}")
        assert "hid" not in str(raised.value)


# ---- TLS --------------------------------------------------------------------------------------------------


def test_both_sides_can_be_secured(tmp_path: Path) -> None:
    trustme = pytest.importorskip("trustme", reason="trustme is not installed: pip install -e '.[adapters]'")
    ours, strange = trustme.CA(), trustme.CA()
    served, shown = ours.issue_cert("127.0.0.1"), ours.issue_cert("client@example.org")
    places = {name: str(tmp_path / f"{name}.pem") for name in ("ca", "strange", "cert", "key", "shown")}
    ours.cert_pem.write_to_path(places["ca"])
    strange.cert_pem.write_to_path(places["strange"])
    served.private_key_pem.write_to_path(places["key"])
    for at, blob in enumerate(served.cert_chain_pems):
        blob.write_to_path(places["cert"], append=at > 0)
    shown.private_key_and_cert_chain_pem.write_to_path(places["shown"])

    def asks(port: int, *, certificate: bool = True) -> bytes:
        context = ssl.create_default_context(cafile=places["ca"])
        if certificate:
            context.load_cert_chain(places["shown"])
        connection = socket.create_connection((HOST, port), PATIENCE)
        with connection, context.wrap_socket(connection, server_hostname=HOST) as secured:
            secured.sendall(request("/x", b"Connection: close"))
            found = b""
            while piece := secured.recv(4096):
                found += piece
            return found

    tls = ("--tls-cert", places["cert"], "--tls-key", places["key"], "--client-ca", places["ca"])
    with upstream(answers(b"fine")) as up, sidecar(up.url, *tls) as inner:
        assert asks(inner.port).startswith(b"HTTP/1.1 200")
        with suppress(OSError):
            assert asks(inner.port, certificate=False) == b""
        # who does not speak TLS is dropped, and nothing else happens
        with Wire(inner.port, request("/x")) as wire:
            assert wire.rest() == b""
        there = f"https://{HOST}:{inner.port}"
        known = ("--upstream-ca", places["ca"], "--upstream-cert", places["shown"])
        with sidecar(there, *known) as outer:
            assert ask(outer.port, request("/x")).body == b"fine"
        with sidecar(there, "--upstream-ca", places["strange"]) as outer:
            assert ask(outer.port, request("/x")).status == 502
            until(lambda: " GET: 502, " in outer.log)
            assert "(TLS: " in outer.log, outer.log
        assert "listening on https://" in inner.log


# ---- workers ----------------------------------------------------------------------------------------------


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_several_processes_serve_one_port_and_share_their_figures() -> None:
    with upstream(answers(b"fine")) as up, sidecar(up.url, "--workers", "2", "--max-concurrent", "10") as made:
        until(lambda: made.log.count("requests at once") == 2)
        assert made.log.count(" 74 connections, 5 requests at once") == 2
        for _ in range(20):
            assert ask(made.port, request("/x")).body == b"fine"

        def count() -> float:
            text = ask(made.port, request("/metrics")).body.decode()
            lines = [line for line in text.splitlines() if line.startswith("translate_requests_total{")]
            return sum(float(line.rpartition(" ")[2]) for line in lines)

        until(lambda: count() == 20, "the figures of both")
        # one that breaks down is replaced
        pids = Path(f"/proc/{made.pid}/task/{made.pid}/children").read_text().split()
        assert len(pids) == 2
        os.kill(int(pids[0]), signal.SIGKILL)
        until(lambda: "a worker ended with -9; another takes its place" in made.log)
        until(lambda: made.log.count("requests at once") == 3)
        made.lines[:] = [line for line in made.lines if "a worker ended" not in line]
        assert ask(made.port, request("/x")).body == b"fine"
        began = time.monotonic()
        made.signal()
        assert made.code() == 0
        assert time.monotonic() - began < 10
