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


def _rename_in_card(tables: Tables) -> Tables:
    # Schema 0 was never released: cards said title and comment. It keeps the way of a migration walked.
    names = {"title": "name", "comment": "note"}
    cards = {
        number: {names.get(key, key): value for key, value in card.items()}
        for number, card in tables.get("card", {}).items()
    }
    return {**tables, "card": cards}


def _rename_in_rows(tables: Tables) -> Tables:
    names = {"title": "name", "comment": "note"}
    rows = {
        number: {names.get(key, key): value for key, value in row.items()}
        for number, row in tables.get("benchmarks", {}).items()
    }
    return {**tables, "benchmarks": rows}


STEPS: Steps = {(RECORD, 0): _rename_in_card, (INDEX, 0): _rename_in_rows}
