"""Recordings of Chat Completions come home by way of every format, and keep the budget of the carry.

What is expected of a stream is read off it: one that reports an error ends in it, one that the format refuses raises.
"""

from __future__ import annotations

import pytest

from tests.codecs.chat_streams import native, through
from tests.recorded import ABSENT, CORPUS
from translate import Start, check, decode
from translate.errors import DecodeError, ToolArgumentsError, UpstreamFailure

FOLDER = CORPUS / "openai-chat"
FILES = sorted(FOLDER.glob("*.sse")) if FOLDER.is_dir() else []
SEVERAL = ("oaipy-chat_streaming-a491adda08c3-i0", "rig-llamacpp-response_shape_matrix-two_candidates_streaming-i0")
"""Recordings of several choices."""
HEAVY = (b'"logprobs":{', b'"logprobs": {', b'"token_ids":[', b"executed_tools", b'"annotations":[{')
BUDGET = {"gateway-sse": 56, "unievent-sse": 80}
"""Bytes of carry a unit, on average over all recordings."""

pytestmark = pytest.mark.skipif(not FILES, reason=ABSENT)


@pytest.mark.parametrize("name", [path.stem for path in FILES if path.stem not in SEVERAL])
def test_a_recording_comes_home(name: str) -> None:
    data = (FOLDER / f"{name}.sse").read_bytes()
    units = native(data.replace(b"\r\n", b"\n"))
    for via in ((), ("events-jsonl",), ("gateway-sse",), ("unievent-sse",)):
        try:
            home = through(data, *via, "openai-chat-sse")
        except ToolArgumentsError:
            assert via == ("unievent-sse",)
            continue
        if via == ("unievent-sse",) and b"ToolArgumentsError" in through(data, "events-jsonl", "unievent-sse"):
            continue
        assert b": carry" not in home, via
        assert native(home) == units or _no_object(data, via), via
    faults = check([through(data, "openai-chat-sse")], "openai-chat-sse")
    assert [fault for fault in faults if "end marker" not in fault.reason] == []


def _no_object(data: bytes, via: tuple[str, ...]) -> bool:
    """Whether a call's arguments are none that UniEvent can say."""
    return via == ("unievent-sse",) and b"ToolCallArgumentParseError" in through(data, "unievent-sse")


@pytest.mark.parametrize("name", SEVERAL)
def test_several_choices_are_refused_after_what_came_before(name: str) -> None:
    events = decode([(FOLDER / f"{name}.sse").read_bytes()], "openai-chat-sse")
    assert type(next(events)) is Start
    with pytest.raises(DecodeError, match="one stream is one message"):
        list(events)


@pytest.mark.parametrize("format", BUDGET)
def test_the_carry_keeps_its_budget(format: str) -> None:
    size = units = 0
    for path in FILES:
        data = path.read_bytes()
        if path.stem in SEVERAL or any(word in data for word in HEAVY):
            continue
        try:
            out = through(data, format)
        except UpstreamFailure:
            continue
        size += sum(len(line) for line in out.split(b"\n") if line.startswith(b": carry "))
        units += len(native(data))
    assert size / units <= BUDGET[format]
