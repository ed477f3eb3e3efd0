"""Runs the shell command as a user does and watches its run directory; shared by the scripts that time whole runs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tuibench.runs.journal import Follower


@dataclass(frozen=True, slots=True)
class Drive:
    """One command from start to end."""

    wall_s: float
    exit_code: int
    events: tuple[dict[str, Any], ...]
    exported: dict[str, Any]
    begin_ns: int
    """On the clock of the events."""


Watch = Callable[[dict[str, Any], Path, int], None]


def drive(arguments: list[str], watch: Watch = lambda event, run_dir, pid: None) -> Drive:
    """Run `tuibench benchmark ARGUMENTS`, read its journal as it grows, and return everything."""
    with tempfile.TemporaryDirectory() as scratch:
        target = Path(scratch) / "result.json"
        environment = {**os.environ, "TMPDIR": scratch}
        begin_ns, begin = time.monotonic_ns(), time.monotonic()
        process = subprocess.Popen(
            [sys.executable, "-m", "tuibench", "benchmark", *arguments, "-x", str(target)],
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        events: list[dict[str, Any]] = []
        follower: Follower | None = None
        run_dir = Path(scratch)
        while process.poll() is None:
            if follower is None:
                found = list(Path(scratch).glob("tuibench-*"))
                if found:
                    run_dir, follower = found[0], Follower(found[0])
            if follower is not None:
                fresh = follower.read()
                events += fresh
                for event in fresh:
                    watch(event, run_dir, process.pid)
            time.sleep(0.05)
        wall_s = time.monotonic() - begin
        exported = json.loads(target.read_text()) if target.exists() else {}
        return Drive(wall_s, process.returncode, tuple(events), exported, begin_ns)
