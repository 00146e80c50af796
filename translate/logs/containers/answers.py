"""Recordings of requests with their answers: what is done with each, however a tool keeps it.

1. An answer that holds a stream, by its media type or by how it begins, is converted: its body, which stays packed as
   it was, and what tells its media type and its size. Others pass as they are.
2. One whose stream is broken is rejected, whole, and is not in the output; nor is one that is not chosen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from ... import jsontext
from ...errors import TranslateError
from ...registry import resolve
from ..bodies import text_of
from ..layout import Counts
from ..likeness import is_like
from ..records import converted
from ..selection import selection
from ..stream import Content, Reject
from ..wide import Text
from ..work import Task

Entry = TypeVar("Entry")


@dataclass(frozen=True, slots=True)
class Recording(Generic[Entry]):
    """How a tool keeps an answer.

    ``body``        the body of an answer, as it is kept; ``None`` without one
    ``media_type``  its media type, in small letters
    ``view``        what an entry is chosen by
    ``put``         the entry with another body, and the media type of it, if it has one
    ``kept``        what a reject keeps of it
    ``always``      whether each is to hold a stream
    """

    body: Callable[[Entry], Any]
    media_type: Callable[[Entry], str]
    view: Callable[[Entry], dict[str, Any]]
    put: Callable[[Entry, Any, str | None], Entry]
    kept: Callable[[Entry], Content]
    always: bool = False


def convert(
    entries: Iterable[Entry],
    how: Recording[Entry],
    task: Task,
    counts: Counts,
    reject: Callable[[Reject], None],
) -> Iterator[tuple[Entry, Any]]:
    """The entries of the output, each with the stream that it became; ``None`` where it holds none."""
    settings, chosen = task.settings, selection(task.settings.where)
    types = resolve(settings.src)[1].media_types
    told = next(iter(resolve(settings.dst)[1].media_types), None)
    for index, entry in enumerate(entries):
        if chosen is not None and not chosen(how.view(entry)):
            counts.left_out += 1
            continue
        body = how.body(entry)
        if not how.always and (body is None or not (how.media_type(entry) in types or _is_stream(body, settings.src))):
            yield entry, None
            continue
        if task.limit is not None and counts.streams_in >= task.limit:
            return
        counts.streams_in += 1
        counts.records_in += 1
        try:
            done = converted(body, settings, counts)
        except Exception as error:
            # of whatever kind: a fault of a codec is one of its stream, and the others go on
            counts.reject(error, 1)
            reject(Reject(error, how.kept(entry), {"entry": index}))
            continue
        counts.records_converted += 1
        yield how.put(entry, done, told), done


def _is_stream(body: Any, src: str) -> bool:
    return (text := beginning(body)) is not None and is_like(text, src)


def beginning(body: Any) -> str | None:
    """How a body begins, unpacked; ``None`` where that is no text."""
    if isinstance(body, Text):
        return text_of(next(body.pieces())) if not body.encoded else text_of(next(body.decoded()))
    return text_of(body) if isinstance(body, (str, bytes)) else None


def model_of(request: Any, url: Any) -> str | None:
    """The model that was asked: of the body of a request, or of its URL, as Gemini has it."""
    if isinstance(request, (str, bytes)) and len(request) and request[:1] in ("{", b"{"):
        try:
            found = jsontext.loads_str(request) if isinstance(request, str) else jsontext.loads(request, len(request))
        except TranslateError:
            found = None
        if isinstance(found, dict) and isinstance(found.get("model"), str):
            return str(found["model"])
    _, models, rest = str(url).partition("/models/")
    return rest.partition(":")[0].partition("?")[0] or None if models else None
