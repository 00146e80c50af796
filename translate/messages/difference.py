"""The carry of a document: what brings home what the target could not say.

A document of A became one of B. What would come home from B alone is compared with the real one, and the difference
is the carry, as a list of operations. Each holds a digest of what home would say at its place, and is applied only
where that still fits: so content that was edited after the translation wins.

``[path, digest]`` takes a member away; ``[path, digest, value]`` sets it, the digest ``""`` where home says nothing
there; ``[path, digest, items, start, end]`` puts items in place of some of a list's, the digest being of the items and
their neighbours; ``[path, names]`` brings the members of an object into order. A path is a list of names and indices.
All indices are of what home would say; operations are applied from the last to the first.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Any, Final, TypeAlias

from .. import jsontext

Path: TypeAlias = list[str | int]
Operation: TypeAlias = list[Any]
VERSION: Final = 1
_DIGITS: Final = 10


def differences(home: Any, real: Any) -> list[Operation]:
    """What makes ``real`` of ``home``."""
    out: list[Operation] = []
    _compare(home, real, [], out)
    return out


def applied(home: Any, operations: list[Operation]) -> Any:
    """``home`` with all operations that fit it; it is changed. What is no operation is passed over."""
    holder = {"": home}
    fitting = [each for each in operations if _is_operation(each) and _fits(holder, each)]
    for operation in reversed(fitting):
        _apply(holder, operation)
    return holder[""]


def mark(value: Any) -> str:
    """A digest of a JSON value, member order included."""
    return sha256(jsontext.dumps(value)).hexdigest()[:_DIGITS]


def alike(a: Any, b: Any) -> bool:
    """Equality as JSON values, member order and the spelling of numbers included."""
    kind = type(a)
    if kind is not type(b):
        return False
    if kind is dict:
        return len(a) == len(b) and list(a) == list(b) and all(alike(a[key], b[key]) for key in a)
    if kind is list:
        return len(a) == len(b) and all(map(alike, a, b))
    if kind is str:
        return bool(a == b)
    return jsontext.same(a, b) and (not isinstance(a, jsontext.Spelled) or a.text == b.text)


def _compare(home: Any, real: Any, path: Path, out: list[Operation]) -> None:
    if type(home) is dict and type(real) is dict:
        _compare_objects(home, real, path, out)
    elif type(home) is list and type(real) is list:
        _compare_lists(home, real, path, out)
    elif not alike(home, real):
        out.append([path, mark(home), real])


def _compare_objects(home: dict[str, Any], real: dict[str, Any], path: Path, out: list[Operation]) -> None:
    kept = [key for key in home if key in real]
    added = [key for key in real if key not in home]
    if [*kept, *reversed(added)] != list(real):
        # they are applied from the last to the first
        out.append([path, list(real)])
    out += [[[*path, key], mark(home[key])] for key in home if key not in real]
    out += [[[*path, key], "", real[key]] for key in added]
    for key in kept:
        _compare(home[key], real[key], [*path, key], out)


def _compare_lists(home: list[Any], real: list[Any], path: Path, out: list[Operation]) -> None:
    start = 0
    shared = min(len(home), len(real))
    while start < shared and alike(home[start], real[start]):
        start += 1
    end = 0
    while end < shared - start and alike(home[-1 - end], real[-1 - end]):
        end += 1
    ours, theirs = home[start : len(home) - end], real[start : len(real) - end]
    i = j = 0
    for first, second in [*_pairs(ours, theirs), (len(ours), len(theirs))]:
        if first - i == second - j:
            for n in range(first - i):
                _compare(ours[i + n], theirs[j + n], [*path, start + i + n], out)
        elif first > i or second > j:
            begin, stop = start + i, start + first
            out.append([path, _neighbourhood(home, begin, stop), theirs[j:second], begin, stop])
        if first < len(ours):
            _compare(ours[first], theirs[second], [*path, start + first], out)
        i, j = first + 1, second + 1


def _pairs(ours: list[Any], theirs: list[Any]) -> list[tuple[int, int]]:
    """Items of two lists that are the same one, in order: those that have most texts in common."""
    if len(ours) == len(theirs):
        return [(i, i) for i in range(len(ours))]
    known = [_texts(item) for item in theirs]
    out: list[tuple[int, int]] = []
    at = 0
    for i, item in enumerate(ours):
        own = _texts(item)
        near = range(at, min(len(theirs), at + _NEAR))
        best = max(near, key=lambda j: (len(own & known[j]), -j), default=None)
        if best is not None and own & known[best] and type(item) is type(theirs[best]):
            out.append((i, best))
            at = best + 1
    return out


_NEAR: Final = 8
"""Items that are looked at for one that is the same."""
_WORDS: Final = ("type", "role")


def _texts(value: Any) -> set[str]:
    """The texts of a value, but for the words that say what it is."""
    out: set[str] = set()
    within: list[Any] = [value]
    for node in within:
        if isinstance(node, str):
            out.add(node)
        elif isinstance(node, dict):
            within += [item for key, item in node.items() if key not in _WORDS]
        elif isinstance(node, list):
            within += node
    return out


def _neighbourhood(items: list[Any], start: int, end: int, *, alone: bool = False) -> str:
    """A digest of some items and of those beside them; ``alone``: whatever comes behind them."""
    before = items[start - 1] if start else None
    behind = items[end : end + 1] if not alone else []
    return mark(["empty"] if not items else [bool(start), before, items[start:end], behind])


def _fits(holder: dict[str, Any], operation: Operation) -> bool:
    """Whether what stands at the place of an operation is what it was made for."""
    node, key = _place(holder, operation)
    here = _within(node, key)
    digest = operation[1]
    if isinstance(digest, list):
        return isinstance(here, dict)
    if len(operation) == 5:
        start, end = operation[3:]
        within = isinstance(here, list) and 0 <= start <= end <= len(here)
        return within and digest in (_neighbourhood(here, start, end), _neighbourhood(here, start, end, alone=True))
    if digest == "":
        return isinstance(node, dict) and key not in node
    return _holds(node, key) and mark(here) == digest and (len(operation) == 3 or isinstance(node, dict))


def _apply(holder: dict[str, Any], operation: Operation) -> None:
    node, key = _place(holder, operation)
    if isinstance(operation[1], list):
        _order(_within(node, key), operation[1])
    elif len(operation) == 5:
        _within(node, key)[operation[3] : operation[4]] = operation[2]
    elif len(operation) == 3:
        node[key] = operation[2]
    else:
        del node[key]


def _place(holder: dict[str, Any], operation: Operation) -> tuple[Any, str | int]:
    """The object or list that an operation changes something of, and what."""
    node: Any = holder
    path = ["", *operation[0]]
    for key in path[:-1]:
        node = _within(node, key)
    return node, path[-1]


def _order(target: dict[str, Any], names: list[Any]) -> None:
    members = {key: target[key] for key in [*(name for name in names if name in target), *target] if key in target}
    target.clear()
    target.update(members)


def _holds(node: Any, key: str | int) -> bool:
    return (isinstance(node, dict) and key in node) or (isinstance(node, list) and type(key) is int and key < len(node))


def _within(node: Any, key: str | int) -> Any:
    if isinstance(node, dict):
        return node.get(key) if isinstance(key, str) else None
    return node[key] if isinstance(node, list) and type(key) is int and 0 <= key < len(node) else None


def _is_operation(operation: Any) -> bool:
    if not isinstance(operation, list) or not 2 <= len(operation) <= 5 or len(operation) == 4:
        return False
    path, digest = operation[:2]
    if not isinstance(path, list) or not all(isinstance(key, str) or type(key) is int for key in path):
        return False
    if len(operation) == 2 and isinstance(digest, list):
        return all(isinstance(name, str) for name in digest)
    if len(operation) == 5 and not (isinstance(operation[2], list) and type(operation[3]) is type(operation[4]) is int):
        return False
    return isinstance(digest, str) and (bool(path) or len(operation) != 2)
