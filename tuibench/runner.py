"""The runner's process: reads a specification, carries it out, writes the journal; workers import this file too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from tuibench.runs.journal import Journal
    from tuibench.runs.stopping import StopSwitch

_LIFELINE = 0
"""stdin: one line that describes the run, then silence until the client has done or died."""


def main(argv: list[str]) -> int:
    """Carry out the run that stdin describes, in the directory that is given; it goes away with the client."""
    import faulthandler
    import os
    import shutil
    from pathlib import Path

    from tuibench.core.errors import ExitCode
    from tuibench.runs.stopping import StopSwitch

    run_dir, parent = Path(argv[0]), int(argv[1])
    # Kept from the workers, whom nobody may wait for: it closes when the journal is complete or this process dies.
    done = os.dup(1)
    os.dup2(2, 1)
    faulthandler.enable()
    stop = StopSwitch(lifeline=_LIFELINE)
    stop.listen()
    request = read_request()
    if request is None:
        return 0
    try:
        run_dir.mkdir(mode=0o700)
    except OSError as error:
        os.write(2, f"{error.strerror or error}\n".encode())
        return int(ExitCode.STORE)
    try:
        work(run_dir, request, stop)
        os.close(done)
        wait_for_the_client()
    except BaseException:  # a client that lives reads of it in the log and removes the directory; else we do
        if os.getppid() == parent:
            raise
    shutil.rmtree(run_dir, ignore_errors=True)
    return 0


def read_request() -> dict[str, Any] | None:
    """The one line on stdin; None where the client went away before it was whole."""
    import json

    with open(_LIFELINE, "rb", closefd=False) as stream:
        line = stream.readline()
    return dict(json.loads(line)) if line.endswith(b"\n") else None


def work(run_dir: Path, request: dict[str, Any], stop: StopSwitch) -> None:
    """Make the run's places and carry it out; its journal is complete afterwards."""
    from tuibench.runs.journal import Journal

    for name in ("logs", "inputs", "samples", "work"):
        (run_dir / name).mkdir(mode=0o700)
    journal = Journal(run_dir)
    introduce(journal, request)
    carry_out(run_dir, journal, request, stop)
    journal.close()


def wait_for_the_client() -> None:
    """Come back when the client has read all it wants, or has died: then nobody needs the directory any more."""
    import os

    while os.read(_LIFELINE, 1):
        continue


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
        versions={name: version for name, version in process.versions.items() if version},
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
        memory_room=lambda: read_memory(tree, find_groups(tree)).room_bytes,
        seed=request["seed"],
        plan_only=request["plan_only"],
    )
    Run(from_plain(BenchmarkSpec, request["spec"]), setup).carry_out()


if __name__ == "__main__":
    import sys

    sys.exit(main(sys.argv[1:]))
