"""What reports say of documents is a sentence of a table, and the page of losses has all of them."""

from pathlib import Path

import pytest

from translate.carry.reasons import Why
from translate.messages.reasons import NOTES, REASONS, why

ROOT = Path(__file__).resolve().parents[2]
SOURCES = [*(ROOT / "translate" / "messages").glob("*.py"), *(ROOT / "codecs" / "translate_codecs").rglob("*.py")]


@pytest.mark.parametrize(
    ("heading", "table"), [("Reasons of documents", REASONS), ("What was assumed or mended in documents", NOTES)]
)
def test_the_page_of_losses_has_all_reasons(heading: str, table: dict[str, Why]) -> None:
    page = (ROOT / "docs" / "losses.md").read_text(encoding="utf-8")
    section = page.partition(f"### {heading}\n")[2].partition("\n#")[0]
    told = [line for line in section.splitlines() if line.startswith("| ")][2:]
    said = [each.says.replace("{target}", "TARGET").replace("{what}", "…") for each in table.values()]
    assert told == [f"| {says} | {each.do} |" for says, each in zip(said, table.values(), strict=True)]


def test_each_reason_is_given_somewhere_and_has_one_meaning() -> None:
    text = "\n".join(path.read_text(encoding="utf-8") for path in SOURCES if path.name != "reasons.py")
    assert [key for key in (*REASONS, *NOTES) if f'"{key}"' not in text] == []
    assert not REASONS.keys() & NOTES.keys()
    assert why("part", "gemini", "an embedding") == "gemini cannot say an embedding"
