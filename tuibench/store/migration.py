"""The way from every older form of a file to the present one: pure functions, in order, from tables to tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tuibench.store.envelope import SCHEMA, Tables

RECORD, INDEX, DOCUMENT = "record", "index", "document"
Step = Callable[[Tables], Tables]
Steps = Mapping[tuple[str, int], Step]
"""By kind of file and the schema that a step leads away from; a kind that did not change needs none."""


def migrate_tables(kind: str, tables: Tables, schema: int, steps: Steps | None = None) -> Tables:
    """The tables in the present form; those given are left as they are."""
    known = STEPS if steps is None else steps
    for number in range(schema, SCHEMA):
        step = known.get((kind, number))
        tables = step(tables) if step is not None else tables
    return tables


STEPS: dict[tuple[str, int], Step] = {}
"""No form of a file has changed since the first release."""
