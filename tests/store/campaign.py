"""Kills writers of a store repeatedly and checks the store each time; a forking process of its own.

python -m tests.store.campaign DIRECTORY KILLS SEED

Half of the writers are killed at a time, half around one of their calls to the disk. They are forked from this
single-threaded process, which has imported everything, because a fresh interpreter for each takes minutes.
The last line of the output is JSON: the work done and the faults found.
"""

from __future__ import annotations

import copy
import json
import os
import random
import select
import shutil
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from tests.store.disks.failing import SyncingNothing
from tests.store.disks.killing import AFTER, BEFORE, MIDDLE, KillingDisk
from tests.store.ledger import Ledger, carry_out, differences, parse
from tuibench.store.store import Store

MACHINE = "machine of the campaign"
OPERATIONS = 12
"""Number of operations of a writer that is not killed."""
SPARED = 21
"""Every so many writers one lives, and shows how long the others might have."""


def work(root: Path, ledger: Ledger, draw: random.Random, disk: KillingDisk, tell: Callable[[str], None]) -> None:
    """Run one writer: announce each operation, do it, acknowledge it."""
    store = Store(root / "data", MACHINE, disk=disk)
    for _ in range(OPERATIONS):
        op = ledger.choose(draw)
        tell(op.line("begin"))
        ledger.begin(op)
        done = carry_out(store, op, root / "scratch")
        tell(done.line("done"))
        ledger.done(done)


def fork_writer(root: Path, ledger: Ledger, seed: int, disk: KillingDisk) -> tuple[int, int]:
    """Fork a writer; return (pid, descriptor of its output)."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid:
        os.close(writer)
        return pid, reader
    code = 1
    try:
        os.close(reader)
        work(root, copy.deepcopy(ledger), random.Random(seed), disk, lambda line: _tell(writer, line))
        _tell(writer, json.dumps(["calls", disk.seen]) + "\n")
        code = 0
    except BaseException:
        # A forked child must never return into its parent's code; its exception is printed for people.
        traceback.print_exc()
    finally:
        os._exit(code)


def _tell(fd: int, line: str) -> None:
    os.write(fd, line.encode())


def follow(ledger: Ledger, pid: int, fd: int, seconds: float | None) -> tuple[int, int]:
    """Record a writer's output until it ends; kill it after a while. Return its exit status and, if it survived, its
    calls.
    """
    calls = 0
    until = None if seconds is None else time.monotonic() + seconds
    left = b""
    while True:
        wait = None if until is None else max(0.0, until - time.monotonic())
        if not select.select([fd], [], [], wait)[0]:
            os.kill(pid, signal.SIGKILL)
            until = None
            continue
        chunk = os.read(fd, 65536)
        if not chunk:
            os.close(fd)
            return os.waitpid(pid, 0)[1], calls
        *lines, left = (left + chunk).split(b"\n")
        for line in lines:
            if line.startswith(b'["calls"'):
                calls = json.loads(line)[1]
            else:
                ledger.take(*parse(line.decode()))


class Campaign:
    """Rounds of one writer each, on one store."""

    def __init__(self, root: Path, seed: int) -> None:
        self.root, self.draw = root, random.Random(seed)
        self.ledger = Ledger()
        self.found: list[str] = []
        self.repaired: Counter[str] = Counter()
        self.moments: Counter[str] = Counter()
        self.kills = self.rounds = 0
        self.usual_calls, self.usual_s = 200, 0.2

    def run(self, kills: int) -> None:
        """Run until the given number of writers were killed, or a fault is found."""
        while self.kills < kills and not self.found:
            self.rounds += 1
            spared, aimed = self.rounds % SPARED == 1, self.rounds % 2 == 0
            moment = self.draw.choice((BEFORE, MIDDLE, AFTER)) if aimed else "any time"
            disk = KillingDisk(self.draw.randint(1, self.usual_calls) if aimed else 0, moment)
            seconds = None if aimed or spared else self.draw.uniform(0, self.usual_s)
            begin = time.monotonic()
            pid, fd = fork_writer(self.root, self.ledger, self.draw.getrandbits(64), disk)
            ended, calls = follow(self.ledger, pid, fd, seconds)
            if calls:
                self.usual_calls, self.usual_s = calls, time.monotonic() - begin
            self._count(ended, moment)
            self._look(f"round {self.rounds}, killed {moment} (call {disk.at})")

    def _count(self, ended: int, moment: str) -> None:
        if os.WIFSIGNALED(ended) and os.WTERMSIG(ended) == signal.SIGKILL:
            self.kills += 1
            self.moments[moment] += 1
        elif ended:
            self.found.append(f"a writer ended by itself with {ended}")

    def _look(self, when: str) -> None:
        store = self._open()
        before = differences(store, self.ledger, settled=False)
        report = store.check(read_data=self.rounds % 10 == 0, repair=True)
        self.repaired.update(problem.kind for problem in report.problems)
        left = [str(problem) for problem in store.check().problems]
        damaged = [str(problem) for problem in report.problems if problem.kind == "damaged" or not problem.repaired]
        fresh = self._open()
        lost = differences(fresh, self.ledger, settled=True)
        self.found += [f"{when}: {line}" for line in (*before, *damaged, *left, *lost)]
        if not self.found:
            self.ledger.settle(fresh)
        shutil.rmtree(self.root / "scratch", ignore_errors=True)

    def _open(self) -> Store:
        # Only writers die here and the machine does not, so the check need not sync the disk.
        return Store(self.root / "data", MACHINE, disk=SyncingNothing())

    def summary(self) -> dict[str, object]:
        """Return everything that a test asserts."""
        return {
            "kills": self.kills,
            "rounds": self.rounds,
            "moments": dict(self.moments),
            "acknowledged": self.ledger.acknowledged,
            "benchmarks": len(self.ledger.numbers),
            "repaired": dict(self.repaired),
            "found": self.found,
        }


def main() -> None:
    """Run one campaign."""
    root, kills, seed = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    campaign = Campaign(root, seed)
    campaign.run(kills)
    print(json.dumps(campaign.summary()))


if __name__ == "__main__":
    main()
