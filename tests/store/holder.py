"""One writer that stops or dies while it holds the store's lock.

python -m tests.store.holder DIRECTORY stop|die CALL NUMBER
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.store.data import make_small
from tests.store.disks.killing import BEFORE, KillingDisk, StoppingDisk
from tuibench.core.stored import Metadata
from tuibench.store.store import Store

MACHINE = "machine with a holder"


def main() -> None:
    """Add one benchmark; stop or die at the given call."""
    root, what, at, number = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    disk = StoppingDisk(at) if what == "stop" else KillingDisk(at, BEFORE)
    Store(root, MACHINE, disk=disk).benchmarks.add(make_small(number), Metadata(name=f"name {number}"))


if __name__ == "__main__":
    main()
