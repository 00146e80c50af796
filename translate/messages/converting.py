"""Requests and whole answers from one format into another: identity, the carry, envelopes and pairs, for all codecs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, TypeAlias, TypeVar

from .. import jsontext
from ..algebra.events import JsonObject, Reason
from ..algebra.reading import kind_of
from ..carry.losses import LossPolicy, Report
from ..codec import Codec
from ..errors import RequestError, TranslateError, UnsupportedFormat
from ..limits import Limits
from ..registry import codec as find_codec
from .capability import Answers, Reading, Requests, Seal, Writing
from .difference import VERSION, applied, differences
from .ids import Ids
from .members import wrong
from .nodes import Answer, Request, Turn
from .profiles import Profile, ProfileOption, profile_of
from .telling import Telling

What: TypeAlias = Literal["request", "answer"]
Body = TypeVar("Body", JsonObject, bytes)
_CARRY: Final = "carry"


@dataclass(slots=True)
class Asked:
    """The options of one conversion. ``look`` is shown what was read, and may change it, before it is written."""

    model: str | None = None
    profile: ProfileOption | None = None
    seal: Seal = "off"
    loss: LossPolicy = "carry"
    report: Report | None = None
    strict: bool = True
    limits: Limits = field(default_factory=Limits)
    foreign_thinking: Literal["drop", "text"] = "drop"
    spelled: bool = False
    in_list: bool = False
    look: Callable[[Any], None] | None = None


def capability(format: str, what: What) -> tuple[Codec, Requests | Answers]:
    """The codec of a format, and what it has for requests or answers. Raises :class:`UnsupportedFormat`."""
    found = find_codec(format)
    able = found.requests if what == "request" else found.answers
    if able is None or format != found.name:
        raise UnsupportedFormat(f"{format!r} has no {what}s of its own", expected="a format that has some")
    return found, able


def convert(document: JsonObject, src: str, dst: str, what: What, asked: Asked) -> JsonObject:
    """The document of ``dst`` that one of ``src`` becomes. The document given is not changed."""
    source, reader = capability(src, what)
    target, writer = capability(dst, what)
    if not isinstance(document, dict):
        raise wrong("", f"the {what} is {kind_of(document)}", "an object")
    if not asked.spelled:
        jsontext.check_value(document, asked.limits.nesting)
    carry = carry_of(document)
    if carry is not None or asked.loss == "carry" or src == dst:
        document = jsontext.copied(document)
        carry = carry_of(document)
    body = {key: value for key, value in document.items() if key != _CARRY} if carry is not None else document
    telling = Telling(asked.report, asked.loss)
    if src == dst and _stays(document, asked):
        return document
    node = _decode(reader, body, src, what, telling, asked)
    coming_home = carry is not None and isinstance(carry.get(dst), list)
    if what == "request" and asked.strict and not coming_home:
        check_pairs(node)
    if asked.model is not None:
        _rename(node, asked.model)
    if src != dst and isinstance(reader, Requests) and (stored := reader.stored(body)) is not None:
        error = RequestError(f"{stored}: it is stored elsewhere", expected="a request that says all it needs")
        error.path = stored
        raise error
    if asked.look is not None:
        asked.look(node)
    native = _encode(writer, node, target, source, telling, asked)
    if src == dst:
        plain = _again(reader, writer, body, source, target, what, asked, raw=True)
        return applied(native, differences(plain, body)) if plain is not None else native
    if carry is not None and coming_home:
        return applied(native, carry[dst])  # type: ignore[no-any-return]
    if asked.loss == "carry":
        home = _again(writer, reader, native, target, source, what, asked)
        operations = differences(home if home is not None else {}, document)
        if operations:
            native[_CARRY] = {"v": VERSION, src: operations}
    return native


def convert_list(messages: list[JsonObject], src: str, dst: str, asked: Asked) -> list[JsonObject]:
    """The messages of ``dst`` that those of ``src`` become: a request of nothing else, whose carry is on the first."""
    _, reader = capability(src, "request")
    _, writer = capability(dst, "request")
    if not isinstance(messages, list):
        raise wrong("", f"the messages are {kind_of(messages)}", "a list")
    document: JsonObject = {reader.listed: messages}  # type: ignore[union-attr]
    if src != dst and messages and isinstance(messages[0], dict) and (carry := carry_of(messages[0])) is not None:
        first = {key: value for key, value in messages[0].items() if key != _CARRY}
        document = {reader.listed: [first, *messages[1:]], _CARRY: carry}  # type: ignore[union-attr]
    asked = replace(asked, profile=_KEPT if src != dst else None, in_list=True)
    said = convert(document, src, dst, "request", asked)
    out: list[JsonObject] = said[writer.listed]  # type: ignore[union-attr]
    if _CARRY in said and out:
        out[0] = {**out[0], _CARRY: said[_CARRY]}
    return out


_KEPT: Final = {"prefill": True}


def carry_of(document: JsonObject) -> JsonObject | None:
    """The carry of a document; a member of this name that is none is the document's own."""
    carry = document.get(_CARRY)
    return carry if isinstance(carry, dict) and carry.get("v") == VERSION else None


def decode(document: JsonObject, src: str, what: What, asked: Asked) -> Any:
    """The node that a document is."""
    _, reader = capability(src, what)
    if not isinstance(document, dict):
        raise wrong("", f"the {what} is {kind_of(document)}", "an object")
    return _decode(reader, jsontext.copied(document), src, what, Telling(asked.report), asked)


def encode(node: Request | Answer, dst: str, what: What, asked: Asked) -> JsonObject:
    """The document of a node."""
    target, writer = capability(dst, what)
    source = find_codec(node.source) if node.source is not None else None
    return _encode(writer, node, target, source, Telling(asked.report, asked.loss), asked)


def read_body(body: JsonObject | bytes, limits: Limits) -> JsonObject:
    """The document in a body."""
    return jsontext.loads(body, limits.nesting, spelled=True) if isinstance(body, bytes) else body


def _stays(document: JsonObject, asked: Asked) -> bool:
    """Whether nothing is to be done where both formats are the same."""
    changed = asked.profile is not None or asked.model is not None or asked.look is not None
    return not changed and not _holds_envelope(document)


def _holds_envelope(document: JsonObject) -> bool:
    within: list[Any] = [document]
    for node in within:
        for item in node.values() if isinstance(node, dict) else node:
            if isinstance(item, str):
                if item.startswith(("tstate", "tsx_")):
                    return True
            elif isinstance(item, (dict, list)):
                within.append(item)
    return False


def _decode(
    reader: Any, body: JsonObject, src: str, what: What, telling: Telling, asked: Asked, *, raw: bool = False
) -> Any:
    issuer = _profile(reader, src, asked).issuer if what == "answer" and not raw else None
    reading = Reading(src, telling, asked.limits, raw, issuer, what == "answer")
    try:
        node = reader.decode(body, reading)
    except TranslateError as error:
        error.locate(format=src)
        raise
    if isinstance(node, Answer) and node.reason.word == "stop" and any(part.kind == "tool_call" for part in node.parts):
        # clients run tools on that word, whatever the server said
        node.reason = Reason("tool_call", node.reason.raw)
    if what == "answer" and not raw:
        issued(node, _profile(reader, src, asked))
    return node


def issued(answer: Answer, profile: Profile) -> None:
    """Note who issued the states of an answer, for those that are sealed."""
    for part in answer.parts:
        if part.state is not None:
            part.scope, part.issued_by = profile.scope, answer.model.name


def _encode(writer: Any, node: Any, target: Codec, source: Codec | None, telling: Telling, asked: Asked) -> JsonObject:
    requests = target.requests
    client = isinstance(node, Answer)
    turns = [Turn("assistant", node.parts)] if isinstance(node, Answer) else node.turns
    classes = {} if source is None else {source.name: (source.answers if client else source.requests).classes}  # type: ignore[union-attr]
    writing = Writing(
        target.name,
        node.source,
        _profile(requests, target.name, asked) if not client else Profile(),
        telling,
        Ids(turns),
        charset=requests.charset if requests is not None else None,
        ids_may_lack=requests.ids_may_lack if requests is not None else False,
        client=client,
        seal=asked.seal,
        foreign_thinking=asked.foreign_thinking,
        limits=asked.limits,
        spelled=asked.spelled,
        in_list=asked.in_list,
        classes=classes,
    )
    # what is written shares nothing with the source, nor with a codec's constants
    out: JsonObject = jsontext.copied(writer.encode(node, writing))
    return out


def _profile(able: Any, format: str, asked: Asked) -> Profile:
    known = able.profiles if isinstance(able, Requests) else {format: Profile()}
    return profile_of(asked.profile, known, format)


def _again(
    reader: Any,
    writer: Any,
    body: JsonObject,
    source: Codec,
    target: Codec,
    what: What,
    asked: Asked,
    *,
    raw: bool = False,
) -> JsonObject | None:
    """What a document says in another format by itself, told to nobody; ``None`` where it says nothing there."""
    quiet = Telling(quiet=True)
    alone = Asked(limits=asked.limits, spelled=asked.spelled, in_list=asked.in_list)
    if asked.in_list:
        alone.profile = asked.profile
    try:
        node = _decode(reader, body, source.name, what, quiet, alone, raw=raw)
        return _encode(writer, node, target, source, quiet, alone)
    except TranslateError:
        return None


def check_pairs(request: Request) -> None:
    """Hold the calls and results of a request to each other.

    Raises :class:`RequestError` for a call without its result, or a result without its call, in the middle.
    """
    ids = Ids(request.turns)
    for part, what, expected in (
        *((part, "a result of no call", "a call with this id before it") for part in ids.unasked),
        *((part, "a call without its result", "its result before the next message") for part in ids.unanswered),
    ):
        error = RequestError(f"{part.path}: {what}, {part.id!r}", expected=expected)
        error.path = part.path
        raise error


def _rename(node: Request | Answer, model: str) -> None:
    if isinstance(node, Request):
        node.model = model
    else:
        node.model.name = model


