"""Drive the real dashboard over real measurements of the sample, and draw what is seen, for README and docs.

python tools/shoot_dashboard.py, on a machine where nothing else runs: it measures for about four minutes.
"""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / "screenshots"
SIZE = (100, 28)
PATIENCE_S = 240.0


def main() -> None:
    """Measure in a home of its own, then take the pictures."""
    os.environ["TEXTUAL_THEME"] = "textual-dark"
    os.environ["TEXTUAL_ANIMATIONS"] = "none"
    with tempfile.TemporaryDirectory() as home:
        os.environ["TUIBENCH_HOME"] = home
        sync = ("benchmark", "sample", "-s", "sync")
        measure(*sync, "-ncores", "pow2", "-b", "1,4,16", "--quick", "--name", "before the update")
        measure(*sync, "-e", "onnxruntime,openvino", "--name", "both engines")
        measure("rerun", "last~1")
        measure("profile", "sample", "--what-if", "int8")
        measure("profile", "sample", "--loss")
        asyncio.run(take_all())


def measure(*arguments: str) -> None:
    """As a user does in the shell."""
    command = [sys.executable, "-m", "tuibench", *arguments, "-q"]
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)


async def take_all() -> None:
    """From the list to a run that goes on."""
    from tuibench.tui.app import Dashboard
    from tuibench.tui.bridge import Bridge
    from tuibench.tui.config import Config
    from tuibench.tui.start import STATE
    from tuibench.tui.state import StateFile
    from tuibench.tui.terminal import Display
    from tuibench.workbench.hall import Workbench

    bench = Workbench()
    app = Dashboard(Bridge(bench), Display(), Config(), StateFile(Path(bench.settings.places.state) / STATE))

    def seen() -> str:
        rows = app.screen._compositor.render_strips()
        return "\n".join("".join(segment.text for segment in row) for row in rows)

    async with app.run_test(size=SIZE) as pilot:

        async def until(words: str | Callable[[], bool]) -> None:
            deadline = time.monotonic() + PATIENCE_S
            while not (words in seen() if isinstance(words, str) else words()):
                if time.monotonic() > deadline:
                    raise SystemExit(f"never seen: {words}\n{seen()}")
                await asyncio.sleep(0.1)
                await pilot.pause()

        async def press(*keys: str) -> None:
            await pilot.press(*keys)
            await asyncio.sleep(1.0)
            await pilot.pause()

        def take(name: str) -> None:
            drawing = app.export_screenshot(title="tuibench")
            # Without the fonts that the picture would fetch from elsewhere: every viewer has a monospaced one.
            text = re.sub(r"@font-face \{.*?\}\s*", "", drawing, flags=re.DOTALL)
            (FOLDER / f"{name}.svg").write_text(text, encoding="utf-8")
            print(f"screenshots/{name}.svg")

        await until("Projects (1)")
        await press("enter")
        await until("Benchmarks (3)")
        await until("ms/batch b1")
        take("list")
        await press("c")
        await until("no verdict")
        take("comparison")
        await press("escape", "enter")
        await until("[1 Base]")
        await press("2")
        await until("[2 Cores]")
        take("scaling")
        await press("escape", "2")
        await until("Performance profiles (1)")
        await press("enter")
        await until("Baseline ms by operator")
        take("profile")
        await press("escape", "3")
        await until("Loss profiles (1)")
        await press("enter")
        await until("Sensitivity by operator")
        take("loss")
        await press("escape", "1")
        await until("Benchmarks (3)")
        await press("R")
        await until("same as  tuibench")
        take("form")
        await press("ctrl+r")
        await until(lambda: "▶" in seen() and "2 runs" in seen())
        take("run")
        await press("X", "y")
        await until("cancelled")


if __name__ == "__main__":
    main()
