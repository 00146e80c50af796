"""What tools record, made of the project's own streams in the shape of each tool: read by name and by itself."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from tests.logs import packing
from tests.logs.faults import CUT, GOOD, OTHER, SSE
from translate.cli import main

MADE = [packing.whole(stream, SSE, "gateway-sse") for stream in (GOOD, OTHER)]
PAGE = "<html>{}</html>"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def convert(*arguments: str, src: str | None = SSE) -> int:
    named = () if src is None else ("--from", src)
    return main(["convert", "in", "-o", "out", "--to", "gateway-sse", "--clock", str(packing.NOW), *named, *arguments])


def put(data: bytes, suffix: str = "") -> Path:
    """Write it; the output."""
    Path("in").write_bytes(packing.packed(data, suffix))
    return Path("out")


# ---- HAR -------------------------------------------------------------------------------------------------------


def entry(body: Any, kind: str = "text/event-stream; charset=utf-8", **content: Any) -> dict[str, Any]:
    said = {"size": 1, "mimeType": kind, "text": body, **content}
    return {"startedDateTime": "2026-01-01T00:00:00Z", "time": 7.5, "request": {"url": "http://x/"}, "response": {
        "status": 200, "content": said if body is not None else {"size": 0, "mimeType": kind}}}  # fmt: skip


def har(*entries: dict[str, Any], indent: int | None = None) -> bytes:
    log = {"version": "1.2", "creator": {"name": "é", "version": "1"}, "entries": list(entries), "pages": []}
    return json.dumps({"log": log, "_other": 1}, indent=indent).encode()


def content(made: dict[str, Any]) -> dict[str, Any]:
    return dict(made["response"]["content"])


@pytest.mark.parametrize("suffix", ["", ".gz"])
@pytest.mark.parametrize("arguments", [(), ("--container", "har")])
@pytest.mark.parametrize("src", [None, SSE])
@pytest.mark.parametrize("indent", [None, 2])
def test_har(suffix: str, arguments: tuple[str, ...], src: str | None, indent: int | None) -> None:
    if src and not arguments:
        return
    coded = entry(b64encode(OTHER).decode(), encoding="base64")
    others = [entry(PAGE, "text/html"), entry('{"error": 1}', "application/json"), entry(None), {"response": None}]
    empty, plain = entry(""), entry(OTHER.decode(), "text/plain")
    data = har(others[0], entry(GOOD.decode()), others[1], empty, *others[2:], plain, coded, indent=indent)
    out = put(data, suffix)
    # a body that is empty, and said to be a stream, is one that was cut off
    assert convert(*arguments, src=src) == 1
    before, made = json.loads(data), json.loads(out.read_bytes())
    entries = made["log"].pop("entries")
    assert before["log"].pop("entries")
    assert made == before
    assert [entries[index] for index in (0, 2, 3, 4)] == others
    first, second, third = (content(entries[index]) for index in (1, 5, 6))
    assert (first["text"].encode(), second["text"].encode(), b64decode(third["text"])) == (MADE[0], MADE[1], MADE[1])
    assert {each["mimeType"] for each in (first, second, third)} == {"text/event-stream"}
    assert (first["size"], third["encoding"]) == (len(MADE[0]), "base64")
    (reject,) = packing.records_of(Path("out.rejects.jsonl").read_bytes())
    assert (reject["at"], json.loads(reject["content"])) == ({"entry": 3}, empty)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b'{"log": {}}', "it is not HAR"),
        (b'{"log": {"entries": [7]}}', "no list of objects"),
        (har(entry(GOOD.decode()))[:-9], "it is not HAR: "),
    ],
)
def test_what_is_no_har(data: bytes, says: str, capsys: pytest.CaptureFixture[str]) -> None:
    out = put(data)
    assert convert("--container", "har") == 3
    assert says in capsys.readouterr().err
    assert not out.exists()


def test_stats_and_limits_of_har(capfd: pytest.CaptureFixture[str]) -> None:
    put(har(entry(PAGE, "text/html"), entry(GOOD.decode()), entry(b64encode(OTHER).decode())))
    assert main(["stats", "in", "--json"]) == 0
    assert json.loads(capfd.readouterr().out)["streams"] == {"converted": 2, "rejected": 0}
    assert convert("--container", "har", "--limit", "1", "-o", "one") == 0
    assert len(json.loads(Path("one").read_bytes())["log"]["entries"]) == 2


# ---- request logs of proxies -----------------------------------------------------------------------------------


def pieces(stream: bytes, size: int) -> list[str]:
    return [stream.decode()[at : at + size] for at in range(0, len(stream.decode()), size)]


BODIES: dict[str, Any] = {
    "text": lambda stream: stream.decode(),
    "base64": lambda stream: b64encode(stream).decode(),
    "pieces": lambda stream: pieces(stream, 37),
    "pieces of base64": lambda stream: [b64encode(piece.encode()).decode() for piece in pieces(stream, 300)],
    "units": lambda stream: packing.units(stream, SSE),
    "units without ends": lambda stream: [unit.rstrip("\n") for unit in packing.units(stream, SSE)],
}


@pytest.mark.parametrize("suffix", ["", ".gz"])
@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("named", [True, False])
def test_request_logs(body: str, named: bool, suffix: str) -> None:
    streams = [{"id": n, "status": 200, "response": {"body": BODIES[body](s)}} for n, s in enumerate((GOOD, OTHER))]
    failed = {"id": 9, "status": 502, "response": {"body": PAGE}}
    out = put(b"".join(map(packing.line, (failed, *streams))), suffix)
    assert convert(*(("--stream-field", "response.body") if named else ()), src=SSE if named else None) == 1
    made = [record["response"]["body"] for record in packing.records_of(out.read_bytes())]
    assert [b64decode(each) if body == "base64" else each.encode() for each in made] == MADE


# ---- logs of containers ----------------------------------------------------------------------------------------


def docker(data: bytes, channel: str = "stdout", most: int = 500) -> list[bytes]:
    """As Docker writes it: a record a line, a long one in several."""
    lines = chain.from_iterable(
        [line[at : at + most] for at in range(0, len(line), most)] for line in data.decode().splitlines(keepends=True)
    )
    return [
        json.dumps({"log": line, "stream": channel, "time": f"2026-01-01T00:00:00.{n}Z"}).encode() + b"\n"
        for n, line in enumerate(lines)
    ]


def cri(data: bytes, channel: str = "stdout", most: int = 500) -> list[bytes]:
    """As the CRI writes it: P for a line that goes on."""
    found = []
    for line in data.splitlines():
        cut = [line[at : at + most] for at in range(0, len(line), most)] or [b""]
        for number, piece in enumerate(cut):
            mark = b"P" if number < len(cut) - 1 else b"F"
            found.append(b"2026-01-01T00:00:00.000000000+01:00 %s %s %s\n" % (channel.encode(), mark, piece))
    return found


WRITERS = {"docker": docker, "cri": cri}


@pytest.mark.parametrize("suffix", ["", ".gz"])
@pytest.mark.parametrize("container", WRITERS)
@pytest.mark.parametrize("named", [True, False])
def test_logs_of_containers(container: str, suffix: str, named: bool) -> None:
    write = WRITERS[container]
    # both channels at once: the lines of one between those of the other
    one, two = write(GOOD + OTHER), write(OTHER, "stderr")
    mixed = [line for pair in zip(one, two, strict=False) for line in pair] + one[len(two) :] + two[len(one) :]
    out = put(b"".join(mixed), suffix)
    assert convert(*(("--container", container) if named else ()), src=SSE if named else None) == 0
    assert sorted(out.read_bytes().split(b": carry")) == sorted((MADE[0] + MADE[1] + MADE[1]).split(b": carry"))
    assert MADE[0] in out.read_bytes()


@pytest.mark.parametrize("container", WRITERS)
def test_what_is_no_record_of_a_container(container: str, capfd: pytest.CaptureFixture[str]) -> None:
    write = WRITERS[container]
    out = put(b"".join([*write(GOOD), b"what?\n", *write(OTHER), *write(CUT)]))
    assert convert("--container", container) == 1
    assert out.read_bytes() == b"".join(MADE)
    first, second = packing.records_of(Path("out.rejects.jsonl").read_bytes())
    assert (first["content"], first["at"]) == ("what?", {"offset": len(b"".join(write(GOOD)))})
    assert second["content"].rstrip().encode() == CUT
    capfd.readouterr()
    assert main(["stats", "in", "--container", container, "--from", SSE, "--json"]) == 1
    assert json.loads(capfd.readouterr().out)["streams"] == {"converted": 2, "rejected": 2}


# ---- all of them -----------------------------------------------------------------------------------------------

SHAPES = {
    "streams": GOOD + OTHER,
    "records": packing.of_streams([GOOD, OTHER]),
    "units": packing.of_units([GOOD, OTHER], lambda stream: packing.units(stream, SSE)),
    "har": har(entry(PAGE, "text/html"), entry(GOOD.decode()), entry(b64encode(OTHER).decode())),
    "base64": b"".join(packing.line({"body": b64encode(stream).decode()}) for stream in (GOOD, OTHER)),
    "docker": b"".join(docker(GOOD + OTHER)),
    "cri": b"".join(cri(GOOD + OTHER)),
}


@pytest.mark.parametrize("suffix", ["", ".gz"])
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_folder_of_all_shapes(suffix: str, jobs: str, capsys: pytest.CaptureFixture[str]) -> None:
    for name, data in SHAPES.items():
        path = Path("in", f"{name}{suffix}")
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(packing.packed(data, suffix))
    assert convert("--jobs", jobs, "--verify", src=None) == 0
    assert f"{2 * len(SHAPES)} in, {2 * len(SHAPES)} converted, 0 rejected" in capsys.readouterr().err
    made = {path.name: path.read_bytes() for path in Path("out").iterdir() if path.name != "_manifest.jsonl"}
    assert packing.unpacked(Path("out", f"cri{suffix}")) == packing.unpacked(Path("out", f"streams{suffix}"))
    Path("out", f"har{suffix}").unlink()
    Path("out", f"docker{suffix}").write_bytes(b"x" * len(made[f"docker{suffix}"]))
    assert convert("--jobs", jobs, "--verify", "--resume", src=None) == 0
    assert f"{len(SHAPES)} done ({len(SHAPES) - 2} before)" in capsys.readouterr().err
    assert {path.name: path.read_bytes() for path in Path("out").iterdir() if path.name != "_manifest.jsonl"} == made
