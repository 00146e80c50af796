"""The built-in codecs keep the contract that every codec must keep, and the kit sees where one does not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import settings

from tests.strategies import KNOBS
from translate import codec
from translate.algebra.events import Append, Close, Event, Finish, JsonObject, Open, Reason, TokenCounts
from translate.codec import Encoder, Options, Sink
from translate.testing import check_codec
from translate.testing.kit import _Case
from translate_codecs.gateway import Gateway

EXAMPLES = 30 if settings().derandomize else 1000


@pytest.mark.parametrize("name", ["unievent", "gateway"])
def test_built_in_codecs_keep_the_contract(name: str) -> None:
    check_codec(codec(name), knobs=replace(KNOBS, broken_calls=name != "unievent"), examples=EXAMPLES)


STREAM: list[Event] = [Open("text"), Append("Hel"), Append("lo"), Close(), Finish(TokenCounts(3, 2), Reason("stop"))]


class _Bent:
    """A sink that bends what goes through it."""

    def __init__(self, sink: Sink, bend: str) -> None:
        self.sink, self.bend = sink, bend

    def __getattr__(self, name: str) -> Any:
        return getattr(self.sink, name)

    def put(
        self, unit: JsonObject | None, name: str | None, said: Sequence[Event], meant: Sequence[Event], **more: Any
    ) -> None:
        if self.bend == "said" and type(meant[0]) is Append:
            said = [replace(meant[0], data="other")]
        if self.bend == "complete" and type(meant[0]) is Append and meant[0].data == "lo":
            return
        self.sink.put(unit, name, said, meant, **more)


class Bent(Gateway):
    """The gateway's codec, which breaks one clause."""

    def __init__(self, bend: str) -> None:
        self.bend = bend

    def encoder(self, sink: Sink, options: Options) -> Encoder:  # type: ignore[override,unused-ignore]
        encoder = super().encoder(_Bent(sink, self.bend), options)  # type: ignore[arg-type,unused-ignore]
        return _change(encoder) if self.bend == "pure" else encoder

    def agrees(self, said: Event, meant: Event) -> bool:
        return True if self.bend == "agrees" else super().agrees(said, meant)

    def sayable(self, event: Event) -> bool:
        return False if self.bend == "sayable" else super().sayable(event)


def _change(encoder: Any) -> Any:
    handle = encoder.handle

    def changing(event: Event) -> None:
        handle(event)
        if type(event) is Append:
            event.data = "changed"

    encoder.handle = changing
    return encoder


@pytest.mark.parametrize("bend", ["said", "complete", "agrees", "sayable", "pure"])
def test_the_kit_names_the_clause_that_a_codec_breaks(bend: str) -> None:
    with pytest.raises(AssertionError, match=f"clause '{bend}' is broken"):
        _Case(Bent(bend), "gateway", [replace(event) for event in STREAM], []).hold()
