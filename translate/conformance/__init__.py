"""Conformance vectors: conversions as data, run against this library or against any program.

The cases and their form are described in ``tests/vectors/README.md``. What judges them knows nothing of the library:
it reads output by itself, and compares JSON values exactly.
"""

from __future__ import annotations

from .case import Case, Expected, VectorError, find_vectors, load_cases
from .library import run_library
from .program import run_program
from .verdict import Problem

__all__ = ["Case", "Expected", "Problem", "VectorError", "find_vectors", "load_cases", "run_library", "run_program"]
