"""Content encodings of HTTP that are undone: gzip and deflate, piece by piece, in bounded memory."""

from __future__ import annotations

import zlib
from collections.abc import Iterator

from ..errors import DecodeError, TruncatedStream

PIECE = 1 << 16
"""Bytes that are undone at once: what is small may become a thousand times as large."""
_GZIP, _ZLIB, _RAW = 31, 15, -15


class Inflater:
    """Undoes one encoding. ``feed(data)`` gives pieces, each of at most ``PIECE`` bytes; then ``close()``."""

    def __init__(self, name: str) -> None:
        """``name``: one for which :func:`undoes` is true."""
        self._gzip = name != "deflate"
        self._inner = zlib.decompressobj(_GZIP if self._gzip else _ZLIB)
        self._begun = False

    def feed(self, data: bytes) -> Iterator[bytes]:
        """What ``data`` makes known. Raises :class:`DecodeError` for what is no such encoding."""
        while data:
            if self._inner.eof:
                if not self._gzip:
                    return
                # several members follow one another
                self._inner, self._begun = zlib.decompressobj(_GZIP), False
            piece = self._inflate(data)
            self._begun = True
            data = self._inner.unconsumed_tail or self._inner.unused_data
            if piece:
                yield piece

    def close(self) -> None:
        """The input ended. Raises :class:`TruncatedStream` where it ended amid the encoding."""
        if self._begun and not self._inner.eof:
            raise TruncatedStream("the input ended within its content encoding")

    def _inflate(self, data: bytes) -> bytes:
        try:
            return self._inner.decompress(data, PIECE)
        except zlib.error:
            if not self._gzip and not self._begun:
                # some send deflate without the header that its name stands for
                self._inner = zlib.decompressobj(_RAW)
                try:
                    return self._inner.decompress(data, PIECE)
                except zlib.error:
                    pass
            raise DecodeError("the body is not in the content encoding that its head names") from None


def undoes(name: str) -> bool:
    """Whether an encoding can be undone."""
    return name in ("gzip", "x-gzip", "deflate")
