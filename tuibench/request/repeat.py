"""The command that repeats a run, made from its spec: it spells every setting, so changed defaults change nothing."""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence

from tuibench.core.spec import EFFORTS, BenchmarkSpec, Effort
from tuibench.request.profile_flag import profile_words


def again(spec: BenchmarkSpec) -> str:
    """Return a shell line that reads back to an equal spec in the same directory on the same machine."""
    return shlex.join(command_words(spec, [source.asked for source in spec.models]))


def command_words(spec: BenchmarkSpec, models: Sequence[str]) -> list[str]:
    """Return the unquoted words of that line, with `models` as the names of the models."""
    if spec.profile is not None:
        name, flags = "profile", list(profile_words(spec))
    else:
        name, flags = "benchmark", list(benchmark_words(spec))
    # A name that looks like a flag must stand behind the flags.
    guarded = any(model.startswith("-") for model in models)
    return ["tuibench", name, *flags, "--", *models] if guarded else ["tuibench", name, *models, *flags]


def benchmark_words(spec: BenchmarkSpec) -> Iterator[str]:
    """Yield the flags of `tuibench benchmark` that spell every setting of `spec`."""
    yield from (*_axes(spec), *_running(spec), *_effort(spec.effort), *_feeding(spec), *_bounds(spec))


def _axes(spec: BenchmarkSpec) -> Iterator[str]:
    yield from ("-e", _list(spec.engines), "-s", _list(spec.scenarios), "-ncores", _list(spec.cores))
    if spec.batches:
        yield from ("-b", _list(spec.batches))
    if spec.sequence_lengths:
        yield from ("-seq_len", _list(spec.sequence_lengths))
    for name, values in spec.dims:
        yield f"--dim={name}={_list(values)}"


def _running(spec: BenchmarkSpec) -> Iterator[str]:
    if spec.streams is not None:
        yield from ("-nstreams", str(spec.streams))
    if spec.stream_kind is not None:
        yield from ("--stream-kind", spec.stream_kind)
    yield from ("-pin", spec.pin, "--precision", spec.precision)
    if spec.io is not None:
        yield from ("--io", spec.io)


def _effort(effort: Effort) -> Iterator[str]:
    base = EFFORTS[effort.name] if effort.name in EFFORTS else EFFORTS["default"]
    if base.name != "default":
        yield f"--{base.name}"
    if effort.target is None:
        count = effort.max_executions
        total = _shortest(effort.timed_s * count, effort.timed_s, lambda seconds: seconds / count)
        yield from ("--executions", str(count), "-t", total)
    else:
        yield from ("--target", _shortest(effort.target * 100, effort.target, lambda percent: percent / 100))
    yield from ("-w", _plain(effort.warmup_s))


def _feeding(spec: BenchmarkSpec) -> Iterator[str]:
    inputs = spec.inputs
    yield from ("--seed", str(inputs.seed), "--distinct-inputs", str(inputs.distinct))
    if inputs.file is not None:
        yield f"--inputs={inputs.file}"
    if inputs.shapes:
        yield from ("-shapes", ",".join(f"[{_list(shape)}]" for shape in inputs.shapes))
    if inputs.batch_dim is not None:
        yield f"--batch-dim={inputs.batch_dim}"


def _bounds(spec: BenchmarkSpec) -> Iterator[str]:
    if spec.limits.max_time_s is not None:
        yield from ("--max-time", _plain(spec.limits.max_time_s))
    if spec.limits.timeout_scale != 1:
        yield from ("--timeout", _plain(spec.limits.timeout_scale))
    if spec.limits.memory_bytes is not None:
        yield from ("--memory-limit", str(spec.limits.memory_bytes))
    if not spec.check:
        yield "--no-check"
    if spec.keep_raw:
        yield "--keep-raw"


def _list(values: Iterable[object]) -> str:
    return ",".join(str(value) for value in values)


def _plain(value: float) -> str:
    """The shortest text that reads back to `value`."""
    return str(int(value)) if value == int(value) and value < 1e15 else repr(value)


def _shortest(guess: float, wanted: float, read: Callable[[float], float]) -> str:
    """The shortest number near `guess` that `read` turns into exactly `wanted`: dividing and multiplying round."""
    rounded = (float(f"{guess:.{digits}g}") for digits in range(1, 18))
    up, down = math.nextafter(guess, math.inf), math.nextafter(guess, 0)
    for candidate in (*rounded, up, down, math.nextafter(up, math.inf), math.nextafter(down, 0)):
        if read(candidate) == wanted:
            return _plain(candidate)
    return _plain(guess)
