"""One fault tried out, in a process of its own that has all imported already."""

from __future__ import annotations

import ast
import functools
import gc
import importlib.abc
import importlib.util
import os
import resource
import signal
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import pytest
from _pytest.runner import runtestprotocol

from .mutants import Mutant

PACKAGES = ("translate", "translate_codecs", "tests")
MEMORY = 6 << 30
SLACK = 4.0
"""Seconds that a test may take beyond ten times its own."""


class Code:
    """A module under test: its tree, and its functions as they are in this process."""

    def __init__(self, path: Path, name: str) -> None:
        self.path, self.name = path, name
        self.tree = ast.parse(path.read_text(encoding="utf-8"))
        self.functions: dict[tuple[str, int], list[FunctionType]] = {}
        self.caches: list[Any] = []
        for found in gc.get_objects():
            if isinstance(found, FunctionType) and found.__code__.co_filename == str(path):
                code = found.__code__
                self.functions.setdefault((code.co_qualname, code.co_firstlineno), []).append(found)
            elif isinstance(found, functools._lru_cache_wrapper):
                self.caches.append(found)

    def compiled(self) -> CodeType:
        return compile(ast.fix_missing_locations(self.tree), str(self.path), "exec")

    def patch(self, mutant: Mutant) -> bool:
        """Put the function with the fault in place of the good one, if that can be done."""
        function = mutant.function
        assert function is not None
        first = min([function.lineno, *(d.lineno for d in function.decorator_list)])
        codes = [code for code in _codes(self.compiled()) if code.co_firstlineno == first and code.co_name == function.name]
        if len(codes) != 1:
            return False
        live = self.functions.get((codes[0].co_qualname, first), [])
        try:
            for found in live:
                found.__code__ = codes[0]
        except ValueError:
            return False
        for cached in self.caches:
            cached.cache_clear()
        return bool(live)


def _codes(code: CodeType) -> Iterator[CodeType]:
    for const in code.co_consts:
        if isinstance(const, CodeType):
            yield const
            yield from _codes(const)


class _Faulty(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports the module with the fault."""

    def __init__(self, code: Code) -> None:
        self.code = code

    def find_spec(self, name: str, path: Any, target: ModuleType | None = None) -> Any:
        if name != self.code.name:
            return None
        packages = [str(self.code.path.parent)] if self.code.path.name == "__init__.py" else None
        return importlib.util.spec_from_file_location(
            name, self.code.path, loader=self, submodule_search_locations=packages
        )

    def exec_module(self, module: ModuleType) -> None:
        exec(self.code.compiled(), module.__dict__)


class _Only:
    """A run of some tests alone."""

    def __init__(self, ids: Sequence[str]) -> None:
        self.ids = {id: at for at, id in enumerate(ids)}
        self.failed: list[str] = []

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = sorted((i for i in items if i.nodeid in self.ids), key=lambda i: self.ids[i.nodeid])

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed.append(report.nodeid)


def in_place(items: Sequence[tuple[pytest.Item, float]]) -> str:
    """The first test that fails, or nothing."""
    for item, seconds in items:
        signal.setitimer(signal.ITIMER_REAL, SLACK + 10 * seconds)
        if any(report.failed for report in runtestprotocol(item, log=False, nextitem=None)):
            return item.nodeid
    signal.setitimer(signal.ITIMER_REAL, 0)
    return ""


def afresh(code: Code, items: Sequence[tuple[pytest.Item, float]], *, all_failures: bool = False) -> str:
    """The same, but all is imported again: for what runs on import."""
    for name in [*sys.modules]:
        if name.partition(".")[0] in PACKAGES and not name.startswith("tests.mutation"):
            del sys.modules[name]
    sys.meta_path.insert(0, _Faulty(code))
    only = _Only([item.nodeid for item, _ in items])
    files = [*dict.fromkeys(item.nodeid.partition("::")[0] for item, _ in items)]
    signal.setitimer(signal.ITIMER_REAL, 60 + 10 * sum(seconds for _, seconds in items))
    options = ["-q", "-p", "no:cacheprovider", *([] if all_failures else ["-x"])]
    result = pytest.main([*files, *options], plugins=[only])
    if result == pytest.ExitCode.OK:
        return ""
    return "\n".join(only.failed) or ("import" if result != pytest.ExitCode.NO_TESTS_COLLECTED else "no tests")


def tried(code: Code, mutant: Mutant | None, items: Sequence[tuple[pytest.Item, float]], *, on_import: bool) -> str:
    """The test that notices the fault; ``timeout``, ``import``; or nothing.

    ``on_import``: its code ran on import. Without a fault: all tests that fail when all is imported again.
    """
    if not items:
        return ""
    there, here = os.pipe()
    child = os.fork()
    if child == 0:
        _child(code, mutant, items, here, on_import=on_import)
    os.close(here)
    with os.fdopen(there, "rb") as file:
        found = file.read().decode()
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return "timeout" if os.WTERMSIG(status) == signal.SIGALRM else f"signal {os.WTERMSIG(status)}"
    return found or ("" if os.WEXITSTATUS(status) == 0 else "crash")


def _child(code: Code, mutant: Mutant | None, items: Any, out: int, *, on_import: bool) -> None:
    status = 1
    try:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        null = os.open(os.devnull, os.O_RDWR)
        os.dup2(null, 1)
        os.dup2(null, 2)
        if mutant is not None:
            mutant.put()
        if mutant is None:
            found = afresh(code, items, all_failures=True)
        elif on_import or mutant.function is None or not code.patch(mutant):
            found = afresh(code, items)
        else:
            found = in_place(items)
        os.write(out, found.encode())
        status = 0
    finally:
        os._exit(status)
