"""Ten pairs of streams of different kinds. ``python -m tests.compare.samples`` writes their files, and what is printed.

The events of each side are written here; the files under ``streams/`` are what the formats make of them.
"""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.strategies import clock
from translate import (
    Annotate,
    Append,
    Close,
    Event,
    Failure,
    Finish,
    Foreign,
    Handover,
    Model,
    Open,
    Ping,
    Reason,
    Start,
    State,
    TokenCounts,
    Usage,
    encode,
)
from translate.carry.losses import LossPolicy

ROOT = Path(__file__).resolve().parents[2]
FOLDER = Path(__file__).parent / "streams"
STORY = "The lighthouse had been dark for eleven years when the keeper's daughter came back with a lamp"
SIGNED = State("anthropic", {"signature": "c2lnbmVk"})


def text(*pieces: str) -> list[Event]:
    return [Open("text"), *map(Append, pieces), Close()]


def call(arguments: str, id: str = "call_1", name: str = "get_weather") -> list[Event]:
    return [Open("tool_call", id, name), Append(arguments), Close()]


def finish(reason: Reason | None = None, output: int = 9) -> list[Event]:
    return [Finish(TokenCounts(24, output), reason or Reason("stop"))]


@dataclass(frozen=True)
class Pair:
    """``a`` and ``b``: format and events; ``options``: of the command line."""

    name: str
    a: tuple[str, Sequence[Event]]
    b: tuple[str, Sequence[Event]]
    options: tuple[str, ...] = ()
    loss: LossPolicy = "carry"

    def files(self) -> tuple[str, str]:
        suffix = {"sse": ".sse", "jsonl": ".jsonl", "gz": ".sse.gz"}
        ends = [suffix[format.rpartition("-")[2]] for format, _ in (self.a, self.b)]
        return f"{self.name}.a{ends[0]}", f"{self.name}.b{ends[1]}"


SPOKEN = [Start(Model("claude-sonnet-5", "high", "Anthropic", "Anthropic"))]
PAIRS = (
    Pair(
        "same",
        ("unievent-sse", [*text("Hel", "lo"), *call('{"city": "Paris"}'), *finish()]),
        ("gateway-sse", [*text("Hello"), *call('{"city":"Paris"}'), *finish()]),
    ),
    Pair(
        "incidental",
        ("unievent-jsonl", [*text("Hel", "lo"), *call('{"city": "Paris"}'), *finish()]),
        ("gateway-sse", [Ping(), *text("Hello"), *call('{"city":"Paris"}'), *finish()]),
        ("--all",),
    ),
    Pair(
        "text",
        ("unievent-sse", [*text(STORY, " and no oil."), *finish()]),
        ("unievent-jsonl", [*text(STORY, " and new oil."), *finish(output=10)]),
    ),
    Pair(
        "parts",
        ("unievent-sse", [Open("thinking"), Append("Hm.", SIGNED), Close(), *text("Sunny."), *finish()]),
        ("unievent-sse", [*text("Sunny."), *call("{}"), *finish(Reason("tool_call"))]),
    ),
    Pair(
        "arguments",
        ("gateway-sse", [*call('{"at": {"lat": 48.85, "id": 9007199254740993}, "unit": "C"}'), *finish()]),
        ("gateway-jsonl", [*call('{"at": {"lat": NaN, "id": 9007199254740992}}', "call_2"), *finish()]),
    ),
    Pair(
        "lost",
        (
            "events-jsonl",
            [
                *SPOKEN,
                Open("text"),
                Append("Paris."),
                Annotate("anthropic", {"url": "https://example.org/"}),
                Close(),
                Open("inline_data", mime_type="image/png"),
                Append(bytes(range(40))),
                Close(),
                Handover(Model("claude-sonnet-5")),
                Foreign("anthropic", {"type": "ping"}),
                Finish(TokenCounts(24, 9, 8, 3), Reason("stop", "end_turn")),
            ],
        ),
        ("unievent-sse", ()),
        loss="drop",
    ),
    Pair(
        "failure",
        ("gateway-sse", [*SPOKEN, *text("One moment"), *finish(Reason("length"))]),
        (
            "gateway-sse",
            [*SPOKEN, Open("text"), Append("One mom"), Usage(TokenCounts(24, 2)), Failure(529, "overloaded", "busy")],
        ),
    ),
    Pair(
        "unicode",
        ("unievent-sse", [*text("\ud83d", "\ude00 d\u00e9j\u00e0 vu"), *call('{"\\u001b[2J": 1}'), *finish()]),
        (
            "unievent-sse",
            [*text("\ud83d", " de\u0301ja\u0300 vu\u202e\x1b[31m"), *call('{"\\u001b[2J": 2}'), *finish()],
        ),
    ),
    Pair(
        "vector",
        ("unievent-jsonl", [Open("embedding"), Append([0.5, float("nan")]), Append([3.0]), Close(), *finish()]),
        ("events-jsonl", [Open("embedding"), Append([0.5, float("nan"), 3]), Close(), *finish()]),
    ),
    Pair(
        "segments",
        ("gateway-sse", [*SPOKEN, *text("Bon"), Handover(SPOKEN[0].model), *SPOKEN, *text("Bonjour"), *finish()]),
        (
            "unievent-gz",
            [*text("Bon"), Start(Model("gpt-5")), *text("Bonjour"), Finish(reason=Reason("unknown", "x"))],
        ),
        ("--all", "--from", "gateway-sse", "--from-b", "unievent-sse"),
    ),
)


def written(pair: Pair) -> Iterator[tuple[str, bytes]]:
    """The files of a pair; without events of its own b is what is left of a, without a carry."""
    for name, (format, events) in zip(pair.files(), (pair.a, pair.b), strict=True):
        wire = format.replace("-gz", "-sse")
        loss: LossPolicy = "carry" if events else pair.loss
        data = b"".join(encode(events or pair.a[1], wire, clock=clock, loss=loss))
        yield name, gzip.compress(data, mtime=0) if format.endswith("-gz") else data


def diff(*args: str | Path, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """The command, run in the folder of the files."""
    command, folders = [sys.executable, "-m", "translate", "diff", *map(str, args)], (ROOT, ROOT / "codecs")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, folders))}
    return subprocess.run(
        command, cwd=FOLDER, env=environment, input=stdin, capture_output=True, timeout=60, check=False
    )


def printed(pair: Pair) -> str:
    """What the command says of a pair, and its exit status."""
    found = diff(*pair.options, *pair.files())
    return f"{found.stdout.decode()}exit status {found.returncode}\n{found.stderr.decode()}"


if __name__ == "__main__":
    for each in PAIRS:
        for file, content in written(each):
            (FOLDER / file).write_bytes(content)
        (FOLDER / f"{each.name}.txt").write_text(printed(each), encoding="utf-8")
