"""What can be wrong with logs, and what becomes of a job that meets it. ``python -m tests.logs.faults`` prints it."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.logs import packing

SSE = "unievent-sse"
GOOD = packing.examples(SSE, 3)[2]
OTHER = packing.examples(SSE, 3)[3]
CUT = GOOD[:-300]
WRONG = GOOD.replace(b'"text.done"', b'"text.dome"', 1).replace(b'"content_items":[', b'"content_items":[7,', 1)
TEXT = ("--stream-field", "stream", "--id-field", "id")
ROWS = ("--unit-field", "unit", "--id-field", "id", "--order-field", "n")


@dataclass(frozen=True)
class Fault:
    """``about``: what is wrong; ``does``: what the job does; ``says``: words that it prints, or of the error that the
    reject names; ``counts``: streams in, converted, rejected; ``rejected``: the content of the rejects.
    """

    about: str
    does: str
    says: str
    code: int
    counts: tuple[int, int, int] | None
    data: bytes = b""
    arguments: tuple[str, ...] = ()
    rejected: tuple[bytes, ...] = ()
    prepare: Callable[[Path], object] | None = None
    more: tuple[str, ...] = ()
    """Other inputs."""
    fixed: Callable[[bytes], bytes] | None = None
    """Mends the content of a reject."""


def put(path: Path) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(GOOD)


def records(*found: Any) -> bytes:
    return b"".join(each + b"\n" if isinstance(each, bytes) else json.dumps(each).encode() + b"\n" for each in found)


def one(stream: Any, id: Any = 1) -> dict[str, Any]:
    return {"id": id, "stream": stream.decode() if isinstance(stream, bytes) else stream}


def bad(about: str, record: Any, says: str) -> Fault:
    """A record between good ones."""
    line = records(record)[:-1]
    return Fault(
        about,
        "rejects the record; the others are converted",
        says,
        1,
        (3, 2, 1),
        records(one(GOOD), record, one(OTHER, 2)),
        TEXT,
        (line,),
        fixed=lambda content: records(one(GOOD, 9)),
    )


def rows(stream: bytes = GOOD, id: Any = 1, first: int = 0) -> list[dict[str, Any]]:
    return [{"id": id, "n": first + n, "unit": unit} for n, unit in enumerate(packing.units(stream, SSE))]


def grouped(about: str, found: list[Any], says: str, does: str = "rejects the stream, all its records") -> Fault:
    """Records of units beside those of a good stream."""
    content = records(*found)
    mended = records(*rows(id=9))
    return Fault(
        about, does, says, 1, (2, 1, 1), records(*rows(OTHER, 0)) + content, ROWS, (content,), fixed=lambda _: mended
    )


def ended(about: str, data: bytes, rejected: bytes, does: str, says: str, converted: int = 1) -> Fault:
    """Streams end to end."""
    return Fault(about, does, says, 1, (1 + converted, converted, 1), data, (), (rejected,), fixed=lambda content: GOOD)


def unreadable(about: str, data: bytes, says: str, name: str = "") -> Fault:
    """An input that cannot be read to its end."""
    return Fault(about, "writes no output for the input; the others are converted", says, 3, (1, 1, 0), data)


_ROWS = rows()
_PAIR = [*rows(), *rows(OTHER)]
FAULTS = (
    bad("a line that is not JSON", b'{"id": 1, "stream": ', "not JSON"),
    bad("a line of bytes that are not UTF-8", b"\xff\xfe\x00", "not UTF-8"),
    bad("a record that is no object", [1, 2], "a record is an object"),
    bad("a record without the field", {"id": 3}, "lacks the member 'stream'"),
    bad("a field of the wrong type", one(7), "holds no stream"),
    bad("a field that is null", one(None), "holds no stream"),
    bad("a field that is empty", one(""), "without a terminal unit"),
    bad("a stream in a field, cut off", one(CUT), "without a terminal unit"),
    bad("a stream in a field, broken", one(WRONG), "a delta event with 2 items"),
    bad("two streams in one field", one(GOOD + OTHER), "a unit after the end marker"),
    bad("a record nested too deep", b'{"stream": ' + b"[" * 300 + b"]" * 300 + b"}", "nesting"),
    bad("half of a character in a stream", one(GOOD.decode().replace("0 0 ", "\ud83d ")), "not UTF-8"),
    grouped("two streams under one id", _PAIR, "two units of the stream are at 0"),
    grouped("an order with a gap", [*_ROWS[:2], *_ROWS[3:]], "leaves out 2"),
    grouped("a unit that is there twice", [*_ROWS, _ROWS[1]], "two units of the stream are at 1"),
    grouped("an order that is null", [*_ROWS[:-1], {**_ROWS[-1], "n": None}], "no place in its order"),
    grouped("an order of text and numbers", [*_ROWS[:-1], {**_ROWS[-1], "n": "x"}], "text among numbers"),
    grouped("a stream of units, cut off", _ROWS[:-2], "without a terminal unit"),
    grouped("a unit that is null", [*_ROWS[:-1], {**_ROWS[-1], "unit": None}], "holds no stream"),
    *(
        Fault(
            about,
            "rejects the record, which belongs to no stream, and the stream that lacks it",
            says,
            1,
            (3, 1, 2),
            records(*rows(OTHER, 0), *_ROWS[:2], {**_ROWS[2], **wrong}, *_ROWS[3:]),
            ROWS,
            (records({**_ROWS[2], **wrong})[:-1], records(*_ROWS[:2], *_ROWS[3:])),
        )
        for about, wrong, says in (
            ("an id that is null", {"id": None}, "no id at 'id'"),
            ("an id that is a list", {"id": [1]}, "no id at 'id'"),
        )
    ),
    ended("a file whose last stream is cut off", OTHER + CUT, CUT, "rejects that stream", "without a terminal unit"),
    ended(
        "a stream that is cut off before another",
        CUT + OTHER + GOOD,
        CUT + OTHER,
        "rejects both as one: where the second begins cannot be told",
        "not JSON",
    ),
    ended("a broken stream before another", WRONG + GOOD, WRONG, "rejects that stream", "a delta event with 2 items"),
    ended(
        "data that is no unit between streams",
        OTHER + b"data: what?\n\n" + OTHER + GOOD,
        b"data: what?\n\n" + OTHER,
        "rejects it with the stream behind it: where that begins cannot be told",
        "not JSON",
        2,
    ),
    ended("a binary file", bytes(range(256)) * 9, bytes(range(256)) * 9, "rejects it whole, as base64", "", 0),
    ended(
        "lines between streams that are no SSE",
        GOOD + b"what?\n\n" + OTHER,
        b"what?\n\n",
        "rejects them by themselves",
        "no unit",
        2,
    ),
    ended(
        "a file whose last stream is cut off in its first unit",
        OTHER + GOOD[:30],
        GOOD[:30],
        "rejects that piece",
        "inside the first unit",
    ),
    Fault("an empty file", "writes an empty output", "0 in", 0, (0, 0, 0)),
    Fault("a file of blank lines and comments", "writes an empty output", "0 in", 0, (0, 0, 0), b"\n: hello\n\n"),
    Fault(
        "an empty file, to be recognised",
        "writes no output for the input; the others are converted",
        "is empty",
        3,
        (0, 0, 0),
        arguments=("--from", "auto"),
    ),
    Fault(
        "gzip that is cut off",
        "writes no output for the input; the others are converted",
        "EOFError",
        3,
        (0, 0, 0),
        gzip.compress(GOOD)[:-20],
    ),
    Fault(
        "gzip with a wrong checksum",
        "writes no output for the input; the others are converted",
        "CRC check failed",
        3,
        (0, 0, 0),
        gzip.compress(GOOD)[:-8] + bytes(8),
    ),
    Fault(
        "zstd that is cut off",
        "writes no output for the input; the others are converted",
        "EOFError",
        3,
        (0, 0, 0),
        packing.packed(GOOD, ".zst")[:-20],
    ),
    Fault(
        "an output that exists",
        "does nothing",
        "exists already; --force writes over it",
        2,
        None,
        GOOD,
        prepare=lambda folder: put(folder / "out" / "log"),
    ),
    Fault("an output folder within the input", "does nothing", "is within the input", 2, None, GOOD, ("-o", "in/out")),
    Fault(
        "two inputs with one output",
        "does nothing",
        "would be written over",
        2,
        None,
        GOOD,
        more=("more",),
        prepare=lambda folder: put(folder / "more" / "log"),
    ),
    Fault(
        "rejects of a job before, beside its output, in a folder that is read",
        "leaves them out",
        "",
        0,
        (1, 1, 0),
        GOOD,
        prepare=lambda folder: put(folder / "in" / "log.rejects.jsonl"),
    ),
    Fault("an input that is not there", "does nothing", "cannot read nothing", 3, None, GOOD, more=("nothing",)),
    Fault(
        "an output folder that is a file",
        "does nothing",
        "cannot write",
        3,
        None,
        GOOD,
        ("-o", "file/out"),
        prepare=lambda folder: put(folder / "file"),
    ),
)
OTHERS = (
    ("a folder that cannot be read, also below", "does nothing", "cannot read", 3),
    ("a file that cannot be read", "writes no output for the input; the others are converted", "PermissionError", 3),
    ("an input that changes meanwhile", "writes no output for the input; the others are converted", "it changed", 3),
    ("a full disk", "ends; leaves no output in part; `--resume` goes on", "No space left on device", 3),
    ("a process that is killed", "ends, as above", "a process of the job was ended", 3),
    ("a stream at which the program fails", "rejects it; the others are converted", "of the program itself", 70),
    (
        "an input at which the program fails",
        "writes no output for the input; the others are converted",
        "internal error",
        70,
    ),
    ("counts of an input that do not add up", "the same", "internal error, Unaccounted", 70),
)
"""Shown by tests of their own."""


def document() -> str:
    """The table, as ``docs/logs-faults.md`` has it."""
    lines = [
        "# Logs: faults",
        "",
        "What a job does with what is wrong, what it says of it, and its exit code. A fault of one input or stream",
        "does not stop it. What is rejected is in `OUT.rejects.jsonl`, whole, with the error. The tests in",
        "`tests/logs` run these, and `python -m tests.logs.faults` prints this page.",
        "",
        "| fault | the job | says | exit code |",
        "| --- | --- | --- | --- |",
    ]
    rows = [(fault.about, fault.does, fault.says, fault.code) for fault in FAULTS]
    for about, does, says, code in (*rows, *OTHERS):
        lines.append(f"| {about} | {does} | {says and f'`{says}`'} | {code} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(document(), end="")
