"""The streams that could not be converted, whole, as JSON lines: each with where it was, its id, and the error.

``content`` is the text of the stream, or of its records; with ``"encoding": "base64"`` the bytes of what is no UTF-8.
"""

from __future__ import annotations

import codecs
import json
from base64 import b64encode
from typing import Any

from .. import jsontext
from ..errors import TranslateError
from .outputs import Output
from .stream import Content, Reject

SUFFIX = ".rejects.jsonl"
_PLACE = ("format", "unit", "offset", "state", "expected")


class Rejects:
    """The reject file of one output; there is none where nothing was rejected."""

    def __init__(self, path: str, source: str, *, part: str = "") -> None:
        self.path = path
        self.count = 0
        self._source = source
        self._part = part
        self._output: Output | None = None

    def add(self, reject: Reject) -> None:
        """Keep one, whole; its content is read in pieces."""
        if self._output is None:
            self._output = Output(self.path, part=self._part)
        encoding = "text" if _is_text(reject.content) else "base64"
        head = {
            "source": self._source,
            "stream": reject.stream,
            "at": reject.at,
            "error": error_json(reject.error),
            "encoding": encoding,
        }
        self._output.write(jsontext.dumps_strict(head)[:-1] + b',"content":"')
        for piece in _escaped(reject.content, encoding):
            self._output.write(piece)
        self._output.write(b'"}\n')
        self.count += 1

    @property
    def digest(self) -> str:
        """Of the file, once it is closed; empty where there is none."""
        return "" if self._output is None else self._output.digest

    def close(self) -> None:
        """All is written, under the temporary name."""
        if self._output is not None:
            self._output.close()

    def discard(self) -> None:
        """Leave nothing."""
        if self._output is not None:
            self._output.discard()


def error_json(error: Exception) -> dict[str, Any]:
    """An error as members of an object."""
    if not isinstance(error, TranslateError):
        return {"type": type(error).__name__, "message": str(error)}
    said = {"type": type(error).__name__, "message": error.what}
    return said | {name: value for name in _PLACE if (value := getattr(error, name)) is not None}


def _is_text(content: Content) -> bool:
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for piece in content.pieces():
            decoder.decode(piece)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _escaped(content: Content, encoding: str) -> Any:
    if encoding == "text":
        decoder = codecs.getincrementaldecoder("utf-8")()
        for piece in content.pieces():
            yield json.dumps(decoder.decode(piece), ensure_ascii=False)[1:-1].encode()
        return
    rest = b""
    for piece in content.pieces():
        data = rest + piece
        whole = len(data) - len(data) % 3
        yield b64encode(data[:whole])
        rest = data[whole:]
    yield b64encode(rest)
