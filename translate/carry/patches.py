"""Patches: how a unit differs from the one its codec would write, in as few words as will do.

A patch is a list of operations on a JSON object: ``[path, value]`` sets, ``[path]`` removes; a path is a list of
member names and list indices. A member that is set and was not there comes last.
"""

from __future__ import annotations

from typing import Any

from .. import jsontext
from ..errors import shown

Patch = list[list[Any]]


class PatchError(ValueError):
    """The patch is malformed, or speaks of a member that is not there."""


def diff(canonical: Any, actual: Any) -> Patch:
    """The operations that make ``actual`` of ``canonical``. Empty where they are equal as JSON values."""
    out: Patch = []
    _diff(canonical, actual, [], out)
    return out


def _diff(a: Any, b: Any, path: list[Any], out: Patch) -> None:
    if type(a) is dict and type(b) is dict:
        out += [[[*path, k]] for k in a if k not in b]
        for k, v in b.items():
            if k not in a:
                out.append([[*path, k], v])
            elif not ((x := a[k]) is v or (type(x) is type(v) in (str, int) and x == v)):
                _diff(x, v, [*path, k], out)
    elif type(a) is list and type(b) is list and len(a) == len(b):
        for i, (x, y) in enumerate(zip(a, b, strict=True)):
            _diff(x, y, [*path, i], out)
    elif not jsontext.same(a, b):
        out.append([path, b])


def apply(unit: Any, patch: Any) -> Any:
    """``unit`` with the operations applied; the original is left as it is. Raises :class:`PatchError`."""
    if not isinstance(patch, list):
        raise PatchError("a patch is a list")
    for op in patch:
        if not (isinstance(op, list) and len(op) in (1, 2) and isinstance(op[0], list)):
            raise PatchError("an operation is [path] or [path, value]")
        unit = _apply(unit, op[0], 0, op[1:])
    return unit


def _apply(node: Any, path: list[Any], at: int, value: list[Any]) -> Any:
    if at == len(path):
        if not value:
            raise PatchError("the whole unit cannot be removed")
        return value[0]
    key, last = path[at], at == len(path) - 1
    if type(node) is dict and type(key) is str:
        copy = dict(node)
        if last and not value:
            if key not in copy:
                raise PatchError(f"no member {shown(key)} to remove")
            del copy[key]
        elif key in copy or last:
            copy[key] = _apply(copy.get(key), path, at + 1, value)
        else:
            raise PatchError(f"no member {shown(key)}")
        return copy
    if type(node) is list and type(key) is int and 0 <= key < len(node) and (value or not last):
        return [*node[:key], _apply(node[key], path, at + 1, value), *node[key + 1 :]]
    raise PatchError(f"nothing at {shown(path[: at + 1])}")
