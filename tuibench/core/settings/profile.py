"""Every setting and flag of `tuibench profile`, in the groups of its help."""

from __future__ import annotations

from tuibench.core import engine
from tuibench.core.settings import benchmark as benchmark_setting
from tuibench.core.settings import kinds
from tuibench.core.settings.kinds import Switch, Whole
from tuibench.core.settings.setting import Group, Place, Setting
from tuibench.core.spec import LEVELS, LOSS, PERFORMANCE, WHAT_IF, ProfileSpec

MOST_ROWS = 100_000
_USUAL = ProfileSpec(PERFORMANCE)
_SHARED = benchmark_setting.by_name()
_SWITCH = Switch()

PAGE = (
    Setting(
        "sort", "--sort COLUMN", "column that the table of layers is sorted by",
        "ms, worst with --loss, flops with --flops",
    ),
    Setting("reverse", "--reverse", "reverse the order of the table", kind=_SWITCH, default=False),
    Setting("text", "--filter TEXT", "show only layers with each word in operator, node, weight or kernel", "all"),
    Setting("top", "--top N", "number of layers shown", "20", kind=Whole(1, MOST_ROWS)),
    Setting(
        "summary", "--summary-type KIND",
        "quantity that the bars per operator show: baseline ms, potential ms, potential %, INT8 ms, pruned,"
        " pruned 0.50 ms (where the engine measures it), FLOPs,"
        " bytes or params; with --loss a level or params", "baseline ms, int8 with --loss, FLOPs with --flops",
    ),
    Setting("display", "--value WHAT", "scale of the bars: values, log, or % of total (short: %)", "values"),
    Setting("layer", "--layer NODE", "show one layer in full, given by its number, a node or its weight"),
)  # fmt: skip
"""Options for showing a profile; commands that show stored profiles accept them too."""

_ASKED = (
    Setting(
        "flops", "--flops", "compute FLOPs and bytes per layer from the shapes; measure and save nothing",
        kind=_SWITCH, default=False,
    ),
    Setting(
        "loss", "--loss", "measure how the outputs change when one layer is pruned or quantized",
        kind=Switch(LOSS, PERFORMANCE), at="profile.kind", default=False,
    ),
    Setting(
        "approximate", "--approximate", "with --loss: estimate from the weights; run and save nothing",
        kind=_SWITCH, at="profile.approximate", default=False, of=LOSS,
    ),
    Setting(
        "budget", "--budget", "with --loss: one level for all layers, all levels for the ten most sensitive",
        kind=_SWITCH, at="profile.budget", default=False, of=LOSS,
        place=Place("  for layers", hint="others: one level"),
    ),
    Setting(
        "what_if", "--what-if FORM",
        "int8: also time each heavy layer alone in INT8; pruned (deepsparse): also measure with zeros in each operator"
        " alone, then in each of the ten heaviest layers alone", "off",
        kind=kinds.NameList((), WHAT_IF), at="profile.what_if", many="list", of=PERFORMANCE,
        place=Place("  what if", hint="heavy layers: INT8, or zeros (DeepSparse)"),
    ),
)  # fmt: skip

_SUBJECT = (
    Setting(
        "engine", "-e --engine NAME", f"one engine with layer times: {', '.join(engine.timed())}",
        "onnxruntime",
        kind=kinds.EngineList(engine.timed()[:1], noun="engine"), at="engines", many="list",
        place=Place("Engine"),
    ),
    Setting(
        "cores", "-ncores --num_cores N", "number of physical cores", "all cores that affinity and quota allow",
        kind=kinds.CoreList(1, None, "core count"), at="cores", many="list",
        place=Place("Cores"),
    ),
    Setting(
        "batch", "-b --batch_size N", "items in one inference", "1, or the model's fixed batch",
        kind=kinds.IntegerList(1, 65_536, "batch size"), at="batches", many="list",
        place=Place("Batch", empty="1", hint="1 for real time, 64 for throughput"),
    ),
    Setting(
        "sequence_length", "-seq_len --sequence_length N", "length of the sequence axes", "chosen and printed",
        kind=kinds.IntegerList(1, None, "length"), at="sequence_lengths", many="list",
        place=Place("Sequence", empty="chosen", hint="of all axes of tokens"),
    ),
    Setting(
        "dims", "--dim NAME=N", "size of another symbolic dim; may be repeated", "chosen and printed",
        kind=kinds.Dims("size"), at="dims", default=(), many="each",
        place=Place("", empty="chosen", hint="a size such as 128"),
    ),
    _SHARED["batch_dim"],
    Setting(
        "shapes", "-i -shapes --input_shapes SHAPES", "shapes in the order of the inputs: '[1,3,224,224]'",
        "the model's", kind=kinds.shapes, at="inputs.shapes", default=(),
    ),
    Setting(
        "inputs_file", "--inputs FILE.npz", "input arrays by name; with --loss: calibration data",
        "generated from the seed", kind=kinds.FilePath(), at="inputs.file",
        place=Place("  data", 30, "seeded inputs", "calibration data, an .npz"),
    ),
    Setting(
        "seed", "--seed N", "seed of generated inputs", "0",
        kind=_SHARED["seed"].kind, at="inputs.seed", default=0, always_spelled=True,
    ),
)  # fmt: skip

_AMOUNT = (
    Setting(
        "processes", "--processes N", "number of fresh processes; intervals are over processes",
        f"{_USUAL.processes}", kind=Whole(1, 50), at="profile.processes",
        default=_USUAL.processes, always_spelled=True, of=PERFORMANCE,
        place=Place("processes", 4, hint="fresh ones", beside=30),
    ),
    Setting(
        "runs", "--runs N", "profiled inferences per process", f"{_USUAL.runs}",
        kind=Whole(1, 1000), at="profile.runs", default=_USUAL.runs, always_spelled=True, of=PERFORMANCE,
        place=Place("  runs", 6, hint="in each process"),
    ),
    Setting(
        "fresh_roofs", "--fresh-roofs", "measure the peak speeds of this machine again", "cached for a week",
        kind=_SWITCH, at="profile.fresh_roofs", default=False, of=PERFORMANCE,
    ),
    Setting(
        "samples", "--samples N", "with --loss: number of inputs for each changed layer", f"{_USUAL.samples}",
        kind=Whole(1, 1024), at="profile.samples", default=_USUAL.samples, always_spelled=True,
        of=LOSS, place=Place("samples", 5, hint="for each layer", beside=36),
    ),
    Setting(
        "levels", "--level LEVEL", f"with --loss: level of change: {', '.join(LEVELS)}; may be repeated", "all",
        kind=kinds.Levels(), at="profile.levels", default=(), many="each", of=LOSS,
        place=Place("  levels", hint="share of zeros"),
    ),
    Setting(
        "max_time", "--max-time SEC", "end the whole command after this", "no limit",
        kind=_SHARED["max_time_s"].kind, at="limits.max_time_s",
    ),
    Setting(
        "timeout", "--timeout FACTOR", "multiply the time limits of load and inference", "1",
        kind=_SHARED["timeout_scale"].kind, at="limits.timeout_scale", default=1.0,
    ),
    Setting(
        "memory_limit", "--memory-limit SIZE", "address space of one process, such as 8GB", "from free memory",
        kind=kinds.size, at="limits.memory_bytes",
    ),
)  # fmt: skip

_OUTPUT = (
    *PAGE,
    *(_SHARED[name] for name in ("export_path", "json", "quiet", "ascii")),
    Setting(
        "dry_run", "--dry-run", "print the plan and the expected time; measure nothing",
        kind=_SWITCH, default=False,
    ),
    _SHARED["debug"],
)  # fmt: skip
_KEEPING = ("name", "note", "project", "no_save", "detach", "wait_s", "no_wait", "share_host")

GROUPS = (
    Group("Kind of profile (default: the time of each layer)", _ASKED),
    Group("Model and machine", _SUBJECT),
    Group("Effort", _AMOUNT),
    Group("Output", _OUTPUT),
    Group("Saving and queueing", tuple(_SHARED[name] for name in _KEEPING)),
)


def settings() -> tuple[Setting, ...]:
    """Return every setting, in the order of the help."""
    return tuple(setting for group in GROUPS for setting in group.settings)


def by_name() -> dict[str, Setting]:
    """Return every setting by its name."""
    return {setting.name: setting for setting in settings()}


def own() -> tuple[Setting, ...]:
    """Return the settings that benchmarks lack and that a re-run may change; the kind of a profile stays the same."""
    elsewhere = {flag for setting in benchmark_setting.settings() for flag in setting.flags}
    fixed = ("flops", "loss", "approximate")
    return tuple(one for one in settings() if one.name not in fixed and not elsewhere.intersection(one.flags))
