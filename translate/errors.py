"""The error tree: every error says what was found, where, and what was expected."""

from __future__ import annotations

import sys
from typing import Any

EXCERPT = 200
"""Characters of the offending input an error shows at most."""


def excerpt(value: object) -> str:
    """The first characters of a piece of input, for a message."""
    if isinstance(value, (bytes, bytearray, memoryview)):
        text = bytes(value[: EXCERPT * 4]).decode("utf-8", "replace")
    else:
        try:
            text = value if isinstance(value, str) else repr(value)
        except (RecursionError, ValueError):
            # nested too deeply, or an integer of too many digits
            text = f"{type(value).__name__}, too large to show"
    return text if len(text) <= EXCERPT else text[: EXCERPT - 1] + "…"


def shown(value: object) -> str:
    """A piece of input within a sentence: as Python writes it, and no longer than an excerpt."""
    return excerpt(repr(value[:EXCERPT]) if isinstance(value, (str, bytes)) else value)


class TranslateError(Exception):
    """Base of all errors of this library.

    Attributes, each ``None`` where it is not known:

    ``format``    name of the format that was read or written
    ``unit``      index of the wire unit, from 0, transport (comments, end markers) not counted
    ``offset``    bytes from the start of the input to the start of that unit
    ``state``     what the grammar was in
    ``excerpt``   the input in question, at most 200 characters
    ``path``      where in a request or a whole answer (``messages[3].content[1]``); the message begins with it
    ``expected``  what could have stood there
    ``looks_like``  what the input is instead, where it is not of the format that was named
    ``pending``   carries that waited for a unit to ride on when the conversion ended (JSON shapes)
    ``code``      the HTTP status that says it
    """

    code: int | None = 502

    def __init__(self, what: str, *, expected: str | None = None, excerpt: str | None = None) -> None:
        super().__init__(what)
        self.what = what
        self.expected = expected
        self.excerpt = excerpt
        self.format: str | None = None
        self.unit: int | None = None
        self.offset: int | None = None
        self.state: str | None = None
        self.path: str | None = None
        self.looks_like: str | None = None
        self.pending: list[dict[str, Any]] = []

    def locate(
        self,
        *,
        format: str | None = None,
        unit: int | None = None,
        offset: int | None = None,
        state: str | None = None,
        excerpt: str | None = None,
    ) -> None:
        """Fill in what is not yet known of the place; what the raiser said itself stands."""
        self.format = format if self.format is None else self.format
        self.unit = unit if self.unit is None else self.unit
        self.offset = offset if self.offset is None else self.offset
        self.state = state if self.state is None else self.state
        self.excerpt = excerpt if self.excerpt is None else self.excerpt

    def __str__(self) -> str:
        place = [f"{name} {value}" for name, value in self._place().items()]
        text = self.what
        if self.expected:
            text += f"; expected {self.expected}"
        if self.looks_like:
            text += f"; the input looks like {self.looks_like}"
        if place:
            text += f" ({', '.join(place)})"
        if self.excerpt:
            text += f": {self.excerpt}"
        return text

    def __repr__(self) -> str:
        said = "".join(f", {name}={value!r}" for name, value in self._place().items())
        return f"{type(self).__name__}({self.what!r}{said})"

    def _place(self) -> dict[str, object]:
        place = {"format": self.format, "unit": self.unit, "byte": self.offset, "state": self.state}
        return {name: value for name, value in place.items() if value is not None}


class DecodeError(TranslateError):
    """Bytes that are not UTF-8, not JSON, or not a unit of the format."""


class GrammarError(TranslateError):
    """A well-formed unit that may not stand here, or that contradicts what came before."""


class TruncatedStream(TranslateError):
    """The input ended without a terminal unit."""


class RequestError(TranslateError):
    """A request that cannot be asked of the target: its calls and results do not pair, or it needs what is stored."""

    code = 400


class UnsupportedFormat(TranslateError):
    """The format has no requests, no whole answers, or no error bodies: ``what`` it lacks is in the message."""

    code = 400


class UpstreamFailure(TranslateError):
    """The stream itself reported a failure.

    ``code`` is an HTTP status where one is known, ``message`` the reported text, ``kind`` the reported class or
    type, ``details`` whatever else the report held.
    """

    def __init__(self, code: int | None, message: str, kind: str | None, details: dict[str, Any]) -> None:
        status = f" (code {code})" if code is not None else ""
        super().__init__(f"the stream reported a failure: {excerpt(message)}{status}")
        self.code = code
        self.message = message
        self.kind = kind
        self.details = details


class StreamTimeout(TranslateError):
    """A stream took too long for whoever runs it.

    ``phase`` names what did, of ``seconds``: a field of :class:`translate.adapters.Timeouts`, or ``connect``.
    """

    code = 504

    def __init__(self, phase: str, seconds: float) -> None:
        super().__init__(f"the stream timed out ({phase}), after {seconds:g} s")
        self.phase = phase
        self.seconds = seconds


class StreamStopped(TranslateError):
    """Whoever runs the stream ended it before its end, as a service does that shuts down."""

    code = 503


class ToolArgumentsError(TranslateError):
    """A call's arguments are not a JSON object and the target needs one.

    ``name`` and ``id`` are the call's, ``raw`` the whole argument text, ``position`` the index in it (characters)
    where reading failed, or ``None`` where it is JSON but no object.
    """

    def __init__(self, what: str, *, name: str, id: str, raw: str, position: int | None) -> None:
        super().__init__(what, expected="a JSON object", excerpt=excerpt(raw))
        self.name = name
        self.id = id
        self.raw = raw
        self.position = position


class LossError(TranslateError):
    """``loss="raise"``: the target cannot say content that the next unit holds. ``field`` names it."""

    def __init__(self, what: str, *, field: str) -> None:
        super().__init__(what)
        self.field = field


class CarryError(TranslateError):
    """A carry that is malformed, of a later version, or contradicted by the native content beside it."""


class LimitExceeded(TranslateError):
    """A limit of :class:`translate.Limits` was passed: ``limit`` is its name, ``maximum`` its value."""

    def __init__(self, limit: str, maximum: int, *, what: str | None = None) -> None:
        super().__init__(what or f"the input passes the limit {limit!r}", expected=f"at most {maximum}")
        self.limit = limit
        self.maximum = maximum


class MisuseError(TranslateError):
    """A conversion was driven as it may not be: input after the end of input, or two steps at once."""

    code = 500


class UnknownFormat(TranslateError, LookupError):
    """No such format. ``known`` lists what exists."""

    def __init__(self, name: str, known: list[str], nearest: str | None) -> None:
        hint = f"; did you mean {nearest!r}?" if nearest else "."
        super().__init__(f"no format named {shown(name)}{hint} Known formats: {', '.join(known) or 'none'}")
        self.name = name
        self.known = known


class CodecError(TranslateError):
    """A codec broke its contract, or two codecs claim one name. The message names it."""


def too_deep() -> LimitExceeded:
    """The error for a value that a raised limit lets in, but the interpreter's own limit of recursion does not."""
    return LimitExceeded("recursion", sys.getrecursionlimit(), what="nested more deeply than this process recurses")


def not_utf8(raw: bytes, error: UnicodeDecodeError) -> DecodeError:
    """The error for bytes that are not UTF-8."""
    what, near = f"byte 0x{raw[error.start]:02x} at position {error.start}", raw[max(0, error.start - 40) :]
    return DecodeError(f"{what} of the unit is not UTF-8", excerpt=excerpt(near))
