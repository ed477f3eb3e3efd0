from __future__ import annotations

from tests.present import build
from tuibench.core.reason import legacy_text
from tuibench.core.result import RunSession
from tuibench.core.text import show
from tuibench.present.cells import provenance_lines
from tuibench.present.csv_export import COLUMNS
from tuibench.present.csv_export import dumps as to_csv
from tuibench.present.markdown_export import dumps as to_markdown
from tuibench.present.summary import summary


def test_uninterrupted_run_alone_on_its_machine_has_no_notes() -> None:
    assert provenance_lines(build.sweep_run()) == []
    assert provenance_lines(build.run(build.ok_cell(), sittings=(RunSession("", "", 3),))) == []


def test_foreign_result_and_shared_machine_are_noted() -> None:
    run = build.run(build.ok_cell(grade=None), foreign="deepsparse.benchmark 1.8.0", shared_host=True)
    lines = [
        "Imported from deepsparse.benchmark 1.8.0: no grade, no interval",
        "Measured concurrently with another benchmark (--share-host)",
    ]
    assert provenance_lines(run) == lines
    text = summary(run).splitlines()
    assert text.index(lines[0]) == text.index(lines[1]) - 1
    assert f"- {lines[1]}".replace("(", "(") in to_markdown(run)


def test_cells_of_several_sessions_are_named_unless_all_are() -> None:
    both = [build.ok_cell(sittings=2), build.ok_cell(asks={"cores": 1}, sittings=2)]
    assert provenance_lines(build.run(*both)) == ["Executions from 2 sessions"]
    some = [*both, build.ok_cell(asks={"cores": 4}), build.ok_cell(asks={"cores": 8}, sittings=3)]
    assert provenance_lines(build.run(*some)) == [
        "Executions from 2 sessions: sync, 2 cores, batch 1 / sync, 1 core, batch 1",
        "Executions from 3 sessions: sync, 8 cores, batch 1",
    ]
    many = [build.ok_cell(asks={"cores": n}, sittings=2) for n in range(1, 9)]
    (line,) = provenance_lines(build.run(*many, build.ok_cell(asks={"cores": 99})))
    assert line.endswith("sync, 5 cores, batch 1 and 3 more")


def test_changes_between_sessions_are_shown_safely() -> None:
    sittings = (
        RunSession("", "", 3),
        RunSession("", "", 2, (legacy_text("kernel: 1 → 2"), legacy_text(build.HOSTILE))),
    )
    (line,) = provenance_lines(build.run(build.ok_cell(), sittings=sittings))
    assert line.startswith("Changed between sessions (--mixed): kernel: 1 → 2; =cmd")
    assert show(line, 1000) == line


def test_csv_has_the_number_of_sessions_and_the_measuring_tool() -> None:
    import csv

    run = build.run(build.ok_cell(sittings=2), foreign="=tool")
    (row,) = csv.DictReader(to_csv(run).splitlines())
    assert (row["sittings"], row["measured_by"]) == ("2", "'=tool")
    assert COLUMNS[-3:-1] == ("sittings", "measured_by")
    (own,) = csv.DictReader(to_csv(build.run(build.ok_cell())).splitlines())
    assert (own["sittings"], own["measured_by"]) == ("1", "tuibench")
