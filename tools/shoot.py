"""Run real commands on this machine and draw what they print into screenshots/*.svg, for README and docs.

python tools/shoot.py [NAME …]
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from rich.console import Console
from rich.text import Text

FOLDER = Path(__file__).resolve().parent.parent / "screenshots"
WIDTH = 100
SHOTS = {
    "benchmark": ("benchmark", "sample", "-s", "sync", "-q"),
}


def shoot(name: str) -> Path:
    """Run one command and draw it under its prompt."""
    arguments = SHOTS[name]
    done = subprocess.run([sys.executable, "-m", "tuibench", *arguments], capture_output=True, text=True, check=True)
    with open("/dev/null", "w", encoding="utf-8") as nowhere:
        console = Console(record=True, width=WIDTH, file=nowhere)
        console.print(Text("$ tuibench " + " ".join(arguments), style="bold"))
        console.print(Text(done.stdout.rstrip("\n")))
        drawing = console.export_svg(title="tuibench")
    path = FOLDER / f"{name}.svg"
    # Without the fonts that the picture would fetch from elsewhere: every viewer has a monospaced one.
    path.write_text(re.sub(r"@font-face \{.*?\}\s*", "", drawing, flags=re.DOTALL), encoding="utf-8")
    return path


def main() -> None:
    """All of them, or those that are named."""
    FOLDER.mkdir(exist_ok=True)
    for name in sys.argv[1:] or SHOTS:
        print(shoot(name).relative_to(FOLDER.parent))


if __name__ == "__main__":
    main()
