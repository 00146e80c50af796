"""Arguments by paths: the JSON text that partial arguments spell, piece by piece.

1. A piece is a path and a value: ``$.o[0].x``, 1. A text at the path of the one before goes on there.
2. As long as paths come in the order of the text, each piece is the text from the one before to its own end; what
   closes texts, lists and objects comes with the next piece, or at the end.
3. From the first that does not, the call waits until it is whole. Members that the text had said already are said
   again then, as a whole: the last one stands.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final, TypeAlias

from translate import jsontext
from translate.algebra.reading import member, optional
from translate.errors import DecodeError, LimitExceeded
from translate.limits import Limits

Step: TypeAlias = str | int
Path: TypeAlias = tuple[Step, ...]

_STEP: Final = re.compile(
    r"""\.([^.\[\]'"]+)|\[(\d{1,9})\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]""", re.DOTALL
)
_GAP: Final = 1 << 16
"""Entries of a list that one path may skip, at most."""


def read_path(text: str, nesting: int) -> Path:
    """The steps of a path. Raises :class:`DecodeError` and :class:`LimitExceeded`."""
    steps: list[Step] = []
    at = 1 if text.startswith("$") else len(text) + 1
    while at < len(text):
        found = _STEP.match(text, at)
        if found is None:
            break
        name, index, single, double = found.groups()
        if index is not None:
            steps.append(int(index))
        else:
            quoted = single if single is not None else double
            steps.append(name if quoted is None else re.sub(r"\\(.)", r"\1", quoted, flags=re.DOTALL))
        at = found.end()
        if len(steps) > nesting:
            raise LimitExceeded("nesting", nesting)
    if at != len(text) or not steps or type(steps[0]) is int:
        raise DecodeError(f"{text[:80]!r} is no path into the arguments of a call", expected="$.name, $.list[0].name")
    return tuple(steps)


class _Text:
    """A text that grows."""

    __slots__ = ("pieces",)

    def __init__(self, first: str) -> None:
        self.pieces = [first]


class Paths:
    """The arguments of one call, as far as they came. Only :meth:`Plan.take` changes them."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.root: dict[str, Any] = {}
        self.leaf: Path = ()
        """Where the text stands; empty where it has not begun."""
        self.in_text = False
        self.waits = False
        self.again: dict[str, None] = {}
        """Members of the arguments that came out of order, in the order of their coming."""
        self.size = 0

    def plan(self) -> Plan:
        """What further pieces say from here on."""
        return Plan(self)

    def find(self, path: Path) -> Any:
        """What stands at a path, if anything does."""
        node: Any = self.root
        for step in path:
            try:
                node = node[step]
            except (KeyError, IndexError, TypeError):
                return None
        return node


class Plan:
    """What pieces say; the arguments stay as they are until :meth:`take`."""

    def __init__(self, paths: Paths) -> None:
        self._paths = paths
        self._leaf, self._in_text = paths.leaf, paths.in_text
        self._waits = paths.waits
        self._again: dict[str, None] = {}
        self._puts: list[tuple[Path, Any]] = []
        self._fresh: dict[Path, dict[Step, None]] = {}
        self._size = paths.size

    def put_object(self, values: dict[str, Any]) -> None:
        """Members that came whole: they wait."""
        self._waits = self._waits or bool(values)
        for name, value in values.items():
            self._put((name,), value, len(jsontext.dumps(value)))

    def put(self, piece: object) -> str:
        """One piece: the text that it adds, which may be none."""
        if type(piece) is not dict:
            raise DecodeError("a partial argument is no object", expected="an object")
        path = read_path(member(piece, "jsonPath", str, "a partial argument"), self._paths.limits.nesting)
        value = _value(piece)
        if value is _NOTHING:
            value = "" if piece.get("willContinue") is True or self._goes_on(path) else None
        text = "" if self._waits else self._said(path, value)
        self._put(path, value, len(value) if isinstance(value, str) else 1)
        return text or ""

    def _put(self, path: Path, value: Any, size: int) -> None:
        self._puts.append((path, value))
        self._size += size + len(path) + self._skipped(path)
        if self._size > self._paths.limits.part:
            raise LimitExceeded("part", self._paths.limits.part)
        if self._waits:
            self._again[str(path[0])] = None

    def _skipped(self, path: Path) -> int:
        """Entries of lists that a path skips."""
        skipped = 0
        for i, step in enumerate(path):
            if type(step) is int and step:
                found = self._paths.find(path[:i])
                skipped += max(0, step - (len(found) if isinstance(found, list) else 0))
        if skipped > _GAP:
            raise DecodeError(f"a path skips {skipped} entries of a list", expected=f"at most {_GAP}")
        return skipped

    # ---- in the order of the text

    def _goes_on(self, path: Path) -> bool:
        return self._in_text and path == self._leaf

    def _said(self, path: Path, value: Any) -> str | None:
        """The text that a value at a path adds; ``None`` where it comes out of order, so that the call waits."""
        if self._goes_on(path) and isinstance(value, str):
            return _inside(value)
        common = 0
        while common < min(len(path), len(self._leaf)) and path[common] == self._leaf[common]:
            common += 1
        if not self._leaf:
            before = "{"
        elif common == len(path) or common == len(self._leaf) or not self._follows(path, common):
            self._waits = True
            return None
        else:
            before = self._closed(common + 1) + ","
        if any(type(step) is int and step for step in path[common + 1 :]):
            self._waits = True
            return None
        for i in range(common, len(path)):
            self._fresh.setdefault(path[:i], {})[path[i]] = None
        inner = (*path[1:], None)
        before += "".join(_opened(path[i], inner[i]) for i in range(common, len(path)))
        self._leaf, self._in_text = path, isinstance(value, str)
        return before + (f'"{_inside(value)}' if isinstance(value, str) else _compact(value))

    def _follows(self, path: Path, at: int) -> bool:
        """Whether a step may come next in the object or list that is open there."""
        step, last = path[at], self._leaf[at]
        if type(step) is int or type(last) is int:
            return type(step) is type(last) and step == int(last) + 1
        found = self._paths.find(path[:at])
        known = isinstance(found, dict) and step in found
        return not known and step not in self._fresh.get(path[:at], ())

    def _closed(self, depth: int) -> str:
        """What closes the text, and all that is open below ``depth`` steps."""
        ends = ("]" if type(step) is int else "}" for step in reversed(self._leaf[depth:]))
        return ('"' if self._in_text else "") + "".join(ends)

    # ---- the end

    def close(self) -> str:
        """The rest of the text: empty where there were no arguments at all."""
        if not self._waits:
            return self._closed(0) if self._leaf else ""
        root = self._grown()
        if not self._leaf:
            return _compact(root)
        again = {**self._paths.again, **self._again}
        return self._closed(1) + "".join(f",{_compact(name)}:{_compact(root[name])}" for name in again) + "}"

    def _grown(self) -> Any:
        """All arguments, those of this plan among them."""
        root = _copied(self._paths.root)
        for path, value in self._puts:
            _set(root, path, value)
        return _plain(root)

    def take(self) -> Paths:
        """Go on behind the pieces."""
        paths = self._paths
        for path, value in self._puts:
            _set(paths.root, path, value)
        paths.leaf, paths.in_text, paths.waits, paths.size = self._leaf, self._in_text, self._waits, self._size
        paths.again |= self._again
        self._puts = []
        return paths


_NOTHING: Final = object()


def _value(piece: dict[str, Any]) -> Any:
    for name, types in (("stringValue", (str,)), ("numberValue", (int, float)), ("boolValue", (bool,))):
        value = piece.get(name)
        if value is not None:
            if type(value) not in types and not (name == "numberValue" and isinstance(value, float)):
                raise DecodeError(f"a partial argument has a wrong {name!r}", expected=types[0].__name__)
            return value
    optional(piece, "nullValue", str, "a partial argument")
    return None if "nullValue" in piece else _NOTHING


def _set(root: Any, path: Sequence[Step], value: Any) -> None:
    """Put a value at a path; what is in the way gives way, and a text goes on."""
    node: Any = root
    for i, step in enumerate(path):
        last = i == len(path) - 1
        if type(step) is int:
            node += [None] * (step + 1 - len(node))
        have = node.get(step) if isinstance(node, dict) else node[step]
        if last:
            if isinstance(have, _Text) and isinstance(value, str):
                have.pieces.append(value)
            else:
                node[step] = _Text(value) if isinstance(value, str) else value
            return
        wanted: type = list if type(path[i + 1]) is int else dict
        if type(have) is not wanted:
            have = node[step] = wanted()
        node = have


def _copied(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _copied(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_copied(each) for each in value]
    return _Text("".join(value.pieces)) if isinstance(value, _Text) else value


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return jsontext.whole("".join(value.pieces)) if isinstance(value, _Text) else value


def _opened(step: Step, inner: Step | None) -> str:
    """What stands before the value of a step; ``inner``: the step behind it."""
    name = "" if type(step) is int else _compact(step) + ":"
    return name + ("" if inner is None else "[" if type(inner) is int else "{")


def _compact(value: Any) -> str:
    return jsontext.dumps(value).decode("utf-8", "surrogatepass")


def _inside(text: str) -> str:
    return _compact(text)[1:-1]
