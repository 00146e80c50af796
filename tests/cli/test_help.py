"""What helps to write a command line."""

from __future__ import annotations

import shutil
import subprocess

import pytest

import translate
from tests.peers.serving import PATIENCE
from translate import Limits
from translate.cli import main
from translate.cli._parser import build_parser

Shown = pytest.CaptureFixture[str]


def ended(*args: str) -> int:
    return main(args)


def test_help_of_a_command_is_its_help(capfd: Shown) -> None:
    for command in build_parser().commands():
        assert ended("help", command) == 0
        ours = capfd.readouterr().out
        assert ended(command, "--help") == 0
        assert ours == capfd.readouterr().out
        assert f"usage: translate-streams {command}" in ours
    assert ended("help") == 0
    assert "usage: translate-streams [-h]" in capfd.readouterr().out


def test_the_version_has_a_short_option(capfd: Shown) -> None:
    assert ended("-V") == 0
    assert capfd.readouterr().out == f"translate-streams {translate.__version__}\n"


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["convert", "x", "--too", "gateway-sse"], "there is no option --too (did you mean --to?); see"),
        (["convert", "x", "--lenientt"], "there is no option --lenientt (did you mean --lenient?); see"),
        (["inspect", "x", "--html-out=y"], "there is no option --html-out"),
        (["check", "x", "--xyz"], "there is no option --xyz; see translate-streams check --help"),
        (["--verson"], "there is no option --verson (did you mean --version?); see translate-streams --help"),
        (["convrt", "x"], "there is no command 'convrt' (did you mean convert?); commands are convert, "),
        (["help", "chek"], "there is no command 'chek' (did you mean check?); commands are convert, "),
    ],
)
def test_a_slip_is_answered_with_what_was_meant(args: list[str], says: str, capfd: Shown) -> None:
    assert ended(*args) == 2
    said = capfd.readouterr()
    assert said.out == ""
    assert says in said.err
    assert said.err.count("\n") == 1


def test_what_follows_two_dashes_is_no_option_of_ours() -> None:
    args = build_parser().parse_args(["conformance", "--only", "x", "--", "theirs", "--fromm", "{from}"])
    assert args.program == ["theirs", "--fromm", "{from}"]


@pytest.mark.parametrize(
    ("text", "number"), [("0", 0), ("8", 8), ("8K", 8192), ("8k", 8192), ("8M", 8 << 20), ("2G", 2 << 30)]
)
def test_sizes_have_units(text: str, number: int) -> None:
    args = build_parser().parse_args(["check", "--from", "gateway", "--max-unit", text])
    assert args.max_unit == number
    assert Limits(unit=args.max_unit).unit == number


@pytest.mark.parametrize("text", ["M", "8Q", "-8M", "8.5M", "8MM", ""])
def test_what_is_no_size_is_refused(text: str, capfd: Shown) -> None:
    assert ended("check", "--from", "gateway", f"--max-unit={text}") == 2
    assert f"{text!r} is no whole number from 0, with K, M or G behind it or not" in capfd.readouterr().err


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completions_are_a_script_of_the_shell(shell: str, capfd: Shown) -> None:
    pytest.importorskip("shtab", reason="shtab is not installed: pip install -e '.[completions]'")
    assert ended("completion", shell) == 0
    script = capfd.readouterr().out
    assert "lenient" in script
    assert "gateway-sse" in script
    program = shutil.which(shell)
    if program is not None:
        subprocess.run([program, "-n"], input=script, text=True, timeout=PATIENCE, check=True)


def test_bash_completes_commands_options_and_formats(capfd: Shown) -> None:
    pytest.importorskip("shtab", reason="shtab is not installed: pip install -e '.[completions]'")
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("there is no bash")
    assert ended("completion", "bash") == 0
    script = capfd.readouterr().out
    asked_for = {("insp",): "inspect", ("convert", "--lo"): "--loss", ("convert", "--to", "gateway-s"): "gateway-sse"}
    for words, wanted in asked_for.items():
        line = " ".join(f"'{word}'" for word in ("translate-streams", *words))
        asked = f'COMP_WORDS=({line}); COMP_CWORD={len(words)}; _shtab_translate_streams; echo "${{COMPREPLY[*]}}"'
        told = f"{script}\n{asked}\n"
        done = subprocess.run([bash], input=told, text=True, stdout=subprocess.PIPE, timeout=PATIENCE, check=True)
        assert wanted in done.stdout.split()
