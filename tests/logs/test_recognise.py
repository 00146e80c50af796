"""What logs are, told by their beginning."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.logs import packing
from translate.cli import main
from translate.logs import Layout
from translate.logs.places import Place
from translate.logs.recognise import NotRecognised, recognise
from translate.recognise import format_of
from translate.registry import resolve

FORMATS = ("unievent-sse", "unievent-jsonl", "gateway-sse", "gateway-jsonl", "events-jsonl")
STREAMS = {format: packing.examples(format) for format in FORMATS}


def told(path: Path, data: bytes, layout: Any = None) -> str:
    path.write_bytes(data)
    return str(recognise(Place(str(path), path.name), layout))


@pytest.mark.parametrize("suffix", ["", ".gz", ".zst"])
@pytest.mark.parametrize("format", FORMATS)
def test_every_format_in_every_container(tmp_path: Path, format: str, suffix: str) -> None:
    if suffix == ".zst":
        pytest.importorskip("backports.zstd", reason="zstd is not installed")
    streams = STREAMS[format]
    path = tmp_path / "log"
    packed = {
        f"{format}, streams end to end": b"".join(streams),
        f"{format}, JSON lines with a stream each in 'log.stream'": packing.of_streams(streams),
        f"{format}, JSON lines with a unit each in 'log.unit', by 'id' and 'log.n'": packing.of_units(
            streams, lambda stream: packing.units(stream, format)
        ),
    }
    for expected, data in packed.items():
        # a unit by itself is text of any shape of its codec
        assert told(path, packing.packed(data, suffix)) == expected


@pytest.mark.parametrize("codec", ["unievent", "gateway"])
def test_objects(tmp_path: Path, codec: str) -> None:
    streams = STREAMS[f"{codec}-sse"]

    def split(stream: bytes) -> list[Any]:
        return packing.objects(stream, f"{codec}-sse")

    listed = f"{codec}, JSON lines with a stream each in 'log.stream'"
    assert told(tmp_path / "log", packing.of_streams(streams, split)) == listed
    each = f"{codec}, JSON lines with a unit each in 'log.unit', by 'id' and 'log.n'"
    assert told(tmp_path / "log", packing.of_units(streams, split)) == each


def test_the_field_of_a_stream_is_no_id(tmp_path: Path) -> None:
    data = packing.line({"stream": STREAMS["gateway-sse"][3].decode()})
    (tmp_path / "log").write_bytes(data)
    found = recognise(Place(str(tmp_path / "log"), "log"))
    assert (found.layout.field, found.layout.id) == ("stream", None)


def test_a_record_with_an_error_beside_its_stream_is_a_record(tmp_path: Path) -> None:
    record = {"error": {"message": "x", "code": 1}, "id": 7, "answer": STREAMS["unievent-sse"][3].decode()}
    expected = "unievent-sse, JSON lines with a stream each in 'answer'"
    assert told(tmp_path / "log", packing.line(record)) == expected


def test_first_records_may_lack_a_stream(tmp_path: Path) -> None:
    good = {"id": 1, "answer": STREAMS["unievent-sse"][3].decode()}
    data = packing.line({"id": 0, "answer": None}) + b"{broken\n" + packing.line(good)
    assert told(tmp_path / "log", data) == "unievent-sse, JSON lines with a stream each in 'answer'"


ERROR = {"error": {"message": "overloaded"}}
OTHER_BODIES: tuple[Any, ...] = ("", "<html>502 {bad}</html>", '{"error": {"message": "overloaded"}}', ERROR, [], 7)


@pytest.mark.parametrize("first", OTHER_BODIES)
def test_records_vote(tmp_path: Path, first: Any) -> None:
    """A body that is none, or an error, decides for no file, wherever it stands."""
    good = [packing.line({"body": stream.decode(), "id": n}) for n, stream in enumerate(STREAMS["unievent-sse"][2:5])]
    other = packing.line({"request": {"model": "m"}, "body": first})
    for data in (other + b"".join(good), b"<html>\n" + other * 20 + good[0], good[0] + other):
        assert told(tmp_path / "log", data) == "unievent-sse, JSON lines with a stream each in 'body'"
    with_field = recognise(Place(str(tmp_path / "log"), "log"), Layout("lines", "body"))
    assert with_field.format == "unievent-sse"


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "is empty"),
        (b" \n", "blank lines alone"),
        (b"hello\n", "text, neither JSON nor SSE"),
        (bytes(range(256)), "binary data"),
        (b'{"a": 1}\n', "no unit of a format that is known"),
        (b"{", "broken JSON"),
        (b'data: {"type": "message-start"}\n\n', "Cohere, for which no codec is installed"),
        (b'[{"type": "message-start"}]', "Cohere, for which no codec is installed"),
        (packing.line({"u": packing.units(STREAMS["gateway-sse"][3], "gateway-sse")[0]}), "a unit each in 'u', not"),
        (b'[{"stream": ""},\n {"stream": ""}]\n', "is a JSON document, and the records hold no stream"),
    ],
)
def test_what_is_not_recognised(tmp_path: Path, data: bytes, says: str) -> None:
    with pytest.raises(NotRecognised, match=says):
        told(tmp_path / "log", data)


def test_the_command_says_what_it_took(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "log.jsonl").write_bytes(packing.of_streams(STREAMS["unievent-sse"]))
    arguments = ["convert", str(tmp_path / "log.jsonl"), "--to", "gateway-sse", "-o", str(tmp_path / "out")]
    assert main([*arguments, "--container", "lines", "--dry-run"]) == 0
    assert "(unievent-sse, JSON lines with a stream each in 'log.stream')" in capfd.readouterr().out
    assert main([*arguments, "--container", "lines"]) == 0
    assert "log.jsonl for unievent-sse, JSON lines" in capfd.readouterr().err
    assert len(packing.records_of((tmp_path / "out").read_bytes())) == len(STREAMS["unievent-sse"])


@pytest.mark.parametrize("folder", ["unievent", "unievent-sse", "unievent-cases", "unievent-ascii"])
def test_recordings_are_never_taken_for_something_else(folder: str) -> None:
    if not packing.CORPUS.is_dir():
        pytest.skip(f"the corpus of recordings is not at {packing.CORPUS}")
    formats = {".jsonl": "unievent-jsonl", ".sse": "unievent-sse"}
    for path in sorted((packing.CORPUS / folder).iterdir()):
        assert format_of(path.read_bytes()) in (formats[path.suffix], None), path


def test_recordings_of_chat_are_recognised() -> None:
    if not packing.CORPUS.is_dir():
        pytest.skip(f"the corpus of recordings is not at {packing.CORPUS}")
    found = [format_of(path.read_bytes()[:20_000]) for path in sorted((packing.CORPUS / "openai-chat").iterdir())]
    assert set(found) == {"openai-chat-sse", None}
    assert found.count(None) < len(found) / 20


def test_recordings_of_others_are_taken_for_nothing_else() -> None:
    if not packing.CORPUS.is_dir():
        pytest.skip(f"the corpus of recordings is not at {packing.CORPUS}")
    for folder in ("anthropic", "gemini", "openai-chat", "openai-responses"):
        for path in sorted((packing.CORPUS / folder).rglob("*"))[:40]:
            if path.is_file():
                format = format_of(path.read_bytes()[:20_000])
                assert format is None or resolve(format)[0].name == folder, path
