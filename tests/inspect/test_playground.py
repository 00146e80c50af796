"""The playground: what it answers, whom it refuses, and the page in a browser."""

from __future__ import annotations

import http.client
import json
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import pytest

import translate
from tests.inspect import streams
from tests.inspect.browser import Page
from tests.inspect.streams import blocks, delta, stop
from tests.inspect.views import HOSTILE
from tests.peers.serving import PATIENCE
from translate.events import JsonObject
from translate.inspect import playground
from translate.inspect.playground import CHUNKS, LIMIT, Server, look

TURN = Path(__file__).resolve().parents[2] / "examples" / "claude-turn.unievent.sse"
TEXT = TURN.read_text("utf-8")
SIZE = 10_000
ASKED = {"text": TEXT, "from": "unievent-sse", "to": "gateway-sse"}
BROKEN = blocks(streams.BROKEN).decode()
JSON = {"Content-Type": "application/json"}

Ask: TypeAlias = Callable[..., tuple[int, dict[str, str], bytes]]


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield server
        server.shutdown()
        thread.join(PATIENCE)
        assert not thread.is_alive()


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


@pytest.mark.parametrize("text", ["", "???", "\n"])
def test_what_is_not_recognised_is_an_answer(ask: Ask, text: str) -> None:
    status, _, body = ask(
        "POST", "/playground/view", json.dumps({**ASKED, "from": "auto", "text": text}).encode(), **JSON
    )
    assert (status, json.loads(body)) == (200, {"problem": "the format is not recognised; choose one"})


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
    for length in ("-1", "١", "1x", ""):
        fields = [("host", "localhost"), ("content-type", "application/json"), ("content-length", length)]
        reply = playground.refusal("POST", "/playground/view", fields)
        assert reply is not None
        assert reply.status == 411
    twice = [("host", "localhost"), ("content-type", "application/json"), *[("content-length", n) for n in "12"]]
    reply = playground.refusal("POST", "/playground/view", twice)
    assert reply is not None
    assert reply.status == 411


# ---- the page


@pytest.fixture
def bench(page: Page, server: Server) -> Page:
    page.size(1500, 900)
    page.open(server.url)
    page.wait("document.querySelectorAll('#target .unit').length > 0")
    return page


def says(page: Page, selector: str, text: str) -> None:
    page.wait(f"document.querySelector({json.dumps(selector)}).textContent.includes({json.dumps(text)})")


def put(page: Page, selector: str, value: str, event: str = "input") -> None:
    found = f"document.querySelector({json.dumps(selector)})"
    page.run(f"{found}.value = {json.dumps(value)}, {found}.dispatchEvent(new Event({json.dumps(event)}))")


def test_an_example_is_there_at_once(bench: Page, server: Server) -> None:
    says(bench, "#summary", "84 units became 70 units")
    assert {url.removeprefix(server.url) for url in bench.requests} <= {"", "/view", "data:,"}
    bench.hover("#source-0")
    lit = bench.run("[...document.querySelectorAll('.unit.lit')].map((unit) => unit.id)")
    assert lit == ["source-0", "target-1", "target-2"]
    put(bench, "#example", "1", "change")
    says(bench, "#error", "UpstreamFailure")


def test_what_is_typed_is_seen_at_once(bench: Page) -> None:
    put(bench, "#text", TEXT.split("\n\n")[0] + "\n\n")
    says(bench, "#summary", "1 unit became")
    says(bench, "#error", "TruncatedStream")


def test_the_chunks_slide(bench: Page) -> None:
    put(bench, "#chunk", "300")
    says(bench, "#note", "the output is the same; 69 of 69 units were said with the chunk")
    assert bench.run("document.querySelector('#source-0 .time').textContent").startswith("chunk ")
    put(bench, "#chunk", "1000")
    bench.wait("document.querySelector('#note').textContent === ''")


def test_the_stream_is_cut_and_whole_again(bench: Page) -> None:
    put(bench, "#cut", "5000")
    says(bench, "#error", "TruncatedStream")
    put(bench, "#cut", "999999")
    bench.wait("document.querySelector('#error').hidden")
    says(bench, "#summary", "84 units became 70 units")


def test_the_carry_is_dropped(bench: Page) -> None:
    says(bench, "#show-carries", "Carries 68")
    bench.click("#carry")
    says(bench, "#show-carries", "Carries 0")


def test_a_unit_is_changed(bench: Page) -> None:
    bench.run("document.querySelector('#source-1').focus()")
    bench.press("Enter")
    raw = bench.run("document.querySelector('#edit').value")
    assert json.loads(raw)["content_items"][0]["thinking"] == " user"
    put(bench, "#edit", raw.replace(" user", " changed"))
    bench.click("#apply")
    says(bench, "#source-1 .label", "changed")
    says(bench, "#target-3 .label", "changed")
    assert " changed" in bench.run("document.querySelector('#text').value")
    bench.wait("document.activeElement.id === 'source-1'")


def test_a_unit_that_is_broken_says_so(bench: Page) -> None:
    bench.run("document.querySelector('#source-2').focus()")
    bench.press("Enter")
    put(bench, "#edit", '{"no"')
    bench.click("#apply")
    says(bench, "#error", "unit 2")


def test_the_output_goes_back(bench: Page) -> None:
    bench.click("#back")
    says(bench, "#from", "gateway-sse")
    says(bench, "#summary", "70 units became 84 units")
    bench.wait("document.querySelector('#show-carries').textContent === 'Carries 0'")


def test_another_target_is_chosen(bench: Page) -> None:
    put(bench, "#dst", "events-jsonl", "change")
    says(bench, "#to", "events-jsonl")


def test_what_is_not_recognised_is_said_and_not_run(bench: Page) -> None:
    put(bench, "#src", "auto", "change")
    put(bench, "#text", "\n".join(HOSTILE).replace("\x00", ""))
    says(bench, "#note", "the format is not recognised; choose one")
    assert bench.run("window.hurt") is None
    says(bench, "#summary", "0 units became 0 units")
    put(bench, "#text", TEXT)
    says(bench, "#summary", "84 units became 70 units")
    put(bench, "#cut", "0")
    says(bench, "#cut + output", "0 of")
    says(bench, "#note", "Recognised as unievent-sse")
    put(bench, "#text", "")
    says(bench, "#note", "the format is not recognised; choose one")


def test_a_stream_is_mended_when_that_is_asked_for(bench: Page) -> None:
    put(bench, "#src", "gateway-sse", "change")
    put(bench, "#text", BROKEN)
    says(bench, "#error", "GrammarError")
    bench.click("#lenient")
    bench.wait("document.querySelector('#error').hidden")
    bench.click("#lenient")
    says(bench, "#error", "GrammarError")


def calls(page: Page) -> int:
    page.run("0")  # what happened before is known then
    return sum(url.endswith("/view") for url in page.requests)


def test_one_request_is_under_way_and_the_newest_state_is_asked_next(
    bench: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    came, going = threading.Event(), threading.Event()
    asked: list[int] = []

    def slow(wanted: dict[str, Any]) -> JsonObject:
        asked.append(wanted["cut"])
        came.set()
        assert going.wait(PATIENCE)
        return look(wanted)

    monkeypatch.setattr(playground, "look", slow)
    before = calls(bench)
    put(bench, "#cut", "1000")
    assert came.wait(PATIENCE)
    for cut in range(20):
        put(bench, "#cut", str(5000 + cut))
        time.sleep(0.07)
    assert calls(bench) == before + 1
    going.set()
    says(bench, "#cut + output", "5,019 of")
    assert (calls(bench), asked) == (before + 2, [1000, 5019])


def test_a_stream_of_ten_thousand_units_is_drawn_in_a_moment(bench: Page, summary: list[str]) -> None:
    units = [delta(i, "text.delta", text=f"word {i}") for i in range(SIZE)]
    put(bench, "#src", "unievent-sse", "change")
    began = time.monotonic()
    put(bench, "#text", blocks([*units, stop(SIZE)]).decode())
    says(bench, "#summary", f"{SIZE + 1:,} units became")
    took = time.monotonic() - began
    summary.append(f"playground, {SIZE:,} units: drawn {took:.2f} s after they were pasted")
    assert took < 10


def drop(page: Page, content: bytes) -> None:
    page.run(
        "(() => { const data = new DataTransfer();"
        f"data.items.add(new File([new Uint8Array({[*content]})], 'frames.sse'));"
        "document.querySelector('#text').dispatchEvent(new DragEvent('drop', {dataTransfer: data})); })()"
    )


def test_a_file_is_dropped(bench: Page) -> None:
    drop(bench, b"".join(translate.convert(TEXT, "unievent-sse", "gateway-sse")))
    says(bench, "#note", "Recognised as gateway-sse")
    says(bench, "#from", "gateway-sse")


def test_a_file_that_is_not_text_is_not_changed_into_one(bench: Page) -> None:
    shown = bench.run("document.querySelector('#text').value")
    drop(bench, TEXT.encode().replace(b"The", b"\xffhe", 1))
    says(bench, "#note", "translate-streams inspect")
    assert bench.run("document.querySelector('#text').value") == shown


def test_it_is_usable_on_a_narrow_screen(bench: Page) -> None:
    bench.size(380, 800)
    assert bench.run("document.documentElement.scrollWidth") <= 380
    assert bench.run("document.querySelector('#scroller').clientHeight") > 150
