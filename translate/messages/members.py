"""Reading an object member by member: what nobody took is left over, and so cannot be dropped without a word."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self, TypeVar, overload

from ..algebra.events import JsonObject, Residue
from ..algebra.reading import kind_of
from ..errors import DecodeError, TranslateError

T = TypeVar("T")
_NAMES: dict[type, str] = {
    str: "text",
    int: "an integer",
    bool: "true or false",
    dict: "an object",
    list: "a list",
    float: "a number",
}


def wrong(path: str, what: str, expected: str | None = None) -> DecodeError:
    """The error for what stands at ``path``."""
    error = DecodeError(f"{path}: {what}" if path else what, expected=expected)
    error.path = path
    return error


def at(path: str, error: TranslateError) -> TranslateError:
    """The error, which now names the path where it was met."""
    if path and error.path is None:
        error.what, error.path = f"{path}: {error.what}", path
    return error


class Rest(dict[str, Any]):
    """What is left over of an object of which the others were taken: each of its members is told by itself."""


class Members:
    """The members of one object that were not taken yet."""

    __slots__ = ("left", "path")

    def __init__(self, value: Any, path: str) -> None:
        if not isinstance(value, dict):
            raise wrong(path, f"found {kind_of(value)}", "an object")
        self.left: JsonObject = value.copy()
        self.path = path

    def at(self, key: str) -> str:
        """The path of a member."""
        return f"{self.path}.{key}" if self.path else key

    @overload
    def take(self, key: str, kind: type[T]) -> T | None: ...
    @overload
    def take(self, key: str, kind: None = None) -> Any: ...
    def take(self, key: str, kind: type[Any] | None = None) -> Any:
        """A member of one type (``float``: any number); ``None`` where it is absent or ``null``."""
        value = self.left.pop(key, None)
        if value is None or kind is None or type(value) is kind:
            return value
        if kind is float and isinstance(value, (int, float)) and not isinstance(value, bool):
            return value
        raise wrong(self.at(key), f"found {kind_of(value)}", _NAMES[kind])

    def must(self, key: str, kind: type[T]) -> T:
        """A member that must be there."""
        value = self.take(key, kind)
        if value is None:
            raise wrong(self.path, f"lacks the member {key!r}", _NAMES[kind])
        return value

    def maybe(self, key: str, kind: type[T]) -> T | None:
        """A member where it is of one type; of another it is left, as a word of somebody else."""
        return self.left.pop(key) if type(self.left.get(key)) is kind else None

    def entries(self, key: str) -> Iterator[Self]:
        """The objects of a list, if it is there."""
        for i, entry in enumerate(self.take(key, list) or ()):
            yield type(self)(entry, f"{self.at(key)}[{i}]")

    def inner(self, key: str) -> Self | None:
        """The members of an object within, if it is there. See :meth:`put_back`."""
        value = self.take(key, dict)
        return None if value is None else type(self)(value, self.at(key))

    def put_back(self, key: str, inner: Members | None) -> None:
        """What is left over of an object within is left over here."""
        if inner is not None and (rest := inner.rest("")) is not None:
            self.left[key] = Rest(rest[""])

    def rest(self, codec: str) -> Residue | None:
        """The residue: what is left over."""
        left = {key: value for key, value in self.left.items() if value is not None}
        return {codec: left} if left else None
