"""Short-lived tasks on untrusted files: a JSON request on stdin, JSON lines on stdout; a crash ends only this process.

python -m tuibench.child TASK, with a task of the table below.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from tuibench.core.errors import TuibenchError
    from tuibench.core.model import ModelSummary, Point
    from tuibench.engines.protocol import LayerOrder

Send = Callable[[dict[str, Any]], None]


def main(arguments: list[str]) -> int:
    """Run one task; the last line of output is its result or error."""
    send = _own_the_channel()
    # Only the owner may read a task's files.
    os.umask(0o077)
    from tuibench.core.errors import ModelError, TuibenchError  # only now, as its import must not print to the channel

    try:
        if len(arguments) != 1 or arguments[0] not in _TASKS:
            raise TuibenchError("no_such_task", names=list(_TASKS))
        request = json.load(sys.stdin)
        _confine(request, _IMPORTS.get(arguments[0]))
        send({"ok": True, "result": _TASKS[arguments[0]](request, send)})
        return 0
    except TuibenchError as error:
        send(_error_answer(error))
    except MemoryError:
        send(_error_answer(ModelError("model_out_of_memory")))
    except Exception as error:  # process boundary: any error must reach the caller as one line
        import traceback

        traceback.print_exc()
        send(_error_answer(TuibenchError("child_failed", kind=type(error).__name__, text=str(error)[:500])))
    return 1


def inspect(request: dict[str, Any], send: Send) -> Any:  # noqa: ARG001 - every task has this form
    """Task `inspect` {path, cache?, interpreters?}: the summary of a model; `cache` is the directory of the checksum
    cache, `interpreters` maps engines to their own Pythons.
    """
    from functools import partial

    from tuibench.core.record import to_plain
    from tuibench.model.file import Checksums
    from tuibench.model.inspection import inspect as inspect_model
    from tuibench.model.reference_run import read_interface

    checksums = Checksums(request.get("cache"))
    ask = partial(read_interface, interpreters=request.get("interpreters"))
    summary = inspect_model(request["path"], ask, checksums=checksums)
    checksums.save()
    return to_plain(summary)


def prepare(request: dict[str, Any], send: Send) -> Any:
    """Task `prepare` {spec, model, summary?, run_dir, skip_trial, only, reference}: the points of one model.

    Sends {"candidate": point} before each trial, {"tried": point} when it ran and only the reference is left, and
    {"point": point} when a point is finished.
    """
    from pathlib import Path

    from tuibench.core.model import ModelSummary
    from tuibench.core.record import from_plain, to_plain
    from tuibench.core.spec import BenchmarkSpec
    from tuibench.model.inspection import find_graph, find_twin
    from tuibench.model.inspection import inspect as inspect_model
    from tuibench.model.preparation import Order, Preparer
    from tuibench.model.reference_run import make_trial, read_interface

    spec = from_plain(BenchmarkSpec, request["spec"])
    index = int(request["model"])
    path = spec.models[index].path
    known = request.get("summary")
    summary: ModelSummary = from_plain(ModelSummary, known) if known else inspect_model(path, read_interface)
    only = request.get("only")
    order = Order(
        spec=spec,
        model=index,
        run_dir=Path(request["run_dir"]),
        available_bytes=_available_bytes(request.get("memory_bytes")),
        reference=bool(request.get("reference", True)),
        skip_trial=frozenset(request.get("skip_trial") or ()),
        only=frozenset(only) if only is not None else None,
        twin=find_twin(summary),
    )

    def emit(stage: str, point: Point) -> None:
        send({stage: to_plain(point)})

    trial = make_trial(summary, request["run_dir"])
    graph = find_graph(summary) if spec.inputs.file is None else None
    points = Preparer(order, summary, graph, trial.run, emit).carry_out()
    return {"points": to_plain(points)}


def drift(request: dict[str, Any], send: Send) -> Any:  # noqa: ARG001 - every task has this form
    """Task `drift` {base, new, bundle, run_dir, is_generated}: the difference of two models' outputs on a bundle."""
    from tuibench.model.drift import measure_drift
    from tuibench.model.reference_run import ReferenceRun
    from tuibench.worker.bundle import read_bundle

    base, new = (ReferenceRun(str(request[side]), request["run_dir"]) for side in ("base", "new"))
    return measure_drift(
        lambda feed: base.run(feed, True),
        lambda feed: new.run(feed, True),
        read_bundle(request["bundle"]),
        is_generated=bool(request["is_generated"]),
    )


def adapt(request: dict[str, Any], send: Send) -> Any:  # noqa: ARG001 - every task has this form
    """Task `adapt` {path, form, bundle?, target}: a copy of the model at `target`, in the form that an engine takes."""
    from pathlib import Path

    from tuibench.core.engine import ModelForm
    from tuibench.core.record import from_plain
    from tuibench.model.adaptation import write_copy

    form = from_plain(ModelForm, request["form"])
    write_copy(request["path"], form, request.get("bundle"), Path(request["target"]))
    return {"path": request["target"]}


def engines(request: dict[str, Any], send: Send) -> Any:  # noqa: ARG001 - every task has this form
    """Task `engines` {names}: whether each can be imported here, and its version or the reason."""
    return [_describe_engine(str(name)) for name in request["names"]]


def fetch(request: dict[str, Any], send: Send) -> Any:
    """Task `fetch` {address, cache, …}: a remote model, cached; sends {"fetched", "total"} as progress."""
    from tuibench.model.download.task import fetch as fetch_model

    return fetch_model(request, send)


def hash_files(request: dict[str, Any], send: Send) -> Any:  # noqa: ARG001 - every task has this form
    """Task `hash` {paths, cache?}: the current stamp of each file, in order; None for an unreadable one."""
    from tuibench.core.record import to_plain
    from tuibench.model.file import Checksums

    checksums = Checksums(request.get("cache"))
    stamps = [checksums.stamp_or_none(str(path)) for path in request["paths"]]
    checksums.save()
    return to_plain(stamps)


def take_in(request: dict[str, Any], send: Send) -> Any:  # noqa: ARG001 - every task has this form
    """Task `import` {path}: the result in an exported or foreign file."""
    from tuibench.core.record import to_plain
    from tuibench.model.imports.task import read_result

    return to_plain(read_result(request["path"]))


def weights(request: dict[str, Any], send: Send) -> Any:  # noqa: ARG001 - every task has this form
    """Task `weights` {path, levels?}: an approximated loss profile, from the weights of each layer alone."""
    from tuibench.core.profile import LEVELS
    from tuibench.core.record import to_compact
    from tuibench.model.loss.change import approximate

    return to_compact(approximate(request["path"], tuple(request.get("levels") or LEVELS)))


def loss(request: dict[str, Any], send: Send) -> Any:
    """Task `loss` {path, point, levels?, layers?, skip?, samples?, threads?, cpus?, run_dir}: the loss per changed
    layer.

    Sends {"stage": "loading" | "first" | "changing"} as progress, then {"begin": {points, ms_each, classes,
    float32_db}}, then {"loss": {id, point}} for each layer and level.
    """
    from tuibench.model.loss.sweep import request_sweep

    return request_sweep(request, send)


def cost(request: dict[str, Any], send: Send) -> Any:
    """Task `cost` {path, run_dir, spec, point?, static?, loop_s?}: the cost of each node.

    Sends {"running": true} before each run of the model and {"running": false} after it.
    """
    from functools import partial

    from tuibench.core.record import to_compact
    from tuibench.model.cost.count import carry_out
    from tuibench.model.reference_run import TracedRun

    return to_compact(carry_out(request, _available_bytes(request.get("memory_bytes")), partial(TracedRun, tell=send)))


def layers(request: dict[str, Any], send: Send) -> Any:
    """Task `layers` {engine, path, point, cpus, threads, runs, max_s, run_dir, interpreter?}: the time of each layer.

    Sends {"stage": "loading" | "first" | "checking" | "profiling" | "timing", "done", "of"} as progress.
    """
    from dataclasses import replace

    from tuibench.core.record import to_plain
    from tuibench.engines import factory
    from tuibench.host.cpu import read_identity
    from tuibench.host.kernel_files import Tree

    order = _layer_order(request)
    timer = factory.make_timer(str(request["engine"]))
    found = timer.time_layers(order, lambda stage, done, of: send({"stage": stage, "done": done, "of": of}))
    return to_plain(replace(found, isa=tuple(read_identity(Tree())["isa"] or ())))


def _layer_order(request: dict[str, Any]) -> LayerOrder:
    from tuibench.core.model import Point
    from tuibench.core.record import from_plain
    from tuibench.engines.protocol import LayerOrder

    return LayerOrder(
        path=request["path"],
        point=from_plain(Point, request["point"]),
        cpus=tuple(request.get("cpus") or request["for_cpus"]),
        threads=int(request["threads"]),
        runs=int(request["runs"]),
        max_s=float(request["max_s"]),
        work_dir=request["run_dir"],
        interpreter=str(request.get("interpreter") or ""),
    )


def pruned(request: dict[str, Any], send: Send) -> Any:
    """Task `pruned` {engine, path, point, for_cpus, threads, runs, max_s, run_dir, interpreter, zeros}: gain by zeros.

    With `parts` instead of `zeros`, it measures copies in which only some weights have zeros.
    This process is not pinned: the engine's own process compiles on all CPUs and measures on `for_cpus`.
    Sends {"at": {"zeros"}} before each share of zeros and {"pruned": point} after it.
    """
    from tuibench.core.profile import PrunedPoint
    from tuibench.core.record import from_plain, to_plain
    from tuibench.engines import factory
    from tuibench.engines.protocol import PruningTimer
    from tuibench.model.profile.pruning import Part, time_all, time_parts

    timer, order = cast(PruningTimer, factory.make_timer(str(request["engine"]))), _layer_order(request)

    def say(point: PrunedPoint | None, zeros: float) -> None:
        send({"at": {"zeros": zeros}} if point is None else {"pruned": to_plain(point)})

    if "parts" in request:
        time_parts(timer, order, from_plain(tuple[Part, ...], request["parts"]), say)
        return None
    return to_plain(time_all(timer, str(request["engine"]), order, tuple(request["zeros"]), say))


def roofline(request: dict[str, Any], send: Send) -> Any:
    """Task `roofline` {cpus, threads, max_s, run_dir?, zeros_s?}: the peak rates of this machine on these CPUs.

    With `zeros_s`, the answer also has the effect of zeros as `zeros`.
    """
    import tempfile
    from dataclasses import replace

    from tuibench.core.record import to_plain
    from tuibench.host.cpu import read_identity
    from tuibench.host.kernel_files import Tree
    from tuibench.model.profile.roofline import measure_roofline

    room = _available_bytes(request.get("memory_bytes"))
    cpus, threads = tuple(request["cpus"]), int(request["threads"])
    scratch = request.get("run_dir") or tempfile.gettempdir()
    found = measure_roofline(cpus, threads, float(request["max_s"]), room, scratch)
    answer: dict[str, Any] = to_plain(replace(found, cpu=str(read_identity(Tree())["brand"] or "")))
    if request.get("zeros_s"):
        answer["zeros"] = zeros(request | {"max_s": request["zeros_s"]}, send)
    return answer


def zeros(request: dict[str, Any], send: Send) -> Any:  # noqa: ARG001 - every task has this form
    """Task `zeros` {cpus, threads, max_s, run_dir?}: the speed gained from zeros in weights on this machine."""
    import tempfile

    from tuibench.core.record import to_plain
    from tuibench.model.profile.roofline import measure_zeros

    scratch = request.get("run_dir") or tempfile.gettempdir()
    cpus, threads = tuple(request["cpus"]), int(request["threads"])
    return to_plain(measure_zeros(cpus, threads, float(request["max_s"]), scratch))


def what_if(request: dict[str, Any], send: Send) -> Any:
    """Task `what_if` {path, point, cpus, threads, form, rows, run_dir, max_s}: single rows in another form.

    `rows` maps each row's id to its nodes. Sends {"at": {"id"}} before each row, and {"what_if": {"id", and all of a
    WhatIf}} after it.
    """
    from tuibench.core.model import Point
    from tuibench.core.profile import WhatIf
    from tuibench.core.record import from_plain, to_plain
    from tuibench.model.profile.what_if import measure_what_if

    def begin(row: str) -> None:
        send({"at": {"id": row}})

    def say(row: str, found: WhatIf) -> None:
        send({"what_if": {"id": row, **to_plain(found)}})

    measure_what_if(
        request["path"],
        from_plain(Point, request["point"]),
        tuple(request["cpus"]),
        int(request["threads"]),
        {str(row): [str(node) for node in nodes] for row, nodes in request["rows"].items()},
        request["run_dir"],
        float(request["max_s"]),
        begin,
        say,
        str(request.get("form") or "int8"),
    )


def contract(request: dict[str, Any], send: Send) -> Any:  # noqa: ARG001 - every task has this form
    """Task `contract` {engine}: the name of each check of an engine, and why it failed."""
    import tempfile
    from pathlib import Path

    from tuibench.model.engine_contract import check_engine

    with tempfile.TemporaryDirectory() as work_dir:
        os.chdir(work_dir)
        return check_engine(str(request["engine"]), tuple(sorted(os.sched_getaffinity(0))), Path(work_dir))


_TASKS: dict[str, Callable[[dict[str, Any], Send], Any]] = {
    "inspect": inspect,
    "prepare": prepare,
    "adapt": adapt,
    "drift": drift,
    "engines": engines,
    "fetch": fetch,
    "hash": hash_files,
    "import": take_in,
    "cost": cost,
    "weights": weights,
    "loss": loss,
    "layers": layers,
    "pruned": pruned,
    "roofline": roofline,
    "zeros": zeros,
    "what_if": what_if,
    "contract": contract,
}
_IMPORTS = {
    "inspect": "tuibench.model.inspection",
    "prepare": "tuibench.model.preparation",
    "adapt": "tuibench.model.adaptation",
    "drift": "tuibench.model.reference_run",
    "cost": "tuibench.model.cost.count",
    "weights": "tuibench.model.loss.change",
    "loss": "tuibench.model.loss.sweep",
    "layers": "tuibench.model.profile.layers",
    "pruned": "tuibench.model.profile.layers",
    "roofline": "tuibench.model.profile.roofline",
    "zeros": "tuibench.model.profile.roofline",
    "what_if": "tuibench.model.profile.what_if",
}
"""Imports of each task, done before memory is limited, because their memory grows with the machine's cores."""
_GENTLEST = 19


def _describe_engine(name: str) -> dict[str, Any]:
    from tuibench.core.record import to_plain
    from tuibench.engines import factory
    from tuibench.engines.error_words import engine_reason

    try:
        return {"name": name, "available": True, "version": factory.make(name).start(), "error": None}
    except Exception as error:  # a broken installation raises anything; doctor shows the message
        return {"name": name, "available": False, "version": None, "error": to_plain(engine_reason(error, 1000))}


def _confine(request: dict[str, Any], needed: str | None = None) -> None:
    """End with the caller and limit memory, both before the task opens any untrusted file.

    `memory_bytes` is the available memory that the caller found; a limit set by the user is in the spec and applies as
    is.
    """
    from tuibench.worker.isolation import die_with_parent, ignore_interrupts, limit_memory

    ignore_interrupts()
    die_with_parent(int(request.get("parent") or os.getppid()))
    if request.get("gentle"):
        # Processes that measure on these CPUs have priority.
        os.nice(_GENTLEST)
    if request.get("cpus"):
        _settle(request)
    if needed is not None:
        import_module(needed)
    room = request.get("memory_bytes")
    limit = ((request.get("spec") or {}).get("limits") or {}).get("memory_bytes")
    limit_memory(int(room) if room else None, len(os.sched_getaffinity(0)), int(limit) if limit else None)


def _settle(request: dict[str, Any]) -> None:
    """Pin a measuring task to its CPUs, before any library creates a thread."""
    from tuibench.worker.isolation import (
        apply_environment,
        pin_process,
        prefer_oom_kill,
        thread_variables,
    )

    prefer_oom_kill()
    pin_process(int(cpu) for cpu in request["cpus"])
    apply_environment(thread_variables(int(request.get("threads") or 1)))


def _available_bytes(limit: int | None) -> int:
    from tuibench.host.cgroup import find_groups, read_memory
    from tuibench.host.kernel_files import Tree

    tree = Tree()
    known = [value for value in (read_memory(tree, find_groups(tree)).room_bytes, limit) if value]
    return min(known) if known else 1 << 62


def _own_the_channel() -> Send:
    """Keep stdout for the protocol and point fd 1 to stderr, because C++ libraries print to it."""
    channel = os.dup(1)
    os.dup2(2, 1)

    def send(line: dict[str, Any]) -> None:
        left = json.dumps(line, ensure_ascii=True).encode("ascii") + b"\n"
        while left:
            left = left[os.write(channel, left) :]

    return send


def _error_answer(error: TuibenchError) -> dict[str, Any]:
    from tuibench.core.record import to_plain

    return {"ok": False, "error": {"reason": to_plain(error.reason), "exit_code": int(error.exit_code)}}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
