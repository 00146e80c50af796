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
        alone: ast.stmt = function
        for node in self.tree.body:
            if isinstance(node, ast.ClassDef) and function in node.body:
                alone = ast.ClassDef(node.name, [], [], [function], [])
        tree = ast.Module([ast.ImportFrom("__future__", [ast.alias("annotations")], 0), alone], [])
        for code in _codes(compile(ast.fix_missing_locations(tree), str(self.path), "exec")):
            live = self.functions.get((code.co_qualname, code.co_firstlineno))
            if live and code.co_name == function.name:
                try:
                    for found in live:
                        found.__code__ = code
                except ValueError:
                    return False
                for cached in self.caches:
                    cached.cache_clear()
                return True
        return False


def _codes(code: CodeType) -> Iterator[CodeType]:
    for const in code.co_consts:
        if isinstance(const, CodeType):
            yield const
            yield from _codes(const)


DEPENDENT = {
    "translate_codecs.gateway.words": "translate_codecs.gateway.decoder",
    "translate_codecs.unievent.words": "translate_codecs.unievent.decoder",
}
"""Modules that make tables of another's on import."""
SIMPLE = (str, bytes, int, float, type(None))


def graft(code: Code) -> None:
    """Run the module once more, with its fault, and put what it makes in place of what it made."""
    made = _run(code.name, str(code.path), code.compiled())
    dependent = DEPENDENT.get(code.name)
    if dependent is not None:
        here = sys.modules[code.name]
        sys.modules[code.name] = made
        file = str(sys.modules[dependent].__file__)
        other = _run(dependent, file, compile(Path(file).read_text(encoding="utf-8"), file, "exec"))
        sys.modules[code.name] = here
        _replace(sys.modules[dependent], other)
    _replace(sys.modules[code.name], made)
    for cached in code.caches:
        cached.cache_clear()


def _run(name: str, file: str, code: CodeType) -> ModuleType:
    module = ModuleType(name)
    old = sys.modules[name]
    module.__dict__.update(__file__=file, __package__=old.__package__, __spec__=old.__spec__)
    if hasattr(old, "__path__"):
        module.__path__ = old.__path__
    exec(code, module.__dict__)
    return module


def _replace(old: ModuleType, new: ModuleType) -> None:
    ours = [module for name, module in sys.modules.items() if name.partition(".")[0] in PACKAGES]
    for name, value in vars(new).items():
        before = vars(old).get(name)
        if name.startswith("__") or value is before or isinstance(value, ModuleType):
            continue
        if isinstance(value, FunctionType):
            _same_defaults(before, value)
        elif isinstance(value, type):
            _replace_members(before, value)
        elif getattr(type(value), "__module__", "") != old.__name__ and not hasattr(value, "cache_clear"):
            for module in ours:
                for key, held in [*vars(module).items()]:
                    if held is before if not isinstance(before, SIMPLE) else key == name and held == before:
                        setattr(module, key, value)


def _replace_members(old: Any, new: type) -> None:
    for name, value in vars(new).items():
        before = vars(old).get(name)
        if isinstance(value, FunctionType):
            _same_defaults(before, value)
        elif name == "__new__" or not (name.startswith("__") or hasattr(value, "__get__")):
            setattr(old, name, value)


def _same_defaults(old: Any, new: FunctionType) -> None:
    if isinstance(old, FunctionType):
        old.__defaults__, old.__kwdefaults__ = new.__defaults__, new.__kwdefaults__


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


def tried(
    code: Code,
    mutant: Mutant | None,
    items: Sequence[tuple[pytest.Item, float]],
    *,
    on_import: bool,
    anew: bool = False,
) -> str:
    """The test that notices the fault; ``timeout``, ``import``; or nothing.

    ``on_import``: its code ran on import. ``anew``: all is imported again. Without a fault: all tests that fail then.
    """
    if not items:
        return ""
    there, here = os.pipe()
    child = os.fork()
    if child == 0:
        _child(code, mutant, items, here, on_import=on_import, anew=anew)
    os.close(here)
    with os.fdopen(there, "rb") as file:
        found = file.read().decode()
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return "timeout" if os.WTERMSIG(status) == signal.SIGALRM else f"signal {os.WTERMSIG(status)}"
    return found or ("" if os.WEXITSTATUS(status) == 0 else "crash")


def _child(code: Code, mutant: Mutant | None, items: Any, out: int, *, on_import: bool, anew: bool) -> None:
    status = 1
    try:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        null = os.open(os.devnull, os.O_RDWR)
        os.dup2(null, 1)
        os.dup2(null, 2)
        found = _noticed(code, mutant, items, on_import=on_import, anew=anew)
        os.write(out, found.encode())
        status = 0
    finally:
        os._exit(status)


def _noticed(code: Code, mutant: Mutant | None, items: Any, *, on_import: bool, anew: bool) -> str:
    if mutant is None:
        return afresh(code, items, all_failures=True)
    mutant.put()
    if anew or not (mutant.function is None or code.patch(mutant)):
        return afresh(code, items)
    if on_import or mutant.function is None:
        try:
            graft(code)
        except Exception:
            return "import"
    return in_place(items)
