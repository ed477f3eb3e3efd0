"""Text of `tuibench profile --help`, made from the table of flags."""

from __future__ import annotations

from tuibench.cli.help import group_texts
from tuibench.core import profile_setting
from tuibench.request.sample import SAMPLES

_INTRO = """\
tuibench profile: where the time of a model goes, layer by layer

  tuibench profile MODEL [flags]

  MODEL as in tuibench benchmark: a file, a directory, https://..., hf:...,
  or a built-in one: {samples}.
  Defaults stand in brackets.
"""

_OUTRO = """\
A profile is of one engine, one batch size and one core count. It is kept like
a benchmark: tuibench list --profiles, show, export, compare, rerun, remove.
--flops and --loss --approximate answer at once and keep nothing; they take
flags about the model and about what comes out, and refuse the others.

Examples
  tuibench profile model.onnx
  tuibench profile model.onnx --flops -b 8
  tuibench profile model.onnx --what-if int8 -ncores 4 -x layers.csv
  tuibench profile model.onnx --loss --inputs calibration.npz --budget
  tuibench show last --summary-type "potential %" --sort gflops --filter Conv
  tuibench show last --layer 37

Exit codes: 0 ok, 1 some parts failed, 2 usage, 3 model, 4 engine, 5 timeout,
6 cannot write, 7 host busy, 130 interrupted; above 1 only where nothing was
measured.
"""


def profile_help() -> str:
    """Return every flag with its default, in groups."""
    intro = _INTRO.format(samples=", ".join(SAMPLES))
    return "\n".join([intro, *group_texts(profile_setting.GROUPS), _OUTRO])
