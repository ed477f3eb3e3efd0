"""Every setting and flag of `tuibench benchmark`, in the groups of its help."""

from __future__ import annotations

from tuibench.core import engine, formats, scenario
from tuibench.core.schema import MAX_S
from tuibench.core.settings import kinds
from tuibench.core.settings.kinds import Decimal, OneOf, Switch, Whole
from tuibench.core.settings.setting import ALWAYS, CHANGED, EFFORT, Group, Place, Setting
from tuibench.core.spec import EFFORTS

_DEFAULT, _QUICK, _PRECISE = EFFORTS["default"], EFFORTS["quick"], EFFORTS["precise"]
_LIST_HINT = "1,2,4  1-8  pow2:64"
_SWITCH = Switch()
_EFFORT_FLAGS = ("quick", "precise", "target", "time_s", "warmup_s", "executions")


def _effort(name: str) -> str:
    effort = EFFORTS[name]
    return f"until p50 is known to {(effort.target or 0.0) * 100:g} %, at most {effort.limit_s:g} s per cell"


_AXES = (
    Setting(
        "engines", "-e --engine LIST", f"engines: {', '.join(engine.names())}", engine.DEFAULT,
        kind=kinds.EngineList((engine.DEFAULT,)), at="engines", many="list", place=Place("Engines"),
    ),
    Setting(
        "scenarios", "-s --scenario LIST",
        "; ".join(f"{name}: {scenario.REGISTRY[name].summary}" for name in scenario.names()), "async and sync",
        kind=kinds.NameList(scenario.DEFAULT, scenario.names(), scenario.names(planned=True)),
        at="scenarios", many="list", place=Place("Scenarios"),
    ),
    Setting(
        "cores", "-ncores --num_cores LIST", "physical cores, such as 1,2,max  1-8  pow2  node",
        "max: all cores that affinity and quota allow", kind=kinds.CoreList(1, None), at="cores", many="list",
        place=Place("Cores", 24),
    ),
    Setting(
        "batches", "-b --batch_size LIST", "batch sizes, such as 1,8,32  1-4  pow2:64", "1, or the model's fixed batch",
        kind=kinds.IntegerList(1, 65_536), at="batches", many="list",
        place=Place("Batches", 24, "1, or the model's", _LIST_HINT),
    ),
    Setting(
        "sequence_lengths", "-seq_len --sequence_length LIST", "length of the sequence axes",
        "chosen per model and printed", kind=kinds.IntegerList(1, None), at="sequence_lengths", many="list",
    ),
    Setting(
        "dims", "--dim NAME=LIST", "sizes of another symbolic dim, by name or as INPUT:AXIS=LIST; may be repeated",
        "chosen and printed", kind=kinds.Dims(), at="dims", default=(), many="each",
        place=Place("", 24, "chosen", _LIST_HINT),
    ),
)  # fmt: skip

_RUNNING = (
    Setting(
        "streams", "-nstreams --num_streams N", "requests in flight in async and elastic, or auto",
        "one per core, not tuned; elastic: two per NUMA node",
        kind=kinds.Streams(1, 4096), at="streams", place=Place("Streams", 10, "per core"),
    ),
    Setting(
        "stream_kind", "--stream-kind KIND", "how streams run: queue, threads or processes", "by engine and latency",
        kind=OneOf("queue", "threads", "processes"), at="stream_kind",
    ),
    Setting(
        "pin", "-pin --thread_pinning core|numa|none",
        "core: each engine thread stays on one CPU; numa: on the CPUs of one NUMA node; none: threads move among the "
        "selected cores", "core",
        kind=OneOf("core", "numa", "none"), at="pin", default="core", always_spelled=True,
        place=Place("Pinning", beside=39),
    ),
    Setting(
        "precision", "--precision NAME", "number format: f32, f16, bf16 or engine-default", "f32",
        kind=OneOf("f32", "f16", "bf16", "engine-default"), at="precision", default="f32", always_spelled=True,
        place=Place("Precision"),
    ),
    Setting(
        "io", "--io CLASS", "copies in the timed call: bound, engine-allocated or call (docs/engines.md)",
        "bound where possible", kind=OneOf(*engine.IO_CLASSES), at="io", identity=CHANGED,
    ),
    Setting(
        "batch_dim", "--batch-dim NAME", "name of the batch dim", "the one on axis 0",
        at="inputs.batch_dim",
    ),
)  # fmt: skip

_FED = (
    Setting(
        "shapes", "-i -shapes --input_shapes SHAPES",
        "shapes in the order of the inputs, quoted: '[1,3,224,224]' or '[1,128],[1,128]'", "the model's",
        kind=kinds.shapes, at="inputs.shapes", default=(),
    ),
    Setting(
        "inputs_file", "--inputs FILE.npz",
        "input arrays by name; an extra leading axis holds several inputs, used in rotation", "generated from the seed",
        kind=kinds.FilePath(), at="inputs.file",
    ),
    Setting(
        "distinct", "--distinct-inputs N", "number of different inputs in rotation; 1 repeats one input", "8",
        kind=Whole(1, 1024), at="inputs.distinct", default=8, always_spelled=True, identity=ALWAYS,
    ),
    Setting(
        "seed", "--seed N", "seed of generated inputs and of the order of cells", "0",
        kind=Whole(0, 2**63 - 1), at="inputs.seed", default=0, always_spelled=True, identity=ALWAYS,
    ),
    Setting(
        "no_check", "--no-check", "do not compare outputs with the reference", "compare",
        kind=Switch(given=False, absent=True), at="check", default=False,
    ),
)  # fmt: skip

_EFFORT = (
    Setting(
        "quick", "--quick", _effort("quick"),
        kind=_SWITCH, at=EFFORT, default=False, replaces=_EFFORT_FLAGS, place=Place("Effort"),
    ),
    Setting(
        "precise", "--precise", _effort("precise"), _effort("default"),
        kind=_SWITCH, at=EFFORT, default=False, replaces=_EFFORT_FLAGS, place=Place("Effort"),
    ),
    Setting(
        "target", "--target PCT", "half-width of the 95 % interval to stop at, in percent", "2",
        kind=kinds.percent, at=EFFORT, replaces=("time_s", "executions"), place=Place("Target", 10, "as above"),
    ),
    Setting(
        "time_s", "-t --time SEC", "measured time per cell, divided among its executions; replaces the target",
        "until the target is met", kind=Decimal(0.001, 86_400.0, "seconds"), at=EFFORT, replaces=("target",),
        place=Place("Time in s", 10, "needed", "per cell"),
    ),
    Setting(
        "warmup_s", "-w --warmup_time SEC", "longest warm-up of each execution",
        f"{_DEFAULT.warmup_s:g}, {_QUICK.warmup_s:g} with --quick, {_PRECISE.warmup_s:g} with --precise",
        kind=Decimal(0.0, 3600.0, "seconds"), at=EFFORT,
        place=Place("Warm-up s", 10, "as above", "at most", beside=40),
    ),
    Setting(
        "executions", "--executions K", "exactly K fresh processes per cell",
        f"{_DEFAULT.min_executions} to {_DEFAULT.max_executions}", kind=Whole(1, 1000), at=EFFORT,
        replaces=("target",),
    ),
)  # fmt: skip

_LIMITS = (
    Setting(
        "max_time_s", "--max-time SEC", "end the whole command after this", "no limit",
        kind=Decimal(1.0, MAX_S, "seconds"), at="limits.max_time_s",
    ),
    Setting(
        "timeout_scale", "--timeout FACTOR", "multiply the time limits of load and inference", "1",
        kind=Decimal(0.01, 1000.0, "a factor"), at="limits.timeout_scale", default=1.0,
    ),
    Setting(
        "memory_bytes", "--memory-limit SIZE", "address space of one worker, such as 8GB", "from free memory",
        kind=kinds.size, at="limits.memory_bytes",
    ),
)  # fmt: skip

_OUTPUT = (
    Setting(
        "export_path", "-x --export_path FILE", f"write the result to FILE: {formats.endings()}; - is stdout",
        "none", once="export_path_twice",
    ),
    Setting("json", "--json", "print the result as JSON", kind=_SWITCH, default=False),
    Setting("quiet", "-q --quiet", "print only errors on stderr", kind=_SWITCH, default=False),
    Setting("ascii", "--ascii", "print plain ASCII only", kind=_SWITCH, default=False),
    Setting(
        "dry_run", "--dry-run", "print cells, order, seconds and memory (--json: as JSON); measure nothing",
        kind=_SWITCH, default=False,
    ),
    Setting(
        "keep_raw", "--keep-raw", "save the time of every call", "at most 65,536 per execution",
        kind=_SWITCH, at="keep_raw", default=False,
    ),
    Setting(
        "compare_to", "--compare-to ID", "compare the result with a stored benchmark", "none",
        place=Place("Compare to", 24, "nothing", "a stored benchmark, such as m9q"),
    ),
    Setting("debug", "--debug", "show the traceback of an error", kind=_SWITCH, default=False),
)  # fmt: skip

_KEEPING = (
    Setting(
        "name", "--name TEXT", "name of the result in lists", "none",
        kind=kinds.label, default="", place=Place("Name", 14, "none"),
    ),
    Setting(
        "note", "--note TEXT", "note on the result", "none", default="", place=Place("Note", 0, "none", beside=30)
    ),
    Setting(
        "project", "--project NAME", "project of the result", "the project of its model",
        kind=kinds.label, default="",
    ),
    Setting("no_save", "--no-save", "do not save the result in the store", "save", kind=_SWITCH, default=False),
    Setting(
        "detach", "--detach", "start the run, print its id and return; the run continues after log-out",
        kind=_SWITCH, default=False,
    ),
    Setting(
        "wait_s", "--wait SEC", "wait at most SEC for other benchmarks on this machine, then exit 7",
        "no limit", kind=Decimal(0.0, MAX_S, "seconds"), with_form=True,
    ),
    Setting(
        "no_wait", "--no-wait", "exit 7 at once if another benchmark is measuring",
        kind=_SWITCH, default=False, with_form=True,
    ),
    Setting(
        "share_host", "--share-host", "measure concurrently with another benchmark; recorded in the result",
        kind=_SWITCH, default=False, with_form=True,
    ),
)  # fmt: skip

GROUPS = (
    Group("What to measure: each flag accepts a list, and every combination is one cell", _AXES),
    Group("How to run it", _RUNNING),
    Group("Inputs", _FED),
    Group("How long and how precisely", (*_EFFORT, *_LIMITS)),
    Group("Output", _OUTPUT),
    Group("Saving and queueing", _KEEPING),
)

RERUN = (
    Setting(
        "changed", "--changed", "measure a changed model as a new version", "refuse it",
        kind=_SWITCH, default=False,
    ),
    Setting(
        "paths", "--model PATH", "new path of a moved model; may be repeated", "the path it was measured at",
        default=(), many="each",
    ),
)  # fmt: skip
"""Flags of `tuibench rerun` only, which also accepts those of `tuibench benchmark`."""

LATER = ("--opt", "--require-grade")
"""Planned flags, not implemented."""


def settings() -> tuple[Setting, ...]:
    """Return every setting, in the order of the help."""
    return tuple(setting for group in GROUPS for setting in group.settings)


def by_name() -> dict[str, Setting]:
    """Return every setting by its name."""
    return {setting.name: setting for setting in settings()}
