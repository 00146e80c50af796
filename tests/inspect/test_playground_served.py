"""The playground as it is started: the command, and the sidecar behind its flag, on asyncio and trio."""

from __future__ import annotations

import json
import os
import re
import select
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.peers.serving import PATIENCE
from translate.cli import main

ROOT = Path(__file__).resolve().parents[2]
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT), str(ROOT / "codecs")))}
TEXT = (ROOT / "examples" / "claude-turn.unievent.sse").read_text("utf-8")
ASKED = json.dumps({"text": TEXT, "from": "unievent-sse", "to": "gateway-sse"}).encode()
HOST = (b"host", b"localhost")
JSON = (b"content-type", b"application/json")


@pytest.fixture
def started() -> Iterator[subprocess.Popen[bytes]]:
    # a shell that starts the tests in the background has them ignore interrupts
    interruptible = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    options: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "preexec_fn": interruptible}
    process = subprocess.Popen[bytes]([sys.executable, "-m", "translate", "playground"], env=ENVIRONMENT, **options)
    yield process
    process.kill()
    process.communicate()


def test_the_command_says_where_it_is_and_ends_well(started: subprocess.Popen[bytes]) -> None:
    assert started.stdout is not None
    until, said = time.monotonic() + PATIENCE, b""
    while not said.endswith(b"\n"):
        assert select.select([started.stdout], [], [], max(0, until - time.monotonic()))[0], said
        said += os.read(started.stdout.fileno(), 4096)
    found = re.fullmatch(rb"(http://127\.0\.0\.1:\d+/playground) \(Ctrl-C ends it\)\n", said)
    assert found is not None, said
    url = found[1].decode()
    with urllib.request.urlopen(url, timeout=PATIENCE) as page:
        assert b"<title>Playground" in page.read()
    request = urllib.request.Request(f"{url}/view", ASKED, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
        assert len(json.load(answer)["target"]["units"]) == 70
    started.send_signal(signal.SIGINT)
    assert started.wait(PATIENCE) == 0
    assert started.stderr is not None
    assert started.stderr.read() == b""


def test_a_port_that_cannot_be_had_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["playground", "--port", "99999"]) == 3
    assert "cannot listen on 127.0.0.1 port 99999" in capsys.readouterr().err


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


async def asked_of_sidecar(
    *fields: tuple[bytes, bytes], playground: bool, path: str, body: bytes = b"", client: str = "127.0.0.1"
) -> Any:
    """Status and body that a sidecar, whose upstream is not there, answers with."""
    pytest.importorskip("httpx2", reason="the sidecar needs httpx2")
    from translate.adapters.sidecar import Settings, Sidecar

    sidecar = Sidecar(Settings("http://127.0.0.1:9", "unievent-sse", "gateway-sse", playground=playground))
    sent: list[dict[str, Any]] = []
    halves = [{"body": body[:1000], "more_body": True}, {"body": body[1000:], "more_body": False}]
    messages = [{"type": "http.request", **half} for half in halves]

    async def receive() -> dict[str, Any]:
        if not messages:
            await anyio.sleep(PATIENCE)
        return messages.pop(0) if messages else {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(message)

    head = {"type": "http", "method": "POST" if body else "GET", "path": path, "query_string": b""}
    scope = {**head, "raw_path": path.encode(), "headers": list(fields), "client": (client, 5)}
    await sidecar(scope, receive, send)
    return sent[0]["status"], b"".join(message.get("body", b"") for message in sent)


@pytest.mark.anyio
async def test_the_sidecar_has_the_page_behind_its_flag() -> None:
    status, body = await asked_of_sidecar(HOST, playground=True, path="/playground")
    assert (status, b"<title>Playground" in body) == (200, True)
    fields = (HOST, JSON, (b"content-length", b"%d" % len(ASKED)))
    status, body = await asked_of_sidecar(*fields, playground=True, path="/playground/view", body=ASKED)
    assert (status, len(json.loads(body)["source"]["units"])) == (200, 84)


@pytest.mark.anyio
async def test_the_sidecar_shows_it_to_this_machine_alone() -> None:
    status, _ = await asked_of_sidecar((b"host", b"sidecar.example"), playground=True, path="/playground")
    assert status == 403
    status, _ = await asked_of_sidecar(HOST, playground=True, path="/playground", client="192.0.2.1")
    assert status == 403
    fields = (HOST, JSON, (b"origin", b"http://evil.example"), (b"content-length", b"%d" % len(ASKED)))
    status, _ = await asked_of_sidecar(*fields, playground=True, path="/playground/view", body=ASKED)
    assert status == 403


@pytest.mark.anyio
async def test_without_the_flag_the_path_is_the_upstreams() -> None:
    status, body = await asked_of_sidecar(HOST, playground=False, path="/playground")
    assert (status, b"<title>" in body) == (502, False)


def test_the_command_of_the_sidecar_has_the_flag(monkeypatch: pytest.MonkeyPatch) -> None:
    sidecar = pytest.importorskip("translate.adapters.sidecar", reason="the sidecar needs httpx2 and uvicorn")
    seen: list[bool] = []
    monkeypatch.setattr(sidecar, "serve", lambda settings, *others: seen.append(settings.playground))
    line = ["serve", "--upstream", "http://127.0.0.1:9", "--from", "gateway-sse", "--to", "unievent-sse"]
    assert main(line) == main([*line, "--playground"]) == 0
    assert seen == [False, True]
