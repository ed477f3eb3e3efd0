"""CPU time until `tuibench --version` and `--help` have answered, beside a bare interpreter in the same run.

python -m tests.benchmarks.startup
"""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys

from tests.benchmarks.calibration import figure

ROUNDS = 15
AT_MOST_MS = 60


def cpu_ms(*arguments: str) -> float:
    """User and system time of one process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1000 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def main() -> None:
    """The least of several, taken in turn."""
    commands = {
        "bare interpreter": ("-c", "pass"),
        "tuibench --version": ("-m", "tuibench", "--version"),
        "tuibench --help": ("-m", "tuibench", "--help"),
        "tuibench benchmark --help": ("-m", "tuibench", "benchmark", "--help"),
    }
    rounds = [{name: cpu_ms(*arguments) for name, arguments in commands.items()} for _ in range(ROUNDS)]
    for name in commands:
        limit = None if name == "bare interpreter" else AT_MOST_MS
        print(figure(f"{name}, CPU", statistics.median(r[name] for r in rounds), "ms", limit))


if __name__ == "__main__":
    main()
