"""What helps to write a command line."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import tomllib
from importlib.metadata import entry_points
from pathlib import Path

import pytest

import translate
from tests.peers.serving import PATIENCE
from translate import Limits
from translate.cli import main
from translate.cli._examples import EXAMPLES
from translate.cli._formats import named
from translate.cli._parser import build_parser

ROOT = Path(__file__).resolve().parents[2]

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


@pytest.mark.parametrize("command", build_parser().commands())
def test_a_command_has_two_examples_that_it_understands(command: str) -> None:
    assert len(EXAMPLES[command]) >= 2
    assert all(line in build_parser().commands()[command].format_help() for line in EXAMPLES[command])
    for line in EXAMPLES[command]:
        ours = next(part for part in re.split(r" [|>] ", line) if part.startswith("translate-streams"))
        assert build_parser().parse_args(shlex.split(ours)[1:]).run is not None


def test_help_is_broken_at_words(monkeypatch: pytest.MonkeyPatch) -> None:
    words = {*build_parser().commands()["convert"].format_help().split()}
    monkeypatch.setenv("COLUMNS", "48")
    narrow = build_parser().commands()["convert"].format_help()
    text = narrow.partition("examples:")[0].split("positional arguments")[0].split("\n\n", 1)[1]
    assert max(map(len, text.splitlines())) <= 48
    assert {*text.split()} <= words
    assert "`translate-streams" in narrow


def test_there_is_a_page_for_man(capfd: Shown) -> None:
    pytest.importorskip("argparse_manpage", reason="argparse-manpage is not installed: pip install -e '.[completions]'")
    assert ended("help", "--man") == 0
    page = capfd.readouterr().out
    assert page.startswith('.TH TRANSLATE\\-STREAMS "1"')
    assert all(command in page for command in build_parser().commands())
    assert ended("help", "convert", "--man") == 0
    assert "\\-\\-lenient" in capfd.readouterr().out
    man = shutil.which("man")
    if man is not None:
        done = subprocess.run(
            [man, "--warnings", "-l", "-"], input=page.encode(), capture_output=True, timeout=PATIENCE, check=True
        )
        assert b"playground" in done.stdout


def test_there_is_a_short_name() -> None:
    scripts = {script.name: script.value for script in entry_points(group="console_scripts")}
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["scripts"]
    assert declared["tstream"] == declared["translate-streams"] == scripts["translate-streams"]


# ---- names, colours, files


@pytest.mark.parametrize(
    ("output", "format"),
    [
        ("y.unievent.jsonl", "unievent-jsonl"),
        ("a/b.c.gateway.sse", "gateway-sse"),
        ("y.openai-chat.sse.gz", "openai-chat-sse"),
        ("y.jsonl", None),
        ("unievent.jsonl", None),
        ("-", None),
        ("y.nothing.sse", None),
    ],
)
def test_an_output_says_its_format_by_its_name(output: str, format: str | None) -> None:
    assert named(output) == format


def test_to_is_the_name_of_the_output_where_it_is_not_given(tmp_path: Path, capfd: Shown) -> None:
    out = tmp_path / "y.gateway.sse"
    turn = ROOT / "examples" / "cut.unievent.sse"
    assert ended("convert", str(turn), "-o", str(out), "--clock", "1", "-q") == 1
    assert out.read_bytes().startswith(b": carry ")
    assert b"event: streamStart" in out.read_bytes()
    capfd.readouterr()
    assert ended("convert", str(turn)) == 2
    assert "--to FORMAT is missing" in capfd.readouterr().err


def test_colours_are_forced_and_refused(monkeypatch: pytest.MonkeyPatch, capfd: Shown) -> None:
    turn = str(ROOT / "examples" / "cut.unievent.sse")
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)

    def coloured(*more: str) -> bool:
        ended("inspect", turn, *more)
        return "\x1b[" in capfd.readouterr().out

    assert not coloured()
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert coloured()
    assert not coloured("--color", "never")
    monkeypatch.setenv("NO_COLOR", "1")
    assert not coloured()
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("FORCE_COLOR", "0")
    assert not coloured()


def test_a_file_that_is_not_there_a_folder_and_an_empty_one_are_told_apart(tmp_path: Path, capfd: Shown) -> None:
    empty, none = tmp_path / "empty", tmp_path / "none"
    empty.mkdir()
    out = str(tmp_path / "out")
    commands = [["inspect"], ["check"], ["assemble", "--to", "unievent"], ["stats"], ["convert", "--to", "gateway-sse"]]
    for command in commands:
        assert ended(*command, str(none)) == 3
        assert capfd.readouterr().err.endswith(f"cannot read {none}: there is no such file or folder\n")
    for command in (["inspect"], ["check"], ["assemble", "--to", "unievent"]):
        assert ended(*command, str(empty)) == 3
        assert "it is a folder; `convert` and `stats` read folders" in capfd.readouterr().err
    for command in (["stats"], ["convert", "--to", "gateway-sse", "-o", out]):
        assert ended(*command, str(empty)) == 3
        assert capfd.readouterr().err.endswith(f"cannot read {empty}: the folder holds no file\n")
    assert ended("stats", str(tmp_path / "*.sse")) == 3
    assert "no file has such a name" in capfd.readouterr().err
