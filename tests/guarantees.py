"""The table of ``docs/guarantees.md``: each law, what checks it, how many cases. Run it as a module to print it.

A case is a test, an example that a property is tried with, or a conformance vector. ``tests/fuzz/figures.json`` has the
last long run of each fuzz target, as ``python -m tests.fuzz`` printed it. Recordings, which are no part of the
project, are not counted.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from translate.conformance import find_vectors, load_cases

ROOT = Path(__file__).resolve().parents[1]
FIGURES = ROOT / "tests" / "fuzz" / "figures.json"


@dataclass(frozen=True)
class Law:
    """A law, the tests that hold it up (``file`` or ``file::test``), vectors by file, and fuzz targets."""

    says: str
    tests: list[str]
    vectors: list[str] = field(default_factory=list)
    targets: list[str] = field(default_factory=list)


LAWS = [
    Law(
        "Round trip: A→B→A gives the units back, with no carry left over",
        [
            "laws::test_there_and_back",
            "laws::test_huge_parts_there_and_back",
            "codecs/gateway_streams::test_home_byte_for_byte",
        ],
        ["mapping-"],
        ["convert-"],
    ),
    Law(
        "Conformance: the output passes its format's strict check, with the carries and without",
        [
            "laws::test_output_conforms",
            "laws::test_what_is_generated_conforms",
            "codecs/gateway_streams::test_both_sides_conform",
        ],
    ),
    Law(
        "Meaning: both streams add up to one message, for all that the target can say",
        ["laws::test_the_message_stays", "laws::test_the_message_stays_without_carries", "codecs/documents"],
        ["mapping-"],
    ),
    Law(
        "Promptness: what a unit makes sayable is said before the next is asked for",
        ["laws::test_all_is_said_as_soon_as_it_can_be", "laws::test_text_comes_through_at_once"],
        [],
        ["live"],
    ),
    Law(
        "Chunking: how the bytes were cut changes nothing",
        ["laws::test_cuts_do_not_matter", "engine/cuts", "engine/runs"],
        ["sse", "json", "runs"],
        ["shape-", "live"],
    ),
    Law(
        "Bounds: time linear in the input, memory within typed limits",
        ["laws::test_time_is_linear", "laws::test_limits_bound_a_part_and_a_unit", "engine/bad_input::test_limits"],
        [],
        ["limits"],
    ),
    Law(
        "Honest ends: a failure or a cut never becomes a success",
        [
            "laws::test_a_stream_cut_short_is_no_success",
            "laws::test_bytes_cut_short_are_no_success",
            "laws::test_a_failure_stays_a_failure",
            "laws::test_nothing_follows_the_end",
            "engine/endings",
            "engine/bad_input",
        ],
        ["unievent", "gateway", "events"],
        ["decode-"],
    ),
    Law("Chains: A→B→C→B→A gives the stream back too", ["laws::test_chains"]),
    Law("Identity: A→A changes no unit", ["laws::test_identity"]),
    Law("Carries add, and contradict nothing", ["carry/tampering", "carry/carry_document"], ["carry"], ["carry"]),
    Law(
        "Calls in any order, cancelled or failing, keep the contract",
        ["engine/machine", "engine/machine_streams", "engine/streams", "engine/cancellation"],
    ),
    Law(
        "In services: no queue, no success after a failure, and the source is closed whatever happens",
        ["adapters/relay_laws", "adapters/relay", "adapters/relay_ends", "adapters/relay_timing"],
    ),
]


class _Collected:
    """Takes the tests that pytest finds."""

    def __init__(self) -> None:
        self.items: list[Any] = []

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        self.items = list(items)


def _collect() -> list[Any]:
    collected = _Collected()
    files = {str(ROOT / _file(name).partition("::")[0]) for law in LAWS for name in law.tests}
    arguments = ["--collect-only", "-qq", "-p", "no:cacheprovider", *sorted(files)]
    with redirect_stdout(io.StringIO()):
        status = pytest.main(arguments, plugins=[collected])
    assert status == pytest.ExitCode.OK, status
    return collected.items


def _cases(items: Iterable[Any]) -> int:
    """A property counts with all its examples, a state machine with all its runs."""
    return sum(
        (getattr(item.obj, "_hypothesis_internal_use_settings", None) or item.cls.settings).max_examples
        if getattr(item.obj, "is_hypothesis_test", False)
        else 1
        for item in items
    )


def _is_of(item: Any, name: str) -> bool:
    file, _, test = str(item.nodeid).partition("[")[0].partition("::")
    return name in (file, f"{file}::{test}")


def _file(name: str) -> str:
    """The node of a test, or its file."""
    file, separator, test = name.partition("::")
    folder, slash, last = file.rpartition("/")
    return f"tests/{folder}{slash}test_{last}.py{separator}{test}"


def table() -> str:
    """The table, in Markdown."""
    items = _collect()
    vectors = [file for file, _ in load_cases(find_vectors())]
    figures = json.loads(FIGURES.read_text(encoding="utf-8"))
    lines = ["| law | checked by | cases | last long run |", "| --- | --- | --- | --- |"]
    for law in LAWS:
        names = [_file(name) for name in law.tests]
        for name in names:
            assert any(_is_of(item, name) for item in items), f"{name} is gone"
        found = [item for item in items if any(_is_of(item, name) for name in names)]
        files = sorted({item.nodeid.partition("::")[0] for item in found})
        count = _cases(found) + sum(any(file.startswith(name) for name in law.vectors) for file in vectors)
        runs = [run for run in figures["targets"] if any(run["target"].startswith(name) for name in law.targets)]
        checked = ", ".join([*(f"`{file}`" for file in files), *(["`tests/vectors`"] if law.vectors else [])])
        long = f"{sum(run['executions'] for run in runs):,} streams" if runs else ""
        lines.append(f"| {law.says} | {checked} | {count:,} | {long} |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(table())
