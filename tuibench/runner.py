"""The runner's process: reads a specification, carries it out, writes the journal; workers import this file too."""

from __future__ import annotations


def main(argv: list[str]) -> int:
    """Carry out the run in the directory that is given; 0 when its journal is complete."""
    import faulthandler
    import json
    import os
    import shutil
    import signal
    from pathlib import Path

    from tuibench.measure import isolation
    from tuibench.runs.stopping import StopSwitch

    run_dir, parent = Path(argv[0]), int(argv[1])
    faulthandler.enable()
    request = json.loads((run_dir / "spec.json").read_text(encoding="ascii"))
    stop = StopSwitch(lifeline=0)
    stop.listen()
    isolation.die_with_parent(parent, signal.SIGTERM)
    try:
        return _carry_out(run_dir, request, stop)
    finally:
        if request.get("ephemeral") and os.getppid() != parent:
            # The shell that would remove it has gone.
            shutil.rmtree(run_dir, ignore_errors=True)


def _carry_out(run_dir: object, request: dict[str, object], stop: object) -> int:
    import hashlib
    import json
    import os
    import sys
    import time
    from pathlib import Path
    from typing import Any, cast

    from tuibench.core.record import from_plain
    from tuibench.core.spec import BenchmarkSpec
    from tuibench.host.cgroup import find_groups, read_memory
    from tuibench.host.facts import read_facts, this_process
    from tuibench.host.tree import Tree
    from tuibench.runs.journal import Journal
    from tuibench.runs.machine import Machine, sleep
    from tuibench.runs.run import Run, Setup
    from tuibench.runs.stopping import StopSwitch

    directory, switch = cast(Path, run_dir), cast(StopSwitch, stop)
    spec: Any = request["spec"]
    for name in ("logs", "inputs", "samples", "work"):
        (directory / name).mkdir(mode=0o700, exist_ok=True)
    journal = Journal(directory)
    process = this_process()
    facts = read_facts(process)
    tree = Tree(Path("/"))
    journal.append(
        "run_start",
        run=request["id"],
        spec=spec,
        spec_sha256=hashlib.sha256(json.dumps(spec, sort_keys=True).encode()).hexdigest(),
        host=facts["env"],
        boot_id=(tree.read("proc/sys/kernel/random/boot_id") or "").strip() or None,
        pid=os.getpid(),
        pid_start=(tree.read(f"proc/{os.getpid()}/stat") or "").rpartition(")")[2].split()[19:20],
        versions=dict(process.versions),
        started_utc=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        argv=sys.argv[:1],
    )
    setup = Setup(
        run_dir=directory,
        journal=journal,
        machine=Machine(sleep),
        stop=switch,
        memory_room_bytes=read_memory(tree, find_groups(tree)).room_bytes,
        seed=int(cast(int, request["seed"])),
        plan_only=bool(request.get("plan_only")),
    )
    Run(from_plain(BenchmarkSpec, spec), setup).carry_out()
    journal.close()
    return 0


if __name__ == "__main__":
    import sys

    sys.exit(main(sys.argv[1:]))
