"""The built-in codecs keep the contract that every codec must keep, and the kit sees where one does not."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import strategies as st

from translate import codec
from translate.testing import ELSEWHERE, Knobs, check_codec, json_objects
from translate.testing.strategies import JsonObject

FOREIGN: dict[str, st.SearchStrategy[JsonObject]] = {
    ELSEWHERE: json_objects(),
    "unievent": st.fixed_dictionaries({"event_type": st.sampled_from(("ping", "")), "x": json_objects()}),
    "gateway": st.fixed_dictionaries(
        {
            "success": st.just(True),
            "code": st.sampled_from((200, 201)),
            "value": st.fixed_dictionaries({"type": st.sampled_from(("usage", "x")), "value": json_objects()}),
        }
    ),
}
KNOBS: dict[str, Any] = {"foreign": FOREIGN}


@pytest.mark.parametrize("name", ["unievent", "gateway"])
def test_built_in_codecs_keep_the_contract(name: str) -> None:
    check_codec(codec(name), knobs=Knobs(**KNOBS), examples=60)
