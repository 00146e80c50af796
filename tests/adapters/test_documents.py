"""``docs/adapters.md`` says what is so: each of its programs runs alone, in a process of its own, and asks the upstream
that the page starts.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.adapters.sidecars import ENVIRONMENT
from tests.peers.serving import PATIENCE
from translate import convert

httpx2: Any = pytest.importorskip("httpx2", reason="httpx2 is not installed: pip install -e '.[adapters]'")
pytest.importorskip("fastapi.sse", reason="fastapi is not installed: pip install -e '.[adapters]'")
pytest.importorskip("uvicorn", reason="uvicorn is not installed: pip install -e '.[adapters]'")

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = (ROOT / "docs" / "adapters.md").read_text(encoding="utf-8")
PROGRAMS = dict(re.findall(r'^```python title="(\S+)"\n(.*?)^```$', DOCUMENT, re.M | re.S))
TURN = (ROOT / "examples" / "claude-turn.unievent.sse").read_bytes()
CUT = (ROOT / "examples" / "cut.unievent.sse").read_bytes()
FRAMES = b"".join(convert(TURN, "unievent-sse", "gateway-sse"))
UPSTREAM = "http://127.0.0.1:9000"
SERVICES = {"route.py": ("POST", "/chat"), "fastapi_route.py": ("POST", "/chat"), "events.py": ("GET", "/events")}
"""Those that are asked, and how."""


def alone(folder: Path, name: str, upstream: str = UPSTREAM) -> Path:
    """A folder that has this program, the examples, and nothing else."""
    shutil.copytree(ROOT / "examples", folder / "examples", dirs_exist_ok=True)
    (folder / name).write_text(PROGRAMS[name].replace(UPSTREAM, upstream), encoding="utf-8")
    return folder


@contextmanager
def served(folder: Path, app: str) -> Iterator[str]:
    """Where uvicorn serves an application of this folder, while the block runs."""
    log = folder / "log"
    command = [sys.executable, "-m", "uvicorn", "--no-access-log", "--port", "0", app]
    with log.open("wb") as file:
        process = subprocess.Popen(command, cwd=folder, env=ENVIRONMENT, stdout=file, stderr=file)
    try:
        yield _where(process, log)
    finally:
        process.terminate()
        assert process.wait(PATIENCE) in (0, -15), log.read_text()


def _where(process: subprocess.Popen[bytes], log: Path) -> str:
    for _ in range(int(PATIENCE * 50)):
        found = re.search(r"running on (http://\S+) ", log.read_text())
        if found is not None:
            return found[1]
        assert process.poll() is None, log.read_text()
        try:
            process.wait(0.02)
        except subprocess.TimeoutExpired:
            continue
    raise AssertionError(log.read_text())


@pytest.fixture(scope="module")
def upstream(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The upstream of the page, as it says to start it."""
    with served(alone(tmp_path_factory.mktemp("upstream"), "upstream.py"), "upstream:app") as url:
        yield url


def ran(folder: Path, name: str) -> bytes:
    """What a program prints."""
    command = [sys.executable, name]
    done = subprocess.run(command, cwd=folder, env=ENVIRONMENT, capture_output=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


def test_all_python_of_the_page_is_programs_that_run_here() -> None:
    assert len(PROGRAMS) == DOCUMENT.count("```python")
    assert {*PROGRAMS} == {"upstream.py", *SERVICES, "around.py", "client.py", "anything.py"}


def test_the_upstream_streams_a_turn(upstream: str) -> None:
    answer = httpx2.post(f"{upstream}/v1/stream", timeout=PATIENCE)
    assert (answer.headers["content-type"], answer.content) == ("text/event-stream; charset=utf-8", TURN)


@pytest.mark.parametrize("name", SERVICES)
def test_each_service_answers_in_frames(name: str, upstream: str, tmp_path: Path) -> None:
    method, path = SERVICES[name]
    with served(alone(tmp_path, name, upstream), f"{name.removesuffix('.py')}:app") as url:
        answer = httpx2.request(method, f"{url}{path}", timeout=PATIENCE)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "text/event-stream; charset=utf-8")
    assert answer.content == FRAMES


def test_a_service_is_translated_around(tmp_path: Path) -> None:
    with served(alone(tmp_path, "around.py"), "around:app") as url:
        assert httpx2.get(f"{url}/v1/stream", timeout=PATIENCE).content == FRAMES


def test_the_field_accept_chooses(tmp_path: Path) -> None:
    with served(alone(tmp_path, "around.py"), "around:offering") as url:

        def asked(**fields: str) -> bytes:
            answer = httpx2.get(f"{url}/v1/stream", headers=fields, timeout=PATIENCE)
            return bytes(answer.content)

        assert asked() == TURN
        assert asked(accept="text/event-stream;format=gateway-sse") == FRAMES
        assert asked(accept="application/x-ndjson") == b"".join(convert(TURN, "unievent-sse", "gateway-jsonl"))


def test_the_client_reads_frames(upstream: str, tmp_path: Path) -> None:
    assert ran(alone(tmp_path, "client.py", upstream), "client.py") == FRAMES


def test_anything_else_is_a_sink(tmp_path: Path) -> None:
    frames = b"".join(convert(CUT, "unievent-sse", "gateway-sse", errors="encode"))
    printed = ran(alone(tmp_path, "anything.py"), "anything.py")
    assert printed.startswith(frames)
    assert printed[len(frames) :].startswith(b"failed the stream reported a failure: ")
