"""A process that adds benchmarks: python -m tests.store.writer ROOT FIRST COUNT. It prints each id once saved."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.store.build import MACHINE, make_result
from tuibench.core.stored import Metadata
from tuibench.store.store import Store


def main(root: str, first: str, count: str) -> None:
    """Add the given number of benchmarks, from a number on."""
    store = Store(Path(root), MACHINE)
    for number in range(int(first), int(first) + int(count)):
        row = store.benchmarks.add(make_result(number), Metadata(name=str(number)))
        print(row.id, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
