"""Multiply-accumulates of recurrent layers: each step of each direction multiplies two matrices."""

from __future__ import annotations

import math

from tuibench.models.cost.call import Call, Count, Unknown, Work
from tuibench.models.cost.matrix import at_least

_ELEMENT = {4: 17, 3: 14, 1: 3}
"""Operations per cell and step, by the number of gates: sums, activations and the mixing of states."""


def count_lstm(call: Call) -> Work:
    """Count four gates."""
    return _count(call, 4)


def count_gru(call: Call) -> Work:
    """Count three gates."""
    return _count(call, 3)


def count_rnn(call: Call) -> Work:
    """Count one gate."""
    return _count(call, 1)


def count_dynamic_lstm(call: Call) -> Work:
    """Count an LSTM with transposed 8-bit matrices."""
    data = at_least(call.shape(0), 3, "the input")
    directions, inside, width = at_least(call.shape(1), 3, "the weights")[:3]
    cells, steps = width // 4, data[0] * data[1] * directions
    return Work(steps * width * (inside + cells), _ELEMENT[4] * steps * cells, integer=True)


def _count(call: Call, gates: int) -> Work:
    # Count sequences that end early in full: their lengths are data.
    data = at_least(call.shape(0), 3, "the input")
    directions, width, inside = at_least(call.shape(1), 3, "the weights")[:3]
    cells = at_least(call.shape(2), 3, "the recurrent weights")[2]
    if width != gates * cells:
        raise Unknown("its two weights do not fit together")
    steps = math.prod(data[:2]) * directions
    return Work(steps * width * (inside + cells), _ELEMENT[gates] * steps * cells)


RECURRENT: dict[str, Count] = {"LSTM": count_lstm, "GRU": count_gru, "RNN": count_rnn}
