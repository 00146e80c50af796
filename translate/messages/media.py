"""Data and links: how formats spell them alike, and what they are."""

from __future__ import annotations

import binascii
import re
from base64 import b64decode
from typing import Final

from .nodes import Media, Part

_DATA: Final = re.compile(r"data:(?P<mime>[^;,]+)(?P<more>(?:;[^;,]*)*?);base64,", re.IGNORECASE)
PDF: Final = "application/pdf"


def media_of(mime: str) -> Media:
    """What bytes of a type are."""
    family = mime.partition("/")[0].lower()
    if family in ("image", "audio", "video"):
        return family  # type: ignore[return-value]
    return "document" if mime.lower() == PDF or family == "text" else "file"


def plain_base64(text: str) -> str:
    """Base64 text in the usual alphabet; the bytes are the same."""
    return text.replace("-", "+").replace("_", "/")


def split_data_url(url: str) -> tuple[str, str] | None:
    """The type and the base64 text of a data URL; ``None`` for any other text."""
    found = _DATA.match(url)
    return (found["mime"], url[found.end() :]) if found else None


def from_url(url: str, media: Media, path: str) -> Part:
    """The part that a URL is: of data, or a link."""
    found = split_data_url(url)
    if found is None:
        return Part("linked_data", url, via="url", media=media, path=path)
    mime, data = found
    return Part("inline_data", data, mime_type=mime, media=media if media == "image" else media_of(mime), path=path)


def data_url(part: Part) -> str:
    """The URL of a part of data."""
    return f"data:{part.mime_type or 'application/octet-stream'};base64,{part.data}"


def text_of(part: Part) -> str | None:
    """The text of a part of data that is text; ``None`` where it is none."""
    if part.via == "text":
        return part.data
    if not (part.mime_type or "").lower().startswith("text/"):
        return None
    try:
        return b64decode(part.data, validate=False).decode("utf-8")
    except (ValueError, binascii.Error):
        return None


def filename(part: Part) -> str:
    """The name of a file, where one is demanded."""
    subtype = (part.mime_type or "").partition("/")[2].partition(";")[0]
    return part.name or f"document.{subtype or 'bin'}"


def described(part: Part) -> str:
    """What a part is, for a reason."""
    if part.kind == "linked_data":
        return f"a link to {_ARTICLES.get(part.media or 'file', 'a file')}"
    if part.kind == "inline_data":
        return part.mime_type or part.media or "bytes"
    return part.kind.replace("_", " ")


_ARTICLES: Final = {"image": "an image", "document": "a document", "audio": "audio", "video": "a video"}
