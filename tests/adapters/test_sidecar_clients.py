"""Real clients read through a real sidecar what they would read without it, each in its own words."""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.adapters.sidecars import ENVIRONMENT, ROOT, Process, sidecar
from tests.peers.javascript import browser, seen
from tests.peers.scripts import FRAMES, gateway, native
from tests.peers.serving import HOST, PATIENCE, Reply, Served, odd, serving
from translate import assemble, convert

pytest.importorskip("uvicorn", reason="uvicorn is not installed: pip install -e '.[serve]'")
pytest.importorskip("httpx2", reason="httpx2 is not installed: pip install -e '.[serve]'")

EXAMPLES = ROOT / "examples"
STREAMS = {
    "recorded": (EXAMPLES / "claude-turn.unievent.sse").read_bytes(),
    "failed": (EXAMPLES / "cut.unievent.sse").read_bytes(),
    **{
        name.replace(" ", "-"): b"".join(convert(gateway(name), "gateway-sse", "unievent-sse", errors="encode"))
        for name in FRAMES
    },
}
"""Streams of UniEvents, by the path that they are at."""
ALONE = STREAMS.pop("error-alone")
"""One that is nothing but a failure: an HTTP status says that."""
SAID = {name: b"".join(convert(data, "unievent-sse", "gateway-sse", errors="encode")) for name, data in STREAMS.items()}


@pytest.fixture(scope="module")
def server() -> Iterator[Served]:
    def script(path: str, body: bytes) -> Reply:
        if path == "/json":
            return Reply([b'{"asked": ', body, b"}"], "application/json")
        return Reply(odd(STREAMS.get(path[1:], ALONE)))

    with serving(script) as made:
        yield made


@pytest.fixture(scope="module")
def running(server: Served) -> Iterator[Process]:
    with sidecar(server.url, src="unievent-sse", dst="gateway-sse") as made:
        yield made


@pytest.fixture
def url(running: Process) -> str:
    return f"http://{HOST}:{running.port}"


# ---- HTTP clients ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("library", ["httpx", "httpx2"])
@pytest.mark.parametrize("name", STREAMS)
def test_a_client_of_python_reads_a_stream(library: str, name: str, url: str) -> None:
    client = pytest.importorskip(library)
    with client.Client(trust_env=False, timeout=PATIENCE) as made:
        for _ in range(2):
            with made.stream("POST", f"{url}/{name}", json={"stream": True}) as response:
                assert response.headers["content-type"] == "text/event-stream; charset=utf-8"
                assert b"".join(response.iter_bytes()) == SAID[name]
        assert made.post(f"{url}/json", content=b"1").json() == {"asked": 1}


@pytest.mark.parametrize("library", ["httpx", "httpx2"])
def test_a_stream_that_is_but_a_failure_is_a_status(library: str, url: str) -> None:
    client = pytest.importorskip(library)
    with client.Client(trust_env=False, timeout=PATIENCE) as made:
        response = made.get(f"{url}/error-alone")
    assert (response.status_code, response.headers["content-type"]) == (429, "application/json")
    assert response.json() == {"success": False, "code": 429, "message": "Slow down"}


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.mark.anyio
@pytest.mark.parametrize("library", ["httpx", "httpx2"])
async def test_clients_of_python_read_at_once(library: str, url: str) -> None:
    client = pytest.importorskip(library)
    read: dict[str, bytes] = {}

    async def one(made: Any, name: str) -> None:
        async with made.stream("GET", f"{url}/{name}") as response:
            read[name] = b"".join([piece async for piece in response.aiter_bytes()])

    with anyio.fail_after(PATIENCE):
        async with client.AsyncClient(trust_env=False, timeout=PATIENCE) as made, anyio.create_task_group() as group:
            for name in STREAMS:
                group.start_soon(one, made, name)
    assert read == SAID


@pytest.mark.parametrize("options", [[], ["--compressed"], ["--http1.0"], ["-d", '{"stream": true}'], ["--http2"]])
def test_curl_reads_a_stream(options: list[str], url: str) -> None:
    curl = shutil.which("curl")
    if curl is None:
        pytest.skip("curl is not installed")
    command = [curl, "-sN", "--fail", "--noproxy", "*", *options, f"{url}/recorded"]
    done = subprocess.run(command, capture_output=True, timeout=PATIENCE, check=False)
    assert (done.returncode, done.stdout) == (0, SAID["recorded"])


def test_an_event_source_reads_streams(tmp_path: Path) -> None:
    expected = {name: native(said) for name, said in SAID.items()}
    names = sorted({name for frames in expected.values() for name, _ in frames})

    @contextmanager
    def through(upstream: str) -> Iterator[str]:
        # the page passes as it is, and so is of the same origin
        with sidecar(upstream, src="unievent-sse", dst="gateway-sse") as made:
            yield f"http://{HOST}:{made.port}/"

    found = seen(browser(), STREAMS, names, tmp_path, through)
    assert found == {f"/{name}{cut}": frames for name, frames in expected.items() for cut in ("", "/odd")}


# ---- mmsp's two ends -------------------------------------------------------------------------------------


def undated(value: dict[str, Any]) -> dict[str, Any]:
    return {key: each for key, each in value.items() if key != "created_at"}


@pytest.mark.parametrize("name", ["turn", "handover", "hostile"])
def test_the_client_of_mmsp_reads_a_gateway(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    reference = pytest.importorskip("tests.peers.reference", exc_type=ImportError)
    monkeypatch.setenv("no_proxy", HOST)

    async def history(port: int) -> list[dict[str, Any]]:
        async with reference.client(port) as peer:
            await reference.answer(peer)
            return list(peer.get_history())

    with serving(lambda path, body: Reply(odd(gateway(name)))) as server, sidecar(server.url) as made:
        _, message = anyio.run(history, made.port)
        assert json.loads(server.asked[0])["messages"]
    assert undated(message) == assemble(gateway(name), "gateway-sse", "unievent")


@pytest.mark.parametrize("name", ["error", "error alone"])
def test_the_client_of_mmsp_raises_what_a_gateway_reports(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    reference = pytest.importorskip("tests.peers.reference", exc_type=ImportError)
    monkeypatch.setenv("no_proxy", HOST)

    async def raised(port: int) -> Any:
        async with reference.client(port) as peer:
            with pytest.raises(reference.mmsp.UpstreamError) as info:
                await reference.answer(peer)
            return info.value

    with serving(lambda path, body: Reply(odd(gateway(name)))) as server, sidecar(server.url) as made:
        error = anyio.run(raised, made.port)
    assert error.status == FRAMES[name][-1]["code"]
    assert FRAMES[name][-1]["message"] in str(error)


def test_two_sidecars_between_the_ends_of_mmsp_are_not_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    reference = pytest.importorskip("tests.peers.reference", exc_type=ImportError)
    monkeypatch.setenv("no_proxy", HOST)
    record = reference.record

    async def turn(port: int) -> tuple[list[Any], list[Any]]:
        async with reference.client(port, record.MODEL) as peer:
            events = await reference.answer(peer)
            return [undated(event) for event in events], [undated(message) for message in peer.get_history()]

    frames = record.EXAMPLES["claude-turn"].frames
    with reference.its_loop_ends(), record.upstream(frames, 0) as upstream, record.mmsp_server(upstream) as port:
        direct = anyio.run(turn, port)
        with sidecar(f"http://{HOST}:{port}", src="unievent-sse", dst="gateway-sse") as first:
            with sidecar(f"http://{HOST}:{first.port}", src="gateway-sse", dst="unievent-sse") as second:
                assert anyio.run(turn, second.port) == direct
        assert "finished" in first.log
    assert len(direct[0]) > 50


def example(*command: str) -> subprocess.CompletedProcess[str]:
    if importlib.util.find_spec("mmsp") is None:
        pytest.skip("mmsp is not installed: pip install -e '.[test]'")
    return subprocess.run(
        [sys.executable, *command],
        cwd=EXAMPLES,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        timeout=3 * PATIENCE,
        check=False,
    )


def test_the_example_shows_it() -> None:
    done = example("sidecar.py")
    assert done.returncode == 0, done.stderr
    message, end, last = done.stdout.rpartition("}\n")
    kinds = [item["type"] for item in json.loads(message + end)["content_items"]]
    assert kinds == ["thinking.done", "text.done", "tool_call.done", "tool_call.done"]
    assert last.endswith("equal to those without sidecars\n")
    assert "NOT" not in last


def test_the_example_fails_where_the_turns_differ() -> None:
    code = """
import contextlib, sys, sidecar
turns = iter(([], {"n": n}) for n in range(2))
async def turn(port):
    return next(turns)
sidecar.turn = turn
sidecar.sidecar = lambda port, src, dst: contextlib.nullcontext(port)
sys.exit(sidecar.main())
"""
    done = example("-c", code)
    assert (done.returncode, "NOT equal" in done.stdout) == (1, True), done.stderr
