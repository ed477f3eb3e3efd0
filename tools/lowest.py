"""Print the lower bounds of pyproject.toml as pins, so that the suite can run on the oldest packages it promises."""

from __future__ import annotations

import tomllib
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent / "pyproject.toml"


def lowest_pins(project: Path) -> list[str]:
    """Return 'name==version' for every runtime dependency, extras that are not for development included."""
    declared = tomllib.loads(project.read_text(encoding="utf-8"))["project"]
    extras = declared["optional-dependencies"]
    runtime = declared["dependencies"] + [
        line for name in extras if name not in ("test", "dev") for line in extras[name]
    ]
    return sorted(line.replace(">=", "==") for line in runtime)


if __name__ == "__main__":
    print("\n".join(lowest_pins(PROJECT)))
