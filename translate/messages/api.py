"""The calls for requests, whole answers and stored messages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeVar

from .. import jsontext
from ..algebra.events import Failure, JsonObject
from ..carry.losses import LossPolicy, Report
from ..errors import UnsupportedFormat
from ..limits import Limits
from ..registry import codec as find_codec
from .capability import Errors, Seal
from .converting import Asked, What, convert, convert_list, decode, encode, read_body
from .failures import decoded, headers_for
from .failures import read_body as read_any
from .nodes import Answer, Request
from .profiles import ProfileOption

Body = TypeVar("Body", JsonObject, bytes)


def convert_request(
    body: Body,
    src: str,
    dst: str,
    *,
    model: str | None = None,
    profile: ProfileOption | None = None,
    loss: LossPolicy = "carry",
    report: Report | None = None,
    strict: bool = True,
    limits: Limits | None = None,
    foreign_thinking: Literal["drop", "text"] = "drop",
) -> Body:
    """The request of format ``dst`` that a request of format ``src`` becomes; a dict for a dict, bytes for bytes.

    ``model``    the model that is asked, in place of the request's own
    ``profile``  what the server takes: a :class:`Profile`, the name of one, the path of a TOML file, or some members
    ``loss``     ``"carry"``: what the target cannot say is kept in the member ``carry``, for a document that is kept;
                 ``"drop"``: it is left out, for a body that goes to a server; ``"raise"``: :class:`LossError` for a
                 loss of content or control
    ``report``   a fresh :class:`Report` that collects losses, guesses and repairs, with their paths
    ``strict``   false: calls and results that do not pair are passed on
    ``foreign_thinking``  ``"text"``: thinking that the server did not sign is said as text, in ``<thinking>`` tags

    Raises :class:`DecodeError`, :class:`RequestError`, :class:`ToolArgumentsError`, each with the ``path``;
    :class:`UnknownFormat`, :class:`UnsupportedFormat`; ``ValueError`` for a profile that is none.
    """
    asked = Asked(model, profile, "off", loss, report, strict, limits or Limits(), foreign_thinking)
    return _converted(body, src, dst, "request", asked)


def convert_answer(
    body: Body,
    src: str,
    dst: str,
    *,
    model: str | None = None,
    profile: ProfileOption | None = None,
    seal: Seal = "off",
    loss: LossPolicy = "carry",
    report: Report | None = None,
    limits: Limits | None = None,
) -> Body:
    """The whole answer of format ``dst`` that an answer of format ``src`` becomes; a dict for a dict, bytes for bytes.

    ``model``    who the answer says that it is from
    ``profile``  of the server that answered: it says who issued its states
    ``seal``     ``"message"``: states of other issuers go into envelopes, which the client hands back; ``"ids"``: into
                 the ids of calls, for clients that keep nothing else; ``"off"``: they are said where the format has
                 words for them, and carried else

    Other options and errors as for :func:`convert_request`; :class:`UpstreamFailure` for an error in place of an
    answer.
    """
    asked = Asked(model, profile, seal, loss, report, True, limits or Limits())
    return _converted(body, src, dst, "answer", asked)


def convert_messages(
    messages: list[JsonObject],
    src: str,
    dst: str,
    *,
    loss: LossPolicy = "carry",
    report: Report | None = None,
    limits: Limits | None = None,
) -> list[JsonObject]:
    """A stored conversation of format ``src`` as one of format ``dst``; lists in, lists out.

    A message of the source that the target needs several for, or none, has as many. With ``loss="carry"`` the first
    message has the ``carry`` of all. Calls without results are passed on. Raises as :func:`convert_request` does.
    """
    return convert_list(messages, src, dst, Asked(None, None, "off", loss, report, False, limits or Limits()))


def decode_request(
    body: JsonObject | bytes, src: str, *, report: Report | None = None, limits: Limits | None = None
) -> Request:
    """The request that a body of format ``src`` is. Raises :class:`DecodeError`."""
    limits = limits or Limits()
    return decode(read_body(body, limits), src, "request", Asked(report=report, limits=limits))  # type: ignore[no-any-return]


def encode_request(
    request: Request,
    dst: str,
    *,
    profile: ProfileOption | None = None,
    loss: Literal["drop", "raise"] = "drop",
    report: Report | None = None,
    limits: Limits | None = None,
) -> JsonObject:
    """The body of format ``dst`` that a request becomes. Options as for :func:`convert_request`."""
    asked = Asked(None, profile, "off", loss, report, True, limits or Limits())
    return encode(request, dst, "request", asked)


def decode_answer(
    body: JsonObject | bytes,
    src: str,
    *,
    profile: ProfileOption | None = None,
    report: Report | None = None,
    limits: Limits | None = None,
) -> Answer:
    """The answer that a body of format ``src`` is. Raises :class:`DecodeError`, :class:`UpstreamFailure`."""
    limits = limits or Limits()
    asked = Asked(None, profile, report=report, limits=limits)
    return decode(read_body(body, limits), src, "answer", asked)  # type: ignore[no-any-return]


def encode_answer(
    answer: Answer,
    dst: str,
    *,
    seal: Seal = "off",
    loss: Literal["drop", "raise"] = "drop",
    report: Report | None = None,
    limits: Limits | None = None,
) -> JsonObject:
    """The body of format ``dst`` that an answer becomes. Options as for :func:`convert_answer`."""
    asked = Asked(None, None, seal, loss, report, True, limits or Limits())
    return encode(answer, dst, "answer", asked)


def decode_error(status: int, headers: Mapping[str, str], body: bytes | str | JsonObject, src: str) -> Failure:
    """The failure that an error answer of format ``src`` says; its ``kind`` is one of the table of errors.

    A body that is no JSON, or none of the format's, gives its status and its first 200 characters. A status of success
    with an error in the body is a failure, too. The message names no key, URL or envelope.
    """
    return decoded(status, headers, able_to_fail(src).decode(status, read_any(body)))


def encode_error(failure: Failure, dst: str) -> tuple[int, dict[str, str], bytes]:
    """The status, headers and body that say a failure in format ``dst``."""
    status, body = able_to_fail(dst).encode(failure)
    return status, headers_for(failure, dst), jsontext.dumps(body)


def convert_error(
    status: int, headers: Mapping[str, str], body: bytes | str | JsonObject, src: str, dst: str
) -> tuple[int, dict[str, str], bytes]:
    """An error answer of format ``src`` in format ``dst``: status, headers and body. See :func:`decode_error`."""
    return encode_error(decode_error(status, headers, body, src), dst)


def able_to_fail(format: str) -> Errors:
    """What reads and writes the error bodies of a format. Raises :class:`UnsupportedFormat`."""
    found = find_codec(format)
    if found.errors is None or found.name != format:
        raise UnsupportedFormat(f"{format!r} has no error bodies of its own", expected="a format that has some")
    return found.errors


def _converted(body: Body, src: str, dst: str, what: What, asked: Asked) -> Body:
    if isinstance(body, (bytes, bytearray, memoryview)):
        asked.spelled = True
        return jsontext.dumps(convert(read_body(bytes(body), asked.limits), src, dst, what, asked))
    return convert(body, src, dst, what, asked)
