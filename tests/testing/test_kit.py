"""The built-in codecs keep the contract that every codec must keep, and the kit sees where one does not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import settings

from tests.strategies import KNOBS
from translate import codec, registry
from translate.algebra.events import Append, Close, Event, Finish, Open, Reason, Start, TokenCounts
from translate.codec import Options, Pieces, Said
from translate.testing import check_codec
from translate.testing.kit import _Case
from translate_codecs.gateway import Gateway
from translate_codecs.gateway.encoder import GatewayEncoder

EXAMPLES = 30 if settings().derandomize else 1000


@pytest.mark.parametrize(
    "name",
    ["unievent", "gateway", "anthropic", "openai-chat", "openai-responses", "gemini", "gemini-interactions"],
)
def test_built_in_codecs_keep_the_contract(name: str) -> None:
    check_codec(codec(name), knobs=replace(KNOBS, broken_calls=name == "gateway"), examples=EXAMPLES)


END = Finish(TokenCounts(3, 2), Reason("stop"))
STREAM: list[Event] = [Start(), Open("text"), Append("Hel"), Append("lo"), Close(), END]


class BentEncoder(GatewayEncoder):
    """The gateway's, which breaks one clause."""

    def write(self, events: Sequence[Event]) -> Pieces:
        pieces, event, bend = super().write(events), events[-1], self.codec.bend  # type: ignore[attr-defined]
        if type(event) is Append and bend == "pure":
            event.data = "changed"
        if type(event) is Append and event.data == "lo" and bend == "complete":
            return []
        if type(event) is Close and event.cut and bend == "honest":
            # half a call as a whole one
            return super().write([*events[:-1], replace(event, cut=False)])
        return pieces

    def say(self, events: Sequence[Event]) -> Said | None:
        said = super().say(events)
        if said is not None and self.codec.bend == "short":  # type: ignore[attr-defined]
            return said[0], said[1], True
        return said


class Bent(Gateway):
    """The gateway's codec, which breaks one clause."""

    def __init__(self, bend: str) -> None:
        self.bend = bend

    def encoder(self, options: Options) -> GatewayEncoder:
        return BentEncoder(self, options)

    def agrees(self, said: Event, meant: Event) -> bool:
        return True if self.bend == "agrees" else super().agrees(said, meant)

    def sayable(self, event: Event) -> bool:
        return super().sayable(event) and not (self.bend == "sayable" and type(event) is Start)


def test_the_kit_sees_half_a_call_that_is_said_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    cut: list[Event] = [Start(), Open("tool_call", "i", "f"), Append('{"a"'), Close(cut=True), END]
    _Case(codec("gateway"), "gateway", [replace(event) for event in cut], []).half_calls()
    monkeypatch.setitem(registry._registered, "gateway", Bent("honest"))
    with pytest.raises(AssertionError, match=r"the call 'f' was cut off after '\{\"a\"', and is said as a whole one"):
        _Case(codec("gateway"), "gateway", [replace(event) for event in cut], []).half_calls()


@pytest.mark.parametrize("bend", ["short", "complete", "agrees", "sayable", "pure"])
def test_the_kit_names_the_clause_that_a_codec_breaks(bend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry._registered, "gateway", Bent(bend))
    with pytest.raises(AssertionError, match=f"clause '{bend}' is broken"):
        _Case(codec("gateway"), "gateway", [replace(event) for event in STREAM], []).hold()
