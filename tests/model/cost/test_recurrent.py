"""Recurrent layers: gates x (inputs + state), for each step and direction."""

from __future__ import annotations

import pytest

from tests.model.cost.support import MICROSOFT, macs, work


@pytest.mark.parametrize(("op", "gates"), [("LSTM", 4), ("GRU", 3), ("RNN", 1)])
@pytest.mark.parametrize("directions", [1, 2])
def test_recurrent_layers_count_gates_and_directions(op: str, gates: int, directions: int) -> None:
    inputs = [(10, 3, 20), (directions, gates * 8, 20), (directions, gates * 8, 8)]
    assert macs(op, inputs, [None]) == 10 * 3 * directions * gates * 8 * (20 + 8)


def test_eight_bit_lstm_weights_are_read_transposed() -> None:
    found = work("DynamicQuantizeLSTM", [(10, 3, 20), (1, 20, 32), (1, 8, 32)], [None], MICROSOFT)
    assert (found.macs, found.integer) == (10 * 3 * 32 * 28, True)


def test_recurrent_weights_of_the_wrong_size_are_unknown() -> None:
    assert macs("LSTM", [(10, 3, 20), (1, 30, 20), (1, 32, 8)], [None]) is None
