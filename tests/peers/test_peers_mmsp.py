"""mmsp's own client reads what we made of gateway frames, and its own server feeds us."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from importlib.metadata import version
from typing import Any

import anyio
import pytest

from tests.peers.reference import answer, client, its_loop_ends, mmsp, record, user
from tests.peers.scripts import FRAMES, HOSTILE, NOW, SIGNATURE, WHOLE, cut, gateway
from tests.peers.serving import HOST, PATIENCE, Reply, Script, odd, saying, serving
from tests.wire import Object, attempt
from translate import UpstreamFailure, assemble, check, convert

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("nothing_left")]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(autouse=True)
def direct(monkeypatch: pytest.MonkeyPatch) -> None:
    """No proxy of the environment is asked for loopback."""
    monkeypatch.setenv("no_proxy", HOST)
    monkeypatch.setenv("NO_PROXY", HOST)


@pytest.fixture(scope="module", autouse=True)
def told(summary: list[str]) -> None:
    summary.append(f"peer: mmsp {version('mmsp')}")


def unievents(stream: bytes, **options: Any) -> bytes:
    return b"".join(convert(odd(stream), "gateway-sse", "unievent-sse", clock=lambda: NOW, **options))


def undated(message: Object) -> Object:
    return {key: value for key, value in message.items() if key != "created_at"}


# ---- its client ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["turn", "handover", "hostile"])
async def test_its_history_is_the_message(name: str) -> None:
    stream = gateway(name)
    said = unievents(stream)
    assert b": carry " in said
    with serving(saying(Reply(odd(said)))) as server:
        async with client(server.server_port) as peer:
            events = await answer(peer)
            asked, message = peer.get_history()
    ours = assemble(said, "unievent-sse", "unievent")
    assert undated(message) == assemble(stream, "gateway-sse", "unievent") == undated(ours)
    assert message["created_at"] == ours["created_at"] == NOW
    assert undated(asked) == user("Hi")
    # its events are ours, one by one, without what it skips by rule
    assert events == units(unievents(stream, loss="drop"))


async def test_a_signature_returns_with_the_next_turn() -> None:
    said = unievents(gateway("turn"))
    with serving(saying(Reply([said]), Reply([said]))) as server:
        async with client(server.server_port) as peer:
            await answer(peer, "one")
            await answer(peer, "two")
    first, second = (json.loads(body)["messages"] for body in server.asked)
    assert [message["role"] for message in first] == ["user"]
    assert [message["role"] for message in second] == ["user", "assistant", "user"]
    items = second[1]["content_items"]
    assert items == assemble(gateway("turn"), "gateway-sse", "unievent")["content_items"]
    assert items[0]["fidelity"] == {"signature": SIGNATURE}


async def test_hostile_text_arrives_whole() -> None:
    with serving(saying(Reply(odd(unievents(gateway("hostile")))))) as server:
        async with client(server.server_port) as peer:
            events = await answer(peer)
            items = peer.get_history()[1]["content_items"]
    deltas = [event["content_items"][0] for event in events if event["event_type"] == "delta"]
    assert [item["text"] for item in deltas if item["type"] == "text.delta"] == list(HOSTILE)
    assert [item["thinking"] for item in deltas if item["type"] == "thinking.delta"][: len(HOSTILE)] == list(HOSTILE)
    thought, text, raw, escaped = items
    assert thought["thinking"] == text["text"] == WHOLE
    assert thought["fidelity"] == {"signature": SIGNATURE, "\u2028": "\x85\u2029"}
    assert raw["arguments"] == escaped["arguments"] == {"\u2028 k": WHOLE, "n": 2**70}
    assert (escaped["tool_call_id"], escaped["name"]) == ("toolu_\u2028", "say\x85")


@pytest.mark.parametrize(("name", "code"), [("error", 503), ("error alone", 429)])
async def test_an_error_frame_is_raised(name: str, code: int) -> None:
    with serving(saying(Reply(odd(unievents(gateway(name), errors="encode"))))) as server:
        async with client(server.server_port) as peer:
            with pytest.raises(mmsp.UpstreamError) as raised:
                await answer(peer)
            assert peer.get_history() == []
    assert raised.value.status == code
    assert FRAMES[name][-1]["message"] in str(raised.value)


@pytest.mark.parametrize("name", ["turn", "handover", "hostile"])
async def test_a_cut_stream_is_raised_where_errors_are_encoded(name: str) -> None:
    with serving(saying(Reply(odd(unievents(cut(name), errors="encode"))))) as server:
        async with client(server.server_port) as peer:
            with pytest.raises(mmsp.UpstreamError) as raised:
                await answer(peer)
            assert peer.get_history() == []
    assert raised.value.status == 502


@pytest.mark.parametrize("end", ["chunked", "hang up", "close"])
async def test_a_cut_stream_is_no_answer_where_errors_are_raised(end: Any) -> None:
    said, error = attempt(cut("turn"), "gateway-sse", "unievent-sse")
    assert type(error).__name__ == "TruncatedStream"
    with serving(saying(Reply(odd(said), end=end))) as server:
        async with client(server.server_port) as peer:
            with pytest.raises(Exception, match=r"stream ended without|peer closed connection"):
                await answer(peer)
            assert peer.get_history() == []


async def test_it_is_told_what_is_said_before_the_rest_is_asked_for() -> None:
    go = threading.Event()
    stream = gateway("turn")
    half = stream.index(b"event: contentStart")

    def live() -> Iterator[bytes]:
        yield stream[:half]
        assert go.wait(PATIENCE)
        yield stream[half:]

    with serving(saying(Reply(convert(live(), "gateway-sse", "unievent-sse")))) as server:
        async with client(server.server_port) as peer:
            kinds = []
            with anyio.fail_after(PATIENCE):
                async for event in peer.streaming_response_stateful(message=user("Hi"), config={}):
                    kinds += [item["type"] for item in event["content_items"]]
                    if kinds[-1] == "thinking.done":
                        assert not go.is_set()
                        go.set()
    assert kinds[-1] == "tool_call.done"


# ---- its server ------------------------------------------------------------------------------------------


SOUND = [sound for piece in HOSTILE if (sound := piece.encode("utf-8", "ignore").decode())]
"""Hostile text without lone surrogates, which what mmsp builds on does not take."""


def hostile_upstream() -> tuple[Object, ...]:
    """An answer of the upstream in hostile text."""
    arguments = json.dumps({"\u2028 k": "".join(SOUND)}, ensure_ascii=False)
    pieces = [arguments[at : at + 9_973] for at in range(0, len(arguments), 9_973)]
    delta = {"stop_reason": "tool_use", "stop_sequence": None}
    return (
        *record.message_start(),
        *record.block(0, {"type": "text", "text": ""}, [{"type": "text_delta", "text": piece} for piece in SOUND]),
        *record.tool_block(1, "toolu_1", "say", pieces),
        {"type": "message_delta", "delta": delta, "usage": {"output_tokens": 187}},
        {"type": "message_stop"},
    )


UPSTREAMS: dict[str, Any] = {
    **record.EXAMPLES,
    "hostile": record.Example(hostile_upstream(), last_has="finish_reason"),
}


@pytest.mark.parametrize("name", UPSTREAMS)
async def test_its_server_feeds_us(name: str) -> None:
    with its_loop_ends():
        body = record.record(UPSTREAMS[name], 0, PATIENCE)
    assert check(body, "unievent-sse") == []
    frames = b"".join(convert(odd(body), "unievent-sse", "gateway-sse", errors="encode"))
    assert check(frames, "gateway-sse") == []
    home = list(convert(odd(frames), "gateway-sse", "unievent-sse", errors="encode"))
    assert units(b"".join(home)) == units(body)
    if name == "cut":
        with pytest.raises(UpstreamFailure):
            list(convert(body, "unievent-sse", "gateway"))


def units(stream: bytes) -> list[Any]:
    """What the blocks say; ``[DONE]`` is one of them."""
    found = [line[6:] for line in stream.split(b"\n") if line.startswith(b"data: ")]
    assert found.pop() == b"[DONE]"
    return [json.loads(data) for data in found]


async def read(port: int) -> Object:
    """What its client has of an answer."""
    async with client(port, record.MODEL) as peer:
        await answer(peer)
        return undated(peer.get_history()[1])


def relay(port: int) -> Script:
    """The server of mmsp, through gateway frames."""

    def reply(path: str, body: bytes) -> Reply:
        frames = convert(odd(record.fetch(port, PATIENCE)), "unievent-sse", "gateway-sse")
        return Reply(convert(frames, "gateway-sse", "unievent-sse"))

    return reply


async def test_its_client_cannot_tell_us_from_its_server() -> None:
    frames = UPSTREAMS["claude-turn"].frames
    with its_loop_ends(), record.upstream(frames, 0) as upstream, record.mmsp_server(upstream) as port:
        with serving(relay(port)) as server:
            assert await read(port) == await read(server.server_port)


async def test_its_client_reads_through_us_what_it_cannot_read_from_its_server() -> None:
    """Its server writes U+2028 as it is, its client takes it for the end of a line."""
    frames = UPSTREAMS["hostile"].frames
    with its_loop_ends(), record.upstream(frames, 0) as upstream, record.mmsp_server(upstream) as port:
        with pytest.raises(json.JSONDecodeError):
            await read(port)
        with serving(relay(port)) as server:
            text, call = (await read(server.server_port))["content_items"]
    assert text["text"] == call["arguments"]["\u2028 k"] == "".join(SOUND)
