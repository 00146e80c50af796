"""What `examples/deploy` holds is run, where there is something to run it with: nginx and curl, podman or docker."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.adapters.sidecars import Asked, ask, request, sidecar, streams, until, upstream
from tests.peers.serving import HOST, PATIENCE
from translate import convert

pytest.importorskip("uvicorn", reason="uvicorn is not installed: pip install -e '.[serve]'")
pytest.importorskip("httpx2", reason="httpx2 is not installed: pip install -e '.[serve]'")

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "examples" / "deploy"
TURN = (ROOT / "examples" / "claude-turn.unievent.sse").read_bytes()
FRAMES = b"".join(convert(TURN, "unievent-sse", "gateway-sse"))
ENGINE = os.environ.get("TRANSLATE_IMAGE", "")
NAME = "stream.example"


def free_port() -> int:
    with socket.create_server((HOST, 0)) as listener:
        return int(listener.getsockname()[1])


@pytest.mark.skipif(not (shutil.which("nginx") and shutil.which("curl")), reason="nginx or curl is not installed")
def test_clients_of_http2_come_through_nginx(tmp_path: Path) -> None:
    trustme = pytest.importorskip("trustme", reason="trustme is not installed: pip install -e '.[adapters]'")
    authority = trustme.CA()
    issued = authority.issue_cert(NAME)
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    issued.private_key_and_cert_chain_pem.write_to_path(str(tmp_path / "both.pem"))
    go, port = threading.Event(), free_port()

    def says(asked: Asked) -> Iterator[bytes]:
        def live() -> Iterator[bytes]:
            yield TURN[: TURN.index(b"\n\n") + 2]
            # the first unit arrives while the second is not there
            assert go.wait(PATIENCE)
            yield TURN[TURN.index(b"\n\n") + 2 :]

        return streams(live())

    with upstream(says) as up, sidecar(up.url, "--allow-host", NAME, src="unievent-sse", dst="gateway-sse") as made:
        text = (DEPLOY / "nginx.conf").read_text(encoding="utf-8")
        for old, new in {
            **{f"/etc/nginx/{NAME}.{kind}": str(tmp_path / "both.pem") for kind in ("pem", "key")},
            **{"listen 443": f"listen {HOST}:{port}", "127.0.0.1:8080": f"{HOST}:{made.port}"},
        }.items():
            assert old in text
            text = text.replace(old, new)
        (tmp_path / "nginx.conf").write_text(text, encoding="utf-8")
        aside = f"daemon off; pid {tmp_path}/pid; error_log {tmp_path}/log;"
        nginx = subprocess.Popen(["nginx", "-c", str(tmp_path / "nginx.conf"), "-g", aside], stderr=subprocess.DEVNULL)
        try:
            until(lambda: not socket.socket().connect_ex((HOST, port)), "nginx")
            command = ["curl", "-sSN", "--http2", "--cacert", str(tmp_path / "ca.pem"), "-w", "%{http_version}"]
            command += ["--resolve", f"{NAME}:{port}:{HOST}", "-d", '{"stream":true}', f"https://{NAME}:{port}/v1/stream"]
            with subprocess.Popen(command, stdout=subprocess.PIPE) as curl:
                assert curl.stdout is not None
                first = curl.stdout.readline()
                go.set()
                assert first + curl.stdout.read() == FRAMES + b"2"
                assert curl.wait(PATIENCE) == 0
        finally:
            nginx.terminate()
            nginx.wait(PATIENCE)


def engine(*words: str) -> str:
    """What the engine of images says, on either stream."""
    done = subprocess.run([ENGINE, *words], cwd=ROOT, capture_output=True, timeout=900, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return (done.stdout + done.stderr).decode()


@pytest.mark.skipif(not ENGINE, reason="builds and runs an image: TRANSLATE_IMAGE=docker, or podman")
def test_the_image_runs_as_nobody_on_a_root_that_is_read_only() -> None:
    name, port, figures = "translate-streams-test", free_port(), free_port()
    build, run = (os.environ.get(f"TRANSLATE_IMAGE_{what}", "").split() for what in ("BUILD", "RUN"))
    engine("build", *build, "-f", "examples/deploy/Dockerfile", "-t", name, ".")
    ports = {"HOST": HOST, "PORT": port, "METRICS_PORT": figures}
    variables = [each for key, value in ports.items() for each in ("-e", f"TRANSLATE_SERVE_{key}={value}")]
    held = ("--read-only", "--tmpfs", "/tmp", "--cap-drop", "ALL", "--security-opt", "no-new-privileges")
    with upstream(lambda _: streams([TURN])) as up:
        options = ("--upstream", up.url, "--from", "unievent-sse", "--to", "gateway-sse")
        engine("run", "-d", "--name", name, "--network", "host", *run, *held, *variables, name, *options)
        try:
            until(lambda: "listening" in engine("logs", name), "listening")
            assert ask(port, request("/v1/stream", method="POST", body=b"{}")).body == FRAMES
            assert ask(figures, request("/healthz")).status == 200
            code = "import os; print(os.getuid(), *(os.access(each, os.W_OK) for each in ('/', '/opt/venv', '/tmp')))"
            assert "10001 False False True" in engine("exec", name, "python", "-c", code)
            (check,) = [line for line in (DEPLOY / "Dockerfile").read_text().splitlines() if "urlopen" in line]
            code = check.partition('"-c", "')[2].rpartition('"]')[0].replace("9090", str(figures))
            engine("exec", name, "python", "-c", code)
            engine("stop", "-t", "35", name)
            assert "code:0" in engine("inspect", name, "--format", "code:{{.State.ExitCode}}")
        finally:
            engine("rm", "-f", name)
