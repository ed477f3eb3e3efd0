"""The flags of `tuibench profile` in one table, from which the parser, the help and the command of a run are made."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
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
_MOST_ROWS = 100_000

GROUPS: tuple[tuple[str, tuple[Flag, ...]], ...] = (
    (
        "What to find out; without any of these, how long each layer takes",
        (
            Flag("flops", "--flops", "what each layer costs by its shapes alone; nothing is measured or kept"),
            Flag("loss", "--loss", "how much the outputs lose when one layer is pruned or made INT8"),
            Flag("approximate", "--approximate", "with --loss: from the weights alone; nothing is measured or kept"),
            Flag("budget", "--budget", "with --loss: one level for all layers, the others for the ten worst"),
            Flag("what_if", "--what-if int8", "each heavy layer alone in INT8, too; default not", many="list"),
        ),
    ),
    (
        "Of what, where",
        (
            Flag("engine", "-e --engine NAME", "onnxruntime; default onnxruntime", many="list"),
            Flag(
                "cores",
                "-ncores --num_cores N",
                "physical cores; default all that affinity and quota allow",
                many="list",
            ),
            Flag("batch", "-b --batch_size N", "default 1, or the model's own where it is fixed", many="list"),
            Flag(
                "sequence_length",
                "-seq_len --sequence_length N",
                "of the sequence axes; default chosen and printed",
                many="list",
            ),
            Flag(
                "dims",
                "--dim NAME=N",
                "any other symbolic dim; may be repeated; default chosen and printed",
                many="each",
            ),
            Flag("batch_dim", "--batch-dim NAME", "the symbolic dim that is the batch; default found on axis 0"),
            Flag("shapes", "-i -shapes --input_shapes SHAPES", "of the inputs in their order; default the model's"),
            Flag(
                "inputs_file",
                "--inputs FILE.npz",
                "arrays by input name; for --loss calibration data; default made from the seed",
            ),
            Flag("seed", "--seed N", "of the samples; default 0"),
        ),
    ),
    (
        "How much",
        (
            Flag("runs", "--runs N", f"profiled runs in each process; default {_USUAL.runs}"),
            Flag(
                "processes",
                "--processes N",
                f"fresh ones, over which a layer's time gets its interval; default {_USUAL.processes}",
            ),
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
            Flag("sort", "--sort COLUMN", "of the table of layers; default ms, worst with --loss, flops with --flops"),
            Flag("top", "--top N", "so many layers of it; default 20", value.whole(1, _MOST_ROWS)),
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
_OWN = frozenset({"flops", "loss", "sort", "top"})


@dataclass(frozen=True, slots=True)
class ProfileRequest:
    """One `tuibench profile` as typed."""

    values: ProfileValues
    output: BenchmarkRequest
    """What every command that measures is told about what comes out, where it is kept, and when it runs."""
    flops: bool = False
    sort: str = ""
    top: int | None = None


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
    own = {name: fields_of.pop(name) for name in tuple(fields_of) if name in _OWN}
    loss, flops = bool(own.get("loss")), bool(own.get("flops"))
    if loss and flops:
        raise UsageError("--flops and --loss exclude each other", "give one of them")
    typed = {name: fields_of.pop(name) for name in tuple(fields_of) if name in _TYPED}
    values = ProfileValues(model=model, kind=LOSS if loss else PERFORMANCE, **typed)
    return ProfileRequest(
        values, BenchmarkRequest(models=(model,), **fields_of), flops, str(own.get("sort") or ""), own.get("top")
    )


def profile_again(spec: BenchmarkSpec) -> str:
    """The shell line that makes an equal profile, with every effective setting spelled out."""
    values = profile_values(spec)
    guarded = values.model.startswith("-")
    words = ["tuibench", "profile", *([] if guarded else [values.model])]
    words += ["--loss"] if values.kind == LOSS else []
    for flag in PROFILE_FLAGS:
        if flag.field in _TYPED:
            words += _spell(flag, getattr(values, flag.field))
    return shlex.join([*words, *(["--", values.model] if guarded else [])])


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
    _, known = FlagReader(PROFILE_FLAGS, "profile").split(shlex.split(profile_again(spec))[2:])
    dims = {text.rpartition("=")[0]: text for text in (*known.get("dims", ()), *given.get("dims", ()))}
    return {**known, **given, "dims": tuple(dims.values())}
