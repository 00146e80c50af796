"""The benchmark checks what it times; times are not judged here."""

from __future__ import annotations

from benchmarks.__main__ import rows


def test_a_short_run() -> None:
    found = rows(rounds=1, repeat=1)
    assert len({row.case for row in found}) == len(found) == 21
    assert all(0 < row.low <= row.ratio <= row.high for row in found)
