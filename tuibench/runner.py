"""The runner's process: reads a specification, carries it out, writes the journal; workers import this file too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from tuibench.runs.journal import Journal
    from tuibench.runs.stopping import StopSwitch


def main(argv: list[str]) -> int:
    """Carry out the run in the directory that is given; 0 when its journal is complete."""
    import faulthandler
    import json
    import os
    import shutil
    import signal
    from pathlib import Path

    from tuibench.measure.isolation import die_with_parent
    from tuibench.runs.journal import Journal
    from tuibench.runs.stopping import StopSwitch

    run_dir, parent = Path(argv[0]), int(argv[1])
    faulthandler.enable()
    stop = StopSwitch(lifeline=0)
    stop.listen()
    die_with_parent(parent, signal.SIGTERM)
    request = json.loads((run_dir / "spec.json").read_text(encoding="ascii"))
    for name in ("logs", "inputs", "samples", "work"):
        (run_dir / name).mkdir(mode=0o700, exist_ok=True)
    try:
        journal = Journal(run_dir)
        introduce(journal, request)
        carry_out(run_dir, journal, request, stop)
        journal.close()
    finally:
        if request["ephemeral"] and os.getppid() != parent:
            # The shell that would remove it has gone.
            shutil.rmtree(run_dir, ignore_errors=True)
    return 0


def introduce(journal: Journal, request: dict[str, Any]) -> None:
    """Write the first event: what was asked, of which machine, by which versions."""
    import hashlib
    import json
    import os
    import time
    from pathlib import Path

    from tuibench.host.facts import read_facts, this_process

    process = this_process()
    env = read_facts(process)["env"]
    stat = Path("/proc/self/stat").read_text(encoding="utf-8", errors="replace")
    spec = request["spec"]
    journal.append(
        "run_start",
        run=request["id"],
        spec=spec,
        spec_sha256=hashlib.sha256(json.dumps(spec, sort_keys=True).encode()).hexdigest(),
        host=env,
        boot_id=env["kernel"]["boot_id"],
        pid=os.getpid(),
        pid_start=int(stat.rpartition(")")[2].split()[19]),
        versions=dict(process.versions),
        started_utc=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    )


def carry_out(run_dir: Path, journal: Journal, request: dict[str, Any], stop: StopSwitch) -> None:
    """Compose a run of real workers on this machine."""
    from pathlib import Path

    from tuibench.core.record import from_plain
    from tuibench.core.spec import BenchmarkSpec
    from tuibench.host.cgroup import find_groups, read_memory
    from tuibench.host.tree import Tree
    from tuibench.runs.machine import Machine
    from tuibench.runs.run import Run, Setup

    tree = Tree(Path("/"))
    setup = Setup(
        run_dir=run_dir,
        journal=journal,
        machine=Machine(stop.pause),
        stop=stop,
        memory_room_bytes=read_memory(tree, find_groups(tree)).room_bytes,
        seed=request["seed"],
        plan_only=request["plan_only"],
    )
    Run(from_plain(BenchmarkSpec, request["spec"]), setup).carry_out()


if __name__ == "__main__":
    import sys

    sys.exit(main(sys.argv[1:]))
