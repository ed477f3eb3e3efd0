from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.model.profile.trace import Made, lines
from tuibench.model.profile.events import read_events, split_runs


def runs_of(text: list[str]) -> list[dict[tuple[str, ...], float]]:
    return [{path: kernel.us for path, kernel in run.items()} for run in split_runs(read_events(text))]


def test_each_run_has_its_own_kernels() -> None:
    text = lines([[Made("a", 5), Made("b", 7)], [Made("a", 6), Made("b", 9)]])
    assert runs_of(text) == [{("a",): 5, ("b",): 7}, {("a",): 6, ("b",): 9}]


def test_time_of_inner_kernels_is_not_counted_twice() -> None:
    inner = Made("if", 4, "If", (Made("x", 10), Made("y", 20)))
    loop = Made("loop", 3, "Loop", (inner, inner))
    (run,) = split_runs(read_events(lines([[Made("before", 9), loop, Made("after", 8)]])))
    assert {path: (kernel.us, kernel.calls) for path, kernel in run.items()} == {
        ("before",): (9, 1),
        ("loop",): (3, 1),
        ("loop", "if"): (8, 2),
        ("loop", "if", "x"): (20, 2),
        ("loop", "if", "y"): (40, 2),
        ("after",): (8, 1),
    }


def test_kernel_without_graphs_contains_nothing_under_a_coarse_clock() -> None:
    text = lines([[Made("a", 0), Made("b", 5), Made("c", 0)]], gap_us=0)
    assert set(runs_of(text)[0]) == {("a",), ("b",), ("c",)}


def test_sizes_from_the_profiler_are_kept() -> None:
    (run,) = split_runs(read_events(lines([[Made("a", 1), Made("a", 1)]])))
    assert run["a",].bytes == 24 and run["a",].calls == 2


@pytest.mark.parametrize(
    ("read", "written", "precision"),
    [
        ("float", "float", ""),
        ("double", "double", "f64"),
        ("float16", "float", "f16"),
        ("float", "bfloat16", "bf16"),
        ("int8", "float", ""),
    ],
)
def test_unusual_float_types_are_reported(read: str, written: str, precision: str) -> None:
    text = lines([[Made("a", 5)]])
    shapes = f'"input_type_shape": [{{"{read}": [1, 2]}}, null, 3], "output_type_shape": [{{"{written}": [2]}}], '
    (run,) = split_runs(read_events([line.replace('"op_name"', f'{shapes}"op_name"') for line in text]))
    assert run["a",].precision == precision


def test_truncated_or_invalid_file_gives_its_complete_runs() -> None:
    text = lines([[Made("a", 5)], [Made("a", 6)]])
    strange = ["null,\n", '{"cat": "Node", "name": 5}\n', '{"name": "x_kernel_time", "cat": "Node", "args": 3}\n']
    assert runs_of([*strange, *text[:-3], text[-3][:20]]) == [{("a",): 5}]
    assert runs_of([]) == []


NAMES = st.sampled_from(["a", "b", "c"])
LEAVES = st.builds(Made, NAMES, st.integers(1, 50))
KERNELS = st.recursive(
    LEAVES,
    lambda inner: st.builds(Made, NAMES, st.integers(2, 9), st.just("If"), st.tuples(inner, inner)),
    max_leaves=9,
)


@given(st.lists(KERNELS, max_size=6))
def test_no_time_is_lost_or_counted_twice(kernels: list[Made]) -> None:
    (run,) = runs_of(lines([kernels]))
    assert sum(run.values()) == sum(kernel.whole_us for kernel in kernels)
