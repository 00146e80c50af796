"""Prints one table of ratios: each case beside its base, measured in turn, medians of several rounds of CPU time."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

from .cases import cases
from .growth import growth
from .load import load
from .logs import logs
from .peers import peers
from .reach import reach
from .resources import imports, latency, memory
from .table import HEAD, Plan, Row, line
from .vendors import vendors

GROUPS: dict[str, Callable[[Plan], Iterator[Row]]] = {
    "reach": reach,
    "cases": cases,
    "peers": peers,
    "vendors": vendors,
    "growth": growth,
    "memory": memory,
    "latency": latency,
    "imports": imports,
    "logs": logs,
    "load": load,
}


def parser() -> argparse.ArgumentParser:
    """The options."""
    found = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    found.add_argument("--rounds", type=int, default=9, help="of each case and its base (default 9; slow ones 3)")
    found.add_argument("--repeat", type=int, default=4, help="of each within a round (default 4; slow ones 1)")
    found.add_argument("--json", type=Path, metavar="FILE", help="write the table there too")
    found.add_argument("--only", nargs="+", choices=GROUPS, default=[*GROUPS], metavar="NAME", help=", ".join(GROUPS))
    corpus = os.environ.get("TRANSLATE_CORPUS")
    default = Path(corpus) / "unievent-sse" if corpus else None
    text = "of UniEvent SSE streams to translate too (default: unievent-sse in $TRANSLATE_CORPUS)"
    found.add_argument("--corpus", type=Path, metavar="DIR", default=default, help=text)
    found.add_argument("--full", action="store_true", help="a stream of 1,000,000 events and a part of 256 MB too")
    return found


def main(arguments: list[str] | None = None) -> None:
    """Measure, and print. A missed target is no failure."""
    options = parser().parse_args(arguments)
    plan = Plan(options.rounds, options.repeat, corpus=options.corpus)
    plan = plan.full() if options.full else plan
    found = []
    print(HEAD)
    for name in options.only:
        print(f"\n{name}")
        for row in GROUPS[name](plan):
            print(line(row), flush=True)
            found.append({"group": name, **row.json()})
    if options.json is not None:
        options.json.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
