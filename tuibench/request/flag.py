"""The flags of `tuibench benchmark` in one table, from which the parser and the help text are both made."""

from __future__ import annotations

from dataclasses import dataclass

from tuibench.core import engine, ranges
from tuibench.core.spec import EFFORTS
from tuibench.request import value


@dataclass(frozen=True, slots=True)
class Flag:
    """One flag: how it is spelled, what it fills, and what the help says of it."""

    field: str
    """Of BenchmarkRequest."""
    usage: str
    """Its spellings, then the name of its value; a switch has none."""
    text: str
    """What stands in the help, with the default at the end."""
    read: value.Reader = value.text
    many: str = ""
    """'list' joins repeated values to one list, 'each' keeps them apart; otherwise the last one counts."""

    @property
    def names(self) -> tuple[str, ...]:
        """Every spelling with its dashes."""
        return tuple(word for word in self.usage.split() if word.startswith("-"))

    @property
    def metavar(self) -> str:
        """What its value is called; empty for a switch."""
        last = self.usage.split()[-1]
        return "" if last.startswith("-") else last


_DEFAULT, _QUICK, _PRECISE = EFFORTS["default"], EFFORTS["quick"], EFFORTS["precise"]


def _effort(name: str) -> str:
    effort = EFFORTS[name]
    return f"until p50 is known to {(effort.target or 0.0) * 100:g} %, at most {effort.limit_s:g} s per cell"


GROUPS: tuple[tuple[str, tuple[Flag, ...]], ...] = (
    (
        "What to measure; each takes a list, and every combination is one cell",
        (
            Flag("engines", "-e --engine LIST", f"{', '.join(engine.names())}; default {engine.DEFAULT}", many="list"),
            Flag(
                "scenarios",
                "-s --scenario LIST",
                "sync: one request at a time; async: several streams at once; default async and sync",
                many="list",
            ),
            Flag(
                "cores",
                "-ncores --num_cores LIST",
                "physical cores: 1,2,max  1-8  pow2  node; default max, all that affinity and quota allow",
                many="list",
            ),
            Flag(
                "batches",
                "-b --batch_size LIST",
                "1,8,32  1-4  pow2:64; default 1, or the model's own where it is fixed",
                many="list",
            ),
            Flag(
                "sequence_lengths",
                "-seq_len --sequence_length LIST",
                "length of the sequence axes; default chosen per model and printed",
                many="list",
            ),
            Flag(
                "dims",
                "--dim NAME=LIST",
                "any other symbolic dim, by name or as INPUT:AXIS=LIST; may be repeated; default chosen and printed",
                many="each",
            ),
        ),
    ),
    (
        "How to run it",
        (
            Flag(
                "streams",
                "-nstreams --num_streams N",
                "requests in flight for async; default one per core, not tuned",
                value.streams,
            ),
            Flag(
                "stream_kind",
                "--stream-kind KIND",
                "queue, threads or processes; default by engine and latency",
                value.one_of("queue", "threads", "processes"),
            ),
            Flag(
                "pin",
                "-pin --thread_pinning core|none",
                "core: each engine thread keeps one CPU; none: they move within the cores given; default core",
                value.one_of("core", "none", later=("numa",)),
            ),
            Flag(
                "precision",
                "--precision NAME",
                "f32, f16, bf16 or engine-default; default f32",
                value.one_of("f32", "f16", "bf16", "engine-default"),
            ),
            Flag(
                "io",
                "--io CLASS",
                "bound, engine-allocated or call: what copying the timed call includes; default bound where possible",
                value.one_of("bound", "engine-allocated", "call"),
            ),
            Flag("batch_dim", "--batch-dim NAME", "the symbolic dim that is the batch; default found on axis 0"),
        ),
    ),
    (
        "What is fed",
        (
            Flag(
                "shapes",
                "-i -shapes --input_shapes SHAPES",
                "shapes in the order of the inputs, quoted: '[1,3,224,224]' or '[1,128],[1,128]'; default the model's",
                value.shapes,
            ),
            Flag(
                "inputs_file",
                "--inputs FILE.npz",
                "arrays by input name; a leading sample axis is rotated over; default made from the seed",
            ),
            Flag(
                "distinct",
                "--distinct-inputs N",
                "samples to rotate over; 1 is the hot loop; default 8",
                value.whole(*ranges.DISTINCT),
            ),
            Flag("seed", "--seed N", "of the samples and the order; default 0", value.whole(*ranges.SEED)),
            Flag("no_check", "--no-check", "do not compare outputs with the reference; default compared"),
        ),
    ),
    (
        "How long and how precisely",
        (
            Flag("quick", "--quick", _effort("quick")),
            Flag("precise", "--precise", f"{_effort('precise')}; default {_effort('default')}"),
            Flag(
                "target", "--target PCT", "another half-width of the 95 % interval to stop at; default 2", value.percent
            ),
            Flag(
                "time_s",
                "-t --time SEC",
                "measured time per cell, shared among its executions, instead of "
                "a target; default until the target is met",
                value.decimal(*ranges.TIME_S, "seconds"),
            ),
            Flag(
                "warmup_s",
                "-w --warmup_time SEC",
                f"longest warm-up of each execution; default "
                f"{_DEFAULT.warmup_s:g}, {_QUICK.warmup_s:g} with --quick, {_PRECISE.warmup_s:g} with --precise",
                value.decimal(*ranges.WARMUP_S, "seconds"),
            ),
            Flag(
                "executions",
                "--executions K",
                f"exactly K fresh processes per cell; default {_DEFAULT.min_executions} to {_DEFAULT.max_executions}",
                value.whole(*ranges.EXECUTIONS),
            ),
            Flag(
                "max_time_s",
                "--max-time SEC",
                "end the whole command after this; default no limit",
                value.decimal(*ranges.MAX_TIME_S, "seconds"),
            ),
            Flag(
                "timeout_scale",
                "--timeout FACTOR",
                "stretch the limits for hanging loads and calls; default 1",
                value.decimal(*ranges.TIMEOUT_SCALE, "a factor"),
            ),
            Flag(
                "memory_bytes",
                "--memory-limit SIZE",
                "address space of one worker, such as 8GB; default from what is free",
                value.size,
            ),
        ),
    ),
    (
        "What comes out",
        (
            Flag(
                "export_path",
                "-x --export_path FILE",
                "write the result: .csv, .md, any other name JSON, - stdout; default none",
            ),
            Flag("json", "--json", "the result as JSON on stdout instead of lines"),
            Flag("quiet", "-q --quiet", "nothing on stderr but errors"),
            Flag("ascii", "--ascii", "plain ASCII only"),
            Flag("dry_run", "--dry-run", "print cells, order, seconds and memory (--json: as JSON); measure nothing"),
            Flag("keep_raw", "--keep-raw", "keep every sample; default at most 65,536 per execution"),
            Flag("compare_to", "--compare-to ID", "afterwards, side by side with a stored benchmark; default none"),
            Flag("debug", "--debug", "show the traceback of an error"),
        ),
    ),
    (
        "Where it is kept, and when it runs",
        (
            Flag("name", "--name TEXT", "what to call it in lists; default none", value.label),
            Flag("note", "--note TEXT", "what to remember of it; default none"),
            Flag("project", "--project NAME", "where it belongs; default the project of its model", value.label),
            Flag("no_save", "--no-save", "do not keep the result in the store; default kept"),
            Flag("detach", "--detach", "start it, print its id and return; it goes on when you log out"),
            Flag(
                "wait_s",
                "--wait SEC",
                "for another benchmark on this machine to end, then give up with exit 7; default as long as it takes",
                value.decimal(*ranges.WAIT_S, "seconds"),
            ),
            Flag("no_wait", "--no-wait", "exit 7 at once where another benchmark is measuring"),
            Flag("share_host", "--share-host", "measure beside another benchmark; recorded in the result"),
        ),
    ),
)

FLAGS: tuple[Flag, ...] = tuple(flag for _, flags in GROUPS for flag in flags)

RERUN_FLAGS: tuple[Flag, ...] = (
    Flag("changed", "--changed", "measure a model that was changed since as a new version of it; default refused"),
    Flag(
        "paths",
        "--model PATH",
        "where a model lies now; may be repeated; default where it was measured",
        many="each",
    ),
)
"""What only `tuibench rerun` takes, besides all of the above."""

LATER_FLAGS = (
    "--opt",
    "--require-grade",
)
"""Known and not built."""
