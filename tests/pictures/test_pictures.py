"""The pictures of the documentation are those of the code, and can be read by everyone."""

from __future__ import annotations

import re
from collections import deque
from itertools import combinations
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.pictures.all import CODECS, FOLDER, GRAMMARS, SAID, TABLES, pictures
from tests.pictures.grammars import Name, Node, Repeat, after, grammar_of, parsed
from translate_codecs import events

DOCS = FOLDER.parent
PICTURES = pictures()
SVG = "{http://www.w3.org/2000/svg}"
each_picture = pytest.mark.parametrize("name", PICTURES)
each_grammar = pytest.mark.parametrize("name", GRAMMARS)


@each_picture
def test_a_picture_is_what_the_code_draws(name: str) -> None:
    assert (FOLDER / name).read_text(encoding="utf-8") == PICTURES[name].svg(), "`python -m tests.pictures` draws anew"


def test_there_is_no_other_picture_and_the_documents_show_all() -> None:
    assert {path.name for path in FOLDER.iterdir()} == set(PICTURES)
    text = "".join(path.read_text(encoding="utf-8") for path in DOCS.glob("*.md"))
    assert set(re.findall(r"!\[[^\]]+\]\(pictures/([\w.-]+)\)", text)) == set(PICTURES)
    assert "docs/pictures/formats.svg" in (DOCS.parent / "README.md").read_text(encoding="utf-8")


@each_picture
def test_no_labels_overlap_and_all_are_inside(name: str) -> None:
    canvas = PICTURES[name]
    root = ElementTree.fromstring(canvas.svg())
    for a, b in combinations(canvas.labels, 2):
        assert a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1], (a, b)
    for left, top, right, bottom in canvas.labels:
        assert 0 <= left < right <= int(root.attrib["width"])
        assert 0 <= top < bottom <= int(root.attrib["height"])


@each_picture
def test_screen_readers_get_all_of_it_in_words(name: str) -> None:
    root = ElementTree.fromstring(PICTURES[name].svg())
    assert (root.attrib["role"], root.attrib["aria-labelledby"]) == ("img", "title about")
    title, about = root.find(f"{SVG}title"), root.find(f"{SVG}desc")
    assert title is not None
    assert about is not None
    assert title.text
    words = " ".join(text.text or "" for text in root.iter(f"{SVG}text"))
    told = {word.lower() for word in re.findall(r"\w+", about.text or "")}
    assert {word.lower() for word in re.findall(r"\w+", words)} <= told


@each_picture
def test_a_picture_is_readable_in_light_and_dark_and_loads_nothing(name: str) -> None:
    text = PICTURES[name].svg()
    assert "prefers-color-scheme:dark" in text
    assert "currentColor" in text
    assert re.findall(r"https?://[^\"]+", text) == ["http://www.w3.org/2000/svg"]
    assert not re.search(r"<script|href|url\(|@import", text)
    assert not re.search(r'(fill|stroke)="', text), "a colour that is not of the style is one of light or dark only"


@each_grammar
def test_a_grammar_and_the_table_beside_it_say_the_same(name: str) -> None:
    table, rules = TABLES[name], {rule: parsed(text) for rule, text in GRAMMARS[name].items()}
    terminals = {word for text in GRAMMARS[name].values() for word in re.findall(r"\w+", text)} - rules.keys()
    # the table of the algebra has the names that events have in JSON
    spelling = {word.lower() if name == "algebra" else word: word for word in terminals}
    words = {word for row in table.values() for word in row}
    assert words == spelling.keys()
    start: tuple[str, frozenset[Node | None]] = (next(iter(table)), frozenset({rules["stream"]}))
    seen, waiting = {start}, deque([start])
    while waiting:
        state, nodes = waiting.popleft()
        for word in words:
            spelled = spelling[word]
            left = frozenset(rest for node in nodes if node is not None for rest in after(node, rules, spelled))
            following = table[state].get(word)
            assert bool(left) == (following is not None), f"{word} {state}"
            # what ends a stream is always last, also where it ends a part
            if following is not None and table[following] and (following, left) not in seen:
                seen.add((following, left))
                waiting.append((following, left))
    assert {state for state, _ in seen} == {state for state in table if table[state]}


@pytest.mark.parametrize("name", ["algebra", "gateway"])
def test_the_documents_have_the_grammar_of_the_code(name: str) -> None:
    text = (DOCS / f"{name}.md").read_text(encoding="utf-8")
    block = re.search(r"```text\n(stream +:=.*?)```", text, re.DOTALL)
    assert block is not None
    rules = {rule: " ".join(body.split()) for rule, body in re.findall(r"(\w+) +:= (.*?)(?=\n\w|\Z)", block[1], re.S)}
    assert rules == GRAMMARS[name]


def test_the_algebra_says_its_grammar_once_more_in_its_events() -> None:
    from translate.algebra import events as algebra

    assert grammar_of(algebra.__doc__) == GRAMMARS["algebra"]


def test_the_matrix_has_all_that_any_format_says() -> None:
    assert len(SAID) == len({*SAID}) == len(events.CODEC.says)
    for codec in CODECS:
        assert {*codec.says, *codec.partly} <= {*SAID}


def test_every_built_in_codec_is_in_the_pictures() -> None:
    import translate_codecs

    folder = Path(next(iter(translate_codecs.__path__)))
    modules = {path.parent.name for path in folder.glob("[a-z]*/__init__.py")}
    assert modules == {codec.name.replace("-", "_") for codec in CODECS}
    # the codec of events has the algebra's own table, and those of providers have none
    providers = {"openai_chat", "openai_responses", "anthropic", "gemini", "gemini_interactions"}
    assert modules - {"events", *providers} == TABLES.keys() - {"algebra"}


@pytest.mark.parametrize("text", ["", "a (b", "a | ", "a ) b", "a & b", "()"])
def test_what_is_no_grammar_is_refused(text: str) -> None:
    with pytest.raises((ValueError, IndexError)):
        parsed(text)


def test_a_grammar_is_read_with_its_usual_precedence() -> None:
    assert parsed("a b* | c+") == parsed("(a (b*)) | (c+)") != parsed("a (b* | c+)")
    assert parsed("a*") == Repeat(Name("a"), 0)
