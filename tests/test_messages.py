"""Messages: no piece of the input is shown at length, wherever an error or a finding tells of it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.sources import FRAMES, collect, frame
from tests.wire import call, delta, item
from translate import Report, UnknownFormat, UpstreamFailure, convert
from translate.errors import EXCERPT, excerpt, shown

LONG = "x" * 100_000
MOST = 2 * EXCERPT + 250
"""Characters of a message: its own words, and a piece of input in it and behind it."""


def carried(carry: Any) -> list[bytes]:
    """A stream of one carried unit."""
    unit = json.dumps(frame("contentStart"))
    head = "".join(f"data: {json.dumps(unit)}\n\n" for unit in FRAMES[:1])
    return [f"{head}: carry {json.dumps(carry)}\ndata: {unit}\n\n".encode()]


CARRIES: list[Any] = [
    {"v": LONG},
    {"events": [{"as": LONG}]},
    {"events": [{"event": LONG}]},
    {"events": [{"event": "open", LONG: 1}]},
    {LONG: {}, "events": []},
    {LONG: [1, 2, 3]},
    {LONG: 5},
    {"gateway": {"patch": [[[LONG], 1], [["value", LONG, LONG]]]}},
    {"events": [{"event": "open", "kind": LONG}]},
    {"events": [{"event": "append", "vector": [LONG]}]},
]


@pytest.mark.parametrize("carry", CARRIES)
@pytest.mark.parametrize("strict", [True, False])
def test_carries(carry: Any, strict: bool) -> None:
    for target in ("gateway", "unievent"):
        report = Report()
        _, error = collect(convert(carried(carry), "gateway-sse", target, strict=strict, report=report))
        assert error is not None
        assert len(str(error)) < MOST
        for found in (*report.losses, *report.guesses, *report.repairs):
            assert len(found.reason) < MOST
            assert len(found.field) < MOST


BAD: list[tuple[str, Any]] = [
    ("events-jsonl", {"event": LONG}),
    ("events-jsonl", {"event": "start", LONG: 1}),
    ("unievent", LONG),
    ("unievent", {1: LONG}),
    ("unievent", [LONG]),
    ("gateway", {"success": True, "code": 200, "value": LONG}),
    ("gateway-jsonl", LONG),
    ("gateway-sse", f"data: {LONG}\n\n"),
    ("gateway-sse", f'{{"error": "{LONG}"}}\n\n'),
    ("unievent", delta(item(f"{LONG}.delta", LONG))),
    ("unievent", delta(call("delta", LONG, LONG, LONG))),
]


@pytest.mark.parametrize(("source", "unit"), BAD)
def test_units(source: str, unit: Any) -> None:
    given = json.dumps(unit) + "\n" if source.endswith("jsonl") else unit
    for errors in ("raise", "encode"):
        stream = convert([given], source, "gateway", errors=errors)
        out, error = collect(stream)
        said = error if errors == "raise" else stream.failure
        assert len(str(said)) < MOST
        assert errors == "raise" or len(out[-1]["message"]) < MOST


def test_what_a_stream_itself_reports_is_said_whole_and_shown_cut() -> None:
    failed = {"success": False, "code": 503, "message": LONG}
    _, error = collect(convert([failed], "gateway", "unievent"))
    assert isinstance(error, UpstreamFailure)
    assert error.message == LONG
    assert len(str(error)) < MOST
    assert list(convert([failed], "gateway", "gateway", errors="encode")) == [failed]


def test_options_and_names() -> None:
    with pytest.raises(UnknownFormat) as caught:
        convert([], LONG, "gateway")
    assert len(str(caught.value)) < MOST
    assert caught.value.name == LONG


@pytest.mark.parametrize(
    ("value", "text"),
    [("a'b", '"a\'b"'), (b"a", "b'a'"), (5, "5"), (None, "None"), (["a"], "['a']"), ("", "''")],
)
def test_what_is_shown(value: Any, text: str) -> None:
    assert shown(value) == text


def test_how_it_is_cut() -> None:
    for value in (LONG, LONG.encode(), [LONG], {LONG: 1}, 10**5000, "\x00" * 150, "x" * 200):
        assert len(shown(value)) <= EXCERPT
        assert len(excerpt(value)) <= EXCERPT
    assert shown(LONG) == "'" + "x" * (EXCERPT - 2) + "…"
    deep: list[Any] = []
    for _ in range(10_000):
        deep = [deep]
    assert shown(deep) == excerpt(deep) == "list, too large to show"
