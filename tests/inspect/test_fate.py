"""What is said of a stream as a whole: its fate, and the message as each side's reader has it."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

import translate
from translate.algebra.events import Append, Close, Failure, Open, Start
from translate.inspect import view
from translate.inspect.examples import EXAMPLES, Example
from translate.inspect.fate import fate
from translate.inspect.message import TEXT, message

EXAMPLES_FOLDER = Path(__file__).resolve().parents[2] / "examples"
BY_NAME = {example.name: example for example in EXAMPLES}


def seen(name: str, **options: Any) -> dict[str, Any]:
    example = BY_NAME[name]
    stream = (EXAMPLES_FOLDER / example.file).read_bytes()
    return view(stream, example.source, example.target, clock=lambda: 1, **options)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        (
            "turn",
            "All thinking, text and 2 calls arrive. 67 time stamps, 16 fragments and 2 other details ride in the "
            "carry. Nothing is lost.",
        ),
        ("image", "All text arrives. 1 image or file and 8 other details ride in the carry. Nothing is lost."),
        ("home", "All thinking and text arrive. All is said natively, and nothing is lost."),
    ],
)
def test_the_fate_of_a_stream_is_a_sentence_or_two(name: str, says: str) -> None:
    assert seen(name)["fate"] == says


def test_a_failure_and_a_broken_stream_are_told_first() -> None:
    assert seen("cut")["fate"].startswith("The stream reports a failure at unit 11, and so does the target. All text")
    assert seen("broken")["fate"].startswith("The stream breaks (GrammarError) at unit 4.")
    assert seen("broken", strict=False)["fate"].startswith("All text and 1 call arrive.")
    cut = view(b'data: {"event_type": "delta"', "unievent-sse", "gateway-sse", clock=lambda: 1)
    assert cut["fate"].startswith("The stream ")
    assert "All is said natively" not in cut["fate"]


def test_what_is_dropped_is_lost_or_left_out() -> None:
    told = seen("image", loss="drop")["fate"]
    assert "Lost: 1 image or file." in told
    assert "left out" in told
    assert "carry" not in told


def test_some_of_a_kind_are_counted() -> None:
    part = {"kind": "tool_call", "native": True}
    bare = {"losses": [], "error": None, "parts": [part, {**part, "native": False}]}
    assert fate(bare) == "1 of 2 calls arrive. All is said natively, and nothing is lost."
    assert fate({**bare, "parts": []}) == "All is said natively, and nothing is lost."
    assert fate({**bare, "parts": [{**part, "native": False}]}).startswith("No part of the message arrives.")


def test_each_reader_has_its_message() -> None:
    found = seen("image")["message"]
    source, target = found["source"]["parts"], found["target"]["parts"]
    assert [part["kind"] for part in source] == ["text", "inline_data", "text"]
    assert [part["kind"] for part in target] == ["text", "text"]
    assert source[1]["image"].startswith("iVBOR")
    assert (source[0]["text"], source[0]["whole"]) == ("Here is the field at noon:", True)
    assert found["source"]["model"] == "gemini-example"
    assert found["target"]["end"] == "stop, 12 in, 40 out"
    signed = seen("signed")["message"]["source"]["parts"][0]
    assert signed["notes"] == ["signed: signature"]


def test_a_message_that_is_cut_off_is_not_whole() -> None:
    half = message([Start(), Open("text"), Append("a"), Failure(502, "no")])
    assert (half["parts"][0]["whole"], half["end"]) == (False, "failed: 502: no")
    assert message([Open("text"), Append("a")])["parts"][0] | {"text": ""} == {
        **{"kind": "text", "name": None, "id": None, "mime_type": None, "text": "", "image": None},
        **{"whole": False, "notes": []},
    }
    long = message([Open("text"), Append("a" * (TEXT + 1)), Close()])["parts"][0]
    assert (len(long["text"]), long["whole"]) == (TEXT, False)
    evil = message([Open("inline_data", mime_type="image/svg+xml"), Append(b"<svg/>"), Close()])["parts"][0]
    assert (evil["image"], evil["text"]) == (None, "6 bytes")


def test_what_a_view_is_about_is_in_it() -> None:
    about = view(b"", "gemini-sse", "gateway-sse", clock=lambda: 7, loss="drop", strict=False, file="x")["about"]
    assert about == {
        **{"file": "x", "model": None, "loss": "drop", "strict": False, "time": 7},
        "version": translate.__version__,
    }


# ---- the examples


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_an_example_shows_what_it_says(example: Example) -> None:
    assert example.path == EXAMPLES_FOLDER / example.file
    found = seen(example.name)
    marks = {mark for side in ("source", "target") for unit in found[side]["units"] for mark in unit["marks"]}
    fields = {loss["field"] for loss in found["losses"]}
    shown = {
        "turn": {"held", "merged"} <= marks,
        "signed": "append.state" in fields,
        "image": "inline_data" in fields and not any(unit["kind"] == "image" for unit in found["target"]["units"]),
        "home": "restored" in marks and found["losses"] == [],
        "cut": found["error"] is not None and found["message"]["target"]["end"].startswith("failed"),
        "broken": found["error"] is not None and seen("broken", strict=False)["error"] is None,
    }
    assert shown[example.name]


def test_the_examples_are_what_makes_them() -> None:
    spec = importlib.util.spec_from_file_location("make", EXAMPLES_FOLDER / "make.py")
    assert spec is not None
    assert spec.loader is not None
    make = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make)
    for name, content in make.files().items():
        assert (EXAMPLES_FOLDER / name).read_bytes() == content, name
    home = translate.convert(make.files()["home.gateway.sse"], "gateway-sse", "anthropic")
    blocks = make.files()["signed.anthropic.sse"].split(b"\n\n")[:-1]
    sent = [json.loads(block.partition(b"data: ")[2]) for block in blocks]
    assert list(home) == sent
