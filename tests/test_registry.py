"""Names of formats and codecs: what is found, what is refused, and that nothing is overwritten in silence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import metadata
from importlib.metadata import EntryPoint, entry_points
from typing import Any, ClassVar

import pytest

from translate import Codec, CodecError, UnknownFormat, codec, convert, formats, register, registry
from translate.shapes import Shape
from translate.shapes.lines import Lines
from translate.shapes.objects import Objects
from translate_codecs.events import Events
from translate_codecs.unievent import CODEC as UNIEVENT

CODECS = ["events", "gateway", "unievent"]
BUILT_IN = [*CODECS, "events-jsonl", "gateway-jsonl", "gateway-sse", "unievent-jsonl", "unievent-sse"]


@pytest.fixture(autouse=True)
def _fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Each test has a registry of its own, and no codec but the built-in ones is installed."""
    monkeypatch.setattr(
        metadata, "entry_points", lambda *, group: [e for e in entry_points(group=group) if e.name in CODECS]
    )
    monkeypatch.setattr(registry, "_registered", {})
    monkeypatch.setattr(registry, "_found", None)
    yield
    monkeypatch.undo()


def named(codec_name: Any, codec_shapes: Mapping[str, Shape] | None = None) -> Codec:
    """A codec of that name, which is otherwise that of events."""

    class Named(Events):
        name: ClassVar[str] = codec_name
        shapes: ClassVar[Mapping[str, Shape]] = codec_shapes or {"": Objects(), "jsonl": Lines()}

    return Named()


def installed(monkeypatch: pytest.MonkeyPatch, *entries: tuple[str, str]) -> None:
    """As if these entry points were there beside the built-in ones."""
    found = [EntryPoint(name, value, registry.GROUP) for name, value in entries]
    found += [EntryPoint(name, f"translate_codecs.{name}:CODEC", registry.GROUP) for name in CODECS]
    monkeypatch.setattr(metadata, "entry_points", lambda *, group: found if group == registry.GROUP else [])


TOY = named("toy")
NOT_A_CODEC = object()


def test_the_built_in_formats() -> None:
    assert set(BUILT_IN) <= set(formats())
    assert formats() == sorted(formats())
    assert codec("unievent") is codec("unievent-sse") is UNIEVENT


def test_built_in_codecs_come_through_the_same_door(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metadata, "entry_points", lambda *, group: [])
    assert formats() == []
    with pytest.raises(UnknownFormat, match="Known formats: none"):
        codec("unievent")


def test_a_codec_is_registered() -> None:
    register(TOY)
    assert codec("toy") is codec("toy-jsonl") is TOY
    assert {"toy", "toy-jsonl"} <= set(formats())


def test_a_codec_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    installed(monkeypatch, ("toy", f"{__name__}:TOY"))
    assert formats() == sorted([*BUILT_IN, "toy", "toy-jsonl"])
    assert codec("toy-jsonl") is TOY


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        *(("gateway-see", "gateway-sse"), ("unievents", "unievent"), ("Gateway", "gateway"), ("event", "events")),
        *(("unievent-json", "unievent-jsonl"), ("unievent-", "unievent"), ("-unievent", "unievent")),
        *(("UniEvent-SSE", "unievent-sse"), ("GATEWAY_SSE", "gateway-sse"), ("unievent.jsonl", "unievent-jsonl")),
    ],
)
def test_an_unknown_format_suggests_the_nearest(name: str, nearest: str) -> None:
    with pytest.raises(UnknownFormat) as caught:
        convert([], name, "gateway")
    assert f"no format named {name!r}; did you mean {nearest!r}?" in str(caught.value)
    assert caught.value.name == name
    assert set(BUILT_IN) <= set(caught.value.known)
    assert isinstance(caught.value, LookupError)


@pytest.mark.parametrize("name", ["", "-", "zzz", "sse"])
def test_an_unknown_format_that_is_like_none(name: str) -> None:
    with pytest.raises(UnknownFormat) as caught:
        codec(name)
    assert "did you mean" not in str(caught.value)
    assert "Known formats: " in str(caught.value)


def test_two_codecs_of_one_name(monkeypatch: pytest.MonkeyPatch) -> None:
    register(TOY)
    for again in (TOY, named("toy"), named("unievent"), UNIEVENT):
        with pytest.raises(CodecError, match=r"a codec named '(toy|unievent)' exists already"):
            register(again)
    installed(monkeypatch, ("gateway", "elsewhere:CODEC"))
    monkeypatch.setattr(registry, "_found", None)
    both = "elsewhere:CODEC and translate_codecs.gateway:CODEC"
    with pytest.raises(CodecError, match=f"two codecs are named 'gateway': {both}"):
        codec("events")


def test_one_codec_found_twice_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    installed(monkeypatch, ("gateway", "translate_codecs.gateway:CODEC"))
    assert codec("gateway").name == "gateway"


def test_two_codecs_of_one_format() -> None:
    register(named("unievent-sse"))
    with pytest.raises(CodecError, match="the codecs 'unievent-sse' and 'unievent' both claim the format"):
        convert([], "unievent-sse", "gateway")
    assert codec("unievent-jsonl") is UNIEVENT


def test_a_codec_whose_name_begins_like_another() -> None:
    longer = named("toy-box", {"": Objects(), "jsonl": Lines()})
    register(TOY)
    register(longer)
    assert codec("toy-box") is codec("toy-box-jsonl") is longer
    assert codec("toy-jsonl") is TOY
    with pytest.raises(UnknownFormat):
        codec("toy-box-sse")


def test_a_codec_without_objects() -> None:
    register(named("toy", {"jsonl": Lines()}))
    assert codec("toy-jsonl").name == "toy"
    assert "toy" not in formats()
    with pytest.raises(UnknownFormat, match="did you mean 'toy-jsonl'"):
        codec("toy")


@pytest.mark.parametrize("name", ["", "v", "synthetic", "before", "a b", "a.b", "-", "_", "a/b", "ä:"])
def test_names_that_no_codec_may_have(name: str) -> None:
    with pytest.raises(CodecError, match="cannot be the name of a codec"):
        register(named(name))


def test_what_is_no_codec() -> None:
    class Pretender:
        name = "toy"

    with pytest.raises(CodecError, match=r"the codec 'toy' is no translate.Codec but Pretender"):
        register(Pretender())  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("value", "what"),
    [
        ("nowhere_at_all:CODEC", r"the codec 'toy' \(nowhere_at_all:CODEC\) cannot be loaded: No module named"),
        (f"{__name__}:MISSING", "cannot be loaded: .*MISSING"),
        (f"{__name__}:NOT_A_CODEC", "the codec 'toy' is no translate.Codec but object"),
        ("translate_codecs.unievent:CODEC", "the codec 'unievent' is registered under another name, 'toy'"),
    ],
)
def test_an_installed_codec_that_breaks_its_contract(monkeypatch: pytest.MonkeyPatch, value: str, what: str) -> None:
    installed(monkeypatch, ("toy", value))
    with pytest.raises(CodecError, match=what):
        codec("toy")
    # it is in nobody else's way
    assert codec("unievent") is UNIEVENT
