from __future__ import annotations

import json
import random
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tuibench.store.atomic import HEAD
from tuibench.store.envelope import Header, Unreadable, check_head, encode_table, read_header, seal, unseal

TABLES: dict[str, dict[str, Any]] = {
    "card": {"1": {"name": "é \ud800 \u202e", "note": None}},
    "result": {"1": {"x": [1.5, -0.0, 10**20], "y": {}}},
}


def sealed(tables: Mapping[str, Mapping[str, Any]], header: Header) -> bytes:
    return seal({name: encode_table(table) for name, table in tables.items()}, header)


def test_sealed_file_is_json_and_states_its_metadata() -> None:
    data = sealed(TABLES, Header(7, 1, "1.2.3", {"mark": "m"}))
    assert json.dumps(json.loads(data)).encode() == data
    opened = unseal(data)
    assert (opened.sound, opened.tables) == (True, TABLES)
    assert opened.header == Header(7, 1, "1.2.3", {"mark": "m"})
    stated, end = read_header(data[:HEAD])
    assert stated is not None
    assert stated["generation"] == 7
    assert stated["length"] == len(data) - end


def test_sealed_file_without_tables_is_sound() -> None:
    opened = unseal(sealed({}, Header(1)))
    assert (opened.sound, opened.tables) == (True, {})


def test_change_of_any_byte_is_noticed() -> None:
    data = sealed(TABLES, Header(7, 1, "1.2.3"))
    chance = random.Random(0)
    for place in range(len(data)):
        harmed = bytearray(data)
        harmed[place] ^= 1 << chance.randrange(8)
        try:
            assert not unseal(bytes(harmed)).sound, place
        except Unreadable:
            continue
    for length in range(len(data)):
        with pytest.raises(Unreadable):
            unseal(data[:length])


@pytest.mark.parametrize(
    "data",
    [b"", b"[]", b"1", b"\xff", b'{"a": 1}', b'{"a": {"1": []}}', b'{"_meta": {"1": 5}}', b"[" * 100_000, b"\0" * 99],
)
def test_file_without_tables_is_unreadable(data: bytes) -> None:
    with pytest.raises(Unreadable):
        unseal(data)


@pytest.mark.parametrize("data", [b"{}", b'{"a": {"1": {}}}', b'{"_meta": {"1": {"generation": "x", "schema": null}}}'])
def test_tables_without_an_envelope_count_as_edited(data: bytes) -> None:
    opened = unseal(data)
    assert not opened.sound
    assert opened.header.generation == 0


def test_head_with_padded_numbers_is_refused() -> None:
    data = sealed(TABLES, Header(7))
    check_head(data[:HEAD])
    for bad in (data.replace(b'"generation": 7', b'"generation": 0000000007'), data[:40], b"", b"\0" * HEAD):
        with pytest.raises(Unreadable):
            check_head(bad[:HEAD])


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(
    st.dictionaries(
        st.text().filter(lambda name: name != "_meta"),
        st.dictionaries(st.text(), st.dictionaries(st.text(), VALUES, max_size=3), max_size=3),
        max_size=3,
    ),
    st.integers(1, 1 << 60),
)
def test_tables_of_any_content_read_back_equal(
    tables: dict[str, dict[str, dict[str, object]]], generation: int
) -> None:
    opened = unseal(sealed(tables, Header(generation, 1, "x")))
    assert (opened.sound, opened.tables, opened.header.generation) == (True, tables, generation)
