"""Bodies of answers, as records hold them: streams, and what packs them. What comes packed goes out packed alike.

========================  ===========================================================
base64, hexadecimal       there is no stream without a brace, and no brace in these
a list of such, as JSON   pieces of one body, as Polly keeps those that are compressed
gzip                      as servers send it, and recorders keep it
========================  ===========================================================
"""

from __future__ import annotations

import gzip
import re
import zlib
from base64 import b64decode, b64encode
from collections.abc import Callable
from contextlib import suppress
from typing import TypeAlias

from .. import jsontext
from ..errors import DecodeError, LimitExceeded, TranslateError
from .places import RECORD

Body: TypeAlias = "str | bytes"
Pack: TypeAlias = "Callable[[bytes], Body]"
_HEX = re.compile(r"(?:[0-9a-f]{2}){8,}")
_GZIP = b"\x1f\x8b\x08"


def opened(body: Body) -> tuple[Body, Pack | None]:
    """The stream that a body is, and what packs another alike; ``None`` where it was not packed."""
    if isinstance(body, str):
        if "{" in body or not body:
            return body, None
        found = _decoded(body)
        if found is None:
            return body, None
        data, pack = found
    elif is_gzip(body):
        data, pack = body, bytes
    else:
        return body, None
    if not is_gzip(data):
        return data, pack
    # without a time in it: the same input gives the same bytes
    return _inflated(data), lambda done: pack(gzip.compress(done, mtime=0))


def is_gzip(data: bytes) -> bool:
    """Whether a body begins as one in gzip does."""
    return data.startswith(_GZIP)


def text_of(body: Body) -> str:
    """The stream that a body is, as text, whatever its bytes."""
    with suppress(TranslateError):
        body, _ = opened(body)
    return body if isinstance(body, str) else body.decode("utf-8", "surrogateescape")


def _decoded(text: str) -> tuple[bytes, Pack] | None:
    if text.startswith('["'):
        try:
            pieces = [_decoded(piece) for piece in jsontext.loads_str(text)]
        except (TranslateError, TypeError, AttributeError):
            return None
        found = [piece for piece in pieces if piece is not None]
        if len(found) < len(pieces) or not found:
            return None
        inner = found[0][1]
        return b"".join(data for data, _ in found), lambda done: jsontext.dumps([inner(done)]).decode()
    if _HEX.fullmatch(text):
        return bytes.fromhex(text), bytes.hex
    try:
        return b64decode(text, validate=True), lambda done: b64encode(done).decode()
    except ValueError:
        return None


def _inflated(data: bytes) -> bytes:
    """What is in gzip, of one member; no more than a record may have."""
    inflate = zlib.decompressobj(zlib.MAX_WBITS | 16)
    try:
        out = inflate.decompress(data, RECORD + 1)
    except zlib.error as error:
        raise DecodeError(f"a body in gzip that is broken: {error}") from None
    if len(out) > RECORD:
        raise LimitExceeded("record", RECORD, what="a body in gzip holds more")
    if not inflate.eof:
        raise DecodeError("a body in gzip that ends early")
    return out
