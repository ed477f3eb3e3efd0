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
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from textual.pilot import Pilot

FOLDER = Path(__file__).resolve().parent.parent / "screenshots"
SIZE = (100, 28)
PATIENCE_S = 240.0
REST_S = 1.0


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
    """Measure with the shell command."""
    command = [sys.executable, "-m", "tuibench", *arguments, "-q"]
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)


async def take_all() -> None:
    """Take the pictures of a list, of profiles and of a run in progress."""
    from tuibench.services.api import Services
    from tuibench.services.state_file import StateFile
    from tuibench.tui.app import Dashboard
    from tuibench.tui.config import Config
    from tuibench.tui.start import STATE
    from tuibench.tui.terminal import Display

    services = Services()
    app = Dashboard(services, Display(), Config(), StateFile(Path(services.settings.places.state) / STATE))
    async with app.run_test(size=SIZE) as pilot:
        photographer = Photographer(pilot)
        await photographer.go_through_benchmarks()
        await photographer.go_through_profiles()
        await photographer.go_through_a_run()


class Photographer:
    """Presses keys, waits for what they lead to, and draws it."""

    def __init__(self, pilot: Pilot[int]) -> None:
        self._pilot = pilot
        self._app = pilot.app

    async def go_through_benchmarks(self) -> None:
        """Take the pictures of a project, its results and their comparison."""
        await self._until("Projects (1)")
        await self._press("enter", until="Benchmarks (3)")
        await self._until("ms/batch b1")
        self._take("list")
        await self._press("c", until="no verdict")
        self._take("comparison")
        await self._press("escape", "enter", until="[1 Base]")
        await self._press("2", until="[2 Cores]")
        self._take("scaling")

    async def go_through_profiles(self) -> None:
        """Both kinds."""
        await self._press("escape", "2", until="Performance profiles (1)")
        await self._press("enter", until="Baseline ms by operator")
        self._take("profile")
        await self._press("escape", "3", until="Loss profiles (1)")
        await self._press("enter", until="Sensitivity by operator")
        self._take("loss")

    async def go_through_a_run(self) -> None:
        """From its form to its middle."""
        await self._press("escape", "1", until="Benchmarks (3)")
        await self._press("R", until="same as  tuibench")
        self._take("form")
        await self._press("ctrl+r", until="2 execs")
        await self._until("▶")
        self._take("run")
        await self._press("X", "y", until="cancelled")

    async def _press(self, *keys: str, until: str) -> None:
        await self._pilot.press(*keys)
        await asyncio.sleep(REST_S)
        await self._until(until)

    async def _until(self, words: str) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while words not in self._seen():
            if time.monotonic() > deadline:
                raise SystemExit(f"never seen: {words}\n{self._seen()}")
            await asyncio.sleep(0.1)
            await self._pilot.pause()

    def _seen(self) -> str:
        rows = self._app.screen._compositor.render_strips()
        return "\n".join("".join(segment.text for segment in row) for row in rows)

    def _take(self, name: str) -> None:
        drawing = self._app.export_screenshot(title="tuibench")
        # Without the fonts that the picture would fetch from elsewhere: every viewer has a monospaced one.
        text = re.sub(r"@font-face \{.*?\}\s*", "", drawing, flags=re.DOTALL)
        (FOLDER / f"{name}.svg").write_text(text, encoding="utf-8")
        print(f"screenshots/{name}.svg")


if __name__ == "__main__":
    main()
