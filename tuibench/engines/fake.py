"""Scripted engine for tests and screenshots: latencies, refusals, hangs and crashes on demand.

TUIBENCH_FAKE is the script as JSON or a path to it. The script maps cell patterns such as "default", "cores=2" or
"cores=1,batch=4" (the last matching pattern wins over "default") to
`{"latency_us": 500 | [500, 510, …], "load": ACT, "first": ACT, "timed": ACT, "after": N, "outputs": "none"|"wrong",
"bound"|"engine-allocated"|"call": {… for that I/O class alone}, "layers": {operator or node: microseconds}}`
ACT is one of ok, raise, refuse, exit, segv, kill, fpe, hang, oom, stderr, litter, print and deaf-hang.
"""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from tuibench.core.model import Port
from tuibench.core.reason import error_text
from tuibench.engines.protocol import Bound, Capabilities, EngineRefusal, Feed, LoadSettings, Queue, ReadBack

VARIABLE = "TUIBENCH_FAKE"
_MEGABYTE = 1 << 20

CAPABILITIES = Capabilities(
    name="fake",
    precisions=("f32", "bf16"),
    stream_kinds=("threads", "processes"),
    io_classes=("bound", "engine-allocated", "call"),
)


def make() -> FakeEngine:
    """Return the engine with the script from the environment."""
    return FakeEngine(read_script(os.environ.get(VARIABLE, "{}")))


def read_script(text: str) -> dict[str, Any]:
    """Return the script in `text`, or in the file that `text` names."""
    source = text if text.lstrip().startswith("{") else Path(text).read_text(encoding="utf-8")
    script = json.loads(source)
    if not isinstance(script, dict):
        raise TypeError("the script of the fake engine must be an object")
    return script


def choose(script: Mapping[str, Any], facts: Mapping[str, object]) -> dict[str, Any]:
    """Return the steps for a cell: "default" overlaid with each matching pattern."""
    steps = dict(script.get("default", {}))
    for pattern, extra in script.items():
        if pattern == "default":
            continue
        wanted = dict(part.split("=", 1) for part in pattern.split(","))
        if all(str(facts.get(k)) == v for k, v in wanted.items()):
            steps.update(extra)
    return steps


def perform(act: str) -> None:
    """Perform one act of the script; most acts do not return."""
    if act == "ok":
        return
    if act == "raise":
        raise RuntimeError("scripted failure: raise")
    if act == "refuse":
        raise EngineRefusal.from_reason(error_text("scripted failure: refuse"))
    if act == "exit":
        os._exit(0)
    if act == "litter":
        Path("litter").write_text("left behind\n")
        return
    if act == "print":
        for descriptor in (1, 2):
            os.write(descriptor, b"\x00 a library talks\n")
        return
    if act == "oom":
        raise MemoryError("scripted failure: oom")
    if act == "stderr":
        os.write(2, b"noise " * (_MEGABYTE // 6) + b"\nthe last line of noise\n")
        os._exit(7)
    deadly = {"segv": signal.SIGSEGV, "kill": signal.SIGKILL, "fpe": signal.SIGFPE}
    if act in deadly:
        os.write(2, b"about to die\n")
        os.kill(os.getpid(), deadly[act])
    if act == "deaf-hang":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if act in ("hang", "deaf-hang"):
        while True:
            time.sleep(3600)
    raise ValueError(f"unknown act {act!r} in the script of the fake engine")


class FakeEngine:
    """Engine that loads nothing and takes exactly the scripted time."""

    capabilities = CAPABILITIES

    def __init__(self, script: Mapping[str, Any]) -> None:
        self._script = script

    def environment(self, setting: LoadSettings) -> dict[str, str]:
        """Return no variables."""
        return {}

    def start(self) -> str:
        """Return a version; there is nothing to import."""
        return "1.0"

    def load(self, setting: LoadSettings) -> FakeSession:
        """Perform the script's `load`."""
        steps = self._steps(setting)
        perform(steps.get("load", "ok"))
        return FakeSession(steps, setting)

    def layers_us(self, setting: LoadSettings) -> dict[str, float]:
        """Return the layer times of the script."""
        return {str(name): float(us) for name, us in self._steps(setting).get("layers", {}).items()}

    def _steps(self, setting: LoadSettings) -> dict[str, Any]:
        facts = {
            "cores": len(setting.cpus),
            "one_at_a_time": setting.one_at_a_time,
            "streams": setting.streams,
            "model": Path(setting.model_path).stem,
            **setting.options,
        }
        return choose(self._script, facts)


class FakeSession:
    """Session that spins for the scripted time; spinning is exact to a microsecond, sleeping is not."""

    def __init__(self, steps: Mapping[str, Any], setting: LoadSettings) -> None:
        self._steps = steps
        self._setting = setting
        latency = steps.get("latency_us", 500)
        self._latencies_ns = [int(v * 1000) for v in (latency if isinstance(latency, list) else [latency])]
        self._calls = 0
        self._current = dict(steps)
        self._closed = False

    def inputs(self) -> tuple[Port, ...]:
        """Return no ports, so that any feed fits."""
        return ()

    def outputs(self) -> tuple[Port, ...]:
        """Return no ports; nothing is computed."""
        return ()

    def bind(self, feeds: Sequence[Feed], io: str) -> Bound:
        """Bind the feeds; all I/O classes are alike unless the script has steps for `io`."""
        if self._closed:
            raise RuntimeError("the fake session is closed")
        self._calls = 0
        self._current = {**self._steps, **self._steps.get(io, {})}
        calls: tuple[Callable[[], object], ...] = tuple(partial(self._call, feed) for feed in feeds)
        return Bound(io, calls, self._outputs)

    def queue(self, feeds: Sequence[Feed], io: str) -> Queue:
        """Refuse: the engine has no queue."""
        raise EngineRefusal("engine_without_queue", engine="fake")

    def read_back(self) -> ReadBack:
        """Return the requested values, unless the script overrides them."""
        return ReadBack(
            precision=self._steps.get("precision", self._setting.precision),
            threads=int(self._steps.get("threads", self._setting.threads)),
            streams=self._setting.streams,
            pinned=self._setting.pin,
            details={},
        )

    def close(self) -> None:
        """Close the session; as with real engines, it cannot bind any more."""
        self._closed = True

    def _outputs(self, sample: int) -> dict[str, Any]:
        return {"wrong": [float(sample)]} if self._steps.get("outputs") == "wrong" else {}

    def _call(self, _: Feed) -> None:
        begin = time.perf_counter_ns()
        count = self._calls
        self._calls = count + 1
        if count == 0:
            perform(self._current.get("first", "ok"))
        elif count >= int(self._current.get("after", 1)):
            perform(self._current.get("timed", "ok"))
        end = begin + self._latencies_ns[count % len(self._latencies_ns)]
        while time.perf_counter_ns() < end:
            pass
