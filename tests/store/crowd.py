"""Several writer processes on one store at once, one of them possibly killed.

python -m tests.store.crowd DIRECTORY WRITERS ADDS [KILLED AT CALL]

Writer w adds the benchmarks numbered w · 1000 + 1 … and edits a field of its own in the first one, which all share.
The last line of the output is JSON: every acknowledged id, and the seconds of the slowest acknowledged addition.
"""

from __future__ import annotations

import json
import os
import select
import sys
import time
import traceback
from pathlib import Path

from tests.store.data import make_id, make_small
from tests.store.disks.killing import MIDDLE, KillingDisk
from tuibench.core.stored import Metadata
from tuibench.store.store import Store

MACHINE = "machine with a crowd"
SHARED = 900_000
"""The number of a benchmark that everybody edits."""
PER_WRITER = 1000


def write(root: Path, writer: int, adds: int, kill_at: int, start: int, answer: int) -> None:
    """Run one writer: wait for the start, then add, edit and report each operation."""
    store = Store(root, MACHINE, disk=KillingDisk(kill_at, MIDDLE))
    os.read(start, 1)
    for count in range(1, adds + 1):
        result = make_small(writer * PER_WRITER + count)
        begin = time.perf_counter()
        store.benchmarks.add(result, Metadata(name=f"writer {writer}"))
        seconds = time.perf_counter() - begin
        os.write(answer, (json.dumps(["added", result.id, seconds]) + "\n").encode())
        if count % 10 == 0 and writer < 2:
            field = ("name", "note")[writer]
            store.benchmarks.edit(make_id(SHARED), **{field: f"{field} {count}"})
            os.write(answer, (json.dumps(["edited", field, count]) + "\n").encode())


def fork(root: Path, writer: int, adds: int, kill_at: int, start: int) -> tuple[int, int]:
    """Fork a writer; return (pid, descriptor of its answers)."""
    reader, answer = os.pipe()
    pid = os.fork()
    if pid:
        os.close(answer)
        return pid, reader
    code = 1
    try:
        write(root, writer, adds, kill_at, start, answer)
        code = 0
    except BaseException:
        # A forked child must never return into its parent's code; its exception is printed for people.
        traceback.print_exc()
    finally:
        os._exit(code)


def gather(readers: list[int]) -> list[tuple[str, str, float]]:
    """Return every line of every writer, until all end."""
    lines: list[tuple[str, str, float]] = []
    rest = dict.fromkeys(readers, b"")
    while rest:
        for fd in select.select(list(rest), [], [])[0]:
            chunk = os.read(fd, 65536)
            *whole, rest[fd] = (rest[fd] + chunk).split(b"\n")
            lines += [tuple(json.loads(line)) for line in whole]
            if not chunk:
                del rest[fd]
    return lines


def main() -> None:
    """Start all writers at once."""
    root, writers, adds = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    kill_at = int(sys.argv[4]) if len(sys.argv) > 4 else 0
    start, go = os.pipe()
    children = [fork(root, w, adds, kill_at if w == writers - 1 else 0, start) for w in range(writers)]
    begin = time.perf_counter()
    os.write(go, b"." * writers)
    lines = gather([reader for _, reader in children])
    seconds = time.perf_counter() - begin
    ended = [os.waitpid(pid, 0)[1] for pid, _ in children]
    print(
        json.dumps(
            {
                "ended": ended,
                "added": [what for word, what, _ in lines if word == "added"],
                "edited": [[what, count] for word, what, count in lines if word == "edited"],
                "slowest_s": max(s for word, _, s in lines if word == "added"),
                "seconds": seconds,
            }
        )
    )


if __name__ == "__main__":
    main()
