"""Write the streams in this folder that no server was asked for: `python examples/make.py`, with the project installed.

`signed`, `image` and `broken` are made up by hand; `home` is what becomes of `signed` on its way through the gateway.
The texts and frames are those of `record.py`, where it has them.
"""

import base64
import json
import struct
import sys
import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from record import message_start, text_block, thinking_block

from translate import convert

PIXELS = 24


def png() -> bytes:
    """A small picture: a sun over a field."""
    rows = b""
    for y in range(PIXELS):
        rows += b"\0"
        for x in range(PIXELS):
            sun = (x - 17) ** 2 + (y - 6) ** 2 <= 14
            rows += bytes((255, 196, 60) if sun else (120, 190, 240) if y < 15 else (90, 160, 80))

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", PIXELS, PIXELS, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b"")


def signed() -> Iterator[Mapping[str, Any]]:
    """A turn of Anthropic Messages whose thinking is signed."""
    yield from message_start()
    yield from thinking_block(0, "The forecast says rain after nine, so an umbrella is worth carrying.")
    yield from text_block(1, "Take an umbrella: it will rain after nine.")
    usage = {"output_tokens": 31}
    yield {"type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence": None}, "usage": usage}
    yield {"type": "message_stop"}


def image() -> Iterator[Mapping[str, Any]]:
    """An answer of Gemini with a picture between two texts."""

    def chunk(part: Mapping[str, Any], **more: Any) -> Mapping[str, Any]:
        candidate = {"content": {"parts": [part], "role": "model"}, "index": 0, **more}
        counts = {"promptTokenCount": 12, "candidatesTokenCount": 40, "totalTokenCount": 52}
        return {"candidates": [candidate], "usageMetadata": counts, "modelVersion": "gemini-example"}

    yield chunk({"text": "Here is the field"})
    yield chunk({"text": " at noon:"})
    yield chunk({"inlineData": {"mimeType": "image/png", "data": base64.b64encode(png()).decode()}})
    yield chunk({"text": "The sun stands high."}, finishReason="STOP")


def broken() -> Iterator[Mapping[str, Any]]:
    """Frames of the gateway, of which one that ends a text is missing."""
    model = {"name": "example-model", "tier": "standard", "publisher": "example", "provider": "example"}
    usage = {"provider": "example", "inputTokens": 9, "outputTokens": 14, "finishReason": "toolCall"}
    call = {"id": "call_example", "name": "get_weather", "arguments": '{"city": "Orléans", "hours": [21, 22]}'}
    for value in (
        {"type": "streamStart", "model": model},
        {"type": "contentStart"},
        {"type": "content", "value": "Let me look"},
        {"type": "content", "value": " at the forecast."},
        {"type": "tool", "value": call},
        {"type": "stop", "usage": usage},
    ):
        yield {"success": True, "code": 200, "value": value}


def sse(frames: Iterable[Mapping[str, Any]], *, named: bool = False) -> bytes:
    blocks = []
    for frame in frames:
        name = f"event: {frame['type']}\n" if named else ""
        data = json.dumps(frame, ensure_ascii=False, separators=(",", ":"))
        blocks.append(f"{name}data: {data}\n\n")
    return "".join(blocks).encode()


def files() -> dict[str, bytes]:
    """Name → what the file holds."""
    turn = sse(signed(), named=True)
    return {
        "signed.anthropic.sse": turn,
        "image.gemini.sse": sse(image()),
        "home.gateway.sse": b"".join(convert(turn, "anthropic-sse", "gateway-sse", clock=lambda: 1796036424497)),
        "broken.gateway.sse": sse(broken()),
    }


if __name__ == "__main__":
    for name, content in files().items():
        (Path(__file__).parent / name).write_bytes(content)
        print(f"{name}: {len(content)} bytes")
