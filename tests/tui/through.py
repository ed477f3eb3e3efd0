"""Opens every screen in its own process, starts a run, and prints the imported modules.

python -m tests.tui.through MODEL: one line of JSON with the names of the visited screens and of all imported modules.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

from tests.cli.shell import until
from tests.tui.pilot import look, open_app, press, settle
from tests.tui.tour import visit_all
from tuibench.services.api import Services
from tuibench.services.form_values import FormValues
from tuibench.tui import route

BRIEF = FormValues(
    model="sample:tiny", engines=("fake",), scenarios="sync", cores="1", effort="fixed", time_s="0.1",
    warmup_s="0.05", flags="--executions 2",
)  # fmt: skip


async def go_through(model: str) -> dict[str, Any]:
    """Open every screen, follow a run from start to end, and open its result."""
    from tests.tui.sample_data import rich_project

    services = Services()
    project, ids = rich_project(services)
    seen = []

    async def visit(name: str) -> None:
        seen.append(name)

    async with open_app(services=Services(hidden=True)) as (app, pilot):
        await visit_all(app, pilot, project, ids, model, visit)
        run, _ = app.services.forms.start(BRIEF)
        app.go(route.run(run))
        await look(app, pilot)
        await visit("run")
        await press(pilot, "L")
        await visit("run, log")
        await press(pilot, "escape")
        until(lambda: any(row.id == run for row in services.library.list()), "the result")
        await look(app, pilot)
        app.go(route.detail(run))
        await settle(pilot)
        await visit("detail of the run")
    return {"seen": seen, "modules": sorted(sys.modules)}


if __name__ == "__main__":
    told = asyncio.run(go_through(sys.argv[1]))
    assert sys.__stdout__ is not None
    sys.__stdout__.write(json.dumps(told) + "\n")
