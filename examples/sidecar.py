"""mmsp's client talks to mmsp's server over a wire that neither of them knows, through two sidecars.

    python -m pip install mmsp -e ".[serve]"
    python examples/sidecar.py

    mmsp's client <- unievent-sse - sidecar <- gateway-sse - sidecar <- unievent-sse - mmsp's server <- a script

The client's events and its message are those it gets without the sidecars; if they are not, the exit status is 1.
Everything listens on 127.0.0.1, on ports that the system chooses. The server and the script are those of `record.py`.
"""

import asyncio
import json
import logging
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import mmsp
import record


@contextmanager
def sidecar(upstream: int, src: str, dst: str) -> Iterator[int]:
    """Run a sidecar in front of a port while the block runs; yields the port that it listens on."""
    url = f"http://{record.HOST}:{upstream}"
    command = [sys.executable, "-m", "translate", "serve", "--upstream", url, "--from", src, "--to", dst, "--port", "0"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        listening = process.stderr.readline()
        found = re.search(r"listening on http://\S+:(\d+)$", listening.strip())
        if found is None:
            raise RuntimeError(f"the sidecar does not run: {listening}")
        yield int(found[1])
    finally:
        process.terminate()
        process.communicate(timeout=30)


def undated(value: Any) -> Any:
    """An event or a message without its time, which no two turns share."""
    return {key: each for key, each in value.items() if key != "created_at"}


async def turn(port: int) -> tuple[list[Any], Any]:
    """What the client makes of one turn: its events, and the message that it keeps."""
    url = f"http://{record.HOST}:{port}/v1"
    client: Any = mmsp.AutoLLMClient(model=record.MODEL, client_type="mmsp", base_url=url)
    question = {"role": "user", "content_items": [{"type": "text.done", "text": "What is on tonight?"}]}
    events = [undated(event) async for event in client.streaming_response_stateful(message=question, config={})]
    return events, undated(client.get_history()[1])


def main() -> int:
    logging.getLogger("httpx").setLevel(logging.WARNING)
    os.environ["no_proxy"] = record.HOST
    frames = record.EXAMPLES["claude-turn"].frames
    with record.upstream(frames, 0.002) as script, record.mmsp_server(script) as server:
        direct = asyncio.run(turn(server))
        outer = sidecar(server, "unievent-sse", "gateway-sse")
        with outer as gateway, sidecar(gateway, "gateway-sse", "unievent-sse") as port:
            translated = asyncio.run(turn(port))
    events, message = translated
    print(json.dumps(message, indent=2, ensure_ascii=False))
    print(f"{len(events)} events, {'equal' if translated == direct else 'NOT equal'} to those without sidecars")
    return 0 if translated == direct else 1


if __name__ == "__main__":
    sys.exit(main())
