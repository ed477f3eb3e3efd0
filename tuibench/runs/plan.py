"""Plans the cells of a specification, and the time limits of each phase."""

from __future__ import annotations

from collections.abc import Sequence

from tuibench.core import benchmark_setting
from tuibench.core.cell import Asked, Cell
from tuibench.core.model import ModelSummary, Point
from tuibench.core.scenario import find
from tuibench.core.setting import identity_options
from tuibench.core.spec import BenchmarkSpec

LIMITS_S = {"start": 30.0, "inspect": 30.0, "load": 120.0, "first": 60.0}


def make_cells(spec: BenchmarkSpec, models: Sequence[ModelSummary], points: Sequence[Point]) -> list[Cell]:
    """Return the product of the axes in display order: model, shape, engine, scenario, cores."""
    cells: dict[str, Cell] = {}
    for index, model in enumerate(models):
        for point in (p for p in points if p.model == index):
            for engine in spec.engines:
                for scenario in spec.scenarios:
                    for cores in spec.cores:
                        asked = _asked(spec, model.sha256, point, engine, scenario, cores)
                        cells.setdefault(asked.key, Cell(asked.key, asked, index, point.id))
    return list(cells.values())


def _asked(spec: BenchmarkSpec, sha256: str, point: Point, engine: str, scenario: str, cores: int) -> Asked:
    found = find(scenario)
    streams = found.streams(spec.streams, cores)
    options = identity_options(benchmark_setting.settings(), spec, has_streams=found.has_streams)
    return Asked(
        engine=engine,
        model_sha256=sha256,
        version="original",
        scenario=scenario,
        cores=cores,
        batch=point.batch,
        dims=point.dims,
        streams=streams,
        pin=spec.pin,
        precision=spec.precision,
        options=options,
    )


def matching_cells(cells: Sequence[Cell]) -> dict[str, tuple[str, ...]]:
    """Map each cell to all cells it is compared with, itself included: only engine or model differ."""
    groups: dict[tuple[object, ...], list[str]] = {}
    for cell in cells:
        asked = cell.asked
        dims = tuple(sorted(asked.dims.items()))
        groups.setdefault((asked.scenario, asked.cores, asked.batch, dims), []).append(cell.key)
    return {key: tuple(group) for group in groups.values() for key in group}
