"""`tuibench profile` and the other commands over stored profiles."""

from __future__ import annotations

import json
import os
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.cli.shell import Done, Shell, until
from tests.runs import profile_script as roofs
from tests.runs.profile_script import make_profile_result, make_profile_spec
from tests.store.data import make_small
from tuibench.cli.profile import plan_json
from tuibench.core.errors import EngineError
from tuibench.core.profile import LOSS, ROOFLINE, ZEROS, ProfileSpec
from tuibench.core.spec import ModelSource
from tuibench.core.stored import Metadata
from tuibench.runs.profile.cache import MachineCache, describe_machine
from tuibench.services.api import Services
from tuibench.services.profiles import ProfilePlan

LOSSY = ProfileSpec(LOSS, levels=("pruned 0.5", "int8"))
SHORT = ("--processes", "1", "--runs", "2", "-ncores", "1")


@pytest.fixture
def stored(home: Path) -> Services:
    """Store a benchmark, two performance profiles and a loss profile, oldest first, in the test's home."""
    services = Services()
    services.store.benchmarks.add(make_small(1), Metadata(name="cells"))
    services.store.benchmarks.add(make_profile_result(2), Metadata(name="before"))
    services.store.benchmarks.add(make_profile_result(3, us=900.0), Metadata(name="after"))
    services.store.benchmarks.add(make_profile_result(4, LOSSY), Metadata(name="losses"))
    return services


def plain(done: Done) -> Any:
    assert done.code == 0, done.err
    return json.loads(done.out)


@pytest.mark.usefixtures("stored")
def test_benchmarks_and_profiles_have_separate_lists(quick: Shell) -> None:
    done = quick.run("list")
    assert [line.split()[0] for line in done.lines[1:]] == ["0001"]
    assert "--profiles" in done.err
    done = quick.run("list", "--profiles")
    assert [line.split()[0] for line in done.lines[1:]] == ["0004", "0003", "0002"]
    found = plain(quick.run("list", "--profiles", "--json"))["benchmarks"]
    assert [row["kind"] for row in found] == ["loss", "performance", "performance"]
    assert [row["name"] for row in plain(quick.run("list", "--profiles", "after", "--json"))["benchmarks"]] == ["after"]


@pytest.mark.usefixtures("stored")
def test_show_sorts_and_limits_a_profile_by_its_flags(quick: Shell) -> None:
    done = quick.run("show", "before", "--ascii")
    assert done.code == 0 and done.out.isascii()
    assert "fc.weight" in done.out
    assert "fc.weight" not in quick.run("show", "before", "--top", "1").out
    first = quick.run("show", "before", "--sort", "gflops", "--top", "1").out
    assert "fc.weight" not in first
    refused = quick.run("show", "before", "--sort", "nonsense")
    assert refused.code == 2 and "columns:" in refused.err
    assert plain(quick.run("show", "before", "--json"))["benchmark"]["tuibench"]["profile"]["kind"] == "performance"


@pytest.mark.usefixtures("stored")
def test_show_flags_select_what_the_dashboard_keys_select(quick: Shell) -> None:
    done = quick.run("show", "before", "--summary-type", "flops", "--value", "%", "--filter", "gemm", "--reverse")
    assert "FLOPs" in done.out and "'gemm'" in done.out
    table = done.out.partition("Layer results")[2]
    assert "fc.weight" in table and "conv.weight" not in table
    down, up = (quick.run("show", "before", *more).out.partition("Layer results")[2] for more in ((), ("--reverse",)))
    assert (down.index("conv.weight") < down.index("fc.weight")) and (up.index("fc.weight") < up.index("conv.weight"))
    one = quick.run("show", "before", "--layer", "fc_out")
    assert one.code == 0 and "fc.weight" in one.out and "conv.weight" not in one.out
    assert quick.run("show", "losses", "--summary-type", "0.5").code == 0


@pytest.mark.usefixtures("stored")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("show", "before", "--layer", "fc_"), "such as fc_out"),
        (("show", "before", "--layer", "1", "--json"), "--layer and --json exclude each other"),
        (("show", "losses", "--summary-type", "0.9"), "--summary-type takes pruned 0.5, int8 or params, not '0.9'"),
        (("show", "cells", "--filter", "conv"), "--filter"),
        (("export", "before", "-x", "-", "--top", "1"), "--top"),
        (("export", "before", "-x", "x.csv", "--value", "log"), "--value"),
        (("export", "cells", "-x", "x.csv", "--top", "1"), "a benchmark has no layers to sort or filter"),
        (("export", "before", "-x", "x.md", "--sort", "nonsense"), "--sort takes a column"),
    ],
)
def test_unknown_selection_is_refused_with_the_valid_ones(
    quick: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    done = quick.run(*words)
    assert (done.code, done.out) == (2, "") and said in done.err
    assert list(tmp_path.glob("x.*")) == []


@pytest.mark.usefixtures("stored")
def test_export_holds_the_selection(quick: Shell, tmp_path: Path) -> None:
    table = tmp_path / "x.csv"
    assert quick.run("export", "before", "-x", str(table), "--sort", "ms", "--top", "1").code == 0
    assert len(table.read_text().splitlines()) == 2
    page = tmp_path / "x.md"
    assert quick.run("export", "losses", "-x", str(page), "--layer", "fc.weight").code == 0
    assert "## Layer 2: Gemm fc.weight" in page.read_text()
    assert "losses" in page.read_text(), "as its user calls it"


@pytest.mark.usefixtures("stored")
@pytest.mark.parametrize("one", ["before", "losses"])
def test_exported_profile_is_imported_unchanged(quick: Shell, tmp_path: Path, one: str) -> None:
    for form in ("json", "csv", "md"):
        assert quick.run("export", one, "-x", str(tmp_path / f"p.{form}")).code == 0
    assert "conv.weight" in (tmp_path / "p.csv").read_text() and "conv.weight" in (tmp_path / "p.md").read_text()
    other = {"TUIBENCH_HOME": str(tmp_path / "other")}
    done = quick.run("import", str(tmp_path / "p.json"), env=other)
    assert done.code == 0, done.err
    assert quick.run("export", "last", "-x", "-", env=other).out == (tmp_path / "p.json").read_text()


@pytest.mark.usefixtures("stored")
def test_only_two_profiles_of_one_kind_are_compared(quick: Shell) -> None:
    done = quick.run("compare", "before", "after")
    assert done.code == 0 and "conv.weight" in done.out
    assert done.out.index("(0002)") < done.out.index("(0003)") and "--top" not in done.out
    assert "--top" in quick.run("compare", "before", "after", "--top", "1").out
    pairs = plain(quick.run("compare", "before", "after", "--json"))["comparison"]["pairs"]
    assert {node for pair in pairs for node in pair["nodes"]} >= {"conv_out", "fc_out"}
    for base, new, words in (
        ("before", "losses", "is a performance profile and 0004 a loss profile"),
        ("cells", "before", "is a benchmark and 0002 a performance profile"),
    ):
        for form in ((), ("--json",)):
            refused = quick.run("compare", base, new, *form)
            assert (refused.code, refused.out) == (14, "") and words in refused.err
    same = quick.run("compare", "before", "0002")
    assert same.code == 2 and "--profiles" in same.err


@pytest.mark.usefixtures("stored")
@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("rerun", "before", "--quick"), 2, "--quick"),
        (("rerun", "cells", "--processes", "2"), 2, "--processes"),
        (("rerun", "before"), 3, "is missing"),
    ],
)
def test_rerun_takes_the_flags_of_its_kind(quick: Shell, words: tuple[str, ...], code: int, said: str) -> None:
    done = quick.call(*words)  # type: ignore[attr-defined]
    assert done.code == code and said in done.err


@pytest.mark.parametrize(
    ("flags", "code", "words"),
    [
        (("-b", "1,2"), 2, "-b takes one value here, not '1,2'"),
        (("--what-if", "fp8"), 2, "--what-if takes int8 or pruned, not 'fp8'"),
        (("--loss", "--level", "0.7"), 2, "--level takes pruned 0.5"),
        (("-b", "x", "--what-if", "fp8"), 2, "; --what-if"),
        (("-e", "openvino"), EngineError.exit_code, "openvino reports no layer times"),
        (("-e", "magic"), EngineError.exit_code, "unknown engine 'magic'"),
        (("--flops", "--detach"), 2, "--flops and --detach exclude each other"),
        (("--flops", "--what-if", "int8"), 2, "--flops and --what-if exclude each other"),
        (("--flops", "--runs", "3"), 2, "--flops and --runs exclude each other"),
        (("--flops", "-ncores", "1"), 2, "--flops and -ncores exclude each other"),
        (("--flops", "--wait", "3"), 2, "--flops and --wait exclude each other"),
        (("--flops", "--samples", "3"), 2, "--flops and --samples exclude each other"),
        (("--flops", "--no-save"), 2, "it is not saved; -x FILE writes it"),
        (("--loss", "--approximate", "-b", "8"), 2, "weights are the same at any size"),
        (("--loss", "--approximate", "--budget"), 2, "--approximate and --budget exclude each other"),
        (("--loss", "--approximate", "--flops"), 2, "--flops and --loss exclude each other"),
        (("--summary-type", "pie"), 2, "--summary-type takes baseline ms, potential ms"),
        (("--flops", "--summary-type", "INT8 ms"), 2, "--summary-type takes FLOPs, bytes or params"),
        (("--loss", "--level", "int8", "--summary-type", "0.9"), 2, "--summary-type takes int8 or params"),
        (("--value", "pie"), 2, "--value takes values, log or % of total"),
        (("--layer", "1", "--json"), 2, "--layer and --json exclude each other"),
        (("--approximate",), 2, "--approximate belongs to a loss profile"),
        (("--sort", "nonsense"), 2, "--sort takes a column"),
        (("--detach", "-x", "a.json"), 2, "--detach and -x exclude each other"),
    ],
)
def test_contradictory_flags_are_refused_before_anything_starts(
    quick: Shell, home: Path, flags: tuple[str, ...], code: int, words: str
) -> None:
    done = quick.call("profile", "sample:tiny", *flags)  # type: ignore[attr-defined]
    assert (done.code, done.out) == (code, "") and words in done.err
    assert not (home / "tuibench" / "state").exists()


def test_help_names_every_flag(quick: Shell) -> None:
    from tuibench.core.settings import profile as profile_setting

    done = quick.call("profile", "--help")  # type: ignore[attr-defined]
    assert done.code == 0 and max(map(len, done.lines)) <= 79
    assert all(name in done.out for one in profile_setting.settings() for name in one.flags)


def test_json_plan_names_the_model_as_typed() -> None:
    spec = make_profile_spec(Path("/cache/samples/tiny.onnx"))
    given = replace(spec, models=(ModelSource("sample:tiny", "/cache/samples/tiny.onnx"),))
    for each, name in ((given, "sample:tiny"), (spec, "tiny.onnx")):
        assert json.loads(plan_json(each, ProfilePlan(2.0, (), "")))["model"] == name


def test_costs_and_weights_need_no_run_and_leave_none(shell: Shell, home: Path, tmp_path: Path) -> None:
    done = shell.run("profile", "sample:tiny", "--flops", "--json", "-x", str(tmp_path / "f.csv"))
    found = plain(done)
    assert found["kind"] == "flops" and found["profile"]["macs"] > 0
    assert "MatMul" in (tmp_path / "f.csv").read_text()
    for form, words in (("csv", "weight_sqnr_db_proxy"), ("md", "# Loss profile (approximated: a proxy")):
        target = str(tmp_path / f"a.{form}")
        done = shell.run("profile", "sample:tiny", "--loss", "--approximate", "--json", "-x", target)
        assert plain(done)["profile"]["kind"] == "approximated"
        assert words in Path(target).read_text()
    assert "'9'" in shell.run("profile", "sample:tiny", "--flops", "--layer", "9").err
    assert not (home / "tuibench" / "state").exists()
    assert plain(shell.run("list", "--profiles", "--json"))["benchmarks"] == []


@pytest.fixture
def known_roofs(home: Path) -> None:
    """Cache roofs of this machine, because a busy machine measures them anew in each run, for 5 s."""
    cache = MachineCache(str(Services().settings.places.cache), describe_machine("onnxruntime"))
    for part, found in ((ROOFLINE, roofs.ROOFLINE), (ZEROS, roofs.ZEROS)):
        cache.put(part, 1, found)


@pytest.mark.usefixtures("known_roofs")
def test_profile_is_measured_stored_repeated_and_compared(shell: Shell) -> None:
    shell.save = True
    done = shell.run("profile", "sample:tiny", *SHORT, "--json", "--name", "mine", "--no-wait")
    own = plain(done)["tuibench"]
    performance = own["profile"]["performance"]
    assert own["cells"] == [] and own["status"] == "finished"
    assert performance["processes"] == 1 and performance["ms"]["value"] > 0
    assert performance["roofline"]["f32_gflops"] == roofs.ROOFLINE.f32_gflops
    nodes = [node["id"] for node in own["profile"]["costs"]["nodes"]]
    assert sorted(nodes) == sorted(node for layer in performance["layers"] for node in layer["nodes"])
    assert "saved as" in done.err
    listed = plain(shell.run("list", "--profiles", "--json"))["benchmarks"][0]
    assert (listed["name"], listed["kind"], listed["id"]) == ("mine", "performance", own["id"])
    done = shell.run("rerun", "mine", "--layer", "nowhere", "--summary-type", "FLOPs")
    assert done.code == 0, done.err
    # The measured data is shown although the requested layer does not exist.
    assert "'nowhere'" in done.err and "FLOPs" in done.out
    assert "Time: about" in done.err and "as measured before" in done.err
    head, table = (next(i for i, line in enumerate(done.lines) if word in line) for word in ("Old: mine", "old ms"))
    assert 0 < head < table < len(done.lines) - 1, "both are shown side by side, and the headline is last"
    attached = shell.run("attach", "last")
    assert "Old: mine" in attached.out and attached.lines[-1] == done.lines[-1]
    assert shell.run("compare", "last~1", "last").code == 0


@pytest.mark.slow
def test_sample_profile_is_measured_with_the_real_engine(shell: Shell, home: Path) -> None:
    shell.save = True
    done = shell.run("profile", "sample", "--what-if", "int8", "--json", seconds=120)
    performance = plain(done)["tuibench"]["profile"]["performance"]
    assert performance["processes"] == 3
    assert performance["roofline"] is not None and performance["zero_effect"] is not None
    if performance["grade"]["letter"] in "AB":
        # Other load also takes CPU time between layers, where no profiler measures.
        assert performance["attributed"] >= 0.99
    assert any(layer["what_if"] for layer in performance["layers"])
    began = done.seconds
    again = shell.run("profile", "sample", "--json", seconds=120)
    assert again.seconds < began, "roofs are measured once"
    done = shell.run("profile", "sample", "--loss", "--level", "int8", "--samples", "1", "--json", seconds=120)
    loss = plain(done)["tuibench"]["profile"]["loss"]
    assert loss["complete"] and all(layer["points"] for layer in loss["layers"] if not layer["reason"])


@pytest.mark.slow
def test_profile_with_a_killed_runner_resumes_where_it_stopped(shell: Shell, home: Path) -> None:
    shell.save = True
    done = shell.run("profile", "sample", "--processes", "6", "--detach")
    assert done.code == 0, done.err
    runs = home / "tuibench" / "state" / "runs"
    directory = next(runs.iterdir())

    def layers() -> int:
        lines = (directory / "journal.jsonl").read_bytes().splitlines()
        return sum(b'"ev":"profile_part"' in line and b'"part":"layers"' in line for line in lines)

    until(lambda: layers() >= 1, "a process that timed layers")
    info = plain(shell.run("ps", "--all", "--json"))["runs"][0]
    assert info["kind"] == "performance"
    os.kill(info["pid"], signal.SIGKILL)

    def state() -> str:
        return str(plain(shell.run("ps", "--all", "--json"))["runs"][0]["state"])

    until(lambda: state() == "interrupted", "the end of the runner")
    before = (directory / "journal.jsonl").read_bytes()
    kept = layers()
    taken = shell.run("resume", "last", "--mixed", "--detach")
    assert taken.code == 0 and layers() < 6, "who detaches does not stay to the end"
    until(lambda: not plain(shell.run("ps", "--json"))["runs"], "the end of the run", 120)
    performance = plain(shell.run("show", "last", "--json"))["benchmark"]["tuibench"]["profile"]["performance"]
    assert performance["processes"] == 6
    after = (directory / "journal.jsonl").read_bytes()
    assert after.startswith(before.rsplit(b"\n", 1)[0])
    assert layers() == 6 and kept < 6


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (("--flops",), "counting the operations of each layer ...\n"),
        (("--dry-run",), "counting the operations of each layer ...\n"),
        (("--loss", "--approximate"), "looking at the weights ...\n"),
    ],
)
def test_child_computation_is_announced_unless_quiet(quick: Shell, flags: tuple[str, ...], words: str) -> None:
    for quiet in ((), ("-q",)):
        done = quick.run("profile", "sample:tiny", *flags, *quiet)
        assert done.code == 0 and (words in done.err) == (not quiet)
