"""The envelope: opaque state of one issuer, in a place that a client of another hands back.

``envelope := "tstate1_" base64url( crc32(json) json spaces )``: no ``=`` is needed, and no character but
``[A-Za-z0-9_-]``, so that it is valid in a signature, an id and a base64 field alike. ``json`` is canonical. It is
neither secret nor authentic: it says only what the client could say itself.

Members: ``i``, ``s``, ``m`` issuer, scope and model; ``d`` the values; ``h`` a digest of the part's text, whose state
is dropped where the text is another; ``b`` the neighbour it belongs to (``next``, ``prev``); ``r`` the true id of a
call; ``l`` a layout, the parts of a whole message.
"""

from __future__ import annotations

import binascii
import zlib
from base64 import urlsafe_b64decode, urlsafe_b64encode
from hashlib import sha256
from typing import Any, Final

from .. import jsontext
from ..algebra.events import JsonObject
from ..errors import TranslateError

MARK: Final = "tstate1_"
_LATER: Final = "tstate"
_TYPES: Final[dict[str, type]] = {"i": str, "s": str, "m": str, "d": dict, "h": str, "b": str, "r": str, "l": list}
_NESTING: Final = 32


class Unreadable(Exception):
    """An envelope that is none: of a later version, damaged, or too large. The message says which."""


def is_envelope(text: object) -> bool:
    """Whether a text claims to be an envelope of any version: it is never said to a server."""
    if not isinstance(text, str) or not text.startswith(_LATER):
        return False
    version, mark, _ = text[len(_LATER) :].replace("/", "_").partition("_")
    return bool(mark) and version.isascii() and version.isdigit()


def sealed(members: JsonObject) -> str:
    """The envelope of some members; those that are ``None`` or empty are left out."""
    held = {key: value for key, value in members.items() if value not in (None, {}, [])}
    raw = jsontext.dumps(_sorted(held))
    raw = zlib.crc32(raw).to_bytes(4, "big") + raw
    return MARK + urlsafe_b64encode(raw + b" " * (-len(raw) % 3)).decode("ascii")


def opened(text: str, limit: int) -> JsonObject:
    """The members of an envelope of at most ``limit`` characters. Raises :class:`Unreadable`."""
    text = text.replace("+", "-").replace("/", "_")
    if not text.startswith(MARK):
        raise Unreadable("of a version that is not known here")
    if len(text) > limit:
        raise Unreadable(f"longer than {limit:,} characters")
    try:
        raw = urlsafe_b64decode(text[len(MARK) :].encode("ascii"))
    except (ValueError, binascii.Error):
        raise Unreadable("damaged") from None
    body = raw[4:].rstrip(b" ")
    if len(raw) <= 4 or zlib.crc32(body).to_bytes(4, "big") != raw[:4]:
        raise Unreadable("damaged: its checksum is another")
    try:
        members = jsontext.loads(body, _NESTING)
    except TranslateError:
        raise Unreadable("damaged: it holds no JSON") from None
    if not isinstance(members, dict) or any(type(members.get(key, kind())) is not kind for key, kind in _TYPES.items()):
        raise Unreadable("of members that are not known here")
    return members


def digest(text: str) -> str:
    """What tells whether a part's text is still the one that its state was sealed with."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def _sorted(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    return [_sorted(item) for item in value] if isinstance(value, list) else value
