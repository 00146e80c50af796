"""The playground: what it answers, whom it refuses, and the page in a browser."""

from __future__ import annotations

import http.client
import json
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

import translate
from tests.inspect import streams
from tests.inspect.streams import blocks
from tests.peers.serving import PATIENCE
from translate.inspect import playground
from translate.inspect.playground import CHUNKS, LIMIT, Server, look

TURN = Path(__file__).resolve().parents[2] / "examples" / "claude-turn.unievent.sse"
TEXT = TURN.read_text("utf-8")
ASKED = {"text": TEXT, "from": "unievent-sse", "to": "gateway-sse"}
BROKEN = blocks(streams.BROKEN).decode()
JSON = {"Content-Type": "application/json"}

Ask: TypeAlias = Callable[..., tuple[int, dict[str, str], bytes]]


@pytest.fixture
def ask(server: Server) -> Ask:
    def ask(method: str, path: str, body: bytes | None = None, **fields: str) -> tuple[int, dict[str, str], bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=PATIENCE)
        try:
            connection.request(method, path, body, {name.replace("_", "-"): value for name, value in fields.items()})
            answer = connection.getresponse()
            return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()
        finally:
            connection.close()

    return ask


# ---- what it answers


def test_it_shows_what_became_of_a_stream(ask: Ask) -> None:
    status, fields, body = ask("POST", "/playground/view", json.dumps(ASKED).encode(), **JSON)
    assert (status, fields["content-type"]) == (200, "application/json")
    seen = json.loads(body)
    assert (len(seen["source"]["units"]), len(seen["target"]["units"])) == (84, 70)
    home = translate.convert(seen["output"].encode(), "gateway-sse", "unievent")
    assert list(home) == list(translate.convert(TEXT.encode(), "unievent-sse", "unievent"))


def test_the_page_is_there_with_the_examples_and_a_policy(ask: Ask) -> None:
    status, fields, body = ask("GET", "/playground")
    assert status == 200
    assert "default-src 'none'" in fields["content-security-policy"]
    assert "frame-ancestors 'none'" in fields["content-security-policy"]
    assert "unsafe" not in fields["content-security-policy"]
    assert fields["cross-origin-resource-policy"] == "same-origin"
    assert (fields["x-content-type-options"], fields["referrer-policy"]) == ("nosniff", "no-referrer")
    assert (b"claude-turn.unievent.sse" in body, b"cut.unievent.sse" in body) == (True, True)
    assert ask("GET", "/")[1]["location"] == "/playground"
    assert ask("HEAD", "/playground")[2] == b""


@pytest.mark.parametrize("size", [1, 7, 500, len(TEXT.encode())])
def test_chunks_change_nothing_and_each_unit_is_said_as_soon_as_it_can_be(size: int) -> None:
    whole, cut = look(ASKED), look({**ASKED, "chunk": size})
    assert cut["chunks"]["same"] is True
    assert cut["chunks"]["count"] == -(-len(TEXT.encode()) // size)
    if size < len(TEXT.encode()):
        said = [unit["chunk"] for unit in cut["source"]["units"]]
        assert said == sorted(said)
        assert cut["chunks"]["prompt"] == [69, 69]
        for unit in cut["target"]["units"]:
            assert not unit["from"] or unit["chunk"] == cut["source"]["units"][unit["from"][-1]]["chunk"]
    for side in ("source", "target"):
        for unit, same in zip(cut[side]["units"], whole[side]["units"], strict=True):
            assert unit["kind"] == same["kind"]


def test_a_long_stream_comes_in_larger_chunks() -> None:
    chunks = look({**ASKED, "text": TEXT + "\n" * 3 * CHUNKS, "chunk": 1})["chunks"]
    assert chunks["size"] == 4
    assert chunks["count"] < CHUNKS


def test_a_chunk_is_the_one_that_completes_the_unit() -> None:
    seen = look({**ASKED, "chunk": 100})
    for unit in seen["source"]["units"][:20]:
        ends = TEXT.encode().index(unit["raw"].encode()) + len(unit["raw"].encode()) + 2
        assert unit["chunk"] == (ends - 1) // 100


def test_a_stream_that_is_cut_ends_in_an_error() -> None:
    seen = look({**ASKED, "cut": 5000})
    assert seen["bytes"] == {"all": len(TEXT.encode()), "read": 5000}
    assert seen["error"]["type"] == "TruncatedStream"
    assert len(seen["source"]["units"]) < 84
    assert look({**ASKED, "cut": 0})["source"]["units"] == []


def test_the_carry_can_be_dropped() -> None:
    assert any(unit["carry"] for unit in look(ASKED)["target"]["units"])
    assert not any(unit["carry"] for unit in look({**ASKED, "loss": "drop"})["target"]["units"])


@pytest.mark.parametrize("cut", [0, 3, 100, len(TEXT.encode())])
def test_a_stream_is_recognised_by_all_of_it(cut: int) -> None:
    seen = look({**ASKED, "from": "auto", "cut": cut})
    assert (seen["source"]["format"], seen["bytes"]["read"]) == ("unievent-sse", cut)


@pytest.mark.parametrize(
    ("text", "what"), [("", "it is empty"), ("???", "neither JSON nor SSE"), ("\n", "blank lines")]
)
def test_what_is_not_recognised_is_an_answer(ask: Ask, text: str, what: str) -> None:
    status, _, body = ask(
        "POST", "/playground/view", json.dumps({**ASKED, "from": "auto", "text": text}).encode(), **JSON
    )
    assert (status, [*json.loads(body)]) == (200, ["problem"])
    assert what in json.loads(body)["problem"]


def test_a_stream_can_be_mended() -> None:
    asked = {"text": BROKEN, "from": "gateway-sse", "to": "unievent-sse"}
    strict, lenient = (look({**asked, "strict": strict}) for strict in (True, False))
    assert (strict["error"]["type"], strict["repairs"]) == ("GrammarError", [])
    assert lenient["error"] is None
    assert lenient["repairs"] != []


@pytest.mark.parametrize(
    "wrong",
    [
        b"no JSON",
        b"[]",
        b"{}",
        json.dumps({**ASKED, "from": "nothing"}).encode(),
        json.dumps({**ASKED, "chunk": -1}).encode(),
        json.dumps({**ASKED, "chunk": True}).encode(),
        json.dumps({**ASKED, "loss": "gain"}).encode(),
        json.dumps({**ASKED, "text": 1}).encode(),
        json.dumps({**ASKED, "text": "x" * (LIMIT + 1)}).encode(),
        b"[" * 100_000,
    ],
    ids=lambda wrong: wrong[-20:].decode(),
)
def test_what_makes_no_sense_is_answered_with_400(ask: Ask, wrong: bytes) -> None:
    status, fields, body = ask("POST", "/playground/view", wrong, **JSON)
    assert (status, fields["content-type"]) == (400, "text/plain; charset=utf-8")
    assert body.count(b"\n") == 1


# ---- whom it refuses


def test_another_name_for_this_machine_is_refused(ask: Ask, server: Server) -> None:
    port = server.server_port
    for host in (
        "evil.example",
        f"evil.example:{port}",
        "127.0.0.1.evil.example",
        "localhost.evil:1",
        "",
        "a@localhost",
    ):
        assert ask("GET", "/playground", Host=host)[0] == 403, host
        assert ask("POST", "/playground/view", b"{}", **JSON, Host=host)[0] == 403, host
    for host in ("127.0.0.1", f"127.0.0.1:{port}", f"localhost:{port}", "LOCALHOST"):
        assert ask("GET", "/playground", Host=host)[0] == 200, host


def test_another_site_may_not_ask(ask: Ask, server: Server) -> None:
    own = f"http://127.0.0.1:{server.server_port}"
    body = json.dumps(ASKED).encode()
    for origin in ("http://evil.example", "null", f"http://localhost:{server.server_port}", f"{own}1"):
        assert ask("POST", "/playground/view", body, **JSON, Origin=origin)[0] == 403, origin
    assert ask("POST", "/playground/view", body, **JSON, Sec_Fetch_Site="cross-site")[0] == 403
    # what a form of any site may send without asking first
    assert ask("POST", "/playground/view", body, Content_Type="text/plain")[0] == 415
    assert ask("POST", "/playground/view", body, **JSON, Origin=own, Sec_Fetch_Site="same-origin")[0] == 200


def test_other_methods_paths_and_sizes_are_refused(ask: Ask) -> None:
    assert ask("GET", "/elsewhere")[0] == 404
    assert ask("GET", "/playground/../etc/passwd")[0] == 404
    assert ask("DELETE", "/playground")[0] == 405
    assert ask("POST", "/playground", b"{}", **JSON)[0] == 405
    assert ask("GET", "/playground/view")[0] == 404
    for length in (str(10**9), "9" * 5000):
        assert ask("POST", "/playground/view", **JSON, Content_Length=length)[0] == 413


HOST, KIND, LENGTH = ("host", "localhost"), ("content-type", "application/json"), ("content-length", "2")


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ([HOST, KIND, LENGTH], None),
        *(([HOST, KIND, ("content-length", length)], 411) for length in ("-1", "\u0661", "1x", "")),
        ([HOST, KIND], 411),
        ([HOST, KIND, LENGTH, LENGTH], 411),
        ([HOST, KIND, LENGTH, ("transfer-encoding", "chunked")], 411),
        ([HOST, HOST, KIND, LENGTH], 403),
        ([HOST, ("host", "evil.example"), KIND, LENGTH], 403),
        ([KIND, LENGTH], 403),
    ],
)
def test_fields_that_leave_doubt_are_refused(fields: list[tuple[str, str]], status: int | None) -> None:
    reply = playground.refusal("POST", "/playground/view", fields)
    assert (reply.status if reply is not None else None) == status
