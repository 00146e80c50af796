"""Documents with a list of entries: JSON, or YAML. The whole of one is in memory, its long strings once.

The output is the same document, with other entries: of JSON one a line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

from ...errors import TranslateError
from ..layout import Counts, get, put
from ..places import CHUNK, InputFault
from ..stream import Content, Reject
from ..wide import Made, Wide
from ..work import Seen, Sink, Task
from .answers import Recording, beginning
from .answers import convert as convert_answers
from .kind import Kind


class Document:
    """A document of JSON. ``path``: of its list; empty where it is the list itself."""

    def __init__(self, data: bytearray, path: Callable[[Any], str]) -> None:
        self._wide = Wide(data, len(data))
        self.value = self._wide.value
        self.path = path(self.value)
        self.of = self._wide.of

    @property
    def entries(self) -> list[dict[str, Any]]:
        """What is in the list."""
        return get(self.value, self.path) if self.path else self.value  # type: ignore[no-any-return]

    def marked(self, done: Any) -> Any:
        """What stands in an entry for a stream."""
        return self._wide.hold(done) if isinstance(done, Made) else done

    def pieces(self) -> Iterator[bytes]:
        """All of it, as it was."""
        return self._wide.written(self.value)

    def kept(self, entry: Any) -> Content:
        """An entry, as a reject keeps it."""
        return _Kept(self._wide, entry)

    def written(self, entries: Iterable[Any]) -> Iterator[bytes]:
        """The document, with other entries."""
        mark = self._wide.hold(_List(self._wide, entries))
        yield from self._wide.written(put(self.value, self.path, mark) if self.path else mark)
        yield b"\n"


@dataclass(frozen=True, slots=True)
class _Kept:
    wide: Wide
    entry: Any

    def pieces(self) -> Iterator[bytes]:
        return self.wide.written(self.entry)


@dataclass(frozen=True, slots=True)
class _List:
    """Entries that are written as they come."""

    wide: Wide
    entries: Iterable[Any]

    def literal(self) -> Iterator[bytes]:
        yield b"["
        for number, entry in enumerate(self.entries):
            yield b"," * (number > 0) + b"\n"
            yield from self.wide.written(entry)
        yield b"\n]"


def read(file: BinaryIO, limit: int) -> bytearray:
    """All that is in a file, without a byte order mark. Raises :class:`InputFault` for more than ``limit`` bytes."""
    data = bytearray()
    while more := file.read(min(CHUNK, limit + 1 - len(data))):
        data += more
        if len(data) > limit:
            raise InputFault(f"the document is larger than {limit} bytes")
    if data.startswith(b"\xef\xbb\xbf"):
        del data[:3]
    return data


def is_list(found: Any) -> bool:
    """Whether something is a list of objects."""
    return isinstance(found, list) and all(isinstance(entry, dict) for entry in found)


def kind(
    title: str,
    begins: Callable[[bytes], bool] | None,
    load: Callable[[BinaryIO, int], Any],
    how: Callable[[Any, Task | None], Recording[dict[str, Any]]],
) -> Kind:
    """A kind of documents. ``load``: reads one, a :class:`Document` or what has its methods; ``how``: what its entries
    are. Errors of both are those of an input.
    """

    def loaded(file: BinaryIO, limit: int) -> Any:
        try:
            return load(file, limit)
        except (TranslateError, KeyError, RecursionError) as error:
            raise InputFault(f"it is not {title}: {error}") from None

    def bodies(file: BinaryIO, limit: int) -> list[Any]:
        document = loaded(file, limit)
        body = how(document, None).body
        return [text for entry in document.entries if (text := beginning(body(entry))) is not None]

    def made(
        file: BinaryIO, task: Task, counts: Counts, reject: Callable[[Reject], None]
    ) -> Iterator[Any]:
        document = loaded(file, task.record)
        return _streams(convert_answers(document.entries, how(document, task), task, counts, reject))

    def convert(
        file: BinaryIO, task: Task, counts: Counts, output: Sink, reject: Callable[[Reject], None], seen: Seen
    ) -> None:
        document = loaded(file, task.record)
        done = convert_answers(document.entries, how(document, task), task, counts, reject)
        for piece in document.written(entry for entry, _ in done):
            output.write(piece)

    return Kind(title, begins, bodies, convert, made=made)


def _streams(done: Iterator[tuple[Any, Any]]) -> Iterator[Any]:
    return (stream for _, stream in done if stream is not None)
