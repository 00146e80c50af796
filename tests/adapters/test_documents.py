"""``docs/adapters.md`` says what is so: its Python runs, against an upstream that is there."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.peers.serving import PATIENCE, Reply, serving
from translate import convert

httpx2: Any = pytest.importorskip("httpx2", reason="httpx2 is not installed: pip install -e '.[adapters]'")
pytest.importorskip("fastapi.sse", reason="fastapi is not installed: pip install -e '.[adapters]'")

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = (ROOT / "docs" / "adapters.md").read_text(encoding="utf-8")
BLOCKS = list(re.finditer(r"```python\n(.*?)```", DOCUMENT, re.S))
TURN = (ROOT / "examples" / "claude-turn.unievent.sse").read_bytes()
FRAMES = b"".join(convert(TURN, "unievent-sse", "gateway-sse"))
UPSTREAM = "http://127.0.0.1:9000"


@pytest.fixture(scope="module")
def spaces(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[dict[str, Any]]]:
    """What each block has defined, with all that came before it."""
    folder = tmp_path_factory.mktemp("docs")
    shutil.copytree(ROOT / "examples", folder / "examples")
    found: list[dict[str, Any]] = []
    with pytest.MonkeyPatch.context() as patch, serving(lambda path, body: Reply([TURN])) as upstream:
        patch.chdir(folder)
        namespace: dict[str, Any] = {"__name__": "adapters"}
        for block in BLOCKS:
            # blank lines ahead, so that an error names the line of the document
            ahead = "\n" * (DOCUMENT.count("\n", 0, block.start()) + 1)
            exec(compile(ahead + block[1].replace(UPSTREAM, upstream.url), "adapters.md", "exec"), namespace)
            found.append(dict(namespace))
        yield found


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def after(spaces: list[dict[str, Any]], marker: str) -> dict[str, Any]:
    """What the block with this marker left."""
    (found,) = (space for block, space in zip(BLOCKS, spaces, strict=True) if marker in block[1])
    return found


async def asked(app: Any, method: str, path: str, **fields: str) -> Any:
    transport = httpx2.ASGITransport(app)
    async with httpx2.AsyncClient(transport=transport, base_url="http://service", timeout=PATIENCE) as client:
        return await client.request(method, path, headers=fields)


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("marker", "method", "path"),
    [
        ("Route(\"/chat\"", "POST", "/chat"),
        ("@app.post", "POST", "/chat"),
        ("paths={", "GET", "/v1/stream"),
        ("@app.get", "GET", "/events"),
    ],
)
async def test_each_service_answers_in_frames(
    spaces: list[dict[str, Any]], marker: str, method: str, path: str
) -> None:
    answer = await asked(after(spaces, marker)["app"], method, path)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "text/event-stream; charset=utf-8")
    assert answer.content == FRAMES


@pytest.mark.anyio
async def test_the_field_accept_chooses(spaces: list[dict[str, Any]]) -> None:
    app = after(spaces, "offering")["offering"]
    assert (await asked(app, "GET", "/v1/stream")).content == TURN
    assert (await asked(app, "GET", "/v1/stream", accept="text/event-stream;format=gateway-sse")).content == FRAMES
    lines = await asked(app, "GET", "/v1/stream", accept="application/x-ndjson")
    assert lines.content == b"".join(convert(TURN, "unievent-sse", "gateway-jsonl"))


@pytest.mark.anyio
async def test_the_client_reads_frames(spaces: list[dict[str, Any]]) -> None:
    client = after(spaces, "client_of_frames")["client_of_frames"]
    assert (await client.get("/v1/stream")).content == FRAMES
