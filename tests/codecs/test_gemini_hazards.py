"""Gemini's streams as people meet them, by the numbers of the hazards: what each means, and that it comes home."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.codecs.gemini_streams import at, call, chunk, data, native, piece, said, sse, text, through

START = "start"
STOP = "finish stop STOP None None"
A = [START, "open text", "+a"]
T = "open thinking"
F, G = "open tool_call made_r_0 f", "open tool_call made_r_1 g"
ONE = {"promptTokenCount": 9, "candidatesTokenCount": 2, "totalTokenCount": 11}
ERROR = {"error": {"code": 503, "message": "busy", "status": "UNAVAILABLE"}}
BARE = b'{\n  "error": {"code": 499, "message": "m", "status": "CANCELLED"}\n}\n\n'


def counts(**members: int) -> dict[str, int]:
    """Counts, by the beginnings of their names."""
    return {f"{name}TokenCount": count for name, count in members.items()}


ROWS: dict[str, tuple[list[Any], list[str]]] = {
    "1 a reason on every chunk": (
        [chunk(text("a"), reason="STOP"), chunk(text("b"), reason="STOP")],
        [*A, "+b", "close", STOP],
    ),
    "2 a reason before the text": (
        [chunk(reason="STOP"), chunk(text("a")), chunk(reason="STOP")],
        [*A, "foreign", "close", STOP],
    ),
    "3 the last reason stands": (
        [chunk(text("a"), reason="STOP"), chunk(reason="RECITATION")],
        [*A, "foreign", "close", "finish content_filter RECITATION None None"],
    ),
    "4 no reason": ([chunk(text("a"))], [*A, "TruncatedStream"]),
    "5 a bare error after the events": ([chunk(text("a"), reason="STOP"), BARE], [*A, "failure 499 m"]),
    "6 an error": ([ERROR], ["failure 503 busy"]),
    "8 the prompt was refused": (
        [{"promptFeedback": {"blockReason": "SAFETY"}, "modelVersion": "m", "responseId": "r"}],
        [START, "finish content_filter SAFETY None None"],
    ),
    "9 all in one chunk": (
        [chunk(text("T", thought=True), text("A"), call("f", {}), call("g", {}), reason="STOP", usage=ONE)],
        [
            *(START, T, "+T", "close", "open text", "+A", "close", F, "+{}", "close", G, "+{}", "close"),
            *("usage 9 2", "finish stop STOP 9 2"),
        ],
    ),
    "10 two calls of one name, without ids": (
        [chunk(call("f", {"x": 1})), chunk(call("f", {"x": 2}), reason="STOP")],
        [START, F, '+{"x":1}', "close", "open tool_call made_r_1 f", '+{"x":2}', "close", STOP],
    ),
    "12 only the first of parallel calls is signed": (
        [chunk(call("f", {}, "AAAA"), call("g", {}), reason="STOP")],
        [START, F, "+{} [google:signature=AAAA]", "close", G, "+{}", "close", STOP],
    ),
    "13 the call is signed, not the thought": (
        [chunk(text("T", thought=True)), chunk(call("f", {}, "AAAA"), reason="STOP")],
        [START, T, "+T", "close", F, "+{} [google:signature=AAAA]", "close", STOP],
    ),
    "14 an empty text that is signed": (
        [chunk(text("a")), chunk(text("", "AAAA"), reason="STOP")],
        [*A, "+ [google:signature=AAAA]", "close", STOP],
    ),
    "15 another signature": (
        [chunk(text("a", "AAAA")), chunk(text("b", "BBBB"), reason="STOP")],
        [
            *(START, "open text", "+a [google:signature=AAAA]", "close"),
            *("open text", "+b [google:signature=BBBB]", "close", STOP),
        ],
    ),
    "15 the same signature again": (
        [chunk(text("a", "AAAA")), chunk(text("b", "AAAA"), reason="STOP")],
        [START, "open text", "+a [google:signature=AAAA]", "+b [google:signature=AAAA]", "close", STOP],
    ),
    "16 an empty text": ([chunk(text("a")), chunk(text(""), reason="STOP")], [*A, "foreign", "close", STOP]),
    "17 a call without arguments": ([chunk(call("f"), reason="STOP")], [START, F, "+", "close", STOP]),
    "18 digits": (
        [chunk(call("f", {"n": 12345678901234567890123, "x": 1.0}), reason="STOP")],
        [START, F, '+{"n":12345678901234567890123,"x":1.0}', "close", STOP],
    ),
    "19 arguments by paths": (
        [
            chunk(call("f", willContinue=True)),
            chunk(piece(at("$.a", "Bos", more=True))),
            chunk(piece(at("$.a", "ton"))),
            chunk(piece(more=False), reason="STOP"),
        ],
        [START, F, '+{"a":"Bos', "+ton", '+"}', "close", STOP],
    ),
    "20 paths into a list, and no closing piece": (
        [
            chunk(call("f", willContinue=True)),
            chunk(piece(at("$.o[0].x", 1))),
            chunk(piece(at("$.o[1].x", 2), more=False), reason="STOP"),
        ],
        [START, F, '+{"o":[{"x":1', '+},{"x":2', "+}]}", "close", STOP],
    ),
    "21 a quoted name": (
        [chunk(call("f", willContinue=True), piece(at("$['a.b']", "c"), more=False), reason="STOP")],
        [START, F, '+{"a.b":"c', '+"}', "close", STOP],
    ),
    "22 half a call is none": ([chunk(call("f", willContinue=True), reason="STOP")], [START, F, "TruncatedStream"]),
    "23 images are two parts": (
        [chunk(data("image/png", "AAE=")), chunk(data("image/png", "AgM="), reason="STOP")],
        [START, "open inline_data", "+b'\\x00\\x01'", "close", "open inline_data", "+b'\\x02\\x03'", "close", STOP],
    ),
    "23 audio goes on": (
        [chunk(data("audio/pcm", "AAE=")), chunk(data("audio/pcm", "AgM="), reason="STOP")],
        [START, "open inline_data", "+b'\\x00\\x01'", "+b'\\x02\\x03'", "close", STOP],
    ),
    "24 an image of a thought": (
        [chunk(data("image/png", "AAE=", thought=True), reason="STOP")],
        [START, "open inline_thinking", "+b'\\x00\\x01'", "close", STOP],
    ),
    "25 no counts until the last": (
        [
            chunk(text("a"), usage={"trafficType": "X"}),
            chunk(text("b"), usage={"trafficType": "X"}),
            chunk(text(""), reason="STOP", usage={**ONE, "trafficType": "X"}),
        ],
        [*A, "+b", "usage 9 2", "close", "finish stop STOP 9 2"],
    ),
    "26 what counts hold": (
        [chunk(text("a"), reason="STOP", usage=counts(cachedContent=80, prompt=100, thoughts=5, candidates=7))],
        [*A, "usage 100 12", "close", "finish stop STOP 100 12"],
    ),
    "27 a malformed call": (
        [chunk(text("a"), reason="MALFORMED_FUNCTION_CALL", finishMessage="why")],
        [*A, "close", "finish unknown MALFORMED_FUNCTION_CALL None None"],
    ),
    "28 a reason that nobody knows": (
        [chunk(text("a"), reason="NEW_REASON")],
        [*A, "close", "finish unknown NEW_REASON None None"],
    ),
    "31 what proxies add": (
        [b": keep-alive\n\nevent: x\n", chunk(text("a"), reason="STOP"), b"data: [DONE]\n\n"],
        [*A, "close", STOP],
    ),
    "34 grounding of the open text": (
        [chunk(text("a"), reason="STOP", groundingMetadata={"q": ["x"]})],
        [*A, "note google", "close", STOP],
    ),
    "34 empty grounding": ([chunk(text("a"), reason="STOP", groundingMetadata={})], [*A, "close", STOP]),
    "35 two candidates": (
        [{"candidates": [*chunk(text("a"))["candidates"], *chunk(text("b"))["candidates"]]}],
        ["DecodeError"],
    ),
    "35 another index": ([{"candidates": [{"index": 1}]}], ["DecodeError"]),
    "38 line ends, and no last blank line": (
        [sse([chunk(text("a"), reason="STOP")]).replace(b"\n", b"\r\n").removesuffix(b"\r\n")],
        [*A, "close", STOP],
    ),
    "39 no chunk": ([{"this": "is no chunk"}], ["foreign", "TruncatedStream"]),
    "40 counts that fall": (
        [chunk(text("a"), usage=counts(prompt=n, total=n)) for n in (110, 20, 51)]
        + [chunk(text("b"), reason="STOP", usage=counts(prompt=322, total=322))],
        [
            *A,
            "usage 110 None",
            "+a",
            "usage 20 None",
            "+a",
            "usage 51 None",
            "+b",
            "usage 322 None",
            "close",
            "finish stop STOP 322 None",
        ],
    ),
    "41 counts that are left out": (
        [
            chunk(text("a"), usage=counts(prompt=87, candidates=21)),
            chunk(text("b"), reason="STOP", usage=counts(prompt=87, thoughts=78)),
        ],
        [*A, "usage 87 21", "+b", "usage None 78", "close", "finish stop STOP 87 78"],
    ),
    "42 numbers for words": ([chunk(text("a"), reason=1)], [*A, "close", "finish stop 1 None None"]),
    "43 and 44 code, its result, and two reasons": (
        [
            chunk({"executableCode": {"code": "1", "language": "PYTHON"}}, reason="STOP"),
            chunk({"codeExecutionResult": {"outcome": "OUTCOME_OK"}}),
            chunk(text("a"), reason="MAX_TOKENS"),
        ],
        [
            START,
            "open server_tool_call code_execution",
            '+{"code":"1","language":"PYTHON"}',
            "close",
            "open server_tool_result code_execution",
            '+{"outcome":"OUTCOME_OK"}',
            "close",
            "open text",
            "+a",
            "close",
            "finish length MAX_TOKENS None None",
        ],
    ),
    "45 length after thoughts alone": (
        [chunk(text("T", thought=True), reason="MAX_TOKENS")],
        [START, T, "+T", "close", "finish length MAX_TOKENS None None"],
    ),
    "46 why the prompt was refused": (
        [{"promptFeedback": {"blockReason": "OTHER", "blockReasonMessage": "no"}, "modelVersion": "m"}],
        [START, "finish content_filter OTHER None None"],
    ),
    "a tool of the provider": (
        [
            chunk({"toolCall": {"toolType": "SEARCH", "id": "t"}, "thoughtSignature": "AAAA"}),
            chunk({"toolResponse": {"toolType": "SEARCH", "id": "t"}}, text("a"), reason="STOP"),
        ],
        [
            START,
            "open server_tool_call t SEARCH",
            '+{"toolType":"SEARCH","id":"t"} [google:signature=AAAA]',
            "close",
            "open server_tool_result t SEARCH",
            '+{"toolType":"SEARCH","id":"t"}',
            "close",
            "open text",
            "+a",
            "close",
            STOP,
        ],
    ),
    "data of no type": (
        [chunk({"inlineData": {"data": "AAE="}}, reason="STOP")],
        [START, "open inline_data", "+b'\\x00\\x01'", "close", STOP],
    ),
    "a part that nobody knows": (
        [chunk(text("a")), chunk({"fileData": {"fileUri": "u"}}), chunk(text("b"), {"new": 1}, reason="STOP")],
        [*A, "foreign", "+b", "close", STOP],
    ),
    "paths out of order": (
        [
            chunk(call("f", willContinue=True), piece(at("$.a.x", 1))),
            chunk(piece(at("$.b", True), at("$.a.y", None))),
            chunk(piece(more=False), reason="STOP"),
        ],
        [START, F, '+{"a":{"x":1', '+},"b":true', '+,"a":{"x":1,"y":null}}', "close", STOP],
    ),
    "an error beside what it broke off": (
        [chunk(text("a")), {**chunk(text("b")), **ERROR}],
        [*A, "+b", "failure 503 busy"],
    ),
}
ENDS = ("TruncatedStream", "DecodeError")


@pytest.mark.parametrize("row", ROWS)
def test_what_it_says(row: str) -> None:
    units, events = ROWS[row]
    assert said(sse(units), "gemini-sse") == events


VIA = (
    (),
    ("gemini-array",),
    ("events-jsonl",),
    ("gateway-sse",),
    ("unievent-sse",),
    ("openai-chat-sse",),
    ("gateway-jsonl", "unievent-sse", "gateway-jsonl"),
)


@pytest.mark.parametrize("via", VIA, ids=" ".join)
@pytest.mark.parametrize("row", [row for row, (_, events) in ROWS.items() if events[-1] not in ENDS])
def test_it_comes_home(row: str, via: tuple[str, ...]) -> None:
    units = ROWS[row][0]
    stream = sse(units)
    home = through(stream, "gemini-sse", *via, "gemini-sse")
    given = [json.loads(BARE) if unit is BARE else unit for unit in units]
    expected = native(sse(unit for unit in given if isinstance(unit, dict))) or native(stream)
    assert native(home) == expected
    # the provider's own readers take these lines, and no others
    assert all(line.startswith(b"data: {") for line in home.split(b"\n") if line)


@pytest.mark.parametrize("cut", [1, 7])
@pytest.mark.parametrize("row", ["5 a bare error after the events", "19 arguments by paths", "31 what proxies add"])
def test_however_it_was_cut(row: str, cut: int) -> None:
    stream = sse(ROWS[row][0])
    pieces = [stream[i : i + cut] for i in range(0, len(stream), cut)]
    assert said(pieces, "gemini-sse") == ROWS[row][1]


@pytest.mark.parametrize("row", [row for row, (_, events) in ROWS.items() if events[-1] == "TruncatedStream"])
def test_what_was_cut_short_is_no_success(row: str) -> None:
    out = through(sse(ROWS[row][0]), "gemini-sse", "unievent-sse", loss="drop")
    assert b'"error"' in out
    assert b'"stop"' not in out
