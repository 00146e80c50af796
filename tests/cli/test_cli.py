"""The command line: every command and exit status by real processes, every branch by calls of ``main``."""

import base64
import errno
import io
import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import translate
from translate import Finding, Limits, Model, TranslateError
from translate.cli import _files, _report, main
from translate.cli._status import OutputError, explain, one_line

ROOT = Path(__file__).resolve().parents[2]
TURN = ROOT / "examples" / "claude-turn.unievent.sse"
CUT = ROOT / "examples" / "cut.unievent.sse"
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT), str(ROOT / "codecs")))}
COMMAND = (sys.executable, "-m", "translate")
WAIT = 30

HELLO = b"""\
data: {"role":"assistant","event_type":"delta","content_items":[{"type":"text.delta","text":"Hi"}],\
"usage_metadata":null,"finish_reason":null,"created_at":1}

data: {"role":"assistant","event_type":"delta","content_items":[{"type":"text.done","text":"Hi"}],\
"usage_metadata":null,"finish_reason":null,"created_at":2}

data: {"role":"assistant","event_type":"stop","content_items":[],"usage_metadata":{"cached_tokens":null,\
"prompt_tokens":1,"thoughts_tokens":null,"response_tokens":1},"finish_reason":"stop","created_at":3}

data: [DONE]

"""
BLOCKS = [block + b"\n\n" for block in HELLO.split(b"\n\n")[:-1]]
TO_GATEWAY = ("convert", "--from", "unievent-sse", "--to", "gateway-sse")


def run(*args: str | Path, stdin: bytes = b"", **options: Any) -> subprocess.CompletedProcess[bytes]:
    options = {"env": ENVIRONMENT, "capture_output": True, **options}
    return subprocess.run([*COMMAND, *map(str, args)], input=stdin, timeout=WAIT, check=False, **options)


@contextmanager
def running(*args: str, **options: Any) -> Iterator[subprocess.Popen[bytes]]:
    options = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    # a shell that starts the tests in the background has them ignore interrupts
    interruptible = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    process = subprocess.Popen[bytes]([*COMMAND, *args], env=ENVIRONMENT, preexec_fn=interruptible, **options)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def read_until(process: subprocess.Popen[bytes], end: bytes) -> bytes:
    """What a process writes, up to ``end``; fails where that does not come."""
    assert process.stdout is not None
    found = b""
    until = time.monotonic() + WAIT
    while not found.endswith(end):
        ready, _, _ = select.select([process.stdout], [], [], until - time.monotonic())
        assert ready, f"no output after {found!r}"
        piece = os.read(process.stdout.fileno(), 65536)
        assert piece, f"the output ended after {found!r}"
        found += piece
    return found


def message(error: bytes) -> str:
    """The one line on standard error."""
    text = error.decode()
    assert text.startswith("translate-streams"), text
    assert text.count("\n") == 1, text
    assert text.endswith("\n"), text
    return text


def converted(data: bytes, src: str, dst: str, **options: Any) -> bytes:
    return b"".join(translate.convert(data, src, dst, **options))


Main = Callable[..., tuple[int, bytes, bytes]]


@pytest.fixture
def call(capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Main:
    def call(*args: str | Path, stdin: bytes = b"") -> tuple[int, bytes, bytes]:
        file = tmp_path / "stdin"
        file.write_bytes(stdin)
        with file.open() as stream:
            monkeypatch.setattr(sys, "stdin", stream)
            status = main([str(arg) for arg in args])
        said = capfdbinary.readouterr()
        return status, said.out, said.err

    return call


# ---- real processes -----------------------------------------------------------------------------


def test_convert_is_what_the_library_makes_and_comes_home() -> None:
    out = run(*TO_GATEWAY, TURN)
    assert (out.returncode, out.stderr) == (0, b"")
    assert out.stdout == converted(TURN.read_bytes(), "unievent-sse", "gateway-sse")
    home = run("convert", "--from", "gateway-sse", "--to", "unievent-sse", stdin=out.stdout)
    assert (home.returncode, home.stderr) == (0, b"")
    assert events(home.stdout) == events(TURN.read_bytes())


def events(sse: bytes) -> list[Any]:
    lines = [line.removeprefix(b"data: ") for line in sse.splitlines() if line.startswith(b"data: ")]
    return [json.loads(line) for line in lines if line != b"[DONE]"]


def test_output_is_bytes_whatever_the_locale() -> None:
    env = {**ENVIRONMENT, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "ascii"}
    text = "é🌍\u2028"
    data = HELLO.replace(b"Hi", text.encode())
    out = run(*TO_GATEWAY, stdin=data, env=env)
    assert (out.returncode, out.stdout) == (0, converted(data, "unievent-sse", "gateway-sse"))
    assert b"\r" not in out.stdout
    assert run("--help", env=env).returncode == 0
    assert run("convert", "--help", env=env).returncode == 0


def test_each_unit_is_out_before_the_next_comes() -> None:
    ends = [b'"content","value":"Hi"}}\n\n', b'"contentEnd"}}\n\n', b'"finishReason":"stop"}}}\n\n']
    with running(*TO_GATEWAY) as process:
        assert process.stdin is not None
        for block, end in zip(BLOCKS, ends, strict=False):
            for half in (block[:40], block[40:]):
                process.stdin.write(half)
                process.stdin.flush()
            read_until(process, end)
        out, err = process.communicate(timeout=WAIT)
        assert (process.returncode, out, err) == (0, b"", b"")


def test_a_stream_that_breaks_in_a_pipe_fails_at_once_after_what_came_before() -> None:
    with running(*TO_GATEWAY) as process:
        assert process.stdin is not None
        process.stdin.write(BLOCKS[0] + b"data: nonsense\n\n")
        process.stdin.flush()
        assert process.wait(WAIT) == 1
        assert process.stdout is not None
        assert process.stderr is not None
        assert b'"value":"Hi"' in process.stdout.read()
        assert "DecodeError" in message(process.stderr.read())


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (BLOCKS[0], "TruncatedStream"),
        (BLOCKS[0] + BLOCKS[0].replace(b"Hi", b"\xff"), "DecodeError"),
        (b"".join(BLOCKS[:2]) + BLOCKS[1], "GrammarError"),
        (
            BLOCKS[0] + b'data: {"error":{"type":"X","message":"over\\u001b[1mload","status":529}}\n\n',
            "UpstreamFailure",
        ),
    ],
)
def test_a_failed_stream_is_status_1_and_all_before_it_is_written(
    call: Main, tmp_path: Path, data: bytes, error: str
) -> None:
    out = run(*TO_GATEWAY, stdin=data)
    assert out.returncode == 1
    assert error in message(out.stderr)
    assert b"\x1b" not in out.stderr
    assert b'"content","value":"Hi"' in out.stdout
    file = tmp_path / "out"
    assert call(*TO_GATEWAY, "-o", file, stdin=data)[0] == 1
    assert file.read_bytes() == out.stdout


def test_errors_encode_says_it_in_the_output(call: Main) -> None:
    assert call(*TO_GATEWAY, "--errors", "encode", CUT)[0] == 1
    out = run(*TO_GATEWAY, "--errors", "encode", CUT)
    assert out.returncode == 1
    assert b"UpstreamFailure" in out.stderr
    assert b'event: error\ndata: {"success":false' in out.stdout


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["convert"], ["--to", "missing"]),
        (["nonsense"], ["nonsense", "convert", "formats"]),
        ([*TO_GATEWAY, "a", "b"], ["b"]),
        ([*TO_GATEWAY, "--los", "drop"], ["--los"]),
        ([*TO_GATEWAY, "--loss", "some"], ["carry", "drop", "raise"]),
        ([*TO_GATEWAY, "--strict", "--lenient"], ["not allowed with"]),
        ([*TO_GATEWAY, "--clock", "noon"], ["--clock", "'noon'"]),
        ([*TO_GATEWAY, "--max-unit", "-1"], ["--max-unit", "'-1'"]),
        ([*TO_GATEWAY, "--model", "name=a,b"], ["--model", "'b'", "tier="]),
        ([*TO_GATEWAY, "--model", "color=red"], ["--model", "'color=red'"]),
        ([*TO_GATEWAY, "--model", "tier=a,tier=b"], ["--model", "'tier=b'"]),
        (["convert", "--from", "gateway", "--to", "unievent"], ["--to unievent", "unievent-jsonl or unievent-sse"]),
        (["convert", "--from", "unievent", "--to", "gateway"], ["--to gateway", "gateway-jsonl or gateway-sse"]),
        (["convert", "--from", "unievent", "--to", "events"], ["--to events", "events-jsonl"]),
        (["convert", "--from", "events", "--to", "events-jsonl"], ["--from events", "events-jsonl"]),
        (
            ["assemble", "--from", "unievent", "--to", "events"],
            ["--to events", "anthropic, gateway, gemini, gemini-interactions, openai-chat"],
        ),
    ],
)
def test_wrong_usage_is_status_2(call: Main, args: list[str], words: list[str]) -> None:
    status, out, error = call(*args)
    assert (status, out) == (2, b"")
    assert all(word in message(error) for word in words)


def test_no_arguments_print_the_help_with_status_2() -> None:
    out = run()
    assert (out.returncode, out.stdout) == (2, b"")
    assert b"exit status:" in out.stderr
    assert b"convert" in out.stderr


def test_help_and_version(call: Main) -> None:
    assert run("--version").stdout.decode() == f"translate-streams {translate.__version__}\n"
    for command in ("convert", "check", "assemble", "formats", "conformance"):
        status, out, error = call(command, "--help")
        assert (status, error) == (0, b"")
        assert b"exit status:" in out


def test_input_that_cannot_be_read_is_status_3(call: Main, tmp_path: Path) -> None:
    file = tmp_path / "kept"
    file.write_bytes(b"kept")
    missing = tmp_path / "missing"
    status, written, error = call(*TO_GATEWAY, missing, "-o", file)
    assert (status, written) == (3, b"")
    assert str(missing) in message(error)
    assert file.read_bytes() == b"kept"
    out = run(*TO_GATEWAY, preexec_fn=lambda: os.close(0))
    assert out.returncode == 3
    assert "cannot read standard input: it is closed" in message(out.stderr)


def test_input_without_permission_is_status_3(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    file = tmp_path / "secret"
    file.write_bytes(HELLO)
    file.chmod(0)
    user = os.geteuid()
    try:
        if user == 0:  # who may read everything
            os.seteuid(65534)
        status = main([*TO_GATEWAY, str(file)])
    finally:
        os.seteuid(user)
    assert status == 3
    assert "Permission denied" in message(capfdbinary.readouterr().err)


def test_output_that_cannot_be_written_is_status_3(call: Main, tmp_path: Path) -> None:
    for place in (tmp_path, tmp_path / "missing" / "out", *([Path("/dev/full")] if Path("/dev/full").exists() else [])):
        status, written, error = call(*TO_GATEWAY, TURN, "-o", place)
        assert (status, written) == (3, b"")
        assert f"cannot write {place}" in message(error)
    assert call(*TO_GATEWAY, TURN, "--report", tmp_path)[:2] == (3, b"")
    out = run("formats", preexec_fn=lambda: os.close(1))
    assert out.returncode == 3
    assert "cannot write standard output: it is closed" in message(out.stderr)


def test_an_unknown_format_is_status_4(call: Main, tmp_path: Path) -> None:
    out = run("convert", "--from", "unievent-ssse", "--to", "gateway-sse", tmp_path / "missing")
    assert out.returncode == 4
    text = message(out.stderr)
    assert "'unievent-sse'" in text
    assert all(name in text for name in translate.formats())
    for args in (["check", "--from", "x"], ["assemble", "--from", "unievent", "--to", "x"]):
        assert call(*args)[0] == 4


def test_an_interrupt_is_status_130_and_quiet(tmp_path: Path) -> None:
    report = tmp_path / "report"
    with running(*TO_GATEWAY, "--report", str(report)) as process:
        assert process.stdin is not None
        process.stdin.write(BLOCKS[0])
        process.stdin.flush()
        read_until(process, b'"Hi"}}\n\n')
        process.send_signal(signal.SIGINT)
        assert process.wait(WAIT) == 130
        assert process.stderr is not None
        assert process.stderr.read() == b""
    summary = json.loads(report.read_bytes().splitlines()[-1])
    assert (summary["status"], summary["error"]["type"]) == (130, "KeyboardInterrupt")


@pytest.mark.parametrize("args", [[*TO_GATEWAY, str(TURN)], ["formats"], ["--help"]])
def test_a_closed_pipe_is_quiet(args: list[str]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    try:
        out = run(*args, capture_output=False, stdout=writer, stderr=subprocess.PIPE)
    finally:
        os.close(writer)
    assert (out.returncode, out.stderr) == (0, b"")


def test_a_reader_that_leaves_early_is_quiet(tmp_path: Path) -> None:
    big = tmp_path / "big"
    big.write_bytes(BLOCKS[0] * 5000 + b"".join(BLOCKS[1:]).replace(b'"Hi"', json.dumps("Hi" * 5000).encode()))
    with running(*TO_GATEWAY, str(big), stdin=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert len(process.stdout.read(10)) == 10
        process.stdout.close()
        assert process.wait(WAIT) == 0
        assert process.stderr.read() == b""
        process.stdout = None


def test_the_input_is_never_written_over(call: Main, tmp_path: Path) -> None:
    file, link = tmp_path / "turn", tmp_path / "link"
    file.write_bytes(HELLO)
    link.symlink_to(file)
    for args in ((file, "-o", link), (link, "-o", file), (file, "--report", file), (file, "--report", link)):
        status, written, error = call(*TO_GATEWAY, *args)
        assert (status, written) == (2, b"")
        assert "one file" in message(error)
    with file.open("rb") as stdin, file.open("ab") as stdout:
        for name, options in (([], {"stdin": stdin, "stdout": stdout}), ([str(file)], {"stdout": stdout})):
            with running(*TO_GATEWAY, *name, **options) as process:
                assert process.wait(WAIT) == 2
    out_file = tmp_path / "out"
    out_file.write_bytes(b"kept")
    assert call(*TO_GATEWAY, file, "-o", out_file, "--report", out_file)[0] == 2
    assert out_file.read_bytes() == b"kept"
    assert file.read_bytes() == HELLO


def test_an_output_file_is_replaced(tmp_path: Path) -> None:
    file, report = tmp_path / "out", tmp_path / "report"
    for path in (file, report):
        path.write_bytes(b"x" * 100_000)
    out = run(*TO_GATEWAY, "-o", file, "--report", report, "-", stdin=HELLO)
    assert (out.returncode, out.stdout, out.stderr) == (0, b"", b"")
    assert file.read_bytes() == converted(HELLO, "unievent-sse", "gateway-sse")
    assert b"xx" not in report.read_bytes()
    assert run(*TO_GATEWAY, "/dev/null", "-o", "/dev/null").returncode == 1


def test_the_report(tmp_path: Path) -> None:
    out = run(*TO_GATEWAY, TURN, "--report", "-")
    assert out.returncode == 0
    *findings, summary = [json.loads(line) for line in out.stderr.splitlines()]
    report = translate.Report()
    made = converted(TURN.read_bytes(), "unievent-sse", "gateway-sse", report=report)
    assert {finding["kind"] for finding in findings} == {"predicted", "losses"}
    assert [Finding(**{k: v for k, v in f.items() if k != "kind"}) for f in findings if f["kind"] == "losses"] == (
        report.losses
    )
    assert summary == {
        "kind": "summary",
        "status": 0,
        "error": None,
        "bytes_read": TURN.stat().st_size,
        "bytes_written": len(made),
        "counts": {
            kind: {field: n for (of, field), n in report.counts.items() if of == kind}
            for kind in ("predicted", "losses", "guesses", "repairs")
        },
    }


def test_the_report_of_a_failed_stream(tmp_path: Path) -> None:
    report = tmp_path / "report"
    out = run(*TO_GATEWAY, "--report", report, "--lenient", stdin=BLOCKS[0] + BLOCKS[2] + b"data: {}\n\n")
    assert out.returncode == 1
    lines = [json.loads(line) for line in report.read_bytes().splitlines()]
    assert "repairs" in [line["kind"] for line in lines]
    assert lines[-1]["status"] == 1
    error = lines[-1]["error"]
    assert error["type"] in message(out.stderr)
    assert (error["unit"], error["excerpt"], error["pending"]) == (2, "{}", [])


def test_check() -> None:
    out = run("check", TURN, "--from", "unievent-sse")
    assert (out.returncode, out.stdout, out.stderr) == (0, b"", b"")
    broken = HELLO.replace(b'"assistant"', b'"\\u001b[31m"', 1)
    out = run("check", "--from", "unievent", stdin=broken)
    assert (out.returncode, out.stderr) == (1, b"")
    lines = out.stdout.decode().splitlines()
    assert len(lines) == len(translate.check(broken, "unievent"))
    assert lines[0].startswith("unit 0: delta.role: ")
    assert all(line.isprintable() for line in lines)
    out = run("check", "--from", "gateway-jsonl")
    assert (out.returncode, out.stdout.count(b"\n")) == (1, 1)
    assert b"TruncatedStream" in out.stdout


def test_assemble() -> None:
    for dst in ("unievent", "gateway"):
        out = run("assemble", TURN, "--from", "unievent", "--to", dst)
        assert (out.returncode, out.stderr, out.stdout.count(b"\n")) == (0, b"", 1)
        assert json.loads(out.stdout) == translate.assemble(TURN.read_bytes(), "unievent", dst)
    assert b"18446744073709551617" in run("assemble", TURN, "--from", "unievent", "--to", "unievent").stdout
    out = run("assemble", CUT, "--from", "unievent", "--to", "unievent")
    assert (out.returncode, out.stdout) == (1, b"")
    assert "UpstreamFailure" in message(out.stderr)


def test_formats() -> None:
    out = run("formats")
    assert (out.returncode, out.stderr) == (0, b"")
    table = [line.split() for line in out.stdout.decode().split("\n\n")[0].splitlines()]
    assert table[0] == ["FORMAT", "ELEMENTS", "--from", "--to"]
    assert [row[0] for row in table[1:]] == translate.formats()
    assert ["gateway", "objects", "yes", "no"] in table
    assert ["unievent-sse", "bytes", "yes", "yes"] in table
    assert ["events", "objects", "no", "no"] in table
    assert b"gateway alone says: envelope codes" in out.stdout
    found = json.loads(run("formats", "--json").stdout)
    assert [row["format"] for row in found["formats"]] == translate.formats()
    says = {row["codec"]: row for row in found["codecs"]}
    assert says["gateway"]["says"] == sorted(translate.codec("gateway").says)
    # the distribution under tests/plugin may be installed
    assert {name: row["assembles"] for name, row in says.items() if name != "toy"} == {
        "anthropic": True,
        "events": False,
        "gateway": True,
        "gemini": True,
        "gemini-interactions": True,
        "openai-chat": True,
        "openai-responses": True,
        "unievent": True,
    }


# ---- calls of main ------------------------------------------------------------------------------


def test_main_returns_the_status(call: Main, monkeypatch: pytest.MonkeyPatch) -> None:
    assert call()[0] == 2
    assert call("--version") == (0, b"translate-streams 0.1.0\n", b"")
    assert call("--nonsense")[0] == 2
    assert call(*TO_GATEWAY, "--model", "color=red")[0] == 2
    assert call(*TO_GATEWAY, "--clock", "-1")[0] == call(*TO_GATEWAY, "--clock", "noon")[0] == 2
    assert call("formats", "--json")[0] == call("formats")[0] == 0
    assert call("check", "--from", "unievent", stdin=HELLO) == (0, b"", b"")
    assert call("check", "--from", "unievent")[0] == 1
    assert call("assemble", "--from", "unievent", "--to", "gateway", stdin=HELLO)[0] == 0
    assert call("assemble", "--from", "unievent", "--to", "events", stdin=HELLO)[0] == 2
    assert call("assemble", "--from", "events", "--to", "unievent")[0] == 2
    assert call("convert", "--from", "unievent", "--to", "gateway")[0] == 2
    assert call("check", "--from", "nonsense")[0] == 4
    monkeypatch.setattr(sys, "argv", ["translate-streams", "--version"])
    assert main() == 0


def test_options_reach_the_library(call: Main, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: dict[str, Any] = {}
    genuine = translate.convert

    def spy(*args: Any, **options: Any) -> Any:
        seen.update(options)
        return genuine(*args, **options)

    monkeypatch.setattr(translate, "convert", spy)
    assert call(*TO_GATEWAY, stdin=HELLO)[0] == 0
    defaults = {"loss": "carry", "errors": "raise", "strict": True, "limits": Limits()}
    assert seen == {**defaults, "model": None, "clock": None, "report": None}
    given = "--loss drop --errors encode --lenient --clock 0 --max-unit 1000 --max-part 2000 --max-nesting 30"
    assert call(*TO_GATEWAY, *given.split(), "--model", "m", stdin=HELLO)[0] == 0
    assert seen.pop("clock")() == 0
    limits = Limits(unit=1000, part=2000, nesting=30)
    assert seen == {
        "loss": "drop", "errors": "encode", "strict": False, "limits": limits, "model": Model(name="m"), "report": None,
    }  # fmt: skip
    assert call(*TO_GATEWAY, "--strict", "--model", "name=a,provider=b=c, tier=", stdin=HELLO)[0] == 0
    assert (seen["strict"], seen["model"]) == (True, Model(name="a", provider="b=c", tier=""))
    status, _, error = call(*TO_GATEWAY, "--max-unit", "10", stdin=HELLO)
    assert status == 1
    assert "LimitExceeded" in message(error)


def test_a_clock_makes_output_that_can_be_reproduced(call: Main) -> None:
    frames = converted(HELLO, "unievent-sse", "gateway-sse", loss="drop")
    args = ("convert", "--from", "gateway", "--to", "unievent-jsonl", "--clock", "1234567890123")
    status, out, _ = call(*args, stdin=frames)
    assert status == 0
    assert {json.loads(line)["created_at"] for line in out.splitlines()} == {1234567890123}
    assert call(*args, stdin=frames)[1] == out


def test_assembled_bytes_are_base64(call: Main) -> None:
    raw = bytes(range(256))
    made = translate.encode(
        [
            translate.Open("inline_data", mime_type="application/x"),
            translate.Append(raw),
            translate.Close(),
            translate.Finish(),
        ],
        "unievent-jsonl",
        clock=lambda: 1,
    )
    status, out, _ = call("assemble", "--from", "unievent-jsonl", "--to", "unievent", stdin=b"".join(made))
    assert status == 0
    item = json.loads(out)["content_items"][0]
    assert base64.b64decode(item["data"]) == raw


class Worn(io.RawIOBase):
    """A file whose every read or write does the next thing of a list."""

    def __init__(self, *steps: Any) -> None:
        self.steps = list(steps)
        self.written = b""
        self._at = os.open(os.devnull, os.O_RDWR)

    def fileno(self) -> int:
        return self._at

    def read(self, size: int = -1) -> Any:
        step = self.steps.pop(0)
        if isinstance(step, BaseException):
            raise step
        return step

    def write(self, data: Any) -> Any:
        done = self.read()
        if done is not None:
            self.written += bytes(data[:done])
        return done

    def close(self) -> None:
        if not self.closed:
            os.close(self._at)
        super().close()


def wear(monkeypatch: pytest.MonkeyPatch, target: type[_files.Input | _files.Output], worn: Worn) -> None:
    genuine = target.__init__

    def init(self: Any, *args: Any, **options: Any) -> None:
        genuine(self, *args, **options)
        if not options:
            self._file = worn

    monkeypatch.setattr(target, "__init__", init)


def test_non_blocking_input_is_waited_for(call: Main, monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[Any] = []
    monkeypatch.setattr(select, "select", lambda *args: waits.append(args))
    with Worn(None, None, HELLO[:99], None, HELLO[99:], b"") as worn:
        wear(monkeypatch, _files.Input, worn)
        status, out, _ = call(*TO_GATEWAY)
    assert (status, len(waits)) == (0, 3)
    assert out == converted(HELLO, "unievent-sse", "gateway-sse")


def test_non_blocking_output_is_waited_for_and_written_whole(call: Main, monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[Any] = []
    monkeypatch.setattr(select, "select", lambda *args: waits.append(args))
    with Worn(None, 1, None, 10, 1 << 20) as worn:
        wear(monkeypatch, _files.Output, worn)
        assert call(*TO_GATEWAY, stdin=HELLO)[0] == 0
        assert worn.written == converted(HELLO, "unievent-sse", "gateway-sse")
    assert len(waits) == 2


def test_a_non_blocking_pipe() -> None:
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    with running(*TO_GATEWAY, stdin=reader) as process:
        time.sleep(0.5)
        for block in BLOCKS:
            os.write(writer, block)
        os.close(writer)
        os.close(reader)
        out, err = process.communicate(timeout=WAIT)
        assert (process.returncode, err) == (0, b"")
        assert out == converted(HELLO, "unievent-sse", "gateway-sse")


@pytest.mark.parametrize("errors", ["raise", "encode"])
def test_a_disk_that_fails_while_it_is_read(call: Main, monkeypatch: pytest.MonkeyPatch, errors: str) -> None:
    with Worn(BLOCKS[0], OSError(errno.EIO, "Input/output error")) as worn:
        wear(monkeypatch, _files.Input, worn)
        status, out, error = call(*TO_GATEWAY, "--errors", errors)
    assert status == 3
    assert message(error) == "translate-streams: cannot read standard input: Input/output error\n"
    assert b'"value":"Hi"' in out
    assert (b"event: error" in out) == (errors == "encode")


def test_a_disk_that_is_full(call: Main, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with Worn(OSError(errno.ENOSPC, "No space left on device")) as worn:
        wear(monkeypatch, _files.Output, worn)
        status, _, error = call(*TO_GATEWAY, "--report", tmp_path / "report", stdin=HELLO)
    assert status == 3
    assert message(error) == "translate-streams: cannot write standard output: No space left on device\n"
    summary = json.loads((tmp_path / "report").read_bytes().splitlines()[-1])
    assert (summary["status"], summary["error"]["type"]) == (3, "OutputError")


def test_a_closed_pipe_in_process(call: Main, monkeypatch: pytest.MonkeyPatch) -> None:
    with Worn(BrokenPipeError()) as worn:
        wear(monkeypatch, _files.Output, worn)
        assert call(*TO_GATEWAY, stdin=HELLO) == (0, b"", b"")


def test_a_report_that_cannot_be_written(call: Main, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = _report._lines

    def fail(*args: Any) -> bytes:
        lines(*args)
        raise OutputError("cannot write the report")

    monkeypatch.setattr(_report, "_lines", fail)
    status, _, error = call(*TO_GATEWAY, "--report", "-", stdin=HELLO)
    assert (status, message(error)) == (3, "translate-streams: cannot write the report\n")
    status, _, error = call(*TO_GATEWAY, "--report", "-", stdin=BLOCKS[0])
    assert status == 1
    assert "TruncatedStream" in message(error)


def test_errors_of_files_in_process(call: Main, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # a folder holds logs, and they need a place
    assert call(*TO_GATEWAY, tmp_path)[0] == 2
    assert call(*TO_GATEWAY, "-o", tmp_path, stdin=HELLO)[0] == 3
    assert call(*TO_GATEWAY, TURN, "-o", tmp_path / "out")[0] == 0
    assert call(*TO_GATEWAY, tmp_path / "out", "-o", tmp_path / "out")[0] == 2
    monkeypatch.setattr(sys, "stdout", None)
    status, _, error = call("formats")
    assert status == 3
    assert "it is closed" in message(error)


def test_faults_of_the_program_are_one_message_too(call: Main, monkeypatch: pytest.MonkeyPatch) -> None:
    def fault() -> None:
        raise KeyError("a\nb")

    monkeypatch.setattr("translate.cli._commands.overview", fault)
    status, out, error = call("formats")
    assert (status, out) == (70, b"")
    assert "internal error, KeyError" in message(error)
    monkeypatch.setattr(sys, "flags", type("Flags", (), {"dev_mode": True}))
    with pytest.raises(KeyError):
        main(["formats"])


def test_without_a_standard_error_nothing_is_said(call: Main, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    assert call("check", "--from", "nonsense") == (4, b"", b"")


def test_an_interrupt_in_process(call: Main, monkeypatch: pytest.MonkeyPatch) -> None:
    with Worn(KeyboardInterrupt()) as worn:
        wear(monkeypatch, _files.Input, worn)
        assert call(*TO_GATEWAY) == (130, b"", b"")


def test_standard_streams_that_cannot_be_flushed_are_turned_away(monkeypatch: pytest.MonkeyPatch) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    stream = os.fdopen(writer, "w")
    monkeypatch.setattr(sys, "stdout", stream)
    assert main(["--version"]) == 0
    stream.close()


def test_a_codec_without_a_byte_form_has_nothing_to_suggest(call: Main, monkeypatch: pytest.MonkeyPatch) -> None:
    events = translate.codec("events")
    monkeypatch.setattr(type(events), "shapes", {"": events.shapes[""]})
    status, _, error = call("convert", "--from", "unievent", "--to", "events", stdin=HELLO)
    assert status == 2
    assert message(error).endswith("no file holds\n")


def test_messages_are_one_printable_line() -> None:
    assert one_line("a\n\x1b[1m\ud800é") == "a\\n\\x1b[1m\\ud800é"
    assert explain(TranslateError("what\nnow")) == "TranslateError: what\\nnow"
