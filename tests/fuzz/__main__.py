"""``python -m tests.fuzz TARGET [--seconds N] [--corpus DIR]``: look for streams that break a law.

With atheris (``pip install -e ".[fuzz]"``) the search is guided by coverage, and the corpus grows; without it, inputs
are mutated at random. Findings are kept in ``DIR/found``, the shortest for each way in which a law was broken, and the
search goes on. The last lines are the figures: executions, coverage (edges, with atheris) and findings.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import random
import sys
import time
import traceback
from collections.abc import Callable
from hashlib import sha1
from pathlib import Path
from typing import Any

LENGTH = 1024


class Watch:
    """A target whose broken laws are kept, not raised."""

    def __init__(self, target: Callable[[bytes], None], directory: Path) -> None:
        self._target = target
        self._directory = directory
        self.runs = 0
        self.found: dict[str, int] = {}

    def __call__(self, data: bytes) -> None:
        self.runs += 1
        try:
            self._target(data)
        except Exception as error:
            self._keep(data, error)

    def _keep(self, data: bytes, error: Exception) -> None:
        where = traceback.extract_tb(error.__traceback__)[-1]
        what, _, _ = str(error).partition("\n")
        law = f"{type(error).__name__} at {Path(where.filename).name}:{where.lineno}: {what:.120}"
        if len(data) >= self.found.get(law, LENGTH + 1):
            return
        if law not in self.found:
            print(f"found: {law}", flush=True)
        self.found[law] = len(data)
        self._directory.mkdir(parents=True, exist_ok=True)
        path = self._directory / sha1(law.encode()).hexdigest()[:12]
        path.write_bytes(data)
        path.with_suffix(".txt").write_text(f"{law}\n\n{data!r}\n\n{error}\n", "utf-8", "backslashreplace")


def guided(name: str, seconds: int, corpus: Path) -> None:
    """By atheris, which ends the process."""
    atheris: Any = importlib.import_module("atheris")
    with atheris.instrument_imports(include=["translate", "translate_codecs"]):
        from .seeds import seeds
        from .targets import DICTIONARY, TARGETS
    given, words = corpus / "seeds", corpus / "words"
    given.mkdir(parents=True, exist_ok=True)
    for i, seed in enumerate(seeds(name)):
        (given / str(i)).write_bytes(seed)
    quoted = ("".join(f"\\x{byte:02x}" for byte in word) for word in DICTIONARY if 0 < len(word) < 100)
    words.write_text("".join(f'"{word}"\n' for word in quoted))
    (corpus / "kept").mkdir(exist_ok=True)
    limits = [f"-max_total_time={seconds}", f"-max_len={LENGTH}", "-timeout=30", "-rss_limit_mb=2000"]
    said = [f"-dict={words}", f"-artifact_prefix={corpus}/", "-print_final_stats=1", "-len_control=20"]
    atheris.Setup([name, *limits, *said, str(corpus / "kept"), str(given)], Watch(TARGETS[name], corpus / "found"))
    atheris.Fuzz()


def at_random(name: str, seconds: int, corpus: Path, seed: int = 0) -> None:
    """By mutation, and inputs at random: others for each ``seed``."""
    from .seeds import mutated, noise, seeds
    from .targets import DICTIONARY, TARGETS

    watch, rng, pool = Watch(TARGETS[name], corpus / "found"), random.Random(f"{name} {seed}"), seeds(name)
    end = time.monotonic() + seconds
    for each in pool:
        watch(each)
    while time.monotonic() < end:
        watch(noise(rng) if watch.runs % 4 else mutated(rng.choice(pool), rng, DICTIONARY))
    print(f"{name}: {watch.runs} executions, {len(watch.found)} findings")


def main() -> None:
    """The command."""
    from .targets import TARGETS

    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description="Look for streams that break a law.")
    parser.add_argument("target", choices=list(TARGETS), metavar="TARGET", help=", ".join(TARGETS))
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--corpus", type=Path, default=None, help="where inputs and findings are kept")
    parser.add_argument("--random", action="store_true", help="without atheris: less wit, more executions")
    parser.add_argument("--seed", type=int, default=0, help="of a search at random")
    args = parser.parse_args()
    corpus: Path = args.corpus or Path(".fuzz") / args.target
    if args.random or importlib.util.find_spec("atheris") is None:
        at_random(args.target, args.seconds, corpus, args.seed)
    else:
        for module in [module for module in sys.modules if module.startswith(("translate", "tests"))]:
            # to be imported again, instrumented
            del sys.modules[module]
        guided(args.target, args.seconds, corpus)


if __name__ == "__main__":
    main()
