"""The commands with ``curl`` in the pages of formats print what is shown, behind the sidecar that the page starts."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from tests.adapters.sidecars import sidecar
from tests.codecs import anthropic_streams as ant
from tests.codecs import chat_streams as chat
from tests.peers.serving import HOST, PATIENCE, Reply, serving
from tests.test_documentation import blocks, says

pytest.importorskip("uvicorn", reason="uvicorn is not installed: pip install -e '.[serve]'")
pytest.importorskip("httpx2", reason="httpx2 is not installed: pip install -e '.[serve]'")

COUNTS = {"input_tokens": 3, "output_tokens": 1}
TEXTS = ("Hello", " there")
_CHAT = [chat.S, *(chat.say(content=text) for text in TEXTS), chat.end("stop"), chat.U]
_BLOCK = [ant.block(0, "text"), *(ant.text(0, text) for text in TEXTS), ant.stop(0)]
UPSTREAMS = {
    "openai-chat-sse": chat.sse(_CHAT),
    "anthropic-sse": ant.sse([ant.start(COUNTS), *_BLOCK, ant.end("end_turn", 2), ant.STOP]),
}
"""What the server of a page streams."""


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
@pytest.mark.parametrize("page", ["anthropic.md", "openai-chat.md"])
def test_a_command_prints_what_is_shown(page: str) -> None:
    found = blocks(page)
    at = next(i for i, block in enumerate(found) if block.text.startswith("$ curl "))
    program, serve, *words = found[at - 1].text.split()
    assert (program, serve) == ("translate-streams", "serve")
    options = dict(zip(words[::2], words[1::2], strict=True))
    assert options.pop("--upstream") == "http://127.0.0.1:9000"
    src, dst = options.pop("--from"), options.pop("--to")
    command, _, shown = found[at].text.removeprefix("$ ").partition("\n")
    assert command.count(":8080/") == 1
    rest = [word for pair in options.items() for word in pair]
    with (
        serving(lambda path, body: Reply([UPSTREAMS[src]])) as server,
        sidecar(server.url, *rest, src=src, dst=dst) as made,
    ):
        there = command.replace("127.0.0.1:8080/", f"{HOST}:{made.port}/").replace("curl ", "curl --noproxy '*' ", 1)
        done = subprocess.run(["sh", "-c", there], capture_output=True, timeout=PATIENCE, check=True)
        assert says(shown, done.stdout.decode()), done.stdout.decode()
    assert b'"content": "Hi"' in server.asked[0]
