"""What ``translate-streams diff`` prints of ten pairs of streams, and how it ends."""

from __future__ import annotations

import json

import pytest

from tests.compare.samples import FOLDER, PAIRS, ROOT, Pair, diff, printed, written
from translate.cli import main
from translate.cli._files import Output

TEXT = ("text.a.sse", "text.b.jsonl")


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.name)
def test_what_is_printed_of_a_pair_is_pinned(pair: Pair) -> None:
    assert printed(pair) == (FOLDER / f"{pair.name}.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.name)
def test_the_files_of_a_pair_are_what_their_events_make(pair: Pair) -> None:
    for name, data in written(pair):
        # compressed bytes may differ from one version of zlib to the next
        assert name.endswith(".gz") or (FOLDER / name).read_bytes() == data


def test_either_stream_may_come_from_standard_input() -> None:
    whole = diff(*TEXT)
    for args in (("-", TEXT[1]), (TEXT[0], "-")):
        name = next(file for file, arg in zip(TEXT, args, strict=True) if arg == "-")
        found = diff(*args, stdin=(FOLDER / name).read_bytes())
        assert found.returncode == whole.returncode == 1
        assert found.stdout.splitlines()[2:] == whole.stdout.splitlines()[2:]


def test_as_json_it_says_the_same() -> None:
    found = diff("--json", *TEXT)
    said = json.loads(found.stdout)
    assert (found.returncode, said["same"]) == (1, False)
    assert said["a"] == {"file": "text.a.sse", "format": "unievent-sse"}
    assert [(d["level"], d["where"], d["position"]) for d in said["differences"]] == [
        ("message", "part 1 (text)", 100),
        ("message", "usage", None),
    ]
    same = diff("--json", "same.a.sse", "same.b.sse")
    assert (same.returncode, json.loads(same.stdout)["differences"]) == (0, [])


def test_colours_are_there_when_asked_for_and_change_no_word() -> None:
    plain, coloured = diff(*TEXT), diff("--color", "always", *TEXT)
    assert b"\x1b" not in plain.stdout
    assert coloured.stdout.count(b"\x1b[31m") == coloured.stdout.count(b"\x1b[32m") == 3
    bare = coloured.stdout
    for code in (b"0", b"1", b"31", b"32"):
        bare = bare.replace(b"\x1b[" + code + b"m", b"")
    assert bare == plain.stdout


def test_what_a_stream_says_does_not_steer_the_terminal() -> None:
    assert b"\x1b" not in diff("unicode.a.sse", "unicode.b.sse").stdout


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("text.a.sse", "absent.sse"), "cannot read absent.sse: there is no such file or folder"),
        (("text.a.sse", "."), "cannot read .: it is a folder; `convert` and `stats` read folders, others one"),
        (("text.a.sse", "-"), "standard input: TruncatedStream"),
        (("text.a.sse", "text.txt"), "text.txt: it is text, neither JSON nor SSE"),
        (("text.a.sse", "text.a.sse", "--from", "morse"), "text.a.sse: no format named 'morse'"),
        (("text.a.sse", "text.a.sse", "--from-b", "events"), "its elements are Python objects"),
        (("-", "-"), "standard input is one of the streams"),
        (("text.a.sse",), "required: B"),
        (("text.a.sse", "text.a.sse", "--max-part", "3"), "LimitExceeded"),
    ],
)
def test_trouble_is_status_2_and_one_line(args: tuple[str, ...], message: str) -> None:
    found = diff(*args, stdin=(FOLDER / "text.a.sse").read_bytes()[:300])
    assert found.returncode == 2
    assert found.stdout == b""
    assert message in found.stderr.decode()
    assert found.stderr.count(b"\n") == 1


def test_a_stream_that_breaks_in_the_middle_is_trouble_though_it_differs_before() -> None:
    broken = (FOLDER / "parts.a.sse").read_bytes().rpartition(b"data: {")[0]
    found = diff("text.a.sse", "-", stdin=broken)
    assert (found.returncode, found.stdout) == (2, b"")


def test_a_reader_that_leaves_does_not_make_streams_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    def left(self: Output, data: bytes) -> None:
        raise BrokenPipeError

    monkeypatch.setattr(Output, "write", left)
    assert main(["diff", *(str(FOLDER / name) for name in TEXT)]) == 1


def test_a_fault_of_the_program_is_trouble_and_no_difference(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fault(a: object, b: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("translate.compare.compare", fault)
    assert main(["diff", *(str(FOLDER / name) for name in TEXT)]) == 2
    assert "internal error, ZeroDivisionError" in capsys.readouterr().err


def test_the_page_shows_what_is_printed() -> None:
    shown = (FOLDER / "text.txt").read_text(encoding="utf-8").rpartition("exit status")[0]
    assert f"```text\n{shown}```" in (ROOT / "docs" / "diff.md").read_text(encoding="utf-8")
