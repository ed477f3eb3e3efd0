"""Words of errors of saved results, run control, forms and profiles that a template alone does not make."""

from __future__ import annotations

import pytest

from tuibench.core import activity
from tuibench.core.errors import TuibenchError
from tuibench.core.reason import Reason, because, error_text
from tuibench.present.error.control import CONTROL_ERRORS
from tuibench.present.error.form import FORM_ERRORS
from tuibench.present.error.library import LIBRARY_ERRORS
from tuibench.present.error.words import error_line

ONE, TWO = "01M3250VZ80009WDVSQ5ZMAB12", "01M3250VZ80009WDVSQ5ZMCD34"
HOSTILE = "\x1b[2J\nit"
ALIVE = {"state": activity.RUNNING, "resumable": False}
BROKEN = {"state": activity.INTERRUPTED, "resumable": True}
DIED = because("died", signal="SIGSEGV")


@pytest.mark.parametrize(
    ("reason", "line"),
    [
        # Saved results
        (because("several_called", noun="benchmark", given="night", count=2, names=["ab12", "cd34"]),
         "2 benchmarks are called night; type the id of one: ab12, cd34"),
        (because("several_called", noun="benchmark", given="night", count=9, names=["ab12"]),
         "9 benchmarks are called night; type the id of one: ab12 and 8 more"),
        (because("run_not_in_store", given="mine", run=ONE, **ALIVE),
         "mine is a run that is not in the store: it is running; tuibench attach ab12 follows it to its end"),
        (because("without_measurements", given="mine", run=ONE, **BROKEN),
         ("mine has no measurements; tuibench export ab12 -x FILE writes the partial result, "
         "tuibench resume ab12 measures the rest")),
        (because("runs_still_running", ids=[ONE]),
         "ab12 is still running; tuibench cancel ID ends a run and saves its measurements"),
        (because("runs_still_running", ids=[ONE, TWO]),
         "ab12, cd34 are still running; tuibench cancel ID ends a run and saves its measurements"),
        (because("runs_not_saved", ids=[ONE, TWO], first=ONE),
         "ab12, cd34: the measurements are not saved yet; tuibench resume ab12 saves them"),
        (because("target_unwritable", path="a/b", text="No such file or directory", missing=True),
         "a/b cannot be written: no such file or directory; make its directory first"),
        (because("target_unwritable", path="a\tb", text="", missing=False),
         "a\\tb cannot be written: ; choose another file"),
        (because("child_died", task="inspect", file="m.onnx", why=DIED, tail="last words"),
         "m.onnx: reading the model failed: died by SIGSEGV; last words"),
        (because("child_died", task="fetch", file="m.onnx", why=DIED, tail=None),
         "fetching m.onnx failed: died by SIGSEGV; try it again"),
        (because("child_died", task="cost", file="m.onnx", why=DIED, tail=None),
         "m.onnx: reading its layers failed: died by SIGSEGV"),
        # Measured again
        (because("measured_model_gone", path="/a/m.onnx", id=ONE),
         "/a/m.onnx, which ab12 measured, is missing; tuibench rerun ab12 --model PATH gives its new path"),
        (because("model_file_gone", path="/a/m.onnx", id=ONE),
         "m.onnx is missing: tuibench rerun ab12 --model PATH gives its new path (was /a/m.onnx)"),
        (because("model_file_gone", path="/a/m.onnx", id=None),
         "m.onnx is missing: press R and enter its new path (was /a/m.onnx)"),
        (because("model_lost", why=because("child_died", task="hash", file="m", why=DIED, tail=None)),
         "reading m failed: died by SIGSEGV; press R and enter its new path"),
        # Run control
        (because("no_run_directory", where="/tmp", why=Reason("directory_shared")),
         ("no directory for the run can be made in /tmp: the directory belongs to another user, or others may write "
         "there; set TMPDIR to a directory that can be written to")),
        (because("no_run_directory", where="", why=None),
         ("no temporary directory can be used: no reason is known; "
         "set TMPDIR to a directory that can be written to")),
        (because("ended_before_start", why=because("runner_exited", exit_code=3, output=None), output="oh\n"),
         "the runner ended with code 3 before the run began (oh\\n)"),
        (because("ended_unplanned", run=ONE, why=because("runner_exited", exit_code=3, output=None)),
         "the runner ended with code 3 before the run was planned"),
        (because("ended_unplanned", run=ONE, why=None), "run ab12 ended before it was planned"),
        (because("run_in_state", run=ONE, state="waiting", asked="discard", resumable=False),
         "run ab12 is queued; tuibench cancel ab12 ends it"),
        (because("run_in_state", run=ONE, state="unsaved", asked="finish", resumable=True),
         "run ab12 is unsaved; tuibench resume ab12 --finish saves the partial result"),
        (because("run_in_state", run=ONE, state="finished", asked="extend", resumable=False),
         "run ab12 is finished; tuibench rerun ab12 measures it again"),
        (because("run_in_state", run=ONE, state="finished", asked="finish", resumable=False),
         "run ab12 is finished; tuibench show ab12 prints its result"),
        (because("run_in_state", run=ONE, state="interrupted", asked="cancel", resumable=True),
         "run ab12 is interrupted; tuibench resume ab12 measures the rest; tuibench remove ab12 deletes it"),
        (because("run_in_state", run=ONE, state="cancelled", asked="finish", resumable=False),
         "run ab12 is cancelled; tuibench ps --all lists it"),
        (because("not_resumable", run=ONE, why=Reason("finished_and_saved"), state="finished", executions=2),
         "run ab12 cannot be resumed: it is finished and saved; tuibench rerun ab12 measures it again"),
        (because("not_resumable", run=ONE, why=Reason("cancelled_unmeasured"), state="cancelled", executions=0),
         "run ab12 cannot be resumed: it was cancelled before anything was measured; start it again"),
        (because("journal_unread", run=ONE, why=None),
         "run ab12: its journal cannot be read; tuibench remove ab12 removes it"),
        (because("journal_unread", run=ONE, why=Reason("journal_unreadable")),
         ("run ab12 cannot be read: its journal is damaged: no event in it can be read; "
         "tuibench remove ab12 removes it")),
        (because("events_inconsistent", run=ONE, why=error_text("KeyError 'x'")),
         ("run ab12: its journal is inconsistent: KeyError 'x'; "
         "use the version that wrote it, or tuibench remove ab12")),
        (because("run_elsewhere", run=ONE, why=because("other_machine", host="ab"), silent_s=61.0),
         "run ab12 is on another machine, host ab, last heartbeat 61 s ago; attach to it on that machine"),
        (because("more_time_out_of_range", subject="--by", given=0.0, most_s=60),
         "--by 0.0 s is out of range; give more than 0 s and at most 60 s"),
        (because("making_inputs_died", model="m", why=because("no_answer", s=30.4), late=True, tail="last words"),
         "m: making inputs failed: no answer within 30 s; a larger --timeout waits longer; 2 doubles the default"),
        (because("reading_died", model="m", why=DIED, late=False, tail="last words"),
         "m: reading the model failed: died by SIGSEGV; last words"),
        # Forms, profiles, dashboard
        (because("form_field", field="cores", why=error_text("takes 1 to 2")), "cores: takes 1 to 2"),
        (because("not_one_of", subject="--value", given="pie", allowed=["log", "values"]),
         "--value takes log or values, not 'pie'"),
        (because("unknown_layer", given="conv", similar=["conv1\t", "conv2"]),
         "no layer is called 'conv'; such as conv1\\t, conv2"),
        (because("unknown_layer", given="7", similar=[]),
         "no layer is called '7'; give its number (#), the name of one of its nodes, or of its weight"),
        (because("profiles_unlike", kinds=["loss", ""]),
         "loss and a benchmark cannot be compared; mark two profiles of one kind"),
        (because("profiles_empty", ids=[ONE, TWO]),
         ("ab12 and cd34 are empty: they ended before there was anything to show; "
         "mark two that have layers; r makes one again")),
    ],
)  # fmt: skip
def test_error_has_message_and_hint(reason: Reason, line: str) -> None:
    assert error_line(TuibenchError.from_reason(reason)) == line


@pytest.mark.parametrize("code", [*LIBRARY_ERRORS, *CONTROL_ERRORS, *FORM_ERRORS])
def test_no_field_drives_the_terminal(code: str) -> None:
    texts = ("address", "asked", "field", "file", "given", "kind", "model", "output", "path", "state", "tail", "target")
    fields = {
        **dict.fromkeys((*texts, "noun", "task", "text", "tool", "where"), HOSTILE),
        **dict.fromkeys(("benchmark", "first", "id", "run"), HOSTILE),
        **{key: [HOSTILE, HOSTILE] for key in ("allowed", "ids", "kinds", "names", "similar")},
        **dict.fromkeys(("count", "executions", "most", "most_s", "pid", "silent_s"), 2),
        **dict.fromkeys(("missing", "resumable"), True),
        "why": error_text(HOSTILE),
    }
    fields |= {"asked": "finish"}
    line = error_line(TuibenchError.from_reason(because(code, **fields)))
    assert line.isprintable() and f"{code.replace('_', ' ')}: address " not in line
