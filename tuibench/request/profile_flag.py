"""The flags of `tuibench profile` in one table, from which the parser, the help and the command of a run are made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from tuibench.core.errors import UsageError
from tuibench.core.profile_spec import LEVELS, LOSS, PERFORMANCE, ProfileSpec
from tuibench.core.spec import BenchmarkSpec
from tuibench.request import value
from tuibench.request.flag import FLAGS, Flag
from tuibench.request.flag_reader import FlagReader
from tuibench.request.profile import ProfileValues, profile_values
from tuibench.request.request import BenchmarkRequest

_SHARED = {flag.field: flag for flag in FLAGS}
_USUAL = ProfileSpec(PERFORMANCE)
MOST_ROWS = 100_000

PAGE_FLAGS: tuple[Flag, ...] = (
    Flag("sort", "--sort COLUMN", "of the table of layers; default ms, of a loss profile worst, of FLOPS flops"),
    Flag("reverse", "--reverse", "that table the other way round"),
    Flag("text", "--filter TEXT", "only layers with each word in operator, node, weight or kernel; default all"),
    Flag("top", "--top N", "so many layers of it; default 20", value.whole(1, MOST_ROWS)),
    Flag(
        "summary",
        "--summary-type KIND",
        "what the bars per operator show: baseline ms, potential ms, potential %, INT8 ms, pruned, FLOPs, bytes or"
        " params; of a loss profile a level or params; default baseline ms, int8, FLOPs",
    ),
    Flag("display", "--value WHAT", "how they show it: values, log, or % of total (% is enough); default values"),
    Flag("layer", "--layer NODE", "instead, all that is known of one layer: by its number, a node or its weight"),
)
"""What is shown of a profile, as the dashboard's selectors have it; commands that show stored ones take them, too."""

GROUPS: tuple[tuple[str, tuple[Flag, ...]], ...] = (
    (
        "What to find out; without any of these, how long each layer takes",
        (
            Flag("flops", "--flops", "what each layer costs by its shapes alone; nothing is measured or kept"),
            Flag("loss", "--loss", "how much the outputs lose when one layer is pruned or made INT8"),
            Flag("approximate", "--approximate", "with --loss: from the weights alone; nothing is measured or kept"),
            Flag("budget", "--budget", "with --loss: one level for all layers, the others for the ten worst"),
            Flag(
                "what_if",
                "--what-if int8",
                "time each heavy layer alone in INT8, too: what that would gain; default not",
                many="list",
            ),
        ),
    ),
    (
        "Of what, where",
        (
            Flag(
                "engine",
                "-e --engine NAME",
                "what runs it: so far one tells its layers apart; default onnxruntime",
                many="list",
            ),
            Flag(
                "cores",
                "-ncores --num_cores N",
                "physical cores; default all that affinity and quota allow",
                many="list",
            ),
            Flag(
                "batch",
                "-b --batch_size N",
                "items in one inference; default 1, or the model's own where it is fixed",
                many="list",
            ),
            Flag(
                "sequence_length",
                "-seq_len --sequence_length N",
                "length of the sequence axes; default chosen and printed",
                many="list",
            ),
            Flag(
                "dims",
                "--dim NAME=N",
                "any other symbolic dim; may be repeated; default chosen and printed",
                many="each",
            ),
            Flag("batch_dim", "--batch-dim NAME", "the symbolic dim that is the batch; default found on axis 0"),
            Flag(
                "shapes",
                "-i -shapes --input_shapes SHAPES",
                "in the order of the inputs: '[1,3,224,224]'; default the model's",
            ),
            Flag(
                "inputs_file",
                "--inputs FILE.npz",
                "arrays by input name; for --loss calibration data; default made from the seed",
            ),
            Flag("seed", "--seed N", "of the inputs that are made; default 0"),
        ),
    ),
    (
        "How much",
        (
            Flag(
                "processes",
                "--processes N",
                f"fresh processes, over which a layer's time gets its interval; default {_USUAL.processes}",
            ),
            Flag("runs", "--runs N", f"profiled runs in each of them; default {_USUAL.runs}"),
            Flag("fresh_roofs", "--fresh-roofs", "measure what this machine can do anew; default once a week"),
            Flag(
                "samples", "--samples N", f"with --loss: of the data, for each changed layer; default {_USUAL.samples}"
            ),
            Flag(
                "levels",
                "--level LEVEL",
                f"with --loss: {', '.join(LEVELS)}; may be repeated; default all",
                many="each",
            ),
            Flag("max_time", "--max-time SEC", "end the whole command after this; default no limit"),
            Flag("timeout", "--timeout FACTOR", "stretch the limits for hanging loads and calls; default 1"),
            Flag(
                "memory_limit",
                "--memory-limit SIZE",
                "address space of one process, such as 8GB; default from what is free",
            ),
        ),
    ),
    (
        "What comes out",
        (
            *PAGE_FLAGS,
            _SHARED["export_path"],
            _SHARED["json"],
            _SHARED["quiet"],
            _SHARED["ascii"],
            Flag("dry_run", "--dry-run", "print what would be done and about how long it takes; measure nothing"),
            _SHARED["debug"],
        ),
    ),
    (
        "Where it is kept, and when it runs",
        tuple(
            _SHARED[name]
            for name in ("name", "note", "project", "no_save", "detach", "wait_s", "no_wait", "share_host")
        ),
    ),
)

PROFILE_FLAGS: tuple[Flag, ...] = tuple(flag for _, flags in GROUPS for flag in flags)

_AT_ALL = frozenset({"flops", "loss", "approximate"})
_ELSEWHERE = frozenset(name for flag in FLAGS for name in flag.names)
OWN_FLAGS: tuple[Flag, ...] = tuple(
    flag for flag in PROFILE_FLAGS if flag.field not in _AT_ALL and not _ELSEWHERE.intersection(flag.names)
)
"""What a profile is told that no benchmark is, and that may be another when it is made again."""

_TYPED = frozenset(one.name for one in fields(ProfileValues))
_PAGE = frozenset(flag.field for flag in PAGE_FLAGS)
_OWN = frozenset({"flops", "loss"})


@dataclass(frozen=True, slots=True)
class ProfileRequest:
    """One `tuibench profile` as typed."""

    values: ProfileValues
    output: BenchmarkRequest
    """What every command that measures is told about what comes out, where it is kept, and when it runs."""
    flops: bool = False
    page: Mapping[str, Any] = field(default_factory=dict)
    """What was typed of PAGE_FLAGS, by their fields."""
    given: frozenset[str] = frozenset()
    """The fields of all that was typed."""


def read_request(argv: Sequence[str]) -> ProfileRequest:
    """What the words behind `tuibench profile` ask for; UsageError where they cannot be read."""
    models, given = FlagReader(PROFILE_FLAGS, "profile").split(argv)
    if len(models) != 1:
        what = "profile needs a model" if not models else "profile takes one model"
        raise UsageError(what, "tuibench profile sample profiles the built-in one")
    return to_request(models[0], given)


def to_request(model: str, given: Mapping[str, Any]) -> ProfileRequest:
    """The same from the fields that were typed."""
    fields_of = dict(given)
    page = {name: fields_of.pop(name) for name in tuple(fields_of) if name in _PAGE}
    own = {name: fields_of.pop(name) for name in tuple(fields_of) if name in _OWN}
    loss, flops = bool(own.get("loss")), bool(own.get("flops"))
    if loss and flops:
        raise UsageError("--flops and --loss exclude each other", "give one of them")
    typed = {name: fields_of.pop(name) for name in tuple(fields_of) if name in _TYPED}
    values = ProfileValues(model=model, kind=LOSS if loss else PERFORMANCE, **typed)
    output = BenchmarkRequest(models=(model,), **fields_of)
    if page.get("layer") and output.json:
        raise UsageError("--layer and --json exclude each other", "the JSON has all that is known of every layer")
    return ProfileRequest(values, output, flops, page, frozenset(given))


def profile_words(spec: BenchmarkSpec) -> Iterator[str]:
    """Yield the flags of `tuibench profile` that spell every setting of `spec`."""
    values = profile_values(spec)
    if values.kind == LOSS:
        yield "--loss"
    for flag in PROFILE_FLAGS:
        if flag.field in _TYPED:
            yield from _spell(flag, getattr(values, flag.field))


def _spell(flag: Flag, given: object) -> Iterator[str]:
    name = flag.names[0]
    if given is True:
        yield name
    for one in given if isinstance(given, tuple) else (given,):
        if one and one is not True:
            # What begins with a dash would be taken for a flag where it stands by itself.
            yield from [f"{name}={one}"] if str(one).startswith("-") or name.startswith("--") else [name, str(one)]


def recall_profile(spec: BenchmarkSpec, given: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that make `spec` again, but for its model and for what is `given` now."""
    _, known = FlagReader(PROFILE_FLAGS, "profile").split([*profile_words(spec)])
    dims = {text.rpartition("=")[0]: text for text in (*known.get("dims", ()), *given.get("dims", ()))}
    return {**known, **given, "dims": tuple(dims.values())}
