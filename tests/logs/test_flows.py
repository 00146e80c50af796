"""Flows of mitmproxy, made by its own library."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from tests.logs import packing
from tests.logs.shapes import EVENTS, SSE, STREAMS
from translate.cli import main

mitmproxy = pytest.importorskip("mitmproxy.io", reason="mitmproxy is not installed, and needs a place of its own")
http: Any = pytest.importorskip("mitmproxy.http")
tflow: Any = pytest.importorskip("mitmproxy.test.tflow")
MADE = [packing.whole(stream, SSE, "gateway-sse") for stream in STREAMS]


def flow(body: bytes, kind: str = EVENTS, encoding: str = "") -> Any:
    made = tflow.tflow(resp=True)
    made.request.content = b'{"model": "m1"}'
    made.response.headers["content-type"] = kind
    made.response.content = body
    if encoding:
        made.response.encode(encoding)
    return made


def written(*flows: Any) -> bytes:
    out = io.BytesIO()
    writer = mitmproxy.FlowWriter(out)
    for each in flows:
        writer.add(each)
    return out.getvalue()


OTHERS = [tflow.ttcpflow(), tflow.tflow()]
DATA = written(flow(b"<html>", "text/html"), flow(STREAMS[0]), *OTHERS, flow(STREAMS[1], encoding="gzip"))


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def convert(*arguments: str) -> int:
    return main(["convert", "in", "-o", "out", "--to", "gateway-sse", "--clock", str(packing.NOW), *arguments])


@pytest.mark.parametrize("suffix", ["", ".gz"])
@pytest.mark.parametrize("named", [(), ("--from", SSE, "--container", "mitmproxy")])
def test_flows(suffix: str, named: tuple[str, ...]) -> None:
    Path("in").write_bytes(packing.packed(DATA, suffix))
    assert convert(*named, "--verify") == 0
    found = list(mitmproxy.FlowReader(io.BytesIO(Path("out").read_bytes())).stream())
    assert [getattr(each, "response", None) is not None for each in found] == [True, True, False, False, True]
    assert found[0].response.content == b"<html>"
    assert [found[index].response.content for index in (1, 4)] == MADE
    assert found[4].response.headers["content-encoding"] == "gzip"
    assert found[4].response.headers["content-length"] == str(len(found[4].response.raw_content))


def test_flows_that_are_broken_or_not_chosen(capsys: pytest.CaptureFixture[str]) -> None:
    Path("in").write_bytes(written(flow(STREAMS[0][:-300]), flow(STREAMS[1])))
    assert convert() == 1
    assert "2 in, 1 converted, 1 rejected" in capsys.readouterr().err
    assert convert("--where", "model == 'm2'", "--force") == 0
    assert "2 left out" in capsys.readouterr().err


def test_a_damaged_file(capsys: pytest.CaptureFixture[str]) -> None:
    Path("in").write_bytes(DATA[:-9])
    assert convert("--from", SSE, "--container", "mitmproxy") == 3
    assert "FlowReadException" in capsys.readouterr().err


def test_statistics(capfd: pytest.CaptureFixture[str]) -> None:
    Path("in").write_bytes(DATA)
    assert main(["stats", "in", "--json"]) == 0
    assert json.loads(capfd.readouterr().out)["streams"] == {"converted": 2, "rejected": 0}
