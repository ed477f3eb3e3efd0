"""Help at 80 columns, made from the table of flags so that it always matches the parser."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from tuibench.cli import command
from tuibench.core.settings import benchmark as benchmark_setting
from tuibench.core.settings import profile as profile_setting
from tuibench.core.settings.model_token import SAMPLES
from tuibench.core.settings.setting import Group, Setting

_WIDTH = 79
_LEFT = 27
_USAGE = 29

_ROOT = """\
tuibench: measure ONNX models on the CPU of this machine

Dashboard
  tuibench                       dashboard: projects, benchmarks and runs
  tuibench PATH                  dashboard: benchmark form of a model
    --mouse, --no-mouse          turn the mouse on or off [off over SSH]
    --ascii                      print plain ASCII only [by locale]
    --debug                      show the traceback of an error

{commands}
  tuibench benchmark sample      try it on the built-in model
  tuibench COMMAND --help        flags of a command, with defaults
  tuibench --version

ID is the short id in the list, the start or end of the long id, a name, last,
last~1, or ID~ (the original of the re-run ID).
"""

_INTRO = """\
tuibench benchmark: measure how fast ONNX models run on this machine

  tuibench benchmark MODEL [MODEL ...] [flags]

  MODEL is an .onnx file, a directory with a model.onnx, or a built-in one:
  {samples} (sample:? lists them);
  https://... and hf:ORG/REPO[/FILE] are downloaded once and cached.
  Several models are interleaved and compared with the first.
  Defaults are in brackets.
"""

_RERUN = """\
tuibench rerun: repeat a stored benchmark or profile

  tuibench rerun ID [flags]

  Uses the stored settings, name and project. Flags of tuibench benchmark
  replace single settings. At the end both results are compared.
  A changed or missing model is an error unless you pass:
"""

_RERUN_OUTRO = """\
Also accepts all flags of tuibench benchmark: tuibench benchmark --help.
--quick and --precise replace all settings of the effort.

Examples
  tuibench rerun last
  tuibench rerun 4k2p -b 1,8,32 --precise
  tuibench rerun 4k2p --model /elsewhere/model.onnx
"""

_OUTRO = """\
--batch_size and --batch-size are the same; so are -b8, -b 8, --batch-size=8.
Results go to stdout, everything else to stderr.

Examples
  tuibench benchmark model.onnx
  tuibench benchmark model.onnx -ncores 1,2,max -b 1,8 --quick -x sweep.csv
  tuibench benchmark model.onnx -e onnxruntime,openvino -s sync
  tuibench benchmark fp32.onnx int8.onnx -seq_len 32,64,128
  tuibench benchmark model.onnx --executions 1 -t 10 -w 2 -s async -nstreams 8

Exit codes: 0 ok, 1 some cells failed, 2 usage, 3 model, 4 engine, 5 timeout,
6 cannot write, 7 host busy, 130 interrupted. After 2 to 5 nothing was
measured.
"""


def root_help() -> str:
    """Return the text of `tuibench --help`."""
    return _ROOT.format(commands="\n".join(_commands(title, commands) for title, commands in command.GROUPS))


def _commands(title: str, commands: Sequence[command.Command]) -> str:
    rows = [f"  {one.usage:<{_USAGE}}  {one.text}\n" for one in commands]
    return "".join([f"{title}\n", *rows])


def benchmark_help() -> str:
    """Return the text of `tuibench benchmark --help`: every flag with its default, in groups."""
    intro = _INTRO.format(samples=", ".join(SAMPLES))
    return "\n".join([intro, *group_texts(benchmark_setting.GROUPS), _OUTRO])


def group_texts(groups: Iterable[Group]) -> Iterator[str]:
    """Yield each group of the help: its heading and its flags."""
    for group in groups:
        yield "".join(
            f"{line}\n" for line in (group.title, *(line for one in group.settings for line in flag_lines(one)))
        )


def rerun_help() -> str:
    """Return the text of `tuibench rerun --help`."""
    own = "\n".join(line for one in benchmark_setting.RERUN for line in flag_lines(one)) + "\n"
    return f"{_RERUN}\n{own}\n{_RERUN_OUTRO}"


def flag_lines(setting: Setting) -> list[str]:
    """Return a flag's lines: its spellings, its description, and its default in brackets."""
    left = "  " + ", ".join(setting.flags) + (f" {setting.metavar}" if setting.metavar else "")
    right = textwrap.wrap(setting.help_text, _WIDTH - _LEFT - 2, break_on_hyphens=False)
    if len(left) <= _LEFT:
        return [f"{left:<{_LEFT}}  {right[0]}", *(f"{'':<{_LEFT}}  {line}" for line in right[1:])]
    return [left, *(f"{'':<{_LEFT}}  {line}" for line in right)]


_PROFILE_HELP_INTRO = """\
tuibench profile: measure the time of a model layer by layer

  tuibench profile MODEL [flags]

  MODEL as in tuibench benchmark: a file, a directory, https://..., hf:...,
  or a built-in one: {samples}.
  Defaults are in brackets.
"""

_PROFILE_HELP_OUTRO = """\
A profile has one engine, one batch size and one core count. It is saved like
a benchmark: tuibench list --profiles, show, export, compare, rerun, remove.
--flops and --loss --approximate compute at once and save nothing; they accept
only flags of the model and of the output.

Examples
  tuibench profile model.onnx
  tuibench profile model.onnx --flops -b 8
  tuibench profile model.onnx --what-if int8 -ncores 4 -x layers.csv
  tuibench profile model.onnx --loss --inputs calibration.npz --budget
  tuibench show last --summary-type "potential %" --sort gflops --filter Conv
  tuibench show last --layer 37

Exit codes: 0 ok, 1 some parts failed, 2 usage, 3 model, 4 engine, 5 timeout,
6 cannot write, 7 host busy, 130 interrupted. After 2 to 5 nothing was
measured.
"""


def profile_help() -> str:
    """Return every flag with its default, in groups."""
    intro = _PROFILE_HELP_INTRO.format(samples=", ".join(SAMPLES))
    return "\n".join([intro, *group_texts(profile_setting.GROUPS), _PROFILE_HELP_OUTRO])


PAGES: Mapping[str, Callable[[], str]] = {
    "": root_help,
    "benchmark": benchmark_help,
    "rerun": rerun_help,
    "profile": profile_help,
}
"""Help texts by command; "" is the one of `tuibench --help`."""
