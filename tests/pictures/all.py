"""Which pictures there are, and what of the code each is drawn from."""

from __future__ import annotations

from pathlib import Path

from translate.algebra import grammar
from translate.algebra.events import NAMES, PART_KINDS
from translate_codecs import (
    anthropic,
    events,
    gateway,
    gemini,
    gemini_interactions,
    openai_chat,
    openai_responses,
    unievent,
)
from translate_codecs.gateway import words as gateway_words
from translate_codecs.unievent import words as unievent_words

from .grammars import grammar_of
from .live import live
from .matrix import matrix
from .railroad import railroad
from .states import Table, states
from .svg import Canvas

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "pictures"
TABLES: dict[str, Table] = {
    "algebra": {state: {NAMES[event]: after for event, after in row.items()} for state, row in grammar.TABLE.items()},
    "gateway": gateway_words.STATES,
    "unievent": unievent_words.STATES,
}
GRAMMARS = {
    "algebra": grammar_of(grammar.__doc__),
    "gateway": grammar_of(gateway.__doc__),
    "unievent": grammar_of(unievent.__doc__),
}
CODECS = (
    *(unievent.CODEC, gateway.CODEC, openai_chat.CODEC, openai_responses.CODEC, anthropic.CODEC),
    *(gemini.CODEC, gemini_interactions.CODEC, events.CODEC),
)
SAID = (*PART_KINDS, *sorted(events.CODEC.says - {*PART_KINDS}))
TITLES = {"algebra": "the event algebra", "gateway": "the gateway's frames", "unievent": "UniEvent"}


def pictures() -> dict[str, Canvas]:
    """File → picture."""
    drawn = {f"{name}-states.svg": states(TITLES[name], table) for name, table in TABLES.items()}
    drawn |= {f"{name}-grammar.svg": railroad(TITLES[name], rules) for name, rules in GRAMMARS.items()}
    return {**drawn, "formats.svg": matrix(CODECS, SAID), "live.svg": live()}
