"""`tuibench show` with figures: they fit the width, can be left out, and never appear in machine output."""

from __future__ import annotations

import io
import json
import sys
from argparse import Namespace

import pytest

from tests.store.data import make_real
from tuibench.cli.arguments import parse
from tuibench.cli.terminal import Interruption
from tuibench.core.stored import Metadata
from tuibench.services.api import Services

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def _stored(home: object) -> None:
    """Store a sweep over three batches and a single cell."""
    store = Services().store
    store.benchmarks.add(make_real(1, 3), Metadata(name="sweep"))
    store.benchmarks.add(make_real(2, 1), Metadata(name="alone"))


def shown(capsys: Capture, *flags: str) -> str:
    parsed = parse(["show", *flags])
    assert isinstance(parsed, Namespace) and parsed.run(parsed, Interruption()) == 0
    return capsys.readouterr().out


def test_sweep_is_drawn_and_single_cell_shows_its_spread(capsys: Capture) -> None:
    assert "Batch scaling" in shown(capsys, "sweep")
    assert "┤" in shown(capsys, "alone")


def test_figures_fit_the_terminal_or_80_columns_without_one(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    for terminal, wide in ((None, 80), (57, 57)):
        monkeypatch.setattr("tuibench.cli.results.width", lambda terminal=terminal: terminal)
        axis = next(line for line in shown(capsys, "sweep").splitlines() if "└" in line)
        assert len(axis) == wide


def test_figures_can_be_left_out_or_plain(capsys: Capture) -> None:
    assert "┤" not in shown(capsys, "sweep", "--no-figures") and "Batch scaling" not in shown(
        capsys, "sweep", "--no-figures"
    )
    plain = shown(capsys, "sweep", "--ascii")
    assert plain.isascii() and "Batch scaling" in plain


def test_machine_output_has_no_figures(capsys: Capture) -> None:
    document = json.loads(shown(capsys, "sweep", "--json"))
    assert document["benchmark"]["tuibench"]["id"] and "figures" not in json.dumps(document)


@pytest.mark.parametrize(("encoding", "sign"), [("utf-8", "●"), ("latin-1", "o"), ("ascii", "o")])
def test_stdout_without_braille_gets_plain_figures(encoding: str, sign: str, monkeypatch: pytest.MonkeyPatch) -> None:
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding=encoding, write_through=True))
    parsed = parse(["show", "sweep"])
    assert isinstance(parsed, Namespace) and parsed.run(parsed, Interruption()) == 0
    assert f" {sign} onnxruntime" in written.getvalue().decode(encoding)
