"""Grammars as text, ``name := …``, read from where the code says them.

``a b`` is a sequence, ``|`` a choice, ``*`` any number, ``+`` one or more, ``(…)`` a group.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

_RULE = re.compile(r"``(\w+) := (.*?)``", re.DOTALL)
_TOKEN = re.compile(r"\s*([\w.]+|[()|*+])")


@dataclass(frozen=True)
class Name:
    """A unit, or a rule."""

    name: str


@dataclass(frozen=True)
class Sequence:
    """One after the other."""

    items: tuple[Node, ...]


@dataclass(frozen=True)
class Choice:
    """One of them."""

    items: tuple[Node, ...]


@dataclass(frozen=True)
class Repeat:
    """Again and again; ``least``: how often it must come, 0 or 1."""

    item: Node
    least: int


Node: TypeAlias = Name | Sequence | Choice | Repeat


def grammar_of(docstring: str | None) -> dict[str, str]:
    """Name of a rule → its text, in the order of a module's docstring."""
    return {name: " ".join(text.split()) for name, text in _RULE.findall(docstring or "")}


def parsed(text: str) -> Node:
    """A rule's text as a tree. Raises ``ValueError``."""
    tokens: list[str] = []
    at = 0
    while at < len(text.rstrip()):
        match = _TOKEN.match(text, at)
        if match is None:
            raise ValueError(f"no grammar from {text[at:]!r} on")
        tokens.append(match[1])
        at = match.end()
    reader = _Reader(tokens)
    node = reader.choice()
    if reader.rest:
        raise ValueError(f"left over: {' '.join(reader.rest)}")
    return node


class _Reader:
    def __init__(self, tokens: list[str]) -> None:
        self.rest = tokens

    def choice(self) -> Node:
        items = [self.sequence()]
        while self.rest[:1] == ["|"]:
            del self.rest[0]
            items.append(self.sequence())
        return items[0] if len(items) == 1 else Choice(tuple(items))

    def sequence(self) -> Node:
        items: list[Node] = []
        while self.rest and self.rest[0] not in "|)":
            items.append(self.repeated())
        if not items:
            raise ValueError("an empty sequence")
        return items[0] if len(items) == 1 else Sequence(tuple(items))

    def repeated(self) -> Node:
        node = self.single()
        while self.rest and self.rest[0] in "*+":
            node = Repeat(node, int(self.rest.pop(0) == "+"))
        return node

    def single(self) -> Node:
        token = self.rest.pop(0)
        if token != "(":
            return Name(token)
        node = self.choice()
        if self.rest[:1] != [")"]:
            raise ValueError("a group that is not closed")
        del self.rest[0]
        return node


def after(node: Node, rules: dict[str, Node], word: str) -> Iterator[Node | None]:
    """What may be left of ``node`` once ``word`` has come; ``None`` is nothing."""
    match node:
        case Name(name):
            if name in rules:
                yield from after(rules[name], rules, word)
            elif name == word:
                yield None
        case Choice(items):
            for item in items:
                yield from after(item, rules, word)
        case Repeat(item, _):
            for left in after(item, rules, word):
                yield _then(left, Repeat(item, 0))
        case Sequence(items):
            rest = items[1:]
            for left in after(items[0], rules, word):
                yield _then(left, *rest)
            if rest and skippable(items[0], rules):
                yield from after(_then(None, *rest) or Name(""), rules, word)


def skippable(node: Node, rules: dict[str, Node]) -> bool:
    """Whether ``node`` may be nothing at all."""
    match node:
        case Name(name):
            return name in rules and skippable(rules[name], rules)
        case Choice(items):
            return any(skippable(item, rules) for item in items)
        case Repeat(item, least):
            return least == 0 or skippable(item, rules)
        case Sequence(items):
            return all(skippable(item, rules) for item in items)


def _then(first: Node | None, *rest: Node) -> Node | None:
    items: list[Node] = []
    for node in (first, *rest):
        if node is not None:
            items += node.items if isinstance(node, Sequence) else [node]
    return None if not items else items[0] if len(items) == 1 else Sequence(tuple(items))
