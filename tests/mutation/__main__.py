"""``python -m tests.mutation [MODULE …]``: the faults of modules, one by one, against the tests that run them."""

from __future__ import annotations

import argparse
import gc
import hashlib
import importlib
import json
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import coverage
import pytest
from _pytest.runner import runtestprotocol
from hypothesis import HealthCheck, Phase, settings

from .mutants import Mutant, mutants
from .trial import Code, tried

ROOT = Path(__file__).resolve().parents[2]
CODECS = "codecs/translate_codecs"
CODES = ("gateway", "unievent", "anthropic", "openai_chat")
MODULES = (
    *(f"translate/{name}.py" for name in ("carry/making", "carry/reading", "algebra/grammar")),
    *(f"{CODECS}/{name}/{part}.py" for name in CODES for part in ("decoder", "encoder", "words")),
    *(f"{CODECS}/openai_chat/{part}.py" for part in ("chunks", "steps", "units")),
    *(f"translate/shapes/{name}.py" for name in ("__init__", "lines", "array", "objects", "sse")),
    *(f"translate/engine/{name}.py" for name in ("run_reader", "run_writer", "runs", "source", "templates", "writing")),
    f"{CODECS}/events/__init__.py",
)
LEFT_OUT = ("test_benchmarks", "test_corpus", "test_layout", "test_readme", "test_cli", "test_plugin")
"""Tests of processes, packages and time."""
IMPORT = "import"
CHEAP = 0.02
"""Seconds of a test that is worth being the first."""

Seen = dict[str, dict[str, list[int]]]
"""Test → file → lines that it runs."""


class Runner:
    """A plug-in of pytest that tries faults where else the tests would run."""

    def __init__(self, args: argparse.Namespace, tracer: coverage.Coverage) -> None:
        self.args, self.tracer = args, tracer
        self.seconds: dict[str, float] = {}
        self.lines: Seen = {}
        self.items: dict[str, pytest.Item] = {}
        self.ranked: dict[range, tuple[set[str], list[str]]] = {}

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        self.items = {item.nodeid: item for item in session.items}
        self._learn(session)
        print(f"\n{len(self.seconds)} tests, {sum(self.seconds.values()):.0f} s")
        codes = [Code(ROOT / module, _name(module)) for module in self.args.modules]
        gc.collect()
        gc.freeze()
        for module, code in zip(self.args.modules, codes, strict=True):
            self._module(module, code)
        return True

    def _learn(self, session: pytest.Session) -> None:
        """Which lines each test runs, and for how long; those that fail or take long are left out."""
        kept = self.args.folder / f"tests-{_digest('translate', 'codecs')}.json"
        digests = {file: _digest(file) for file in {_file(id) for id in self.items}}
        known: dict[str, str] = {}
        if kept.exists():
            known, self.seconds, self.lines = json.loads(kept.read_text())
        fresh = [item for item in session.items if known.get(_file(item.nodeid)) != digests[_file(item.nodeid)]]
        gone = {item.nodeid for item in fresh} | (self.seconds.keys() - self.items.keys())
        self.seconds = {id: seconds for id, seconds in self.seconds.items() if id not in gone}
        for item in fresh:
            self.tracer.switch_context(item.nodeid)
            begin = time.perf_counter()
            reports = runtestprotocol(item, log=False, nextitem=None)
            seconds = time.perf_counter() - begin
            self.tracer.switch_context("")
            if any(report.failed for report in reports):
                print("fails without a fault:", item.nodeid)
            elif not any(report.skipped for report in reports) and seconds <= self.args.slow:
                self.seconds[item.nodeid] = seconds
        self.tracer.stop()
        if not fresh:
            return
        code = Code(ROOT / MODULES[0], _name(MODULES[0]))
        chosen = [(item, self.seconds[item.nodeid]) for item in fresh if item.nodeid in self.seconds]
        for id in tried(code, None, chosen, on_import=True).splitlines():
            print("fails where all is imported again:", id)
            del self.seconds[id]
        data = self.tracer.get_data()
        lines: Seen = {id: files for id, files in self.lines.items() if id in self.seconds}
        for file in data.measured_files():
            for line, contexts in data.contexts_by_lineno(file).items():
                for context in contexts:
                    if context == IMPORT or context in self.seconds:
                        lines.setdefault(context, {}).setdefault(file, []).append(line)
        self.lines = lines
        kept.write_text(json.dumps([digests, self.seconds, self.lines]))

    def _module(self, module: str, code: Code) -> None:
        path = code.path
        file = str(path)
        found, excluded = mutants(code.tree)
        log = self.args.folder / f"{module.replace('/', '.')}.jsonl"
        known = _read(log)
        tests: dict[int, list[str]] = {line: [] for line in range(len(path.read_text().splitlines()) + 2)}
        for test, files in self.lines.items():
            for line in files.get(file, []):
                tests[line].append(test)
        near: dict[Any, list[str]] = {}
        for mutant in found:
            if mutant.id in known:
                near.setdefault(mutant.function, []).append(known[mutant.id]["by"])
        killers: list[str] = []
        self.ranked.clear()
        with log.open("a") as out:
            for mutant in found:
                before = known.get(mutant.id)
                if before is not None and (before["by"] or not self.args.again):
                    continue
                if self.args.only and not mutant.id.startswith(self.args.only):
                    continue
                begin = time.perf_counter()
                by = self._try(code, mutant, tests, [*killers[:12], *self._cheap(near.get(mutant.function, []))])
                entry = {"id": mutant.id, "by": by, "seconds": round(time.perf_counter() - begin, 2)}
                known[mutant.id] = entry
                out.write(json.dumps(entry, ensure_ascii=False) + "\n")
                out.flush()
                near.setdefault(mutant.function, []).append(by)
                if by in self.items and self.seconds[by] < CHEAP:
                    killers = [by, *(killer for killer in killers if killer != by)]
        left = [m.id for m in found if m.id in known and not known[m.id]["by"]]
        done = sum(m.id in known for m in found)
        print(f"{module}: {done} of {len(found)} tried, {len(left)} survive, {excluded} left out", flush=True)
        if self.args.survivors:
            print(*(f"  {id}" for id in left), sep="\n", flush=True)

    def _try(self, code: Code, mutant: Mutant, tests: dict[int, list[str]], killers: list[str]) -> str:
        function = mutant.function
        lines = range(len(tests))
        if function is not None:
            lines = range(function.body[0].lineno, (function.end_lineno or 0) + 1)
        on_import = function is None or any(IMPORT in tests[line] for line in lines)
        if on_import:
            lines = range(len(tests))
        elif mutant.line in lines and tests[mutant.line]:
            lines = range(mutant.line, mutant.line + 1)
        if lines not in self.ranked:
            body = range(function.lineno, (function.end_lineno or 0) + 1) if function is not None else range(0)
            # what runs on import may be seen by tests that run none of its lines
            running = [*self.seconds] if on_import else [test for line in lines for test in tests[line]]
            covering = {test for test in running if self._is_asked(test)}
            self.ranked[lines] = (covering, self._rank(covering, [tests[line] for line in body]))
        covering, ranked = self.ranked[lines]
        first = [*dict.fromkeys(test for test in killers if test in covering)]
        chosen = [*first, *(test for test in ranked if test not in first)]
        items = [(self.items[test], self.seconds[test]) for test in chosen]
        if self.args.anew:
            return tried(code, mutant, items[:20], on_import=True, anew=True) or tried(
                code, mutant, items, on_import=True, anew=True
            )
        return tried(code, mutant, items, on_import=on_import)

    def _is_asked(self, test: str) -> bool:
        return test != IMPORT and (not self.args.tests or Path(_file(test)).stem in self.args.tests)

    def _cheap(self, tests: list[str]) -> list[str]:
        """The tests that noticed most of the faults nearby, and then the others that noticed any."""
        left = 3 * self.args.budget
        out: list[str] = []
        for test, _ in Counter(tests).most_common():
            if test in self.seconds and self.seconds[test] <= left:
                left -= self.seconds[test]
                out.append(test)
        return out

    def _rank(self, covering: set[str], lines: list[list[str]]) -> list[str]:
        """Tests for so long at most: in turn one that runs little, a rare line, and one of another kind."""
        cheap = sorted(covering, key=lambda test: (self.seconds[test], test))
        turns: Counter[str] = Counter()
        kinds: list[tuple[int, str]] = []
        for test in cheap:
            function = test.partition("[")[0]
            kinds.append((turns[function], test))
            turns[function] += 1
        rarity: dict[str, int] = {}
        for tests in lines:
            for test in tests:
                rarity[test] = min(rarity.get(test, len(tests)), len(tests))
        rare = sorted(cheap, key=lambda test: rarity.get(test, 1 << 30))
        small = sorted(cheap, key=lambda test: sum(map(len, self.lines.get(test, {}).values())))
        other = [test for _, test in sorted(kinds, key=lambda kind: kind[0])]
        order: dict[str, None] = {}
        left = self.args.budget
        for test in (test for three in zip(small, rare, other, strict=True) for test in three):
            if test not in order:
                left -= self.seconds[test]
                if left < 0:
                    break
                order[test] = None
        return [*order]


def _read(log: Path) -> dict[str, Any]:
    """What is known of each fault; one that was noticed once has been noticed."""
    entries = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
    return {entry["id"]: entry for entry in sorted(entries, key=lambda entry: bool(entry["by"]))}


def _digest(*names: str) -> str:
    """What the code in folders or files is now."""
    paths = (path for name in names for path in (sorted((ROOT / name).rglob("*.py")) or [ROOT / name]))
    return hashlib.sha256(b"\0".join(path.read_bytes() for path in paths)).hexdigest()[:16]


def _file(id: str) -> str:
    """The file of a test."""
    return id.partition("::")[0]


def _name(module: str) -> str:
    """A module's name, from its file."""
    return module.removeprefix("codecs/").removesuffix(".py").replace("/", ".").removesuffix(".__init__")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("modules", nargs="*", default=MODULES, help="files; all of the list without one")
    parser.add_argument("--folder", type=Path, default=ROOT / ".mutation", help="where the results are kept")
    parser.add_argument("--budget", type=float, default=6, help="seconds of tests for one fault, at most")
    parser.add_argument("--slow", type=float, default=0.5, help="seconds that a test may take, at most")
    parser.add_argument("--tests", nargs="*", help="names of test files, without them all")
    parser.add_argument("--again", action="store_true", help="try those that survived once more")
    parser.add_argument("--anew", action="store_true", help="import all again for each: slow, for doubts")
    parser.add_argument("--only", default="", help="the fault of this id, or those whose ids begin so")
    parser.add_argument("--survivors", action="store_true", help="list them")
    args = parser.parse_args()
    args.folder.mkdir(exist_ok=True)
    settings.register_profile(
        "mutation",
        max_examples=5,
        derandomize=True,
        database=None,
        deadline=None,
        phases=(Phase.explicit, Phase.generate),
        suppress_health_check=[*HealthCheck],
    )
    settings.load_profile("mutation")
    sources = [str(ROOT / "translate"), str(ROOT / CODECS)]
    tracer = coverage.Coverage(data_file=None, config_file=False, include=[f"{source}/*" for source in sources])
    tracer.start()
    tracer.switch_context(IMPORT)
    for module in MODULES:
        importlib.import_module(_name(module))
    tracer.switch_context("")
    ignored = [f"--ignore={ROOT / 'tests' / name}.py" for name in LEFT_OUT]
    options = ["-q", "-p", "no:cacheprovider", "--capture=sys", *ignored]
    sys.exit(pytest.main([*options, str(ROOT / "tests")], plugins=[Runner(args, tracer)]))


if __name__ == "__main__":
    main()
