"""Pages of the site that are written elsewhere: the guarantees are the README's, the changelog is the project's."""

from __future__ import annotations

import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[2]


def guarantees() -> str:
    """The README's section, as a page of its own."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    section = re.search(r"^## Guarantees\n.*?(?=^## )", readme, re.M | re.S)
    assert section is not None, "the README has no guarantees"
    return section[0].removeprefix("#")


def on_files(files: Files, config: MkDocsConfig) -> None:
    """Add them, before links are looked at."""
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    files.append(File.generated(config, "guarantees.md", content=guarantees()))
    files.append(File.generated(config, "changelog.md", content=changelog))
