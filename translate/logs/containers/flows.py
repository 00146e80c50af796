"""Flows of mitmproxy, as ``mitmdump -w`` writes them. Needs mitmproxy, whose library reads and writes them.

The body of an answer is taken as its encoding says, and put back so. Flows that are none of HTTP pass as they are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from importlib import import_module
from io import BytesIO
from typing import Any, BinaryIO

from ..layout import Counts
from ..places import InputFault, MissingExtra
from ..stream import Content, Reject, Whole
from ..work import Seen, Sink, Task
from .answers import Recording, beginning, convert, model_of
from .kind import Kind

_BEGINNING = re.compile(rb"\d{1,12}:(?:\d{1,12}:\w+[;,])")


def _library() -> Any:
    try:
        return import_module("mitmproxy.io")
    except ImportError:
        why = "mitmproxy is not installed: pip install -e '.[mitmproxy]', in the project's checkout"
        raise MissingExtra(why) from None


def _flows(file: BinaryIO) -> Iterator[Any]:
    library = _library()
    try:
        yield from library.FlowReader(file).stream()
    except InputFault:
        raise
    except Exception as error:
        # damaged files raise errors of many kinds
        raise InputFault(f"{type(error).__name__}: {error}") from error


def _body(flow: Any) -> Any:
    response = getattr(flow, "response", None)
    return None if response is None or response.raw_content is None else response.get_content(strict=False)


def _media_type(flow: Any) -> str:
    return str(flow.response.headers.get("content-type", "")).partition(";")[0].strip().lower()


def _view(flow: Any) -> dict[str, Any]:
    request, response = getattr(flow, "request", None), getattr(flow, "response", None)
    if request is None:
        return {}
    return {
        "url": request.pretty_url,
        "method": request.method,
        "status": None if response is None else response.status_code,
        "type": None if response is None else _media_type(flow),
        "model": model_of(request.get_content(strict=False), request.path),
    }


def _put(flow: Any, done: Any, told: str | None) -> Any:
    flow.response.content = done
    if told:
        flow.response.headers["content-type"] = told
    return flow


def _written(flow: Any) -> bytes:
    out = BytesIO()
    _library().FlowWriter(out).add(flow)
    return out.getvalue()


def _kept(flow: Any) -> Content:
    return Whole(_written(flow))


_HOW: Recording[Any] = Recording(_body, _media_type, _view, _put, _kept)


def _made(file: BinaryIO, task: Task, counts: Counts, reject: Callable[[Reject], None]) -> Iterator[Any]:
    done = convert(_flows(file), _HOW, task, counts, reject)
    return (stream for _, stream in done if stream is not None)


def _bodies(file: BinaryIO, limit: int) -> list[str]:
    return [text for flow in _flows(file) if (text := beginning(_body(flow))) is not None]


def _convert(
    file: BinaryIO, task: Task, counts: Counts, output: Sink, reject: Callable[[Reject], None], seen: Seen
) -> None:
    for flow, _ in convert(_flows(file), _HOW, task, counts, reject):
        output.write(_written(flow))
        if seen is not None:
            seen(file.tell())


FLOWS = Kind("flows of mitmproxy", lambda head: _BEGINNING.match(head) is not None, _bodies, _convert, made=_made)
