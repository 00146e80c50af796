"""A headless Chromium, driven through its pipe by the DevTools protocol: what a page shows, says and asks for."""

from __future__ import annotations

import base64
import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.peers.javascript import FLAGS, browser, end
from tests.peers.serving import PATIENCE

KEYS = {"ArrowDown": 40, "ArrowUp": 38, "ArrowLeft": 37, "ArrowRight": 39, "Enter": 13, "Escape": 27, "Home": 36,
        "End": 35, "PageDown": 34, "PageUp": 33, "Tab": 9}  # fmt: skip

_EXEC = """\
import fcntl, os, sys
read, write = (fcntl.fcntl(int(each), fcntl.F_DUPFD, 10) for each in sys.argv[1:3])
os.dup2(read, 3)
os.dup2(write, 4)
os.execvp(sys.argv[3], sys.argv[3:])
"""
"""Has a program read its pipe from 3 and write it to 4, whatever the ends are here."""


class Page:
    """One tab. ``requests``: all URLs that it asked for; ``errors``: what went to its console as an error."""

    def __init__(self, to: int, back: int) -> None:
        self.requests: list[str] = []
        self.errors: list[str] = []
        self._to, self._back = to, back
        self._rest = b""
        self._count = 0
        self._answers: dict[int, dict[str, Any]] = {}
        self._happened: list[str] = []
        self._session: str | None = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """One command, and its answer."""
        self._count += 1
        session = {"sessionId": self._session} if self._session else {}
        said = json.dumps({"id": self._count, "method": method, "params": params, **session})
        data = memoryview(said.encode() + b"\0")
        while data:
            data = data[os.write(self._to, data) :]
        number = self._count
        self._until(lambda: number in self._answers)
        answer = self._answers.pop(number)
        assert "error" not in answer, (method, answer)
        return dict(answer["result"])

    def open(self, url: str) -> float:
        """Show a page; the seconds until it was loaded and painted."""
        self._happened.clear()
        began = time.monotonic()
        self.call("Page.navigate", url=url)
        self._until(lambda: "Page.loadEventFired" in self._happened)
        self.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")
        return time.monotonic() - began

    def run(self, script: str) -> Any:
        """The value of an expression, of a promise too."""
        answer = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def wait(self, condition: str) -> Any:
        """The value of an expression, as soon as it is true."""
        until = time.monotonic() + PATIENCE
        while not (value := self.run(condition)):
            assert time.monotonic() < until, f"never: {condition}"
            time.sleep(0.02)
        return value

    def press(self, key: str) -> None:
        """A key, pressed and let go."""
        code = KEYS.get(key, ord(key.upper()) if len(key) == 1 else 0)
        text = {"text": "\r" if key == "Enter" else key} if key == "Enter" or len(key) == 1 else {}
        for kind in ("keyDown", "keyUp"):
            sent = text if kind == "keyDown" else {}
            self.call("Input.dispatchKeyEvent", type=kind, key=key, windowsVirtualKeyCode=code, **sent)

    def hover(self, selector: str) -> None:
        """Move the mouse onto an element."""
        self.move(*self._middle(selector))

    def move(self, x: float, y: float) -> None:
        """Move the mouse."""
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def click(self, selector: str) -> None:
        """Click on an element, which is scrolled to where that needs it."""
        self.run(f"document.querySelector({json.dumps(selector)}).scrollIntoView({{block: 'nearest'}})")
        x, y = self._middle(selector)
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def size(self, width: int, height: int) -> None:
        """The size of what is seen."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def prefers(self, scheme: str) -> None:
        """Whether the system of the reader is light or dark."""
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def shot(self, path: Path) -> None:
        """A picture of it."""
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))

    def _middle(self, selector: str) -> tuple[float, float]:
        box = self.run(
            f"(() => {{ const box = document.querySelector({json.dumps(selector)}).getBoundingClientRect();"
            "return [box.x + box.width / 2, box.y + box.height / 2]; })()"
        )
        return box[0], box[1]

    def _until(self, done: Callable[[], bool]) -> None:
        until = time.monotonic() + PATIENCE
        while not done():
            ready, _, _ = select.select([self._back], [], [], max(0, until - time.monotonic()))
            assert ready, "the browser does not answer"
            data = os.read(self._back, 1 << 20)
            assert data, "the browser is gone"
            *messages, self._rest = (self._rest + data).split(b"\0")
            for message in messages:
                self._take(json.loads(message))

    def _take(self, message: dict[str, Any]) -> None:
        if "id" in message:
            self._answers[message["id"]] = message
            return
        method, params = message["method"], message.get("params", {})
        self._happened.append(method)
        if method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
        elif method == "Runtime.exceptionThrown" or (
            method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert")
        ):
            self.errors.append(json.dumps(params)[:2000])
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            self.errors.append(params["entry"]["text"])


@contextmanager
def chromium(profile: Path) -> Iterator[Page]:
    """A browser, while the block runs; the test is skipped where there is none."""
    program = browser()
    their_in, to = os.pipe()
    back, their_out = os.pipe()
    with (profile / "log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-c", _EXEC, str(their_in), str(their_out), program, *FLAGS,
             f"--user-data-dir={profile}", "--remote-debugging-pipe", "about:blank"],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, pass_fds=(their_in, their_out),
        )  # fmt: skip
    os.close(their_in)
    os.close(their_out)
    try:
        yield Page(to, back)
    finally:
        os.close(to)
        os.close(back)
        end(process)
