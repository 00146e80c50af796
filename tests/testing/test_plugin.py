"""A codec of another distribution: it keeps the contract, and is found by its entry point once it is installed."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import strategies as st

from translate import convert, formats
from translate.testing import ELSEWHERE, Knobs, check_codec, json_objects

ROOT = Path(__file__).resolve().parents[2]
PLUGIN = ROOT / "tests" / "plugin"
SOURCE = b'{"open":"text"}\n{"t":"Hel"}\n{"t":"lo","seq":1}\n{"close":"text"}\n{"end":"stop","in":3,"out":2}\n'
SCRIPT = """
from translate import convert, formats
assert {"toy", "toy-jsonl", "toy-sse"} <= set(formats()), formats()
source = bytes.fromhex(%r)
there = b"".join(convert([source], src="toy-jsonl", dst="gateway-sse"))
assert b'"Hel"' in there and b"streamStart" in there, there
assert b"".join(convert([there], src="gateway-sse", dst="toy-jsonl")) == source
print("found by name")
"""


@pytest.fixture
def plugin() -> Iterator[None]:
    """The plugin's module, importable from its source tree."""
    sys.path.insert(0, str(PLUGIN))
    yield
    sys.path.remove(str(PLUGIN))


@pytest.mark.usefixtures("plugin")
def test_the_kit_holds_a_third_party_codec() -> None:
    import translate_toy  # type: ignore[import-not-found,unused-ignore]  # pyright: ignore[reportMissingImports]

    foreign = st.fixed_dictionaries({"ping": json_objects()})
    check_codec(translate_toy.CODEC, knobs=Knobs(foreign={"toy": foreign, ELSEWHERE: json_objects()}), examples=40)


def installed() -> bool:
    return any(entry.name == "toy" for entry in entry_points(group="translate.codecs"))


@pytest.mark.skipif(not installed(), reason="the distribution translate-toy is not installed here; see the next test")
def test_an_installed_codec_is_found_by_its_entry_point() -> None:
    assert {"toy", "toy-jsonl", "toy-sse"} <= set(formats())
    there = b"".join(convert([SOURCE], src="toy-jsonl", dst="unievent-sse"))
    assert b"".join(convert([there], src="unievent-sse", dst="toy-jsonl")) == SOURCE


@pytest.mark.skipif(installed(), reason="the distribution translate-toy is installed already; see the test before")
def test_a_codec_that_a_test_registers_is_not_there_for_the_next() -> None:
    assert "toy" not in formats()


@pytest.mark.skipif(installed(), reason="the distribution translate-toy is installed already; see above")
def test_a_codec_is_found_once_its_distribution_is_installed(tmp_path: Path) -> None:
    if find_spec("hatchling") is None or find_spec("pip") is None:
        pytest.skip("hatchling and pip are needed to install the plugin without a network")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*pip, "--target", str(tmp_path), str(PLUGIN)], check=True)
    path = os.pathsep.join([str(tmp_path), str(ROOT), str(ROOT / "codecs")])
    run = subprocess.run(
        [sys.executable, "-c", SCRIPT % SOURCE.hex()],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.stdout == "found by name\n", run.stderr
