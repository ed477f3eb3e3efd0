"""Makes the command that repeats a run. The command spells every setting, so it survives changed defaults."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from tuibench.core import benchmark_setting
from tuibench.core.spec import BenchmarkSpec
from tuibench.request.profile_flag import profile_words
from tuibench.request.translation import to_values


def again(spec: BenchmarkSpec) -> str:
    """Return a shell line that reads back to an equal spec in the same directory on the same machine."""
    return shlex.join(command_words(spec, [source.asked for source in spec.models]))


def command_words(spec: BenchmarkSpec, models: Sequence[str]) -> list[str]:
    """Return the unquoted words of that line, with `models` as the names of the models."""
    if spec.profile is not None:
        name, flags = "profile", list(profile_words(spec))
    else:
        name, flags = "benchmark", list(benchmark_words(spec))
    # A model that looks like a flag must follow the flags.
    guarded = any(model.startswith("-") for model in models)
    return ["tuibench", name, *flags, "--", *models] if guarded else ["tuibench", name, *models, *flags]


def benchmark_words(spec: BenchmarkSpec) -> Iterator[str]:
    """Yield the flags of `tuibench benchmark` that spell every setting of `spec`."""
    known = benchmark_setting.by_name()
    for name, value in to_values(spec).items():
        yield from known[name].words(value)
