"""The default command on the sample: when its first number stands, and when it ends.

python -m tests.benchmarks.default
"""

from __future__ import annotations

from tests.benchmarks.calibration import figure
from tests.benchmarks.drive import drive


def main() -> None:
    """From the first load to the first number, and the whole."""
    run = drive(["sample"])
    loads = [e for e in run.events if e["ev"] == "progress" and e.get("phase") == "load"]
    numbers = [e for e in run.events if e["ev"] == "progress" and e.get("p50_ms") is not None]
    print(figure("first number after load began", (numbers[0]["t_ns"] - loads[0]["t_ns"]) / 1e9, "s", 3))
    print(figure("first number after the command began", (numbers[0]["t_ns"] - run.begin_ns) / 1e9, "s"))
    print(figure("the whole command", run.wall_s, "s", 30))
    for cell in run.exported["tuibench"]["cells"]:
        print(f"  {cell['asked']['scenario']}: grade {cell['grade']['letter']}, {cell['stopped_by']}")


if __name__ == "__main__":
    main()
