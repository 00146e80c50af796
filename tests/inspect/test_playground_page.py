"""The playground in a browser."""

from __future__ import annotations

import base64
import json
import threading
import time
import zlib
from typing import Any

import pytest

import translate
from tests.inspect.browser import Page
from tests.inspect.streams import blocks, delta, stop
from tests.inspect.test_playground import BROKEN, TEXT
from tests.inspect.views import HOSTILE
from tests.peers.serving import PATIENCE
from translate.algebra.events import JsonObject
from translate.inspect import playground
from translate.inspect.examples import EXAMPLES
from translate.inspect.playground import Server, look

SIZE = 10_000


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
    put(bench, "#example", "cut", "change")
    says(bench, "#error", "UpstreamFailure")


def test_what_is_typed_is_seen_at_once(bench: Page) -> None:
    put(bench, "#text", TEXT.split("\n\n")[0] + "\n\n")
    says(bench, "#summary", "1 unit became")
    says(bench, "#error", "TruncatedStream")


def test_the_chunks_slide(bench: Page) -> None:
    put(bench, "#chunk", "300")
    says(bench, "#note", "chunks ✓ 69 of 69 units were said with the chunk")
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
    bench.run("document.querySelector('#source-1').focus()")
    bench.press("Enter")
    put(bench, "#edit", '{"no"')
    bench.click("#apply")
    says(bench, "#error", "unit 1")


def shared(page: Page, server: Server, fragment: str) -> None:
    """Open a link that someone has sent."""
    page.open("about:blank")
    page.open(f"{server.url}#{fragment}")
    page.wait("document.querySelector('#summary').textContent !== ''")


def fragment(page: Page, having: str) -> str:
    page.wait(f"location.hash.includes({json.dumps(having)})")
    return str(page.run("location.hash.slice(1)"))


def test_all_state_is_in_the_address_and_comes_back(bench: Page, server: Server) -> None:
    put(bench, "#example", "signed", "change")
    says(bench, "#to", "openai-chat-sse")
    put(bench, "#dst", "gemini-sse", "change")
    bench.click("#carry")
    bench.click("#lenient")
    put(bench, "#chunk", "300")
    put(bench, "#cut", "3000")
    put(bench, "#mark", "held", "change")
    says(bench, "#cut + output", "3,000 of")
    bench.click("#tab-output")
    found = fragment(bench, "tab=output")
    for part in ("example=signed", "to=gemini-sse", "carry=0", "lenient=1", "chunk=300", "cut=3000", "mark=held"):
        assert part in found
    asked = len(bench.requests)
    shared(bench, server, found)
    says(bench, "#cut + output", "3,000 of")
    values = "['#example', '#src', '#dst', '#chunk', '#mark'].map((each) => document.querySelector(each).value)"
    assert bench.run(values) == ["signed", "anthropic-sse", "gemini-sse", "300", "held"]
    assert bench.run("['#carry', '#lenient'].map((each) => document.querySelector(each).checked)") == [False, True]
    assert not bench.run("document.querySelector('#output').hidden")
    assert not any("#" in url for url in bench.requests[asked:] if "playground" in url and "#example" not in url)


def test_a_stream_of_ones_own_is_in_the_address_and_goes_to_no_server(bench: Page, server: Server) -> None:
    own = FRAMES.replace("Good", "Grüezi 🌍")
    paste(bench, own)
    says(bench, "#note", "Recognised as gateway-sse")
    found = fragment(bench, "text=")
    assert len(found) < len(own) / 4
    shared(bench, server, found)
    says(bench, "#note", "Recognised as gateway-sse")
    assert bench.run("document.querySelector('#text').value") == own
    assert bench.run("document.querySelector('#example').value") == ""


@pytest.mark.parametrize("wrong", ["text=too-long", "text=%%%", "text=q1bK", "text="])
def test_a_link_that_cannot_be_read_is_a_sentence_or_the_first_example(bench: Page, server: Server, wrong: str) -> None:
    bench.open("about:blank")
    bench.open(f"{server.url}#{wrong}&to=nothing&chunk=-1&cut=x&unit=source-99999&tab=evil&mark=%3Cb%3E")
    if wrong == "text=":
        says(bench, "#summary", "84 units became 70 units")
    else:
        says(bench, "#note", "The stream in this link cannot be read")


def test_a_link_cannot_make_the_page_swell(bench: Page, server: Server) -> None:
    packed = zlib.compressobj(9, zlib.DEFLATED, -15)
    bomb = packed.compress(b"a" * (200 << 20)) + packed.flush()
    code = base64.urlsafe_b64encode(bomb).decode().rstrip("=")
    bench.open("about:blank")
    bench.open(f"{server.url}#text={code}")
    says(bench, "#note", "The stream in this link cannot be read")


def test_the_output_is_copied_and_downloaded(bench: Page) -> None:
    bench.click("#tab-output")
    assert bench.run("document.querySelector('#written').textContent") == FRAMES
    bench.run("navigator.clipboard.writeText = async (text) => { window.taken = text; }")
    bench.click("#copy")
    bench.wait("document.querySelector('#copy').textContent === 'Copied'")
    assert bench.run("window.taken") == FRAMES
    bench.run("HTMLAnchorElement.prototype.click = function () { window.saved = [this.download, this.href]; }")
    bench.click("#save")
    name, url = bench.run("window.saved")
    assert name == "output.gateway.sse"
    assert bench.run(f"fetch({json.dumps(url)}).then(() => 1, () => 0)") == 0, "the policy lets no script read it"
    bench.errors.clear()


def test_each_example_shows_its_one_thing(bench: Page) -> None:
    names = [example.name for example in EXAMPLES]
    assert bench.run("[...document.querySelectorAll('#example option')].map((each) => each.value)") == ["", *names]
    for example in EXAMPLES:
        put(bench, "#example", example.name, "change")
        says(bench, "#from", example.source)
        says(bench, "#to", example.target)
        assert bench.run("document.querySelector('#shows').textContent") == example.shows


def test_each_control_has_a_line_of_help(bench: Page) -> None:
    for name in ("src", "dst", "chunk", "cut", "carry", "lenient"):
        by = f"document.querySelector('#{name}').getAttribute('aria-describedby')"
        told = f"document.getElementById({by})"
        assert bench.run(f"{told}.textContent").endswith(".")
        assert bench.run(f"{told}.getClientRects()[0].height / parseFloat(getComputedStyle({told}).lineHeight)") < 1.5


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
    says(bench, "#note", "Not recognised: it is ")
    assert bench.run("window.hurt") is None
    says(bench, "#summary", "0 units became 0 units")
    put(bench, "#text", TEXT)
    says(bench, "#summary", "84 units became 70 units")
    put(bench, "#cut", "0")
    says(bench, "#cut + output", "0 of")
    says(bench, "#note", "Recognised as unievent-sse")


FRAMES = b"".join(translate.convert(TEXT.encode(), "unievent-sse", "gateway-sse")).decode()


def paste(page: Page, text: str) -> None:
    """Put a text in place of all that is there, as people do."""
    page.click("#text")
    page.run("document.querySelector('#text').select()")
    page.run(
        "(() => { const data = new DataTransfer(); data.setData('text/plain', '');"
        "document.activeElement.dispatchEvent(new ClipboardEvent('paste', {clipboardData: data, bubbles: true})); })()"
    )
    page.call("Input.insertText", text=text)


def test_what_is_pasted_over_an_example_is_recognised(bench: Page) -> None:
    assert bench.run("document.querySelector('#src').value") == "unievent-sse"
    paste(bench, FRAMES)
    says(bench, "#note", "Recognised as gateway-sse")
    assert bench.run("document.querySelector('#error').hidden")
    assert bench.run("document.querySelector('#src').value") == "auto"
    assert bench.run("document.querySelector('#dst').value") != "gateway-sse", "into itself would show nothing"


def test_a_format_that_was_chosen_stands_until_another_stream_is_pasted(bench: Page) -> None:
    paste(bench, FRAMES)
    says(bench, "#note", "Recognised as gateway-sse")
    put(bench, "#src", "gateway-sse", "change")
    bench.wait("document.querySelector('#note').textContent === ''")
    bench.run("document.querySelector('#text').setSelectionRange(0, 0)")
    bench.call("Input.insertText", text="\n")
    bench.wait("document.querySelector('#text').value.startsWith('\\n')")
    says(bench, "#summary", "70 units became")
    assert bench.run("document.querySelector('#src').value") == "gateway-sse"
    paste(bench, TEXT)
    says(bench, "#note", "Recognised as unievent-sse")


@pytest.mark.parametrize("blank", ["", " \n\n"])
def test_no_text_is_no_error_but_three_lines_of_help(bench: Page, blank: str) -> None:
    put(bench, "#text", blank)
    bench.wait("!document.querySelector('#empty').hidden")
    assert bench.run("document.querySelectorAll('#empty p').length") == 3
    assert bench.run("document.querySelector('#error').hidden")
    assert bench.run("document.querySelectorAll('.unit').length") == 0
    assert bench.run("document.querySelector('#note').textContent") == ""
    before = calls(bench)
    put(bench, "#chunk", "300")
    put(bench, "#text", TEXT)
    says(bench, "#summary", "84 units became 70 units")
    assert bench.run("document.querySelector('#empty').hidden")
    assert calls(bench) == before + 1, "nothing is asked of nothing"


def test_a_server_that_is_gone_is_a_sentence(page: Page) -> None:
    with Server() as gone:
        thread = threading.Thread(target=gone.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        page.open(gone.url)
        says(page, "#summary", "84 units became 70 units")
        gone.shutdown()
        thread.join(PATIENCE)
    said = "document.querySelector('#note').textContent"
    for more in range(1, 20):
        # a connection that the browser had opened ahead is answered still
        put(page, "#text", FRAMES + more * "\n")
        page.wait(f"{said} !== ''")
        if "does not answer" in page.run(said):
            break
        page.run("new Promise((done) => setTimeout(done, 500))")
    assert page.run(said).startswith("The playground's server does not answer. Start it again, with: translate-streams")
    page.run("0")
    page.errors.clear()  # the browser says it too


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


@pytest.mark.alone
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


def test_at_400_percent_of_zoom_the_page_scrolls_and_the_list_has_room(bench: Page) -> None:
    bench.size(360, 225)
    assert bench.run("document.querySelector('#scroller').clientHeight") >= 200
    assert bench.run("document.querySelector('#text').clientHeight") >= 100
    assert bench.run("document.documentElement.scrollWidth") <= 360
    bench.run("document.querySelector('#source-70')?.focus(), document.querySelector('#source-0').focus()")
    bench.press("End")
    bench.wait("document.activeElement.id === 'source-83'")
