"""CPU time of everything that is not the worker, while the worker measures.

python -m tests.benchmarks.parent
"""

from __future__ import annotations

import os
import pty
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.benchmarks.calibration import figure
from tuibench.runs.journal import Follower


def cpu_ns(pid: int) -> int:
    """Time on a CPU of every thread of a process."""
    total = 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        total += int((task / "schedstat").read_text().split()[0])
    return total


def main() -> None:
    """Shell with its progress line on a terminal, and runner, from the first timed part to the end of the last."""
    with tempfile.TemporaryDirectory() as scratch:
        master, slave = pty.openpty()
        process = subprocess.Popen(
            [sys.executable, "-m", "tuibench", "benchmark", "sample", "-s", "sync", "--executions", "8", "-t", "8"],
            env={**os.environ, "TMPDIR": scratch, "TERM": "xterm"},
            stdout=subprocess.DEVNULL,
            stderr=slave,
        )
        os.close(slave)
        os.set_blocking(master, False)
        painted = 0
        marks: list[tuple[float, int]] = []
        follower: Follower | None = None
        runner = 0
        while process.poll() is None:
            try:
                painted += len(os.read(master, 1 << 16))
            except (BlockingIOError, OSError):
                painted += 0
            found = list(Path(scratch).glob("tuibench-*"))
            if follower is None and found:
                follower = Follower(found[0])
            for event in follower.read() if follower else []:
                if event["ev"] == "run_start":
                    runner = event["pid"]
                if event["ev"] == "execution_done" or (event["ev"] == "progress" and event.get("phase") == "timed"):
                    marks.append((time.monotonic(), cpu_ns(process.pid) + cpu_ns(runner)))
            time.sleep(0.02)
        os.close(master)
    wall_s = marks[-1][0] - marks[0][0]
    share = (marks[-1][1] - marks[0][1]) / 1e9 / wall_s
    print(figure("parent, runner and progress line", share * 100, "% of a core", 1))
    print(figure("over", wall_s, "s"))
    print(figure("terminal bytes", painted / wall_s, "per second"))


if __name__ == "__main__":
    main()
