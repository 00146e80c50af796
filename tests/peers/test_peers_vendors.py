"""The vendors' own libraries read what we make of each other's streams: in memory, by a transport, by a sidecar."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.adapters.sidecars import Process, sidecar
from tests.codecs import anthropic_streams as ant
from tests.codecs import chat_streams as chat
from tests.peers.scripts import NOW, WHOLE, gateway
from tests.peers.serving import HOST, Reply, odd, serving
from tests.peers.turns import CUTS, FAILS, SAID, TURN, Message
from tests.peers.vendors import NOWHERE, VENDORS, Claude, Gpt, answering, aread, httpx2, read
from tests.recorded import ABSENT, CORPUS
from translate import TranslateError, assemble, convert, jsontext
from translate.adapters.httpx2 import TranslateTransport

WORDS = {"anthropic": "tool_use", "openai": "tool_calls"}
PAIRS = [(vendor, src) for vendor in VENDORS for src in TURN if src != f"{VENDORS[vendor].codec}-sse"]


@pytest.fixture(scope="module", autouse=True)
def told(summary: list[str]) -> None:
    summary.append(f"peers: anthropic {version('anthropic')}, openai {version('openai')}")


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def translated(stream: bytes, src: str, vendor: str, **options: Any) -> bytes:
    return b"".join(convert(odd(stream), src, f"{VENDORS[vendor].codec}-sse", clock=lambda: NOW, **options))


def through(vendor: str, src: str, stream: bytes, **options: Any) -> TranslateTransport:
    """A transport in memory whose upstream streams another format."""
    return TranslateTransport(answering(stream), src, f"{VENDORS[vendor].codec}-sse", **options)


def meant(vendor: str) -> Message:
    return SAID._replace(reason=WORDS[vendor])


# ---- a turn ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("helper", [False, True], ids=["raw", "helper"])
@pytest.mark.parametrize(("vendor", "src"), PAIRS)
def test_it_reads_the_turn(vendor: str, src: str, helper: bool) -> None:
    for loss in ("carry", "drop"):
        out = translated(TURN[src], src, vendor, loss=loss)
        assert (b": carry " in out) == (loss == "carry")
        assert read(VENDORS[vendor], answering(out), helper=helper) == meant(vendor)
    assert read(VENDORS[vendor], through(vendor, src, TURN[src]), helper=helper) == meant(vendor)


@pytest.mark.anyio
@pytest.mark.parametrize(("vendor", "src"), PAIRS)
async def test_its_asynchronous_client_reads_the_turn(vendor: str, src: str) -> None:
    for helper in (False, True):
        out = translated(TURN[src], src, vendor)
        assert await aread(VENDORS[vendor], answering(out), helper=helper) == meant(vendor)
        assert await aread(VENDORS[vendor], through(vendor, src, TURN[src]), helper=helper) == meant(vendor)


@pytest.mark.parametrize("vendor", VENDORS)
def test_hostile_text_arrives_whole(vendor: str) -> None:
    # its types and its helpers refuse lone surrogates, its reader does not
    found = read(VENDORS[vendor], through(vendor, "gateway-sse", gateway("hostile")), helper=False, strict=False)
    assert jsontext.whole(found.thinking) == jsontext.whole(found.text) == WHOLE
    assert [arguments for _, _, arguments in found.calls] == [{"\u2028 k": WHOLE, "n": 2**70}] * 2
    assert found.calls[1][:2] == ("toolu_\u2028", "say\x85")


@pytest.mark.parametrize(("vendor", "src"), [("anthropic", "openai-chat-sse"), ("openai", "anthropic-sse")])
def test_text_is_read_before_the_rest_is_asked_for(vendor: str, src: str) -> None:
    blocks = [block + b"\n\n" for block in TURN[src].split(b"\n\n")[:-1]]
    at = next(i for i, block in enumerate(blocks) if b"I'll look" in block)
    asked = []

    class Body(httpx2.SyncByteStream):  # type: ignore[misc]
        def __iter__(self) -> Iterator[bytes]:
            for i, block in enumerate(blocks):
                asked.append(i)
                yield block

    head = {"content-type": "text/event-stream"}
    below = httpx2.MockTransport(lambda request: httpx2.Response(200, headers=head, stream=Body()))
    transport = TranslateTransport(below, src, f"{VENDORS[vendor].codec}-sse")
    with httpx2.Client(transport=transport, trust_env=False) as http:
        client = VENDORS[vendor].clients[0](api_key="none", base_url=NOWHERE, http_client=http)
        for unit in VENDORS[vendor].create(client):
            if "I'll look" in unit.to_json():
                assert asked[-1] == at
                return
    pytest.fail("the text was not read")


# ---- ends ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kept", [FAILS, CUTS], ids=["fails", "cut"])
@pytest.mark.parametrize(("vendor", "src"), [("anthropic", "openai-chat-sse"), ("openai", "anthropic-sse")])
def test_a_failure_is_raised(vendor: str, src: str, kept: dict[str, bytes]) -> None:
    for helper in (False, True):
        with pytest.raises(VENDORS[vendor].sdk.APIError) as raised:
            read(VENDORS[vendor], through(vendor, src, kept[src]), helper=helper)
        said = json.dumps(raised.value.body)
        assert ("busy" in said) == (kept is FAILS)
        if kept is CUTS:
            assert "the input ended without a terminal unit" in said


@pytest.mark.parametrize(
    ("word", "error"), [("max_tokens", "LengthFinishReasonError"), ("refusal", "ContentFilterFinishReasonError")]
)
def test_half_an_answer_is_not_parsed(word: str, error: str) -> None:
    stream = ant.sse([ant.S, ant.block(0, "text"), ant.text(0, "Half"), ant.stop(0), ant.end(word), ant.STOP])
    found = read(Gpt, through("openai", "anthropic-sse", stream), helper=False)
    assert (found.text, found.counts) == ("Half", (15, 9))
    with pytest.raises(getattr(Gpt.sdk, error)):
        read(Gpt, through("openai", "anthropic-sse", stream), helper=True)


def test_tools_are_run_with_what_was_said() -> None:
    """The helper that runs tools calls ours, and goes on with their results."""
    sent: list[Any] = []
    answers = [TURN["openai-chat-sse"], chat.sse([chat.S, chat.say(content="Done."), chat.end("stop"), chat.U])]

    def upstream(request: Any) -> Any:
        sent.append(json.loads(request.content))
        return httpx2.Response(200, headers={"content-type": "text/event-stream"}, content=answers[len(sent) - 1])

    ran: list[Any] = []

    @Claude.sdk.beta_tool  # type: ignore[untyped-decorator]
    def find_concert(title: str, id: int, max: float) -> str:
        """Find one."""
        ran.append((title, id, max))
        return "found"

    @Claude.sdk.beta_tool  # type: ignore[untyped-decorator]
    def get_weather() -> str:
        """Say it."""
        ran.append(("weather",))
        return "rain"

    transport = TranslateTransport(httpx2.MockTransport(upstream), "openai-chat-sse", "anthropic-sse")
    with httpx2.Client(transport=transport, trust_env=False) as http:
        client = Claude.sdk.Anthropic(api_key="none", base_url=NOWHERE, http_client=http)
        runner = client.beta.messages.tool_runner(**Claude.ask, tools=[find_concert, get_weather], stream=True)
        texts = [stream.get_final_text() for stream in runner]
    assert texts == [SAID.text, "Done."]
    assert ran == [("Orléans", 9007199254740993, 24.5), ("weather",)]
    results = sent[1]["messages"][-1]["content"]
    assert [(each["tool_use_id"], each["content"]) for each in results] == [("toolu_1", "found"), ("toolu_2", "rain")]


# ---- over a socket ---------------------------------------------------------------------------------------

SOCKETS = [("anthropic", "openai-chat-sse"), ("openai", "anthropic-sse"), ("anthropic", "unievent-sse")]
SOCKETS += [("openai", "gateway-sse")]


@pytest.fixture(scope="module")
def sidecars() -> Iterator[dict[tuple[str, str], Process]]:
    """A sidecar of each pair, before one upstream: the first member of a path names what it streams."""
    pytest.importorskip("uvicorn", reason="uvicorn is not installed: pip install -e '.[serve]'")

    def script(path: str, body: bytes) -> Reply:
        _, kind, src, *_ = path.split("/")
        return Reply(odd({"turn": TURN, "fails": FAILS, "cut": CUTS}[kind][src]))

    with ExitStack() as stack:
        upstream = stack.enter_context(serving(script)).url
        made = {}
        for vendor, src in SOCKETS:
            made[vendor, src] = stack.enter_context(sidecar(upstream, src=src, dst=f"{VENDORS[vendor].codec}-sse"))
        yield made


@pytest.mark.anyio
@pytest.mark.parametrize(("vendor", "src"), SOCKETS)
async def test_it_reads_the_turn_from_a_sidecar(vendor: str, src: str, sidecars: dict[Any, Process]) -> None:
    url = f"http://{HOST}:{sidecars[vendor, src].port}/turn/{src}"
    for helper in (False, True):
        assert await aread(VENDORS[vendor], None, helper=helper, url=url) == meant(vendor)
        reading = partial(read, VENDORS[vendor], None, helper=helper, url=url)
        found = await anyio.to_thread.run_sync(reading)
        assert found == meant(vendor)


@pytest.mark.parametrize("kind", ["fails", "cut"])
@pytest.mark.parametrize(("vendor", "src"), SOCKETS[:2])
def test_a_failure_behind_a_sidecar_is_raised(vendor: str, src: str, kind: str, sidecars: dict[Any, Process]) -> None:
    url = f"http://{HOST}:{sidecars[vendor, src].port}/{kind}/{src}"
    for helper in (False, True):
        with pytest.raises(VENDORS[vendor].sdk.APIError) as raised:
            read(VENDORS[vendor], None, helper=helper, url=url)
        assert ("busy" in json.dumps(raised.value.body)) == (kind == "fails")


# ---- recordings ------------------------------------------------------------------------------------------


def _recordings() -> list[Path]:
    """Some of either format, by seed; ``TRANSLATE_LONG``: all of them, which takes a minute."""
    folders = [CORPUS / "anthropic", CORPUS / "openai-chat"]
    found = [sorted(folder.glob("*.sse")) for folder in folders]
    if not os.environ.get("TRANSLATE_LONG"):
        found = [random.Random(14).sample(each, min(4, len(each))) for each in found]
    return [path for each in found for path in each]


@pytest.mark.skipif(not CORPUS.is_dir(), reason=ABSENT)
@pytest.mark.parametrize("path", _recordings(), ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_it_reads_a_recording_as_we_assemble_it(path: Path) -> None:
    src = f"{path.parent.name}-sse"
    vendor = Gpt if path.parent.name == "anthropic" else Claude
    try:
        ours = assemble(path.read_bytes(), src, vendor.codec)
        out = b"".join(convert(path.read_bytes(), src, f"{vendor.codec}-sse", clock=lambda: NOW))
    except TranslateError as error:
        pytest.skip(f"it is refused, or ends in an error, for every reader: {type(error).__name__}")
    assert read(vendor, answering(out, pieces=False), helper=False) == vendor.whole(ours)
