"""Fills a store until the kernel refuses, looks what is left, makes room and goes on; for a disk that is really full.

python -m tests.store.fill DIRECTORY [GREATEST FILE IN BYTES]

The last line of the output is JSON.
"""

from __future__ import annotations

import json
import resource
import sys
from pathlib import Path

from tests.store.data import make_real
from tuibench.core.card import Card
from tuibench.core.errors import StoreError
from tuibench.store.store import Store

MACHINE = "machine with a small disk"
BALLAST = 300_000
MOST = 5000


def fill(store: Store, first: int) -> tuple[list[str], str]:
    """Add until it is refused: (acknowledged ids, what was said)."""
    done: list[str] = []
    for number in range(first, first + MOST):
        result = make_real(number, 1)
        try:
            store.benchmarks.add(result, Card(name=f"name {number}"))
        except StoreError as error:
            return done, error.message
        done.append(result.id)
    return done, ""


def look(root: Path, ids: list[str]) -> list[str]:
    """What of the acknowledged ones is not there or not whole, for a fresh session."""
    store = Store(root, MACHINE)
    rows = {row.id for row in store.benchmarks.rows()}
    return [one for one in ids if one not in rows or store.benchmarks.get(one).result.id != one]


def main() -> None:
    """Fill, look, make room, go on, look again."""
    place = Path(sys.argv[1])
    root, ballast = place / "data", place / "ballast"
    ballast.write_bytes(bytes(BALLAST))
    if len(sys.argv) > 2:
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
    store = Store(root, MACHINE)
    first, said = fill(store, 1)
    lost = look(root, first)
    same = {row.id for row in store.benchmarks.rows()} == {row.id for row in Store(root, MACHINE).benchmarks.rows()}
    again, said_again = fill(store, MOST)
    ballast.unlink()
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    removed = first[:3]
    store.trash.remove(removed)
    store.trash.empty()
    after, _ = fill(store, 2 * MOST) if len(sys.argv) <= 2 else ([], "")
    store.benchmarks.add(make_real(1, 1), Card(name="back"))
    lost += look(root, [one for one in (*first, *again, *after) if one not in removed])
    store.check(repair=True)
    problems = [str(problem) for problem in Store(root, MACHINE).check(read_data=True).problems]
    print(
        json.dumps(
            {
                "added": len(first),
                "said": said,
                "said_again": said_again,
                "same": same,
                "lost": lost,
                "added_after": len(after),
                "problems": problems,
            }
        )
    )


if __name__ == "__main__":
    main()
