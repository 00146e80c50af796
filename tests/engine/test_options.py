"""Options: what is wrong with one is an error that names it."""

from __future__ import annotations

import math
from typing import Any

import pytest

from tests.sources import FRAMES, collect
from tests.wire import stop, text_group
from translate import Model, Translator, convert, decode, encode

OPTIONS: list[tuple[str, Any, type[Exception], str]] = [
    ("model", {"nam": "x"}, ValueError, "model has no field 'nam': its fields are name, tier, publisher, provider"),
    ("model", {"x" * 5000: "x"}, ValueError, "model has no field 'xxx"),
    ("model", 5, TypeError, "model is a translate.Model, a mapping of its fields, its name, or None, not 5"),
    ("model", b"x", TypeError, "model is a translate.Model, a mapping of its fields, its name, or None, not b'x'"),
    ("model", {"name": 5}, TypeError, "the name of model is text or None, not int"),
    ("model", Model(tier=b"x"), TypeError, "the tier of model is text or None, not bytes"),  # type: ignore[arg-type]
    ("clock", 5, TypeError, "clock is a function that gives milliseconds, or None, not 5"),
    ("limits", 5, TypeError, "limits is a translate.Limits, or None, not 5"),
    ("report", [], TypeError, "report is a translate.Report, or None, not []"),
    ("strict", "no", TypeError, "strict is True or False, not 'no'"),
    ("trace", True, TypeError, "trace is a translate.Trace, or None, not True"),
    ("loss", "x" * 5000, ValueError, "loss is one of 'carry', 'drop', 'raise', not 'xxx"),
    ("errors", None, ValueError, "errors is one of 'raise', 'encode', not None"),
]


@pytest.mark.parametrize(("option", "value", "kind", "what"), OPTIONS)
def test_an_option_that_is_none(option: str, value: Any, kind: type[Exception], what: str) -> None:
    given: dict[str, Any] = {option: value}
    with pytest.raises(kind) as caught:
        convert(FRAMES, "gateway", "unievent", **given)
    assert str(caught.value).startswith(what)
    assert len(str(caught.value)) < 300
    with pytest.raises(kind) as caught:
        Translator("gateway", "unievent", **given)
    assert str(caught.value).startswith(what)
    if option in ("model", "clock", "loss"):
        with pytest.raises(kind):
            encode([], "unievent", **given)
    if option in ("limits", "report", "strict"):
        with pytest.raises(kind):
            decode([], "unievent", **given)


def test_models_in_every_form() -> None:
    for model in (Model(name="m"), {"name": "m"}, "m", {"name": "m", "tier": None}):
        first = next(convert([*text_group("a"), stop()], "unievent", "gateway", model=model))
        assert first["value"]["model"]["name"] == "m"


@pytest.mark.parametrize(
    ("time", "kind", "what"),
    [
        ("now", TypeError, "clock gives milliseconds, a number, not str"),
        (None, TypeError, "clock gives milliseconds, a number, not NoneType"),
        (True, TypeError, "clock gives milliseconds, a number, not bool"),
        (math.nan, ValueError, "clock gives milliseconds, a finite number, not nan"),
        (math.inf, ValueError, "clock gives milliseconds, a finite number, not inf"),
    ],
)
@pytest.mark.parametrize("target", ["unievent", "unievent-sse"])
def test_a_clock_that_gives_no_time(time: Any, kind: type[Exception], what: str, target: str) -> None:
    out, error = collect(convert(FRAMES, "gateway", target, clock=lambda: time))
    assert type(error) is kind
    assert str(error) == what
    assert str(time).encode() not in (b"".join(out) if target == "unievent-sse" else b"")
    data = b"".join(convert(FRAMES, "gateway", "gateway-sse"))
    made = Translator("gateway-sse", target, clock=lambda: time)
    with pytest.raises(kind):
        # the error may come behind output
        assert made.feed(data) + made.close() == []


@pytest.mark.parametrize("time", [0, -1, 2**70, 1.5])
def test_a_clock_that_gives_one(time: Any) -> None:
    found = list(convert(FRAMES, "gateway", "unievent", clock=lambda: time))
    assert {unit["created_at"] for unit in found} == {time}
