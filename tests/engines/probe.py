"""Runs one engine in a fresh interpreter and prints its observations as JSON."""

from __future__ import annotations

import gc
import importlib
import json
import os
import sys
from array import array
from pathlib import Path
from typing import Any

from tuibench.engines.protocol import LoadSettings


def setting(model_path: str, **changes: Any) -> LoadSettings:
    """Return a plain setting on the CPUs of this process."""
    plain: dict[str, Any] = {
        "threads": 1,
        "streams": 1,
        "cpus": tuple(sorted(os.sched_getaffinity(0))),
        "pin": "core",
        "precision": "f32",
        "one_at_a_time": True,
        "work_dir": str(Path(model_path).parent),
    }
    return LoadSettings(model_path=model_path, **{**plain, **changes})


def list_modules(engine: str) -> list[str]:
    """Return the modules that reading the capabilities imports."""
    from tuibench.engines import factory

    before = set(sys.modules)
    factory.capabilities(engine)
    return sorted({name.split(".")[0] for name in set(sys.modules) - before} | set(sys.modules) & {"numpy"})


def list_cpus(engine: str, model: str, count: str) -> dict[str, Any]:
    """Return the CPUs allowed for each thread after a model ran, in a process confined to the first `count`."""
    cpus = tuple(sorted(os.sched_getaffinity(0))[: int(count)])
    os.sched_setaffinity(0, cpus)
    import numpy as np

    from tuibench.engines import factory

    made = factory.make(engine)
    made.start()
    session = made.load(setting(model, cpus=cpus, threads=len(cpus)))
    bound = session.bind([{"x": np.ones((1, 8), dtype=np.float32)}] * 2, "bound")
    for call in bound.calls:
        call()
    lines = [task.joinpath("status").read_text() for task in Path("/proc/self/task").iterdir()]
    allowed = [text.partition("Cpus_allowed_list:")[2].split()[0] for text in lines]
    return {"cpus": cpus, "allowed": allowed, "threads": session.read_back().threads}


def weigh(engine: str, model: str) -> dict[str, int]:
    """Return resident bytes before loading, with the model loaded, and after closing it."""
    from tuibench.engines import factory

    made = factory.make(engine)
    made.start()
    before = _resident_bytes()
    session = made.load(setting(model))
    loaded = _resident_bytes()
    session.close()
    del session
    gc.collect()
    return {"before": before, "loaded": loaded, "closed": _resident_bytes()}


def churn(engine: str, model: str, times: str) -> int:
    """Make a queue, run it and close everything at once, repeatedly; return the number of completed rounds."""
    import numpy as np

    from tuibench.engines import factory

    made = factory.make(engine)
    made.start()
    feed = {"x": np.ones((1, 8), dtype=np.float32)}
    for _ in range(int(times)):
        session = made.load(setting(model, one_at_a_time=False))
        for io in ("bound", "call"):
            queue = session.queue([feed], io)
            stamps = [memoryview(array("q", [0] * 20)) for _ in range(2)]
            queue.run(1 << 62, *stamps)
            queue.close()
        session.close()
    return int(times)


def watch(engine: str, model: str, guard: str, record: str) -> None:
    """Record in a file and block every access to the network or to another process."""

    def hook(event: str, _: tuple[Any, ...]) -> None:
        network = event.startswith("socket.") and event not in ("socket.__new__", "socket.gethostname")
        if network or event in ("subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "os.system"):
            with Path(record).open("a", encoding="ascii") as file:
                file.write(f"{event}\n")
            raise OSError(f"{event} is not for a test")

    sys.addaudithook(hook)
    if guard == "unguarded":
        importlib.import_module(engine)
        return
    from tuibench.engines import factory

    made = factory.make(engine)
    made.start()
    session = made.load(setting(model))
    session.read_back()
    session.close()


def _resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


if __name__ == "__main__":
    sys.stdout.write(json.dumps(globals()[sys.argv[1]](*sys.argv[2:])) + "\n")
    sys.stdout.flush()
