"""Frames that are held back in lenient mode, where the next ones may tell what they are.

Pieces of one state are one unit as soon as the last of them is there; what a carry says is believed as soon as the unit
is there that could contradict it. Until then nothing of it is said: what was said natively cannot be taken back.
"""

from __future__ import annotations

from .. import jsontext
from ..algebra.weight import HELD, of_value
from ..codec import Encoder, Options, Piece
from ..errors import LimitExceeded, TranslateError
from ..shapes import Frame


class HeldBack:
    """Those of one stream."""

    def __init__(self, wire: Encoder, options: Options) -> None:
        self._wire = wire
        self._options = options
        self._frames: list[Frame] = []
        self._pieces: list[Piece] = []
        self._size = 0

    def __bool__(self) -> bool:
        return bool(self._frames)

    def put(self, frame: Frame, index: int) -> list[tuple[Frame, int]]:
        """The frames that are to be read now, each with how many units behind it are left out.

        ``index``: that of the unit before those that are held. Raises :class:`LimitExceeded`.
        """
        piece = self._piece(frame)
        if piece is not None and self._wire.awaits(self._pieces, piece):
            self._add(frame, piece, index)
            return []
        if piece is not None and self._pieces and self._wire.ends(piece):
            self._add(frame, piece, index)
            return self.rest(index)
        return [*self.rest(index), (frame, 0)]

    def rest(self, index: int) -> list[tuple[Frame, int]]:
        """All that are held, given up."""
        frames, pieces = self._frames, self._pieces
        self._frames, self._pieces, self._size = [], [], 0
        if not pieces:
            return []
        self._options.unit = index + sum(1 for frame in frames if frame.data is not None)
        settled = self._wire.settled(pieces) or pieces
        out: list[tuple[Frame, int]] = []
        for frame, piece, now in zip(frames, pieces, settled, strict=True):
            if now is None:
                out[-1] = (out[-1][0], out[-1][1] + 1)
            else:
                out.append((frame if now is piece else _framed(frame, now), 0))
        return out

    def _add(self, frame: Frame, piece: Piece, index: int) -> None:
        if isinstance(frame.data, dict):
            # the object is its giver's, who may change it before it is read
            frame = frame._replace(data=jsontext.copied(frame.data))
            piece = self._piece(frame) or piece
        self._frames.append(frame)
        self._pieces.append(piece)
        self._size += HELD + of_value(piece.unit) + of_value(piece.carry)
        if self._size > self._options.limits.part:
            self._options.unit = index + len(self._frames)
            raise LimitExceeded("part", self._options.limits.part)

    def _piece(self, frame: Frame) -> Piece | None:
        """A frame taken apart; ``None`` where it is wrong in any way."""
        data, carry, nesting = frame.data, None, self._options.limits.nesting
        if not frame.whole or len(frame.carries) > 1:
            return None
        try:
            unit = jsontext.loads(data, nesting) if isinstance(data, bytes) else data or {}
            carry = jsontext.from_strict(jsontext.loads(frame.carries[0], nesting)) if frame.carries else None
            if isinstance(unit, dict) and isinstance(unit.get("carry"), dict) and carry is None:
                jsontext.check_value(unit["carry"], nesting)
                carry = jsontext.from_strict(unit["carry"])
                unit = {key: value for key, value in unit.items() if key != "carry"}
        except TranslateError:
            return None
        return Piece(unit, carry) if isinstance(unit, dict) and isinstance(carry, (dict, type(None))) else None


def _framed(frame: Frame, piece: Piece) -> Frame:
    carries = () if piece.carry is None else (jsontext.dumps_strict(piece.carry),)
    if frame.data is None:
        return frame._replace(carries=carries)
    data = jsontext.dumps(piece.unit) if isinstance(frame.data, bytes) else piece.unit
    return frame._replace(data=data, carries=carries)
