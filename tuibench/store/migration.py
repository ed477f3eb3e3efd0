"""Migration steps from every older schema to the current one: pure functions from tables to tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tuibench.store.envelope import SCHEMA, Tables

RECORD, INDEX, DOCUMENT = "record", "index", "document"
Step = Callable[[Tables], Tables]
Steps = Mapping[tuple[str, int], Step]
"""Keyed by kind of file and the schema that a step migrates from; unchanged kinds have no step."""


def migrate_tables(kind: str, tables: Tables, schema: int, steps: Steps | None = None) -> Tables:
    """Return the tables in the current schema; do not change the given ones."""
    known = STEPS if steps is None else steps
    for number in range(schema, SCHEMA):
        step = known.get((kind, number))
        tables = step(tables) if step is not None else tables
    return tables


STEPS: dict[tuple[str, int], Step] = {}
"""No schema has changed since the first release."""
