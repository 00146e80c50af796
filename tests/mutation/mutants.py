"""The faults: one change of a module's syntax tree each."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

Node = TypeVar("Node", bound=ast.AST)

COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
COMPUTED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.FloorDiv: ast.Mult,
    ast.BitOr: ast.BitAnd,
    ast.LShift: ast.RShift,
    ast.Pow: ast.Mult,
}
NAMED = {
    "any": "all",
    "all": "any",
    "min": "max",
    "max": "min",
    "startswith": "endswith",
    "endswith": "startswith",
    "strip": "rstrip",
    "lstrip": "rstrip",
    "rstrip": "lstrip",
    "removeprefix": "removesuffix",
    "removesuffix": "removeprefix",
    "find": "rfind",
    "partition": "rpartition",
    "search": "match",
    "fullmatch": "match",
    "match": "search",
}
"""Functions and methods that are taken for one another."""

WORDING = {"member": 3, "optional": 3, "repair": 1, "guess": 1, "fault": 0, "_list": 1, "_stray": 9}
"""Functions with words for people among their arguments → the first of these. Errors have nothing else."""
WORDS = {"where", "what", "expected"}
"""Variables that hold words for people."""


@dataclass(frozen=True)
class Mutant:
    """One fault. ``function``: the outermost function it is in the body of, if any."""

    id: str
    line: int
    change: str
    function: ast.FunctionDef | None
    holder: Any
    field: str
    index: int | None
    new: Any

    def put(self) -> None:
        """Change the tree that it was found in."""
        if self.index is None:
            setattr(self.holder, self.field, self.new)
        else:
            getattr(self.holder, self.field)[self.index] = self.new


def mutants(tree: ast.Module) -> tuple[list[Mutant], int]:
    """The faults of a module, and how many the rules leave out because they change what people read, no more."""
    found: list[Mutant] = []
    ids: set[str] = set()
    excluded = 0
    for holder, field, index, function, wording in _places(tree, None, wording=""):
        value = getattr(holder, field)
        node = value if index is None else value[index]
        for new in _changes(node):
            if wording == "text" or (wording and isinstance(node, ast.Constant)) or _words_only(node, new):
                excluded += 1
                continue
            change = f"{_shown(node)} → {_shown(new)}"
            place = node.target if isinstance(node, ast.comprehension) else node
            line = getattr(place, "lineno", 0)
            id = f"{line}:{getattr(place, 'col_offset', 0)}: {change}"
            if id not in ids:
                ids.add(id)
                found.append(Mutant(id, line, change, function, holder, field, index, new))
    return found, excluded


def _words_only(node: ast.AST, new: ast.AST) -> bool:
    """Whether a change is one of a variable that holds words, or of what an error says beside its message."""
    if isinstance(node, ast.Assign):
        return _is_wording(node.targets[0])
    return (
        isinstance(node, ast.Call)
        and isinstance(new, ast.Call)
        and (_first_word(node) == 0 and len(new.keywords) < len(node.keywords))
    )


def _shown(node: ast.AST) -> str:
    text = " ".join(ast.unparse(ast.fix_missing_locations(copy.deepcopy(node))).split())
    return text if len(text) <= 100 else f"{text[:60]} … {text[-38:]}"


Place = tuple[Any, str, int | None, ast.FunctionDef | None, str]


def _places(node: ast.AST, function: ast.FunctionDef | None, *, wording: str) -> Iterator[Place]:
    """What may be changed, but for annotations, docstrings, decorators, assertions and what is for type checkers."""
    first_word = _first_word(node)
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns", "decorator_list", "type_ignores", "ctx", "keywords_"):
            continue
        inside = function
        if isinstance(node, ast.FunctionDef) and field == "body":
            inside = function or node
        for index, child in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if not isinstance(child, ast.AST) or _is_left_out(child):
                continue
            words = wording
            if first_word is not None and ((field == "args" and (index or 0) >= first_word) or field == "keywords"):
                words = words or "argument"
            if isinstance(node, ast.Assign) and _is_wording(node.targets[0]):
                words = words or "argument"
            if words and isinstance(child, ast.JoinedStr):
                # what is in it, too
                words = "text"
            if not (isinstance(node, ast.FormattedValue) and field == "format_spec"):
                yield node, field, index, inside, words
            yield from _places(child, inside, wording=words)


def _first_word(node: ast.AST) -> int | None:
    """The first argument of a call that is words for people."""
    if not isinstance(node, ast.Call):
        return None
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    return 0 if name.endswith("Error") or name == "_error" else WORDING.get(name)


def _is_wording(target: ast.AST) -> bool:
    if isinstance(target, ast.Tuple):
        return all(map(_is_wording, target.elts[-1:]))
    return isinstance(target, ast.Name) and target.id in WORDS


def _is_left_out(node: ast.AST) -> bool:
    match node:
        case ast.Import() | ast.ImportFrom() | ast.Assert() | ast.Expr(value=ast.Constant()):
            return True
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return True
        case ast.AnnAssign(annotation=ast.Name(id="TypeAlias")) | ast.AnnAssign(value=None):
            return True
        case ast.Assign(targets=[ast.Name(id="__slots__")]):
            return True
        case ast.ClassDef(bases=[ast.Name(id="Protocol")]):
            return True
    return False


def _changes(node: ast.AST) -> Iterator[ast.AST]:
    yield from _of_expression(node)
    yield from _of_statement(node)


def _with(node: Node, **fields: Any) -> Node:
    new = copy.copy(node)
    for name, value in fields.items():
        setattr(new, name, value)
    return new


def _not(test: ast.expr) -> ast.expr:
    return ast.copy_location(ast.UnaryOp(ast.Not(), test), test)


def _negated(node: Any) -> Iterator[ast.AST]:
    """A condition negated, unless another change does that."""
    test = node.test
    plain = isinstance(test, ast.Compare) and len(test.ops) == 1
    if not plain and not (isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)):
        yield _with(node, test=_not(test))


def _without(items: list[Any], index: int) -> list[Any]:
    return items[:index] + items[index + 1 :]


def _of_expression(node: ast.AST) -> Iterator[ast.AST]:
    match node:
        case ast.Compare(ops=ops):
            for i, op in enumerate(ops):
                yield _with(node, ops=[*ops[:i], COMPARED[type(op)](), *ops[i + 1 :]])
        case ast.BoolOp(op=op, values=values):
            yield _with(node, op=ast.Or() if isinstance(op, ast.And) else ast.And())
            for i in range(len(values)):
                rest = _without(values, i)
                yield rest[0] if len(rest) == 1 else _with(node, values=rest)
        case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=operand):
            yield operand
        case ast.BinOp(op=op) if type(op) in COMPUTED:
            yield _with(node, op=COMPUTED[type(op)]())
        case ast.Constant(value=value):
            yield from _of_constant(node, value)
        case ast.IfExp():
            yield from _negated(node)
        case ast.comprehension(ifs=ifs):
            for i, test in enumerate(ifs):
                yield _with(node, ifs=[*ifs[:i], _not(test), *ifs[i + 1 :]])
                yield _with(node, ifs=_without(ifs, i))
        case ast.Slice(lower=lower, upper=upper):
            if lower is not None:
                yield _with(node, lower=None)
            if upper is not None:
                yield _with(node, upper=None)
        case ast.Dict(keys=keys, values=values):
            for i in range(len(keys)):
                yield _with(node, keys=_without(keys, i), values=_without(values, i))
        case ast.Set(elts=elts) if len(elts) > 1:
            for i in range(len(elts)):
                yield _with(node, elts=_without(elts, i))
        case ast.Tuple(elts=elts, ctx=ast.Load()) if all(isinstance(e, ast.Constant) for e in elts):
            for i in range(len(elts)):
                yield _with(node, elts=_without(elts, i))
        case ast.Call(keywords=keywords):
            yield from (_with(node, keywords=_without(keywords, i)) for i in range(len(keywords)))
            yield from _of_called(node)
        case _:
            pass


def _of_constant(node: ast.Constant, value: Any) -> Iterator[ast.AST]:
    new: Any = None
    if isinstance(value, bool):
        new = not value
    elif isinstance(value, int):
        new = value + 1
    elif isinstance(value, str):
        new = f"{value}X"
    elif isinstance(value, bytes):
        new = value + b"X"
    if new is not None:
        yield _with(node, value=new)


def _of_called(node: ast.Call) -> Iterator[ast.AST]:
    function = node.func
    if isinstance(function, ast.Attribute) and function.attr in NAMED:
        yield _with(node, func=_with(function, attr=NAMED[function.attr]))
    elif isinstance(function, ast.Name) and function.id in NAMED:
        yield _with(node, func=_with(function, id=NAMED[function.id]))


def _of_statement(node: ast.AST) -> Iterator[ast.AST]:
    match node:
        case ast.If() | ast.While():
            yield from _negated(node)
        case ast.Return(value=ast.expr() as value) if getattr(value, "value", True) not in (None, False):
            yield _with(node, value=ast.copy_location(ast.Constant(None), value))
        case ast.Expr() | ast.Raise():
            yield ast.copy_location(ast.Pass(), node)
        case ast.Continue():
            yield ast.copy_location(ast.Break(), node)
        case ast.Break():
            yield ast.copy_location(ast.Continue(), node)
        case ast.AugAssign(target=target, value=value):
            stored = copy.deepcopy(target)
            yield ast.copy_location(ast.Assign([stored], value), node)
            yield ast.copy_location(ast.Pass(), node)
            if type(node.op) in COMPUTED:
                yield _with(node, op=COMPUTED[type(node.op)]())
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript() | ast.Tuple()]):
            yield ast.copy_location(ast.Pass(), node)
        case ast.Assign(targets=[ast.Name()], value=value) if not isinstance(value, ast.Constant):
            yield _with(node, value=ast.copy_location(ast.Constant(None), value))
        case _:
            pass
