"""Prepares the points of one model: tries inputs, writes them and makes the reference outputs."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from tuibench.core.dims import Candidate, PointRequest, Search, expand
from tuibench.core.engine import SAFETENSORS
from tuibench.core.errors import ModelError
from tuibench.core.model import ModelSummary, Point, Reference
from tuibench.core.reason import ERROR, Failure, Reason, because, error_text
from tuibench.core.roles import Layout
from tuibench.core.spec import BenchmarkSpec
from tuibench.core.text import show
from tuibench.engines.checkpoint import read_config
from tuibench.model.feed import FileInputs, read_inputs
from tuibench.model.inputs import (
    RAW_BYTES,
    Synthesis,
    Vocabulary,
    configured_vocabulary,
    count_distinct,
    find_vocabulary,
    input_facts,
)
from tuibench.worker.bundle import SUBSET_ELEMENTS, Feed, Subset, compare, pick, write_bundle

Run = Callable[[Feed, bool], dict[str, Any]]
"""Runs one sample, optimized or not, and returns its outputs; raises RunRefused."""

WHOLE_BYTES = 64_000_000
_MOST_NAMED = 4
_F32, _HALF, _QUANTIZED = 1e-3, 3e-2, 5e-2
_RANDOM = frozenset(
    {"RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Multinomial", "Bernoulli"}
)


class RunRefused(Exception):
    """The engine refused the model or a choice of inputs; its own message has the code ERROR."""

    def __init__(self, reason: Reason, *, loading: bool = False, ran: bool = False) -> None:
        super().__init__(reason.code)
        self.reason = reason
        self.loading = loading
        self.ran = ran
        """True if the model ran and only its outputs cannot be read."""

    @property
    def engine_text(self) -> str:
        """The engine's own message; '' if the reason is ours."""
        return str(self.reason.fields["text"]) if self.reason.code == ERROR else ""

    def shortened(self) -> Reason:
        """Return the reason with a short form of the engine's message."""
        return error_text(shorten(self.engine_text)) if self.reason.code == ERROR else self.reason


def make_reference(run: Run, feed: Feed, optimized: Mapping[str, Any], summary: ModelSummary, path: Path) -> Reference:
    """Write the reference outputs to `path`; if there can be none, return the reason and write no file."""
    try:
        outputs = run(feed, False)
    except RunRefused as error:
        return Reference(None, None, None, because("reference_failed", why=error.reason))
    raw = {port.name: port.dtype for port in summary.outputs if port.dtype in RAW_BYTES}
    found = compare(outputs, optimized, raw)
    if not math.isfinite(found.value):
        return Reference(None, None, None, because("optimized_differs", why=found.reason))
    write_bundle(path, [shrink(outputs)], raw)
    return Reference(str(path), found.value, choose_tolerance(summary))


def why_none(summary: ModelSummary, twin: str = "") -> Reason | None:
    """Return the reason why this model cannot have a reference, or None; `twin` is its ONNX file, if it is none."""
    if summary.format not in ("onnx", "ort"):
        return None if twin else Reason("no_onnx_twin")
    if summary.format == "ort":
        return Reason("already_optimized")
    drawn = sorted(_RANDOM.intersection(summary.operators or {}))
    return because("draws_random_numbers", ops=drawn) if drawn else None


def choose_tolerance(summary: ModelSummary) -> float:
    """Return the allowed difference of outputs, from the coarsest number format that the model uses."""
    if summary.quantization is not None:
        return _QUANTIZED
    types = {port.dtype for port in (*summary.inputs, *summary.outputs)} | set(summary.weight_types or {})
    return _HALF if types & {"float16", "bfloat16"} else _F32


def shrink(outputs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the outputs to store: whole up to a limit, above it only the compared elements."""
    total = sum(v.nbytes for v in outputs.values() if isinstance(v, np.ndarray))
    if total <= WHOLE_BYTES:
        return dict(outputs)
    return {name: _subset(value) for name, value in outputs.items()}


def _subset(value: Any) -> Any:
    if isinstance(value, np.ndarray) and value.size > SUBSET_ELEMENTS:
        return Subset(pick(value), value.shape)
    return value


Emit = Callable[[str, Point], None]
"""Called with 'candidate' before a trial, 'tried' after it if a reference is next, and 'point' at the end."""

_SOURCE = re.compile(r"\S+\.(?:cc|h|cpp|cu):\d+ ")
TRIAL_PASSED = Reason("unoptimized_did_not_end")
"""The reason in the 'tried' message of a point, kept if the process ends in the unoptimized run."""
_UNCHECKED = Reference(None, None, None, Reason("not_asked_for"))


def _refused(error: RunRefused) -> Reason:
    return because("reference_refused", why=error.shortened())


@dataclass(frozen=True)
class Order:
    """A request for the points of one model, with the memory limit of the inputs."""

    spec: BenchmarkSpec
    model: int
    run_dir: Path
    available_bytes: int
    reference: bool = True
    skip_trial: frozenset[str] = frozenset()
    """Points whose trial ended an earlier process: they get their first candidate untried."""
    only: frozenset[str] | None = None
    twin: str = ""
    """The ONNX file of the same network, for a model that only its engine reads; '' if there is none."""


@dataclass
class Preparer:
    """Makes all points of one model; tries the free dims found for one point first for the next."""

    order: Order
    summary: ModelSummary
    model: onnx.ModelProto | None
    run: Run
    emit: Emit
    _known: dict[str, int] = field(default_factory=dict)

    def carry_out(self) -> list[Point]:
        """Make every requested point; a wrong request raises before any run."""
        spec = self.order.spec
        layout = Layout(self.summary.inputs, spec.inputs.batch_dim)
        file = None
        if spec.inputs.file is not None:
            file = read_inputs(spec, spec.inputs.file, layout, self.order.available_bytes)
        requests = expand(spec, self.order.model, layout, file.shapes if file else None)
        vocabulary = Vocabulary()
        if file is None:
            vocabulary = find_vocabulary(self.model, tuple(port.name for port in layout.ports))
        if file is None and self.summary.format == SAFETENSORS:
            vocabulary = configured_vocabulary(read_config(Path(self.summary.path)))
        points = []
        for request in requests:
            if self.order.only is None or request.id in self.order.only:
                points.append(_PointMaker(self, layout, vocabulary, file, request).make())
                self.emit("point", points[-1])
        return points


class _PointMaker:
    """Makes one point from the first candidate that the model accepts."""

    def __init__(
        self, owner: Preparer, layout: Layout, vocabulary: Vocabulary, file: FileInputs | None, request: PointRequest
    ) -> None:
        self._owner = owner
        self._order = owner.order
        self._layout = layout
        self._vocabulary = vocabulary
        self._file = file
        self._request = request
        self._given = file.shapes if file else request.shapes
        self._search = Search(layout, request.batch, request.fixed, self._given, vocabulary.sizes)
        self._refusals: list[Reason] = []

    def make(self) -> Point:
        """Return the finished point, or one with the failure that left it without inputs."""
        if self._request.problem is not None:
            return self._failed(self._request.problem.reason)
        first: Point | None = None
        for steps, candidate in self._search.candidates(self._owner._known):
            try:
                point, feed = self._write(candidate)
            except ModelError as error:
                self._refusals.append(error.reason)
                if not self._search.has_choice:
                    break
                continue
            first = first or point
            found = self._try(point, feed)
            if found is not None:
                self._owner._known = steps or self._owner._known
                return found
        return self._give_up(first)

    def _try(self, point: Point, feed: Feed) -> Point | None:
        """Return the point with its reference; None if the model refuses these inputs."""
        if self._request.id in self._order.skip_trial:
            return replace(point, reference=Reference(None, None, None, Reason("reference_did_not_end")))
        reason = why_none(self._owner.summary, self._order.twin)
        if reason is not None and reason.code == "no_onnx_twin":
            # Only its engine can try it, which is the worker's task.
            return replace(point, reference=Reference(None, None, None, reason))
        if not (self._search.needs_trial or self._order.reference):
            return replace(point, reference=_UNCHECKED)
        self._owner.emit("candidate", point)
        try:
            outputs = self._owner.run(feed, True)
        except RunRefused as error:
            if error.loading or error.ran:
                return replace(point, reference=Reference(None, None, None, _refused(error)))
            self._refusals.append(_refused(error))
            self._search.hint(error.engine_text)
            return None
        return replace(point, reference=self._reference(point, feed, outputs))

    def _reference(self, point: Point, feed: Feed, outputs: Mapping[str, Any]) -> Reference:
        if not self._order.reference:
            return _UNCHECKED
        reason = why_none(self._owner.summary, self._order.twin)
        if reason is not None:
            return Reference(None, None, None, reason)
        # An unoptimized run can be many times slower: report first that the model itself ran.
        self._owner.emit("tried", replace(point, reference=Reference(None, None, None, TRIAL_PASSED)))
        path = self._order.run_dir / f"{self._request.id}.ref.npz"
        return make_reference(self._owner.run, feed, outputs, self._owner.summary, path)

    def _write(self, candidate: Candidate) -> tuple[Point, Feed]:
        """Create the samples of a candidate and write them for the workers."""
        path = self._order.run_dir / f"{self._request.id}.npz"
        raw = {port.name: port.dtype for port in self._layout.ports if port.dtype in RAW_BYTES}
        open_ranks = [p.name for p in self._layout.ports if p.shape is None and p.kind in ("tensor", "sequence")]
        guessed = [name for name in open_ranks if name not in self._given]
        notes = [*self._request.notes, *(f"input '{show(n, 60)}' may have any shape; -shapes sets it" for n in guessed)]
        notes += [f"dim {show(k, 60)} follows the batch" for k in candidate.tied]
        if self._file is not None:
            samples = list(self._file.samples)
            fed = self._file.fed(self._layout.ports, self._order.spec.inputs.file or "")
            notes += self._file.notes
        else:
            made = Synthesis(self._layout, self._vocabulary, candidate, self._order.spec.inputs.seed)
            made.require_room(self._order.available_bytes)
            count, note = count_distinct(self._order.spec.inputs.distinct, made.bytes_per_sample())
            samples, fed = made.samples(count), made.fed()
            notes += [note] if note else []
        write_bundle(path, samples, raw)
        point = replace(self._point(), bundle=str(path), distinct=len(samples), inputs=fed, notes=tuple(notes))
        chosen = {key: value for key, value in candidate.dims.items() if key in self._search.free}
        return replace(point, dims=dict(candidate.dims), chosen=chosen), samples[0]

    def _give_up(self, first: Point | None) -> Point:
        """Return an inputs failure if other inputs could be passed; else return the first point for the workers."""
        if first is not None and not self._search.has_choice:
            return replace(first, reference=Reference(None, None, None, self._refusals[0]))
        if first is None:
            return self._failed(self._refusals[0])
        return self._failed(self._explain())

    def _explain(self) -> Reason:
        """Return the reason with the inputs, the dims to set and the first error."""
        named = list(dict.fromkeys(p.port for k in self._search.free for p in self._layout.places[k]))
        wanted = named or [port for port in self._layout.ports if port.shape is None]
        return because(
            "no_size_accepted",
            count=len(self._refusals),
            inputs=[input_facts(port) for port in wanted[:_MOST_NAMED]],
            dims=list(self._search.free[:_MOST_NAMED]),
            why=self._refusals[0],
        )

    def _failed(self, reason: Reason) -> Point:
        none = Reference(None, None, None, Reason("point_without_inputs"))
        return replace(self._point(), reference=none, failure=Failure("inputs", "inputs", reason))

    def _point(self) -> Point:
        batch = self._request.batch
        return Point(
            id=self._request.id,
            model=self._order.model,
            batch=batch,
            items=max(batch or 1, 1),
            dims={k: v for k, v in self._request.fixed.items() if k not in self._layout.batch},
            chosen={},
            inputs=(),
            bundle=None,
            distinct=0,
            reference=_UNCHECKED,
        )


def shorten(message: str, limit: int = 160) -> str:
    """Return an engine's error without error codes, source files and signatures."""
    text = message.rpartition("Status Message: ")[2] if "Status Message: " in message else message
    text = re.sub(r"^\[ONNXRuntimeError\] : \d+ : \w+ : ", "", text.strip())
    source = _SOURCE.search(text)
    if source is not None:
        text = text[: source.start()] + _after_signature(text[source.end() :])
    return show(" ".join(text.split()) or message.strip(), limit)


def _after_signature(text: str) -> str:
    """Return the text after a C++ signature, whose brackets nest."""
    depth, opened = 0, False
    for at, char in enumerate(text):
        depth += (char in "(<[") - (char in ")>]")
        opened = opened or char == "("
        if opened and depth == 0 and text[at + 1 : at + 2] in (" ", ""):
            return re.sub(r"^ (?:const )?(?:\[with .*?\] )?", "", text[at + 1 :])
    return text
