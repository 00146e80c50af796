"""An input that no installed codec reads: each command says which it is, once, in the same words."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.inspect.streams import EXAMPLES
from tests.peers.serving import PATIENCE
from translate.cli import main

WHAT = {
    b"": "it is empty",
    b"\n\n": "it holds blank lines alone",
    b": hello\n\n": "it is SSE that holds comments alone, and no unit yet",
    bytes(range(256)): "it is binary data, no text in UTF-8",
    b'{"a":1}\n': "it is JSON, but no unit of a format that is known (its members: 'a')",
    b'{"messageStart":{"role":"assistant"}}\n': "it looks like a stream of AWS Bedrock",
    b'{"object":"chat.completion","choices":[]}\n': "it looks like a whole answer of OpenAI Chat Completions, not a",
}


@pytest.mark.parametrize("data", WHAT, ids=lambda data: data[:9].decode("latin-1"))
def test_commands_say_what_it_is_with_one_status(
    data: bytes, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "x.sse"
    path.write_bytes(data)
    for command in (
        ["convert", "--to", "gateway-sse"],
        *(["inspect"], ["stats"], ["check"], ["assemble", "--to", "unievent"]),
    ):
        assert main([*command, str(path)]) == 3, command
        said = capfd.readouterr().err
        assert f"{path}: {WHAT[data]}" in said
        assert said.count(str(path)) == 1
        assert said.count("\n") == 1
    assert main(["diff", str(path), str(path)]) == 2, "diff has one status for all trouble"
    assert WHAT[data] in capfd.readouterr().err


def test_check_and_assemble_recognise_the_format(capfd: pytest.CaptureFixture[str]) -> None:
    turn = str(EXAMPLES / "claude-turn.unievent.sse")
    assert main(["check", turn]) == 0
    assert capfd.readouterr() == ("", f"{turn}: unievent-sse\n")
    assert main(["assemble", turn, "--to", "gateway"]) == 0
    said = capfd.readouterr()
    assert said.err == f"{turn}: unievent-sse\n"
    assert main(["assemble", turn, "--from", "unievent-sse", "--to", "gateway"]) == 0
    assert capfd.readouterr() == (said.out, "")


def test_a_wrong_name_is_answered_with_what_the_stream_looks_like(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["convert", str(EXAMPLES / "cut.unievent.sse"), "--from", "gateway-sse", "--to", "events-jsonl"]) == 1
    assert "the input looks like the format 'unievent-sse'" in capfd.readouterr().err


def test_a_pipe_may_begin_with_a_comment_or_a_piece_of_a_unit() -> None:
    data = b": hello\n\n" + (EXAMPLES / "claude-turn.unievent.sse").read_bytes()
    command = [sys.executable, "-m", "translate", "convert", "--to", "events-jsonl"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for piece in (data[:9], data[9:20], data[20:]):
            process.stdin.write(piece)
            process.stdin.flush()
            # each is a read of its own, as far as a test can bring that about
            let_it_read(process)
        out, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, said
    assert said == b"standard input: unievent-sse\n"
    assert out.count(b"\n") > 80


def let_it_read(process: subprocess.Popen[bytes]) -> None:
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(0.5)
