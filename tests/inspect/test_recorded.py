"""The timeline of recordings on the terminal."""

from __future__ import annotations

import pytest

from tests.recorded import ABSENT, CORPUS, NAMES, digest, drawn, pinned

if not CORPUS.is_dir():
    pytest.skip(ABSENT, allow_module_level=True)


@pytest.mark.parametrize("name", NAMES)
def test_what_is_printed_of_a_recording_is_pinned(name: str) -> None:
    pins = pinned(name)
    found = dict(drawn(name))
    assert len(found) == 2
    for what, text in found.items():
        assert digest(text) == pins[what], f"`python -m tests.recorded` pins it anew; {what}:\n{text}"
