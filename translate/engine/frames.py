"""A frame taken apart: the native unit, its carry, and how many of its comments are mere comments."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .. import jsontext
from ..algebra.events import Event, JsonObject
from ..carry.reasons import repaired
from ..codec import Options
from ..errors import CarryError, DecodeError, LimitExceeded, not_utf8
from ..shapes import Frame

_WRAPPING = 16
"""Levels that a carry may put around what it holds."""


@dataclass(slots=True)
class Parts:
    """What a frame holds. ``unit`` is ``None`` where it holds no whole one."""

    unit: JsonObject | None
    carry: JsonObject | None
    pings: int


class FrameOpener:
    """Takes frames apart. ``fault`` is told of a carry that is wrong; where it returns, the carry is left out."""

    def __init__(self, options: Options, fault: Callable[[CarryError], None]) -> None:
        self._options = options
        self._nesting = options.limits.nesting + _WRAPPING
        self._fault = fault
        self.spelled = b""
        """What the text of a unit holds whose numbers keep their spelling."""
        self.read: tuple[Any, Any] | None = None
        """The text of a unit that was read, by ``orjson`` alone, and its value."""

    def open(self, frame: Frame) -> Parts:
        """Raises :class:`DecodeError` and :class:`LimitExceeded`. An unfinished unit at the end of input is none."""
        data = frame.data
        unit = self._unit(data, whole=frame.whole) if data is not None else None
        if unit is None and not frame.whole:
            # a carry in an unfinished block speaks for a unit that never came
            return Parts(None, None, frame.pings)
        carry, comments = self._beside(frame) if frame.carries else (None, 0)
        parts = Parts(unit, carry, frame.pings + comments)
        if unit is not None and isinstance(unit.get("carry"), dict):
            self._take_inside(parts, unit, frame)
        return parts

    def _unit(self, data: bytes | JsonObject, *, whole: bool) -> JsonObject | None:
        if isinstance(data, dict):
            if not isinstance(data.get("event"), Event):
                native = {k: v for k, v in data.items() if k != "carry" or not isinstance(v, dict)}
                jsontext.check_value(native, self._options.limits.nesting)
            return data
        try:
            unit = self._json(data)
        except DecodeError:
            if whole:
                raise
            return None
        if isinstance(unit, dict):
            return unit
        if not whole:
            return None
        raise DecodeError(f"a unit is an object, not {type(unit).__name__}")

    def _json(self, data: bytes) -> Any:
        # a carry inside wraps what it holds
        nesting = self._nesting if b'"carry"' in data else self._options.limits.nesting
        spelled = bool(self.spelled) and self.spelled in data
        read, self.read = self.read, None
        try:
            return jsontext.loads(data, nesting, spelled=spelled, read=read[1] if read and read[0] is data else None)
        except DecodeError:
            readable = data.decode("utf-8", "replace").encode()
            if self._options.strict or readable == data:
                raise
            self._options.repair("utf-8", repaired("not utf-8"))
            return jsontext.loads(readable, nesting, spelled=spelled)

    def _beside(self, frame: Frame) -> tuple[JsonObject | None, int]:
        """The carry in the comments of an SSE block, and how many only look like one, and so are comments."""
        found: list[JsonObject] = []
        comments = 0
        for text in frame.carries:
            if len(text) > self._options.limits.carry:
                self._too_large()
                continue
            try:
                value = jsontext.loads(text, self._nesting)
            except DecodeError:
                self._utf8(text)
                value = None
            except LimitExceeded as error:
                self._fault(CarryError(f"the carry passes a limit: {error.what}"))
                continue
            if not isinstance(value, dict):
                comments += 1
            elif b"$" not in text:
                found.append(value)
            elif (carry := self._exact(value)) is not None:
                found.append(carry)
        if len(found) > 1:
            self._doubled()
        return (found[0] if found else None), comments

    def _utf8(self, text: bytes) -> None:
        try:
            text.decode("utf-8")
        except UnicodeDecodeError as error:
            if self._options.strict:
                raise not_utf8(text, error) from None

    def _take_inside(self, parts: Parts, unit: JsonObject, frame: Frame) -> None:
        """The member ``carry`` of a unit, whatever its shape; a member that was in its way is put back."""
        inside = unit["carry"]
        parts.unit = {k: v for k, v in unit.items() if k != "carry"}
        # a number that JSON has not is written as an object
        member = self._exact({"member": inside["member"]}) if "member" in inside else None
        if member is not None and isinstance(member["member"], dict):
            # it would be a carry as soon as it is a member again
            self._fault(CarryError("the carry's 'member' is an object, and so was no unknown member"))
        elif member is not None:
            parts.unit["carry"] = member["member"]
        limit = self._options.limits.carry
        if isinstance(frame.data, bytes) and len(frame.data) > limit and len(jsontext.dumps(inside)) > limit:
            self._too_large()
        elif parts.carry is not None:
            self._doubled()
        else:
            parts.carry = self._exact(inside)

    def _exact(self, carry: JsonObject) -> JsonObject | None:
        """The carry with its numbers as they were."""
        try:
            jsontext.check_value(carry, self._nesting)
            exact = jsontext.from_strict(carry)
            if isinstance(exact, dict):
                return exact
            self._fault(CarryError("the carry is a number", expected="an object"))
        except (DecodeError, LimitExceeded) as error:
            self._fault(CarryError(f"the carry cannot be read: {error.what}"))
        return None

    def _too_large(self) -> None:
        self._fault(CarryError("the carry is too large", expected=f"at most {self._options.limits.carry} bytes"))

    def _doubled(self) -> None:
        self._fault(CarryError("a unit with two carries", expected="one"))
