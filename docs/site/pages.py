"""Pages of the site that are written elsewhere, or made from code: at the root of the project, a gallery, a matrix."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from translate.inspect import view
from translate.inspect.examples import EXAMPLES
from translate.inspect.matrix import WORDS, Cell, cell, names, says, verdict
from translate.inspect.picture import picture
from translate.inspect.report import report

ROOT = Path(__file__).resolve().parents[2]
CLOCK = 1_796_036_424_497
"""The time of all reports, so that a site that is built again is the same."""
PAGES = {"changelog.md": "CHANGELOG.md", "contributing.md": "CONTRIBUTING.md", "security.md": "SECURITY.md"}
_KINDS = 5
"""Kinds of what a carry holds that a pair shows."""


def on_files(files: Files, config: MkDocsConfig) -> None:
    """Add them, before links are looked at: from the root they go through ``docs/``."""
    for page, source in PAGES.items():
        text = (ROOT / source).read_text(encoding="utf-8").replace("](docs/", "](")
        files.append(File.generated(config, page, content=text.replace("](README.md)", "](index.md)")))
    made = {"gallery.md": "\n".join(_gallery(config, files)), "matrix.md": "\n".join(_matrix())}
    for page, text in made.items():
        files.append(File.generated(config, page, content=text + "\n"))


# ---- the gallery -----------------------------------------------------------------------------------------


def _gallery(config: MkDocsConfig, files: Files) -> Iterator[str]:
    yield "# Gallery\n"
    yield "Six streams, and what becomes of each in another format: a picture, and the report that `translate-streams"
    yield "inspect FILE --to FORMAT --html OUT` writes. The [playground](playground.md) has them, too.\n"
    for example in EXAMPLES:
        assert example.path is not None
        stream = example.path.read_bytes()
        seen = view(stream, example.source, example.target, clock=lambda: CLOCK, file=example.file)
        for suffix, drawn in (("html", report(seen)), ("svg", picture(seen))):
            files.append(File.generated(config, f"gallery/{example.name}.{suffix}", content=drawn))
        alt = f"{example.source} on the left, {example.target} on the right. {seen['fate']}"
        link = f"gallery/{example.name}.html"
        yield f"## {example.title}\n"
        yield f"{example.shows} {seen['fate']}\n"
        yield f"[![{alt}](gallery/{example.name}.svg)]({link})\n"
        yield f"[The report]({link}), of `examples/{example.file}` into `{example.target}`.\n"


# ---- the matrix ------------------------------------------------------------------------------------------


def _matrix() -> Iterator[str]:
    known = names()
    yield "# What each format says\n"
    yield "Measured when this site was built, over the project's own streams: its conformance vectors and its examples."
    yield "Most of them are hard cases, each about one thing that is easily lost; streams of every day fare better."
    yield "`translate-streams formats A B` prints a pair.\n"
    yield "## In its own words\n"
    yield "*native*: each time that any stream has it; *carried*: never, it travels in the [carry](carry.md) alone.\n"
    yield from _table(["format", *WORDS])
    for name in known:
        found = says(name)
        yield _row([f"**{name}**", *(_said(*found[word]) for word in WORDS)])
    yield "\n## Pair by pair\n"
    yield "Of the streams of the format on the left, the share whose reader of the one above sees all content without"
    yield "carries, and the bytes of carry a unit. Each pair links to what its carries hold.\n"
    yield from _table(["from, into", *known])
    for source in known:
        cells = [cell(source, target) for target in known]
        yield _row([f"**{source}**", *("" if each.target == source else _linked(each) for each in cells)])
    for source in known:
        for target in known:
            if source != target:
                yield from _pair(cell(source, target))


def _linked(found: Cell) -> str:
    return f"[{found.share:.0%}, {found.bytes_a_unit:.0f} B](#{found.source}-into-{found.target})"


def _pair(found: Cell) -> Iterator[str]:
    title = f"{found.source} into {found.target}"
    # not one of the headings that the side lists: there are too many
    yield f'\n<h3 id="{title.replace(" ", "-")}">{title}</h3>\n'
    yield f"{found.whole:,} of {found.streams:,} streams are seen whole.\n"
    if found.hidden:
        yield from _table(["times", "what", "why", "first in"])
    for each in found.hidden[:_KINDS]:
        unit = each.unit.replace("|", "\\|").replace("`", "'")
        where = f"{each.stream}: `{unit}`" if unit else each.stream
        yield _row([f"{each.count:,}", f"{each.field}{', content' if each.content else ''}", each.reason, where])
    if len(found.hidden) > _KINDS:
        yield f"\n{len(found.hidden) - _KINDS:,} more kinds: `translate-streams formats {found.source} {found.target}`."


def _said(said: int, there: int) -> str:
    return f"{verdict(said, there).partition(',')[0]}<br>{said:,}/{there:,}" if there else "in no stream"


def _table(heads: list[str]) -> Iterator[str]:
    yield _row(heads)
    yield _row(["---"] * len(heads))


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"
