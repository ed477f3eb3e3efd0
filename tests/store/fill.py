"""Fills a store until the kernel refuses, checks it, makes room and continues; for a disk that is really full.

python -m tests.store.fill DIRECTORY [GREATEST FILE IN BYTES]

The last line of the output is JSON.
"""

from __future__ import annotations

import json
import resource
import sys
from pathlib import Path

from tests.store.data import make_real
from tuibench.core.errors import StoreError
from tuibench.core.stored import Metadata
from tuibench.store.store import Store

MACHINE = "machine with a small disk"
BALLAST = 300_000
MOST = 5000
DISCARDED = 10
AFTER = 6
"""Number of results that certainly fit into the freed room."""


def fill(store: Store, first: int, most: int = MOST) -> tuple[list[str], str]:
    """Add until the store refuses; return (acknowledged ids, message)."""
    done: list[str] = []
    for number in range(first, first + most):
        result = make_real(number, 1)
        try:
            store.benchmarks.add(result, Metadata(name=f"name {number}"))
        except StoreError as error:
            return done, str(error)
        done.append(result.id)
    return done, ""


def look(root: Path, ids: list[str]) -> list[str]:
    """Return the acknowledged benchmarks that a fresh session cannot read whole."""
    store = Store(root, MACHINE)
    rows = {row.id for row in store.benchmarks.rows()}
    return [one for one in ids if one not in rows or store.benchmarks.get(one).result.id != one]


def main() -> None:
    """Fill, check, empty the trash, fill again, make room from outside, continue, check again."""
    place = Path(sys.argv[1])
    root, ballast = place / "data", place / "ballast"
    ballast.write_bytes(bytes(BALLAST))
    store = Store(root, MACHINE)
    discarded, _ = fill(store, 1, DISCARDED)
    store.trash.remove(discarded)
    if len(sys.argv) > 2:
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
    kept, said = fill(store, 100)
    lost = look(root, kept)
    same = {row.id for row in store.benchmarks.rows()} == {row.id for row in Store(root, MACHINE).benchmarks.rows()}
    emptied, _ = store.trash.empty()
    more, said_again = fill(store, MOST)
    refused = try_removing(store, kept[:3])
    ballast.unlink()
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    after, _ = fill(store, 2 * MOST, AFTER)
    store.check(repair=True)
    lost += look(root, [*kept[3:], *more, *after])
    removed = {one for entry in store.trash.entries() for one in entry.benchmarks}
    rows = {row.id for row in store.benchmarks.rows()}
    lost += [one for one in kept[:3] if (one in removed) == (one in rows) or (not refused and one in rows)]
    summary = {
        "added": len(kept),
        "said": [said, said_again],
        "same": same,
        "emptied": emptied,
        "more": len(more),
        "refused": refused,
        "lost": lost,
        "all_after": len(after) == AFTER,
        "problems": [str(problem) for problem in Store(root, MACHINE).check(read_data=True).problems],
    }
    print(json.dumps(summary))


def try_removing(store: Store, ids: list[str]) -> str:
    """Remove benchmarks from a full disk; return the message if that is refused."""
    try:
        store.trash.remove(ids)
    except StoreError as error:
        return str(error)
    return ""


if __name__ == "__main__":
    main()
