"""HAR, the archives of browsers and proxies: one JSON document, whose entries are requests with their answers.

1. An entry whose answer holds a stream, by its media type or by how it begins, is converted: its text (base64 stays
   base64), its media type, and its size. Other entries pass as they are.
2. An entry whose stream is broken is rejected, whole, and is not in the output.
3. The document is in memory; one that is larger than a record may be is an input that cannot be read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, BinaryIO

from .. import jsontext
from ..errors import TranslateError
from ..registry import resolve
from .bodies import text_of
from .layout import Counts, Layout, Settings, get, put
from .likeness import is_like
from .places import InputFault
from .records import convert_streams
from .stream import Reject

CONTENT = "response.content"
BODY = f"{CONTENT}.text"
BEGINNING = re.compile(rb'\s*\{\s*"log"\s*:\s*\{')


def load(file: BinaryIO, limit: int) -> dict[str, Any]:
    """The document. Raises :class:`InputFault` where it is none, or too large."""
    data = file.read(limit + 1)
    if len(data) > limit:
        raise InputFault(f"the document is larger than {limit} bytes")
    try:
        document = jsontext.loads(data.removeprefix(b"\xef\xbb\xbf"), len(data))
        entries = get(document, "log.entries")
    except (TranslateError, KeyError) as error:
        raise InputFault(f"it is no HAR: {error}") from None
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise InputFault("it is no HAR: log.entries is no list of objects")
    return {**document, "log": {**document["log"], "entries": entries}}


def bodies(document: dict[str, Any]) -> list[str]:
    """The texts of all answers that have one."""
    return [body for entry in document["log"]["entries"] if (body := _body(entry)) is not None]


def _body(entry: dict[str, Any]) -> str | None:
    try:
        body = get(entry, BODY)
    except KeyError:
        return None
    return text_of(body) if isinstance(body, str) else None


def _media_type(entry: dict[str, Any]) -> str:
    return str(get(entry, CONTENT).get("mimeType")).partition(";")[0].strip().lower()


def convert(
    document: dict[str, Any], settings: Settings, counts: Counts, reject: Callable[[Reject], None], limit: int | None
) -> Iterator[tuple[bytes, bool]]:
    """The entries of the output, as lines; and whether each was a stream."""
    layout = Layout("lines", BODY)
    types = resolve(settings.src)[1].media_types
    for index, entry in enumerate(document["log"]["entries"]):
        body = _body(entry)
        if body is None or not (_media_type(entry) in types or is_like(body, settings.src)):
            yield jsontext.dumps(entry) + b"\n", False
            continue
        if limit is not None and counts.streams_in >= limit:
            return

        def told(found: Reject, index: int = index) -> None:
            reject(replace(found, at={"entry": index}))

        for line in convert_streams([(index, jsontext.dumps(entry))], layout, settings, counts, told):
            yield jsontext.dumps(_described(jsontext.loads(line, len(line)), settings)) + b"\n", True


def _described(entry: dict[str, Any], settings: Settings) -> dict[str, Any]:
    """An entry whose media type and size are those of its new text."""
    types = resolve(settings.dst)[1].media_types
    content = get(entry, CONTENT)
    body = content["text"]
    size = len(body.encode()) if isinstance(body, str) else 0
    return put(entry, CONTENT, {**content, "size": size} | ({"mimeType": types[0]} if types else {}))


def written(document: dict[str, Any], entries: Iterator[tuple[bytes, bool]]) -> Iterator[bytes]:
    """The document, with other entries."""
    log = {name: value for name, value in document["log"].items() if name != "entries"}
    others = {name: value for name, value in document.items() if name != "log"}
    yield jsontext.dumps({**others, "log": {**log, "entries": []}})[:-3]
    for number, (line, _) in enumerate(entries):
        yield b"," * (number > 0) + b"\n" + line.rstrip(b"\n")
    yield b"\n]}}\n"
