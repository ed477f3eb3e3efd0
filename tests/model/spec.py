"""A benchmark request with defaults for everything but the model."""

from __future__ import annotations

from typing import Any

from tuibench.core.spec import EFFORTS, BenchmarkSpec, InputSettings, Limits, ModelSource

_INPUTS = ("seed", "distinct", "file", "shapes", "batch_dim")


def make_spec(path: str, **asked: Any) -> BenchmarkSpec:
    """Return a spec for one model; settings of the inputs are passed flat."""
    return BenchmarkSpec(
        models=(ModelSource(path, path),),
        engines=("onnxruntime",),
        scenarios=("sync",),
        cores=(1,),
        batches=asked.get("batches", ()),
        dims=asked.get("dims", ()),
        sequence_lengths=asked.get("sequence_lengths", ()),
        streams=None,
        stream_kind=None,
        pin="core",
        precision="f32",
        io=None,
        effort=EFFORTS["quick"],
        inputs=InputSettings(**{key: asked[key] for key in _INPUTS if asked.get(key) is not None}),
        limits=Limits(),
    )
