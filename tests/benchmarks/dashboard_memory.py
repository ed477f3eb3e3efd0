"""Memory of a dashboard in which results are opened and closed one after the other.

python -m tests.benchmarks.dashboard_memory
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from tests.benchmarks.calibration import figure
from tests.benchmarks.dashboard import measure
from tests.tui.crowded import OPENINGS, fill_home

AT_MOST_MB = 90


def main() -> None:
    """In a process of its own, over as many results as are opened."""
    with tempfile.TemporaryDirectory() as scratch:
        home = Path(scratch)
        fill_home(home, OPENINGS)
        for openings, megabytes in measure("memory", home).items():
            print(figure(f"memory after {openings} results", megabytes, "MB", AT_MOST_MB))


if __name__ == "__main__":
    main()
