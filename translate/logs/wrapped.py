"""Logs of containers: each line of what a program printed, in a record of its runtime's.

``docker``  JSON lines of Docker's ``json-file``: ``{"log": "…\\n", "stream": "stdout", "time": "…"}``
``cri``     lines of the Kubernetes CRI: ``2026-01-01T00:00:00.000000000Z stdout F …``; ``P`` is a line in part

1. What each channel printed, ``stdout`` and ``stderr``, is put together, and holds streams end to end. A long line that
   the runtime has cut is whole again.
2. Records stand in the order of their lines: that in which the runtime took them.
3. A line that is no record is rejected by itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from .. import jsontext
from ..errors import DecodeError, TranslateError
from .ends import EndToEnd
from .layout import Container, Counts, Settings
from .places import Long
from .records import Lines, kept
from .stream import Reject

_CRI = re.compile(rb"(\d{4}-\d\d-\d\dT\S+) (stdout|stderr) ([FP](?::\S*)?)(?: (.*))?", re.DOTALL)
_KINDS: tuple[Container, ...] = ("cri", "docker")
_DOCKER = {"log", "stream", "time"}


def printed(line: bytes, container: Container) -> tuple[str, bytes]:
    """The channel of a record, and what was printed there. Raises :class:`TranslateError`."""
    if container == "cri":
        found = _CRI.fullmatch(line)
        if found is None:
            raise DecodeError("no line of the CRI", expected="a time, a channel, F or P, and what was printed")
        return found[2].decode(), (found[4] or b"") + b"\n" * found[3].startswith(b"F")
    record = jsontext.loads(line, len(line))
    if not isinstance(record, dict) or not isinstance(record.get("log"), str):
        raise DecodeError("no record of Docker", expected="an object with the member 'log'")
    return str(record.get("stream")), record["log"].encode("utf-8", "surrogatepass")


def recognised(lines: list[bytes], asked: Container | None) -> tuple[Container | None, list[bytes]]:
    """What a log begins as, or is said to be, and the lines that were printed first, to the channel of the first."""
    # the last may be in part
    whole = [line.rstrip(b"\r\n") for line in lines if line.endswith(b"\n")] or lines
    for container in _KINDS if asked is None else (asked,):
        try:
            pieces = [printed(line, container) for line in whole]
        except TranslateError:
            continue
        if container != "docker" or asked or all(jsontext.loads(line, len(line)).keys() >= _DOCKER for line in whole):
            return container, [data for channel, data in pieces if channel == pieces[0][0]]
    return None, []


def convert(
    lines: Lines,
    container: Container,
    settings: Settings,
    counts: Counts,
    write: Callable[[bytes], object],
    reject: Callable[[Reject], None],
    limit: int | None,
) -> None:
    """Convert the streams of all channels; they come out as they end."""
    channels: dict[str, EndToEnd] = {}
    for offset, line in lines:
        try:
            if isinstance(line, Long):
                raise DecodeError(f"the record has {line.size} bytes", expected=f"at most {line.limit}")
            channel, data = printed(bytes(line), container)
        except TranslateError as error:
            counts.streams_in += 1
            counts.reject(error)
            reject(Reject(error, kept(line), {"offset": offset}))
            continue
        if channel not in channels:
            channels[channel] = EndToEnd(settings, counts, write, reject, limit)
        channels[channel].feed(data)
        if channels[channel].full:
            break
    for streams in channels.values():
        streams.close()
