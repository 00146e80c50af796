"""JSON lines of units: one without a place spoils its stream, and no other."""

from __future__ import annotations

from typing import Any

import pytest

from tests.logs import samples
from tests.logs.samples import SETTINGS, said, text
from translate import jsontext
from translate.logs.grouping import Grouping
from translate.logs.layout import Counts, Layout
from translate.logs.records import convert_units_of
from translate.logs.stream import Reject

LAYOUT = Layout("lines", "unit", units=True, id="id", order="seq", gaps=True)


@pytest.mark.parametrize("order", [None, float("nan"), True, [1], "absent"])
def test_a_unit_without_a_place_spoils_its_stream_and_no_other(order: Any) -> None:
    records = [row._asdict() for row in samples.rows({"good": text(3), "bad": text(9)})]
    lines: list[tuple[int, bytes]] = []
    for offset, record in enumerate(records):
        # without it, the stream would pass for one that is whole: its places may have gaps
        seq = order if (record["id"], record["order"]) == ("bad", 4) else record["order"]
        found = {"id": record["id"], "unit": record["unit"]} | ({} if seq == "absent" else {"seq": seq})
        lines.append((offset, jsontext.dumps(found)))
    counts, rejected = Counts(), list[Reject]()
    with Grouping() as grouping:
        found_lines = convert_units_of(lines, LAYOUT, SETTINGS, counts, rejected.append, grouping)
        made = [jsontext.loads(line) for line in found_lines]
    assert {record["id"] for record in made} == {"good"}
    assert "".join(record["unit"] for record in made) == said(text(3)).text
    assert [(reject.stream, reject.at["records"]) for reject in rejected] == [("bad", len(samples.units(text(9))))]
    assert "has no place in its order" in str(rejected[0].error)
    assert (counts.streams_in, counts.converted, counts.rejected) == (2, 1, 1)
