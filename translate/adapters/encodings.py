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
        self._inner = zlib.decompressobj(_GZIP)
        self._begun = False
        self._head = b""

    def feed(self, data: bytes) -> Iterator[bytes]:
        """What ``data`` makes known. Raises :class:`DecodeError` for what is no such encoding."""
        if not self._gzip and not self._begun:
            self._head += data
            if len(self._head) < 2:
                return
            data, self._head = self._head, b""
            # some send deflate without the header that its name stands for
            zlib_header = data[0] & 15 == 8 and int.from_bytes(data[:2], "big") % 31 == 0
            self._inner = zlib.decompressobj(_ZLIB if zlib_header else _RAW)
        # what is left of the input is copied with each piece: little at a time
        for at in range(0, len(data), PIECE):
            yield from self._inflate(data[at : at + PIECE])

    def close(self) -> None:
        """The input ended. Raises :class:`TruncatedStream` where it ended amid the encoding."""
        if self._head or (self._begun and not self._inner.eof):
            raise TruncatedStream("the input ended within its content encoding")

    def _inflate(self, data: bytes) -> Iterator[bytes]:
        full = False
        # also without input, what fills a piece may not be all there is
        while data or full:
            if self._inner.eof:
                if not self._gzip:
                    return
                # several members follow one another
                self._inner = zlib.decompressobj(_GZIP)
            self._begun = True
            try:
                piece = self._inner.decompress(data, PIECE)
            except zlib.error:
                raise DecodeError("the body is not in the content encoding that its head names") from None
            data = self._inner.unconsumed_tail or self._inner.unused_data
            full = len(piece) == PIECE and not self._inner.eof
            if piece:
                yield piece


def undoes(name: str) -> bool:
    """Whether an encoding can be undone."""
    return name in ("gzip", "x-gzip", "deflate")
