"""A store of an older form: schema 0, which no release wrote, and its migration steps."""

from __future__ import annotations

from pathlib import Path

import pytest

from tuibench.store.envelope import INDEX, RECORD, STEPS, Tables

OLD = Path(__file__).resolve().parent.parent / "fixtures" / "store" / "schema-0"
_NAMES = {"title": "name", "comment": "note"}


def _renamed(table: str, tables: Tables) -> Tables:
    documents = {
        number: {_NAMES.get(key, key): value for key, value in document.items()}
        for number, document in tables.get(table, {}).items()
    }
    return {**tables, table: documents}


@pytest.fixture(autouse=True)
def steps_from_schema_0(monkeypatch: pytest.MonkeyPatch) -> None:
    """Return the steps from schema 0, whose metadata and rows had title and comment."""
    monkeypatch.setitem(STEPS, (RECORD, 0), lambda tables: _renamed("card", tables))
    monkeypatch.setitem(STEPS, (INDEX, 0), lambda tables: _renamed("benchmarks", tables))
