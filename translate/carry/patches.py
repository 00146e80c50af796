"""Patches: how a unit differs from the one its codec would write, in as few words as will do.

A patch is a list of operations on a JSON object: ``[path, value]`` sets, ``[path]`` removes; a path is a list of
member names and list indices. A member that is set and was not there comes last.
"""

from __future__ import annotations

from typing import Any

from .. import jsontext
from ..errors import shown

Patch = list[list[Any]]
_ABSENT = object()
_PLAIN = (str, int)


class PatchError(ValueError):
    """The patch is malformed, or speaks of a member that is not there."""


def diff(canonical: Any, actual: Any) -> Patch:
    """The operations that make ``actual`` of ``canonical``. Empty where they are equal as JSON values."""
    out: Patch = []
    if canonical is actual:
        return out
    waiting: list[tuple[Any, Any, list[Any]]] = [(canonical, actual, [])]
    while waiting:
        a, b, path = waiting.pop()
        if type(a) is dict and type(b) is dict:
            out += [[[*path, k]] for k in a if k not in b]
            changed: list[tuple[Any, Any, list[Any]]] = []
            for k, v in b.items():
                held = a.get(k, _ABSENT)
                # most are equal at the first look
                if held is not v and (held != v or type(held) is not type(v) or type(v) not in _PLAIN):
                    changed.append((held, v, [*path, k]))
            waiting += reversed(changed)
        elif type(a) is list and type(b) is list and len(a) == len(b):
            if a == b and jsontext.same(a, b):
                continue
            waiting += reversed([(x, y, [*path, i]) for i, (x, y) in enumerate(zip(a, b, strict=True))])
        elif a is _ABSENT or not jsontext.same(a, b):
            out.append([path, b])
    return out


def apply(unit: Any, patch: Any, nesting: int) -> Any:
    """``unit`` with the operations applied; neither it nor the patch is changed.

    Time is linear in both. Raises :class:`PatchError`, also where the result would nest deeper than ``nesting``.
    """
    if not isinstance(patch, list):
        raise PatchError("a patch is a list")
    # a node is copied where it is changed first, and then its copy is changed
    root: list[Any] = [unit]
    copies: dict[int, Any] = {id(root): root}
    for op in patch:
        if not (isinstance(op, list) and len(op) in (1, 2) and isinstance(op[0], list)):
            raise PatchError("an operation is [path] or [path, value]")
        path, value = op[0], op[1:]
        if value and not _fits(value[0], nesting - len(path)):
            raise PatchError(f"it nests deeper than {nesting} levels")
        node: Any = root
        key: Any = 0
        for at, name in enumerate(path):
            child = node[key]
            _check_step(child, path, at, value)
            if id(child) not in copies:
                node[key] = child = child.copy()
                copies[id(child)] = child
            node, key = child, name
        if value:
            node[key] = value[0]
        elif node is root:
            raise PatchError("the whole unit cannot be removed")
        else:
            del node[key]
    return root[0]


def _check_step(node: Any, path: list[Any], at: int, value: list[Any]) -> None:
    """Whether a path may go on from a node by its next key, which it sets or removes if it is the last."""
    key, last = path[at], at == len(path) - 1
    if type(node) is dict and type(key) is str:
        if key not in node and not (last and value):
            raise PatchError(f"no member {shown(key)} to remove" if last else f"no member {shown(key)}")
    elif not (type(node) is list and type(key) is int and 0 <= key < len(node) and (value or not last)):
        raise PatchError(f"nothing at {shown(path[: at + 1])}")


def _fits(value: Any, nesting: int) -> bool:
    """Whether a value nests no deeper than so many levels."""
    level = [value]
    while level := [x for x in level if isinstance(x, (dict, list))]:
        if nesting <= 0:
            return False
        nesting -= 1
        level = [x for each in level for x in (each.values() if isinstance(each, dict) else each)]
    return True
