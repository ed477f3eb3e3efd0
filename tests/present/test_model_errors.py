"""The words of errors of models, inputs, downloads and imported files, as a person reads them."""

from __future__ import annotations

import pytest

from tuibench.core.reason import Reason, because, error_text, legacy_text
from tuibench.present.reason import reason_hint, reason_words

MISSING = because("path_missing", what=because("model_file", path="m.onnx"))
X = because(
    "input_with_type", name="x", dtype="float32", shape=because("input_shape", kind="tensor", dims=["b", 3, None])
)
TEXT = because("input_with_type", name="t", dtype="string", shape=because("input_shape", kind="tensor", dims=None))
LARGE = because("input_too_large", name="x", dtype="float32", shape=[10**6, 10**6], bytes=4 * 10**12, free_bytes=10**10)
REMOTE = {"repository": "o/r", "models": [because("remote_file", path="a.onnx", bytes=1000)]}
ADDRESS = "https://h/m.onnx"
PLACE = {"path": "f.npz", "name": "x"}
SCHEMA = because("import_of_other_schema", schema=4, version="0.5.0", newest=2)
AGAIN = "export it again; a file that was edited by hand may be invalid"


def with_fields(reason: Reason, **fields: object) -> Reason:
    return Reason(reason.code, reason.fields | fields)


@pytest.mark.parametrize(
    ("reason", "message", "hint"),
    [
        (MISSING, "model m.onnx does not exist", "check the path"),
        (
            because(
                "path_not_regular", what=because("inputs_file", path="f"), kind=Reason("kind_pipe"), extension="npz"
            ),
            "--inputs f is a pipe, not a regular file",
            "pass the path of an .npz file",
        ),
        (
            because("path_missing", what=because("external_data", path="w.bin", model="m.onnx")),
            "external data w.bin of m.onnx does not exist",
            "check the path",
        ),
        (
            because("model_of_other_format", path="m", format="pickle"),
            "m is a Python pickle, not an ONNX model",
            "export the model to ONNX first",
        ),
        (
            because("model_unparsable", path="m", bad_name=True),
            "m is not a readable ONNX model: a name in it is not valid UTF-8",
            "fetch or export it again",
        ),
        (
            with_fields(LARGE, has_batch=False, dims=[]),
            (
                "input 'x' of float32 1000000x1000000 needs 4.00 TB, 10.0 GB are free;"
                " the model fixes it to [1000000, 1000000]"
            ),
            "",
        ),
        (
            with_fields(LARGE, has_batch=True, dims=["seq"]),
            "input 'x' of float32 1000000x1000000 needs 4.00 TB, 10.0 GB are free; choose less with -b … --dim seq=…",
            "",
        ),
        (
            because(
                "no_size_accepted",
                count=4,
                inputs=[X, TEXT],
                dims=["x:2"],
                why=because("reference_refused", why=error_text("wrong size")),
            ),
            (
                "none of 4 sizes tried for 'x' float32 [b, 3, ?], 't' string any shape was accepted;"
                " pass --dim x:2=… or --inputs FILE.npz (ONNX Runtime: wrong size)"
            ),
            "",
        ),
        (
            because("array_of_other_shape", path="f.npz", name="x", given=[5, 2, 7], shape=[1, 3]),
            "--inputs f.npz: input 'x' is [5, 2, 7], the model takes [1, 3]",
            "[samples, 3] is an array of several samples",
        ),
        (
            because("array_missing", path="f.npz", name="x", inputs=[X]),
            "--inputs f.npz has no array 'x'",
            "the model's inputs: 'x' float32 [b, 3, ?]",
        ),
        (
            because("array_incomplete", **PLACE, shape=[2, 4], dtype="float32", bytes=31),
            "--inputs f.npz: array 'x' cannot be read: its header says [2, 4] of float32, the file contains 31 B of it",
            "write it again with numpy.savez",
        ),
        (
            because("sample_counts_differ", path="f.npz", counts=[2, 3]),
            "--inputs f.npz: the inputs have different counts of samples: [2, 3]",
            "",
        ),
        (
            because("no_run_recorded", events=10),
            "no inference was recorded completely: its profiler stops at 10 events",
            "use inputs with fewer loop iterations",
        ),
        (
            because("unsupported_precision", engine="openvino", precision="f11", names=["f32", "engine-default"]),
            "openvino has no precision 'f11' on the CPU; it takes f32 or engine-default",
            "",
        ),
    ],
)
def test_errors_of_models_and_inputs(reason: Reason, message: str, hint: str) -> None:
    assert (reason_words(reason), reason_hint(reason)) == (message, hint)


@pytest.mark.parametrize(
    ("reason", "message", "hint"),
    [
        (
            because("repository_with_several", **REMOTE, count=10, more=2),
            "hf:o/r has 10 models",
            "name one, as hf:o/r/FILE: a.onnx (1.00 kB) and 2 more",
        ),
        (
            because("repository_without_file", repository="o/r", file="b.onnx", models=[], more=0),
            "hf:o/r has no b.onnx",
            "it has no model",
        ),
        (
            because("download_interrupted", address=ADDRESS, why=because("no_data", s=0.2), bytes=7, of_bytes=1000),
            "the download of https://h/m.onnx was interrupted (no data for 0.2 s) after 7 B of 1.00 kB",
            "try it again",
        ),
        (
            because("download_too_long", address=ADDRESS, bytes=10**6, is_least=True),
            "https://h/m.onnx has more than 1.00 MB, more than the 2 GB that the format of a model allows",
            "check that the address is that of a model",
        ),
        (
            because("no_room_for_download", address=ADDRESS, path="/c", bytes=300_000, free_bytes=0),
            "https://h/m.onnx needs 300 kB more, and 0 B can be used in /c",
            "free some space, or set TUIBENCH_HOME elsewhere",
        ),
        (
            because("download_differs", address=ADDRESS, sha256="1" * 64, expected="0" * 64),
            "https://h/m.onnx has SHA-256 111111111111…, expected 000000000000…",
            "it changed during the download; fetch it again",
        ),
    ],
)
def test_errors_of_downloads(reason: Reason, message: str, hint: str) -> None:
    assert (reason_words(reason), reason_hint(reason)) == (message, hint)


@pytest.mark.parametrize(
    ("reason", "message", "hint"),
    [
        (Reason("import_empty"), "is empty", "export or download it again"),
        (because("import_unreadable", text="File name too long"), "cannot be read: file name too long", ""),
        (
            SCHEMA,
            "has schema 4, written by tuibench 0.5.0; this version imports schemas up to 2",
            "import it with that version, or with a newer one",
        ),
        (
            with_fields(SCHEMA, schema=0, version=None),
            "has schema 0, written by another version of tuibench; this version imports schemas up to 2",
            AGAIN,
        ),
        (
            because("value_of_other_type", place="a.b", expected="whole_number", given=True, type=None),
            "a.b is true, not a whole number",
            AGAIN,
        ),
        (
            because("none_of_names", place="a.status", given="\x1b[31m", type=None, names=["ok", "failed"]),
            "a.status is '\\e[31m', none of ok, failed",
            AGAIN,
        ),
        (
            because("number_out_of_range", place="a[0]", given=7.0, low=0.0001, high=1),
            "a[0] is 7.0; allowed is 0.0001 to 1",
            AGAIN,
        ),
        (
            because("number_out_of_range", place="a", given=-5, low=0.0, high=None),
            "a is -5; allowed is at least 0",
            AGAIN,
        ),
        (
            because("foreign_scenario_unknown", place="scenario", names=["singlestream", "elastic"]),
            "scenario is none of singlestream, elastic",
            "import takes files that deepsparse.benchmark 0.10 to 1.8 wrote with -x",
        ),
    ],
)
def test_errors_of_imported_files_follow_the_name_of_the_file(reason: Reason, message: str, hint: str) -> None:
    named = with_fields(reason, subject="x\x1b.json:")
    assert (reason_words(named), reason_hint(named)) == ("x\\e.json: " + message, hint)


def test_notes_of_profiles_and_those_of_older_records_have_the_same_words() -> None:
    old = "3 of 5 profiled runs: the profiler's file lacks the others, which stops at 1,000,000 events"
    new = because("runs_not_recorded", count=3, of=5, events=1_000_000)
    assert reason_words(new) == reason_words(legacy_text(old)) == old
    assert reason_words(because("fewer_profiled_runs", count=1, of=5)).startswith("1 profiled run instead of 5: ")


@pytest.mark.parametrize("code", ["reference_refused", "reference_failed", "unoptimized_refused", "io_unavailable"])
def test_causes_of_older_records_have_the_same_words(code: str) -> None:
    old, new = because(code, text="no kernel"), because(code, why=error_text("no kernel"))
    assert reason_words(old) == reason_words(new) and reason_words(new).endswith(": no kernel")


@pytest.mark.parametrize(
    ("share", "has_bound", "words"),
    [
        (1.254, True, "the layers add up to 125 % of the unprofiled time, too far from it to be scaled"),
        (0.5, False, "the layers add up to 50 % of the unprofiled time, too far from it to be scaled"),
        (None, True, "the layers add up to an unknown share of the unprofiled time, too far from it to be scaled"),
    ],
)
def test_sum_of_layers_too_far_to_scale(share: float | None, has_bound: bool, words: str) -> None:
    end = "" if has_bound else ", and no bound follows from them"
    assert reason_words(because("sum_too_far_to_scale", share=share, has_bound=has_bound)) == words + end
