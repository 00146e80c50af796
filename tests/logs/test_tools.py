"""What tools record, each read by itself and by name; and a matrix of all: shape, compression, processes, going on."""

from __future__ import annotations

import json
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from tests.logs import packing, shapes
from tests.logs.shapes import AGENT, JOINED, SHAPES, SSE, STREAMS
from translate.cli import main
from translate.logs.bodies import opened
from translate.logs.containers import CONTAINERS
from translate.logs.layout import Container, get

DST = "gateway-sse"
MADE = [packing.whole(stream, SSE, DST) for stream in STREAMS]
FIELDS = {"records": "log.stream", "base64": "body", "pieces": "body"}
FIELDS |= {"array": "response.body", "export": "output.streamed_data"}
NEEDS = {"vcrpy": "yaml", "ruby-yaml": "yaml"}


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def convert(*arguments: str, to: str = DST) -> int:
    return main(["convert", "in", "-o", "out", "--to", to, "--clock", str(packing.NOW), *arguments])


def put(data: bytes) -> Path:
    Path("in").write_bytes(data)
    return Path("out")


def expected(shape: str) -> list[bytes]:
    """What the streams of a shape become."""
    if shape != "stream-json":
        return MADE
    return [packing.whole(shapes.told_by_an_agent(stream), AGENT, DST) for stream in STREAMS]


def streams_in(shape: str, data: bytes) -> list[bytes]:
    """The streams in an output, one by one where they are told apart."""
    container: Any = SHAPES[shape][0]
    if CONTAINERS[container].ends:
        return [data]
    if shape == "units":
        found = packing.grouped(packing.records_of(data))
        return ["".join(found[id]).encode() for id in ("s0", "s1")]
    if shape in FIELDS:
        whole = packing.records_of(data) if container == "lines" else json.loads(data)
        rows = whole["data"] if isinstance(whole, dict) else whole
        bodies = [get(row, FIELDS[shape]) for row in rows]
    else:
        bodies = [body for body in CONTAINERS[container].bodies(BytesIO(data), 1 << 30) if "data:" in body]
    unpacked = (opened(body)[0] for body in bodies)
    return [body.encode() if isinstance(body, str) else body for body in unpacked]


def check(shape: str, data: bytes) -> None:
    made, streams = streams_in(shape, data), expected(shape)
    assert made == streams or made == [b"".join(streams)]


@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
def test_a_shape_is_read(shape: str, named: bool, capsys: pytest.CaptureFixture[str]) -> None:
    if shape in NEEDS:
        pytest.importorskip(NEEDS[shape], reason="pyyaml is not installed")
    container, write = SHAPES[shape]
    out = put(write())
    arguments: tuple[str, ...] = ()
    if named:
        src = AGENT if shape == "stream-json" else "unievent" if shape == "export" else SSE
        arguments = ("--from", src, "--container", container)
        arguments += ("--stream-field", FIELDS[shape]) if shape in FIELDS else ()
        units = ("--unit-field", "log.unit", "--id-field", "id", "--order-field", "log.n")
        arguments += units if shape == "units" else ()
    assert convert(*arguments, "--verify") == 0, capsys.readouterr().err
    check(shape, out.read_bytes())
    said = capsys.readouterr().err
    assert named or container in ("lines", "streams") or CONTAINERS[container].title in said  # type: ignore[index]


# ---- the matrix ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", ["", ".gz", ".zst", ".tar.gz", ".zip"])
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_every_shape_compressed_side_by_side_and_resumed(
    suffix: str, jobs: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for module in ("yaml", *(["backports.zstd"] if suffix == ".zst" else [])):
        pytest.importorskip(module, reason=f"{module} is not installed")
    files = {f"{name}/log": write() for name, (_, write) in SHAPES.items()}
    inner = suffix if suffix in (".gz", ".zst") else ""
    if inner or not suffix:
        for name, data in files.items():
            path = Path("in", f"{name}{inner}")
            path.parent.mkdir(parents=True)
            path.write_bytes(packing.packed(data, inner))
    else:
        put(shapes.zipped(files) if suffix == ".zip" else shapes.tarred(files))
    assert convert("--jobs", jobs) == 0
    assert f"{2 * len(SHAPES)} in, {2 * len(SHAPES)} converted, 0 rejected" in capsys.readouterr().err
    found = {path: path.read_bytes() for path in Path("out").rglob(f"log{inner}")}
    assert {path.parent.name for path in found} == SHAPES.keys()
    for path in found:
        check(path.parent.name, packing.unpacked(path))
    path, other = Path("out", "har", f"log{inner}"), Path("out", "docker", f"log{inner}")
    path.unlink()
    other.write_bytes(b"x" * len(found[other]))
    assert convert("--jobs", jobs, "--resume") == 0
    assert f"{len(SHAPES)} done ({len(SHAPES) - 2} before)" in capsys.readouterr().err
    assert {path: path.read_bytes() for path in Path("out").rglob(f"log{inner}")} == found


# ---- what is particular to each --------------------------------------------------------------------------------


def test_what_a_cassette_says_of_its_body() -> None:
    yaml = pytest.importorskip("yaml", reason="pyyaml is not installed")
    out = put(shapes.vcrpy())
    assert convert(to="gateway-jsonl") == 0
    before, made = (yaml.safe_load(data) for data in (Path("in").read_bytes(), out.read_bytes()))
    assert made["interactions"][0] == before["interactions"][0]
    for ours, theirs in zip(before["interactions"][1:], made["interactions"][1:], strict=True):
        assert ours["request"] == theirs["request"]
        body, headers = theirs["response"]["body"]["string"], theirs["response"]["headers"]
        assert type(body) is type(ours["response"]["body"]["string"])
        assert headers["Content-Length"] == [str(len(body.encode() if isinstance(body, str) else body))]
        assert headers["Content-Type"] == ["application/x-ndjson"]


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"interactions:\n- !!python/object:os.system {}\n", "not YAML"),
        (b"interactions:\n  a: b\n", "no list of interactions"),
        (b"interactions:\n" + b"- " * 5000 + b"a\n", "it is not a VCR cassette"),
        (b'{"interactions": [{"request"', "not JSON"),
    ],
)
def test_what_is_no_cassette(data: bytes, says: str, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("yaml", reason="pyyaml is not installed")
    put(data)
    assert convert("--from", SSE, "--container", "vcr") == 3
    assert says in capsys.readouterr().err


def test_times_of_a_cassette_stay_as_they_are_spelled() -> None:
    pytest.importorskip("yaml", reason="pyyaml is not installed")
    out = put(shapes.ruby_yaml().replace(b"Tue, 01 Nov 2011 04:58:44 GMT", b"2011-11-01T04:58:44.10Z"))
    assert convert() == 0
    assert out.read_bytes().count(b"recorded_at: 2011-11-01T04:58:44.10Z\n") == 2


@pytest.mark.parametrize(
    "stamp",
    [
        b"2026-01-01 00:00:00,123", b"[2026-01-01T00:00:00+01:00]", b"Jan  1 00:00:00", b"00:00:01.5",
        b"1767225600.123", b"1767225600123", b"+0.52s", b"12:00:01:", b"2026-01-01 00:00:00 +0100",
    ],
)  # fmt: skip
def test_stamps(stamp: bytes) -> None:
    out = put(shapes.stamped(JOINED, stamp))
    assert convert() == 0
    check("stamped", out.read_bytes())
    # a recorder that strips its lines
    put(shapes.stamped(JOINED, stamp).replace(b" \n", b"\n"))
    assert convert("--force") == 0
    check("stamped", out.read_bytes())


@pytest.mark.parametrize("write", [shapes.bare, lambda data: shapes.stamped(shapes.bare(data))])
def test_units_without_blank_lines_are_for_lenient_mode(
    write: Callable[[bytes], bytes], capsys: pytest.CaptureFixture[str]
) -> None:
    out = put(write(JOINED))
    assert convert() == 3
    assert "--lenient reads each as a unit" in capsys.readouterr().err
    assert convert("--lenient") == 0
    check("stamped", out.read_bytes())


def test_an_answer_of_curl_ends_where_the_next_begins(capsys: pytest.CaptureFixture[str]) -> None:
    cut, failed = shapes.curl_i(STREAMS[0][:-300]) + b"\n", shapes.curl_i(b"no\n", b"500 X")
    out = put(cut + shapes.curl_i(STREAMS[0]) + failed + shapes.curl_v(STREAMS[1]))
    assert convert("--container", "curl", "--from", SSE) == 1
    assert out.read_bytes() == b"".join(MADE)
    assert "4 in, 2 converted, 2 rejected" in capsys.readouterr().err
    assert convert("--where", "status == `200`", "--force") == 1
    assert "3 in, 2 converted, 1 rejected" in capsys.readouterr().err


def test_the_journal_says_what_it_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    lines = shapes.journald(STREAMS[0])
    gone = json.dumps({"__REALTIME_TIMESTAMP": "1", "MESSAGE": None}).encode() + b"\n"
    out = put(b"".join(lines) + gone)
    assert convert() == 1
    assert out.read_bytes() == MADE[0]
    (reject,) = packing.records_of(Path("out.rejects.jsonl").read_bytes())
    assert reject["error"]["expected"] == "text: journalctl --all -o json"


def test_messages_of_one_session_that_was_cut_off() -> None:
    lines = shapes.agent().splitlines(keepends=True)
    (first, *_) = (n for n, line in enumerate(lines) if b'"message_stop"' in line)
    out = put(b"".join(lines[: first - 2] + lines[first + 1 :]))
    assert convert() == 1
    assert out.read_bytes() == expected("stream-json")[1]


FINAL: dict[str, tuple[bytes, str]] = {
    "otlp": (b'{"resourceSpans": [{"scopeSpans": [{"spans": [{"name": "m"}]}]}]}\n', "OTLP spans hold the final text"),
    "genai": (packing.line({"name": "m", "attributes": {"gen_ai.output.messages": "[]"}}), "OpenTelemetry's records"),
    "agent": (
        packing.line({"type": "system", "session_id": "s"}) + packing.line({"type": "result", "session_id": "s"}),
        "--include-partial-messages",
    ),
    "litellm": (packing.line({"id": 1, "complete_streaming_response": {"choices": []}}), "LiteLLM's records hold"),
}


@pytest.mark.parametrize("what", FINAL)
def test_what_cannot_hold_streams_is_said_so(what: str, capsys: pytest.CaptureFixture[str]) -> None:
    data, says = FINAL[what]
    put(data)
    assert convert() == 3
    assert says in capsys.readouterr().err


# ---- what is chosen --------------------------------------------------------------------------------------------

CHOICES = [
    ("har", "contains(url, 'api.example') && status == `200` && type == 'text/event-stream'", 2, 1),
    ("har", "model == 'm1'", 2, 0),
    ("har", "status == `500`", 0, 3),
    ("har", "contains(nothing, 'x')", 0, 3),
    ("vcrpy", "type == 'text/event-stream' && model == 'm1'", 2, 1),
    ("ruby", "contains(url, 'other')", 0, 2),
    ("records", "id == 's0'", 1, 1),
    ("array", "id > `0`", 1, 1),
    ("units", "id == 's1'", 1, None),
    ("docker", "stream == 'stderr'", 0, None),
    ("journald", "_SYSTEMD_UNIT == 'app.service'", 2, 0),
]


@pytest.mark.parametrize(("shape", "where", "streams", "left"), CHOICES)
def test_what_is_not_chosen_is_left_out(
    shape: str, where: str, streams: int, left: int | None, capsys: pytest.CaptureFixture[str]
) -> None:
    for module in ("jmespath", *([NEEDS[shape]] if shape in NEEDS else [])):
        pytest.importorskip(module, reason=f"{module} is not installed")
    put(SHAPES[shape][1]())
    assert convert("--where", where, "--report", "report") == 0
    assert f"{streams} in, {streams} converted" in capsys.readouterr().err
    counts = packing.records_of(Path("report").read_bytes())[-1]["counts"]
    assert counts["left_out"] == left or (left is None and counts["left_out"] > 0)


@pytest.mark.parametrize(
    ("data", "where", "says"),
    [
        (packing.of_streams(STREAMS), "id ==", "no expression of JMESPath"),
        (JOINED, "id == `1`", "--where chooses among records"),
    ],
)
def test_a_choice_that_cannot_be(data: bytes, where: str, says: str, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("jmespath", reason="jmespath is not installed")
    put(data)
    assert convert("--where", where) == 2
    assert says in capsys.readouterr().err


def test_a_list_is_known_for_one_whatever_is_named() -> None:
    out = put(shapes.array())
    assert convert("--from", SSE, "--stream-field", "response.body") == 0
    check("array", out.read_bytes())


def test_what_is_piped_through(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    pytest.importorskip("jmespath", reason="jmespath is not installed")
    put(shapes.har())
    command = ["convert", "in", "--to", DST, "--clock", str(packing.NOW), "-q"]
    assert main([*command, "--where", "contains(url, 'v1') && type == 'text/event-stream'"]) == 0
    check("har", capfdbinary.readouterr().out)
    put(shapes.tarred({"x": JOINED}))
    assert main(command) == 2
    put(JOINED)
    assert main([*command, "--where", "id"]) == 2


# ---- archives --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["zip", "w:gz", "w", "w:gz.zst"])
def test_an_archive_is_a_folder(mode: str, capfd: pytest.CaptureFixture[str]) -> None:
    files = {"a/x.sse": STREAMS[0], "b.sse": STREAMS[1], "a/y.sse": packing.packed(JOINED, ".gz")}
    files |= {"_hidden/c": b"?", ".d": b"?"}
    put(shapes.zipped(files) if mode == "zip" else shapes.tarred(files, mode.removesuffix(".zst")))
    assert convert("--jobs", "2") == 0
    made = {path.relative_to("out").as_posix(): path.read_bytes() for path in Path("out").rglob("*.sse")}
    assert made.keys() == {"a/x.sse", "b.sse", "a/y.sse"}
    assert (made["a/x.sse"], made["b.sse"], made["a/y.sse"]) == (MADE[0], MADE[1], b"".join(MADE))
    Path("all").mkdir()
    Path("in").rename("all/one.archive")
    assert main(["convert", "all", "-o", "more", "--to", DST, "--from", SSE, "--clock", str(packing.NOW)]) == 0
    assert Path("more/one.archive/a/x.sse").read_bytes() == MADE[0]
    capfd.readouterr()
    assert main(["stats", "all", "--json"]) == 0, capfd.readouterr().err
    assert json.loads(capfd.readouterr().out)["streams"] == {"converted": 4, "rejected": 0}


@pytest.mark.parametrize("name", ["../x", "/x", "a/../../x", "a\\x"])
def test_an_archive_writes_nothing_outside(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(shapes.tarred({name: STREAMS[0], "good": STREAMS[1]}))
    assert convert() == 3
    assert "a name leads out of it" in capsys.readouterr().err
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and path.name != "in"]


@pytest.mark.parametrize("cut", [200, 700])
def test_a_damaged_archive(cut: int, capsys: pytest.CaptureFixture[str]) -> None:
    Path("in").mkdir()
    Path("in/a").write_bytes(shapes.zipped({"x": STREAMS[0]})[:-cut])
    Path("in/b").write_bytes(shapes.tarred({"x": STREAMS[0], "y": STREAMS[1]}, "w")[: 1024 + cut])
    Path("in/c").write_bytes(STREAMS[0])
    assert convert() == 3
    assert "in/a: BadZipFile" in (said := capsys.readouterr().err)
    assert "in/b" in said
    assert Path("out/c").read_bytes() == MADE[0]


CONTAINER_NAMES: tuple[Container, ...] = tuple(CONTAINERS)


def test_every_container_of_a_tool_has_a_shape() -> None:
    assert {name for name, _ in SHAPES.values()} | {"parquet", "mitmproxy"} == set(CONTAINER_NAMES)
