"""Logs in stores: in memory, as files by their URLs, and on S3."""

from __future__ import annotations

import gzip
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.logs import packing
from translate.cli import main
from translate.logs import Job, Settings, convert_logs
from translate.logs.places import MissingExtra

fsspec: Any = pytest.importorskip("fsspec", reason="fsspec is not installed")

SSE = "unievent-sse"
STREAMS = packing.examples(SSE, 4)
KEYS = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_DEFAULT_REGION")


@pytest.fixture(scope="module")
def s3() -> Iterator[str]:
    pytest.importorskip("s3fs", reason="s3fs is not installed")
    server = pytest.importorskip("moto.server", reason="moto is not installed").ThreadedMotoServer("127.0.0.1", 0)
    server.start()
    host, port = server.get_host_and_port()
    with pytest.MonkeyPatch.context() as patch:
        for name in KEYS:
            patch.setenv(name, "us-east-1")
        patch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
        fsspec.filesystem("s3", skip_instance_cache=True).mkdir("logs")
        yield "s3://logs"
    server.stop()


@pytest.fixture(params=["memory", "file", "s3"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    match request.param:
        case "memory":
            return f"memory://{tmp_path.name}"
        case "file":
            return f"file://{tmp_path}"
    return f"{request.getfixturevalue('s3')}/{tmp_path.name}"


def put(url: str, data: bytes) -> None:
    with fsspec.open(url, "wb", auto_mkdir=True) if url.startswith("file") else fsspec.open(url, "wb") as file:
        file.write(data)


def got(url: str) -> dict[str, bytes]:
    system, root = fsspec.url_to_fs(url, use_listings_cache=False)
    names = system.find(root)
    return {name.removeprefix(root).lstrip("/"): system.cat_file(name) for name in names}


def job(store: str, *inputs: str, **options: Any) -> Job:
    settings = Settings(SSE, "gateway-sse", clock=packing.NOW)
    return Job([f"{store}/{name}" for name in inputs or ("in",)], f"{store}/out", None, settings, **options)


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_folder_goes_from_store_to_store(store: str, jobs: int) -> None:
    if jobs == 2 and store.startswith("memory"):
        pytest.skip("each process has a memory of its own")
    for number, stream in enumerate(STREAMS):
        put(f"{store}/in/{number % 2}/{number}.sse.gz", packing.packed(stream[:-200] if number == 1 else stream, ".gz"))
    put(f"{store}/in/_notes", b"none")
    summary = convert_logs(job(store, jobs=jobs))
    assert (summary.counts.converted, summary.counts.rejected, summary.failed) == (5, 1, {})
    found = got(f"{store}/out")
    assert len(found) == 8
    assert found["1/1.sse.gz.rejects.jsonl"].endswith(b'"}\n')
    for number in (0, 2, 3, 4, 5):
        data = gzip.decompress(found[f"{number % 2}/{number}.sse.gz"])
        assert data == packing.whole(STREAMS[number], SSE, "gateway-sse")
    again = convert_logs(job(store, jobs=jobs, resume=True))
    assert (again.skipped, again.counts) == (6, summary.counts)
    put(f"{store}/in/1/1.sse.gz", packing.packed(STREAMS[1], ".gz"))
    mended = convert_logs(job(store, jobs=jobs, resume=True))
    assert (mended.skipped, mended.counts.rejected) == (5, 0)
    assert len(got(f"{store}/out")) == 7


def test_a_glob_and_one_object(store: str) -> None:
    for number, stream in enumerate(STREAMS[:3]):
        put(f"{store}/in/{number}.sse", stream)
    assert convert_logs(job(store, "in/[01].sse")).counts.converted == 2
    assert sorted(got(f"{store}/out")) == ["0.sse", "1.sse", "_manifest.jsonl"]
    single = Job([f"{store}/in/2.sse"], f"{store}/one", None, Settings(SSE, "gateway-sse", clock=packing.NOW))
    assert convert_logs(single).counts.converted == 1
    assert got(f"{store}/one")[""] == packing.whole(STREAMS[2], SSE, "gateway-sse")
    with pytest.raises(FileNotFoundError):
        convert_logs(job(store, "nothing"))


def test_stores_that_are_not_there(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(MissingExtra, match="Protocol not known"):
        convert_logs(job("nothing://x"))
    assert main(["convert", "nothing://x", "--to", "gateway-sse", "-o", "out"]) == 2
    assert "Protocol not known" in capsys.readouterr().err


def test_a_store_that_does_not_answer(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("s3fs", reason="s3fs is not installed")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    for name in KEYS:
        monkeypatch.setenv(name, "x")
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{port}")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    fsspec.filesystem("s3").clear_instance_cache()
    assert main(["convert", "s3://nobody/x", "--to", "gateway-sse", "-o", "out"]) == 3
    assert len(capsys.readouterr().err.splitlines()) == 1
