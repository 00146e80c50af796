"""What ``inspect`` and ``diff`` print of ten recordings of different kinds. ``python -m tests.recorded`` pins it anew.

The recordings are not part of the project, see :mod:`tests.test_corpus`; kept are digests of what is printed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import redirect_stdout
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile

from tests.inspect.streams import clock
from translate import convert
from translate.cli import main
from translate.inspect import view
from translate.inspect.terminal import draw

ROOT = Path(__file__).resolve().parents[1]
CORPUS = Path(os.environ.get("TRANSLATE_CORPUS") or ROOT.parent / "shared" / "corpus")
ABSENT = f"the corpus of recordings is not at {CORPUS}; TRANSLATE_CORPUS names another place"
PINNED = Path(__file__).with_suffix(".json")
WIDTHS = (60, 120)
FORMATS = {".jsonl": "unievent-jsonl", ".sse": "unievent-sse"}
NAMES = (
    "unievent-cases/items.thought_text_image_text.sse",
    "unievent-cases/protocol.thinking_signature_tool_call.sse",
    "unievent-cases/server.two_embeddings.jsonl",
    "unievent-probes/cut-chat-tool.sse",
    "unievent-probes/edit-ant-overloaded.jsonl",
    "unievent-probes/probe-args-bigint.jsonl",
    "unievent-probes/probe-resp-two-parallel.sse",
    "unievent-probes/probe-text-odd-characters.sse",
    "unievent-sse/firebase-vertexai-streaming-success-citations.sse",
    "unievent-sse/vercel-openai-programmatic-tool-calling.1.sse",
)


def drawn(name: str) -> Iterator[tuple[str, str]]:
    """The timeline into the gateway's frames, by width."""
    found = view((CORPUS / name).read_bytes(), FORMATS[Path(name).suffix], "gateway-sse", clock=clock)
    for columns in WIDTHS:
        yield f"inspect {columns}", draw(found, columns)


def compared(name: str) -> Iterator[tuple[str, str]]:
    """The differences from its translation, and from the next recording."""
    path, following = CORPUS / name, CORPUS / NAMES[(NAMES.index(name) + 1) % len(NAMES)]
    frames = convert(path.read_bytes(), FORMATS[path.suffix], "gateway-sse", errors="encode", clock=clock)
    with TemporaryDirectory() as folder:
        there = Path(folder) / "there.sse"
        there.write_bytes(b"".join(frames))
        yield "diff translated", _diff(path, there, "gateway-sse")
    yield "diff next", _diff(path, following, FORMATS[following.suffix])


def _diff(a: Path, b: Path, format: str) -> str:
    """What is printed, below the names of the files, and the exit status."""
    with TemporaryFile("w+", encoding="utf-8") as out:
        with redirect_stdout(out):
            formats = ("--from", FORMATS[a.suffix], "--from-b", format)
            status = main(["diff", "--all", *formats, str(a), str(b)])
        out.seek(0)
        return f"{''.join(out.readlines()[2:])}exit status {status}\n"


def digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def pinned(name: str) -> dict[str, str]:
    found: dict[str, str] = json.loads(PINNED.read_text(encoding="utf-8"))[name]
    return found


if __name__ == "__main__":
    pins = {name: {what: digest(text) for what, text in (*drawn(name), *compared(name))} for name in NAMES}
    PINNED.write_text(json.dumps(pins, indent=1) + "\n", encoding="utf-8")
