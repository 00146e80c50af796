"""The test kit: valid streams of events for Hypothesis, and the contract of a codec as one call.

.. code-block:: python

    from translate.testing import check_codec

    def test_my_codec():
        check_codec(my_codec.CODEC)

Needs Hypothesis (``pip install -e ".[test]"`` in the project's checkout).
"""

from __future__ import annotations

try:
    import hypothesis  # noqa: F401
except ModuleNotFoundError as error:
    raise ModuleNotFoundError("translate.testing needs Hypothesis: pip install hypothesis") from error

from .comparing import at_home, without_carry
from .kit import CLAUSES, check_codec
from .strategies import (
    AWKWARD,
    ELSEWHERE,
    INTEGERS,
    NUMBERS,
    PLAIN,
    Knobs,
    event_streams,
    interleaved,
    json_objects,
    json_values,
    object_texts,
    pieces,
    texts,
)

__all__ = [
    "AWKWARD",
    "CLAUSES",
    "ELSEWHERE",
    "INTEGERS",
    "NUMBERS",
    "PLAIN",
    "Knobs",
    "at_home",
    "check_codec",
    "event_streams",
    "interleaved",
    "json_objects",
    "json_values",
    "object_texts",
    "pieces",
    "texts",
    "without_carry",
]
