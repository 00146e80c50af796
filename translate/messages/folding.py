"""A stream as one answer, and an answer as a stream: the two forms of one message."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator
from typing import Any

from ..algebra.events import (
    GROWS,
    Annotate,
    Append,
    Close,
    Event,
    Failure,
    Finish,
    Handover,
    Open,
    Start,
    State,
    TokenCounts,
    Usage,
)
from ..algebra.failures import reported
from ..algebra.parts import Growth
from ..algebra.states import is_hint
from ..algebra.usage import latest
from ..errors import GrammarError
from .nodes import Annotation, Answer, Part

_ONE_FOR_ALL = ("thinking", "text")


def fold(events: Iterable[Event]) -> Answer:
    """The answer that the events of a whole stream add up to. A call that was cut off is left out.

    Raises :class:`UpstreamFailure` where the stream failed, and :class:`GrammarError` where it has no finish.
    """
    answer, usage = Answer(), None
    started = False
    part: Part | None = None
    grown = Growth()
    last: Part | None = None
    for event in events:
        match event:
            case Start():
                if not started:
                    answer.id, answer.model, answer.created = event.id, event.model, event.created
                started = True
            case Open():
                part, grown = Part(event.kind, id=event.id, name=event.name, mime_type=event.mime_type), Growth()
                if event.mime_type is not None:
                    part.media = _media(event.mime_type)
            case Append() if part is not None:
                grown.add(event.data)
                if event.state is not None and _counts(event.state, part.state):
                    part.state = event.state
            case Annotate():
                where = part if part is not None else last
                if where is not None:
                    where.annotations.append(Annotation(event.namespace, event.data))
            case Close() | Handover():
                if part is not None and not (part.kind == "tool_call" and _is_cut(event)):
                    answer.parts.append(_whole(part, grown))
                    last = part
                part = None
            case Usage():
                usage = latest(event.usage, usage)
            case Failure():
                raise reported(event)
            case Finish():
                answer.usage = latest(event.usage, usage)
                answer.reason = event.reason
                if answer.reason.word == "stop" and any(each.kind == "tool_call" for each in answer.parts):
                    answer.reason = type(answer.reason)("tool_call", answer.reason.raw)
                return answer
            case _:
                pass
    raise GrammarError("the events have no finish", expected="finish")


def _is_cut(event: Close | Handover) -> bool:
    return type(event) is Handover or bool(getattr(event, "cut", False))


def _counts(state: State, before: State | None) -> bool:
    """Whether a state stands: the last one, but no mere spelling after one that is content."""
    return before is None or not is_hint(state) or is_hint(before)


def _media(mime_type: str) -> Any:
    family = mime_type.partition("/")[0]
    return family if family in ("image", "audio", "video") else "file"


def _whole(part: Part, grown: Growth) -> Part:
    data: Any = grown.join()
    part.data = b64encode(data).decode("ascii") if isinstance(data, bytes) else data if isinstance(data, str) else ""
    return part


def unfold(answer: Answer) -> Iterator[Event]:
    """The events that say an answer, one fragment a part; what only streams or only answers can say is left out."""
    yield Start(answer.model, answer.id, answer.created)
    for part in answer.parts:
        if part.kind not in GROWS or (part.unit is not None and not part.data):
            continue
        yield Open(part.kind, part.id, part.name, part.mime_type)  # type: ignore[arg-type]
        data = b64decode(part.data) if GROWS[part.kind] is bytes else part.data
        if data or part.state is not None:
            yield Append(data, part.state)
        for each in part.annotations:
            yield Annotate(each.namespace, each.data)
        yield Close()
    yield Finish(answer.usage or TokenCounts(), answer.reason)
