"""Words of errors of the command line, settings and dims that a template alone does not make."""

from __future__ import annotations

import pytest

from tuibench.core.dims import describe_inputs
from tuibench.core.errors import TooManyFiles, TuibenchError
from tuibench.core.model import Port
from tuibench.core.reason import Reason, because
from tuibench.core.roles import Layout
from tuibench.present.error.words import error_line, message_words

ID = "01M3250VZ80009WDVSQ5ZMAB12"
PORTS = (
    Port("x", "tensor", "float32", ("batch", 3, None)),
    Port("any", "tensor", "float32", None),
    Port("s\x1b[2J", "sequence", "float32", None),
)


@pytest.mark.parametrize(
    ("reason", "line"),
    [
        (
            because("unknown_flag", flag="-q", similar=[], command="show"),
            "unknown flag -q; tuibench show --help lists all",
        ),
        (
            because("unknown_flag", flag="--bach", similar=["--batch", "-b"], command="benchmark"),
            "unknown flag --bach; did you mean --batch or -b?",
        ),
        (
            because("unknown_command", given="x\n", similar=None),
            "unknown command 'x\\n'; tuibench --help lists the commands",
        ),
        (because("confirmation_needs_terminal", command="tuibench remove", lost=""),
         "tuibench remove needs a terminal for its confirmation; tuibench remove -y skips it"),
        (because("id_empty", noun="run", ids=[], count=0), "no run is given"),
        (because("id_unknown", noun="run", given="q", ids=[ID], count=1), "no run is called q; the newest: ab12"),
        (because("id_repeats_none", noun="benchmark", id=ID),
         "benchmark ab12 repeats no other; use the id without ~"),
        (because("system_error", text="No space left", path=None), "No space left"),
        (because("system_error", text="No space left", path="/a\tb"), "No space left: /a\\tb"),
        (because("directory_without_model", path="d", found=None),
         "d is a directory without a model.onnx; give the path of an .onnx file"),
        (because("path_failed", subject="--inputs", path="a.npz", text="File name too long"),
         "--inputs a.npz: file name too long"),
        (because("not_a_regular_file", subject="", path="p", kind=Reason("kind_pipe"), is_model=True),
         "p is a pipe, not a file; give a model that is a regular file"),
        (because("not_of_a_kind", base=ID, base_kind="benchmark", new=ID, new_kind="loss profile"),
         ("ab12 is a benchmark and ab12 a loss profile: compare needs two of a kind; "
          "see tuibench list and tuibench list --profiles")),
        (because("not_one_of", subject="-s", allowed=["sync", "async"], given="x", is_list=True),
         "-s takes sync or async, not 'x'; separate several by commas"),
        (because("several", reasons=[because("value_needed", subject="-b"), because("model_without_name")]),
         "-b needs a value; a model with an empty name was given"),
        (because("not_one_of", subject="--what-if", allowed=["int8"], given="int4", is_list=True),
         "--what-if takes int8, not 'int4'"),
    ],
)  # fmt: skip
def test_error_has_message_and_hint(reason: Reason, line: str) -> None:
    assert error_line(TuibenchError.from_reason(reason)) == line


def test_inputs_of_a_model_are_listed_safely() -> None:
    error = TuibenchError("shapes_differ_in_number", given=1, count=3, inputs=describe_inputs(PORTS))
    assert error_line(error) == (
        "1 shape given, but the model has 3 inputs; its inputs: 'x' [batch, 3, ?], 'any' any shape, 's\\e[2J' sequence"
    )


def test_length_without_a_free_dim_names_the_dims() -> None:
    dims = Layout(PORTS[:1]).settable_dims()
    error = TuibenchError("no_free_length", subject="-seq_len 8:", fixed=None, dims=dims)
    assert message_words(error) == "-seq_len 8: no free dim for a sequence length (its dims: batch, x:2)"
    assert message_words(error, beside=True).startswith("no free dim")
    fixed = Layout((Port("x", "tensor", "float32", (1, 3)),)).settable_dims()
    assert (
        message_words(TuibenchError("dim_unknown", subject="--dim q:", dims=fixed))
        == "--dim q: the model has no such dim"
    )


def test_limit_of_open_files_is_read_when_raised_and_kept_when_passed_on() -> None:
    assert "too many open files: the limit of this process is " in error_line(TooManyFiles())
    passed = TooManyFiles.from_reason(because("too_many_open_files", limit=64, most=None))
    assert error_line(passed) == (
        "too many open files: the limit of this process is 64; "
        "ulimit -n 1024 raises it in this shell (at most unlimited)"
    )
