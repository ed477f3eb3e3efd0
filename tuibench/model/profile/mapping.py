"""Maps every node of a model to exactly one row: its kernel's row, or the row of work done before the run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tuibench.core.profile import FOLDED, LAYER, LAYOUT, RUNTIME, UNMAPPED, own_key
from tuibench.model.graph import op_of
from tuibench.model.profile.events import Flat
from tuibench.model.profile.kernel_nodes import REORDERS, KernelNodes

PRECISION, COPY = "precision (runtime)", "copy (runtime)"
OWN_WORK = {
    **dict.fromkeys((*REORDERS, "Transpose"), LAYOUT),
    "Cast": PRECISION,
    "MemcpyFromHost": COPY,
    "MemcpyToHost": COPY,
}
"""Work that the engine adds between a model's kernels, by kernel operator."""
_BEFOREHAND = "done beforehand"
_STILL = frozenset({"Shape", "Size"})
_HEAVY = (
    *("Conv", "ConvTranspose", "Gemm", "MatMul", "LSTM", "GRU", "RNN", "Attention", "MultiHeadAttention"),
    *("GroupQueryAttention", "Einsum", "ConvInteger", "QLinearConv", "MatMulInteger", "QLinearMatMul", "MatMulNBits"),
)
_INTEGER = (
    *("QLinear", "QGemm", "QAttention", "ConvInteger", "MatMulInteger", "QEmbed"),
    *("DynamicQuantizeMatMul", "DynamicQuantizeLSTM"),
)


@dataclass(frozen=True, slots=True)
class Row:
    """Nodes and the kernels that compute them."""

    key: str
    kind: str
    op: str
    nodes: tuple[str, ...]
    kernels: tuple[int, ...]
    """Indices into the optimized model's nodes."""
    kernel_op: str
    integer: bool


def map_rows(original: Flat, optimized: Flat) -> list[Row]:
    """Return the layer rows in model order, then the engine's added work, then nodes folded before the run."""
    anchors = KernelNodes(original, optimized)
    homes = _find_homes(anchors, optimized)
    owner = _claim(original, optimized, anchors, homes)
    rows = _layer_rows(original, optimized, homes, owner)
    ids = {placed.id for placed in original.nodes}
    rows += [
        Row(
            own_key(_kernel_key(optimized, kernel), ids),
            RUNTIME,
            _own_work(optimized, kernel),
            (),
            (kernel,),
            op,
            is_integer(op),
        )
        for kernel, home in enumerate(homes)
        if home is None
        for op in (op_of(optimized.nodes[kernel].node),)
    ]
    left = tuple(placed.id for number, placed in enumerate(original.nodes) if owner[number] is None)
    if left:
        rows.append(Row(own_key(_BEFOREHAND, ids), FOLDED, _BEFOREHAND, left, (), "", False))
    return rows


def is_integer(op: str) -> bool:
    """Return whether a kernel multiplies integers."""
    return op.rsplit(".", maxsplit=1)[-1].startswith(_INTEGER)


def is_product(op: str) -> bool:
    """Return whether a kernel multiplies matrices, fused or not: names such as FusedConv end in the operator."""
    return op.rsplit(".", maxsplit=1)[-1].endswith(_HEAVY)


def _kernel_key(optimized: Flat, kernel: int) -> str:
    placed = optimized.nodes[kernel]
    return f"{placed.scope}{placed.node.name}" if placed.node.name else placed.id


def _own_work(optimized: Flat, kernel: int) -> str:
    return OWN_WORK.get(optimized.nodes[kernel].node.op_type, UNMAPPED)


def _find_homes(anchors: KernelNodes, optimized: Flat) -> list[int | None]:
    """Per kernel, return the node that names its row; a kernel without one joins its reader or source."""
    homes: list[int | None] = [min(found) if found else None for found in anchors.of]
    # Nodes computed by one kernel share a row, and so do other kernels of these nodes.
    alias: dict[int, int] = {}

    def root(number: int) -> int:
        while number in alias:
            number = alias[number]
        return number

    for found in anchors.of:
        roots = sorted({root(number) for number in found})
        for other in roots[1:]:
            alias[other] = roots[0]
    homes = [root(home) if home is not None else None for home in homes]
    readers = _kernel_readers(optimized)
    for kernel in reversed(range(len(homes))):
        if homes[kernel] is None and optimized.nodes[kernel].node.op_type not in OWN_WORK:
            homes[kernel] = next((homes[r] for r in readers.get(kernel, ()) if homes[r] is not None), None)
    for kernel in range(len(homes)):
        if homes[kernel] is None and optimized.nodes[kernel].node.op_type not in OWN_WORK:
            homes[kernel] = next(
                (homes[m] for t in optimized.inputs[kernel] if (m := optimized.producer.get(t)) is not None), None
            )
    return homes


def _kernel_readers(optimized: Flat) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for kernel, tensors in enumerate(optimized.inputs):
        for tensor in tensors:
            made = optimized.producer.get(tensor)
            if made is not None and made != kernel:
                found.setdefault(made, []).append(kernel)
    return found


def _claim(original: Flat, optimized: Flat, anchors: KernelNodes, homes: Sequence[int | None]) -> list[int | None]:
    """Per node, return the node that names its row; None if its work was done before the run."""
    owner: list[int | None] = [None] * len(original.nodes)
    for kernel, found in enumerate(anchors.of):
        for number in found:
            owner[number] = homes[kernel]
    for number, stood_for in anchors.extended.items():
        if owner[number] is None:
            owner[number] = owner[stood_for]
    still = frozenset(
        n for n, placed in enumerate(original.nodes) if owner[n] is None and placed.node.op_type in _STILL
    )
    moving = original.dynamic(still)
    order = sorted(
        range(len(homes)), key=lambda kernel: bool(optimized.nodes[kernel].node.op_type in ("If", "Loop", "Scan"))
    )
    for kernel in order:
        _claim_backwards(original, anchors.of[kernel], homes[kernel], owner, moving)
    _claim_forwards(original, owner, moving)
    return owner


def _claim_backwards(
    original: Flat, found: Sequence[int], home: int | None, owner: list[int | None], moving: Sequence[bool]
) -> None:
    """Give the unclaimed nodes before a kernel's nodes to its row, up to the next claimed ones."""
    waiting = list(found)
    while waiting:
        for tensor in original.inputs[waiting.pop()]:
            made = original.producer.get(tensor)
            if made is not None and owner[made] is None and moving[made]:
                owner[made] = home
                waiting.append(made)


def _claim_forwards(original: Flat, owner: list[int | None], moving: Sequence[bool]) -> None:
    """Give each unclaimed node to the row of the last claimed node that it reads."""
    for number in range(len(original.nodes)):
        if owner[number] is None and moving[number]:
            before = [
                made
                for t in original.inputs[number]
                if (made := original.producer.get(t)) is not None and made != number
            ]
            homes = [made for made in before if owner[made] is not None]
            if homes:
                owner[number] = owner[max(homes)]


def _layer_rows(original: Flat, optimized: Flat, homes: Sequence[int | None], owner: Sequence[int | None]) -> list[Row]:
    nodes: dict[int, list[int]] = {}
    for number, home in enumerate(owner):
        if home is not None:
            nodes.setdefault(home, []).append(number)
    kernels: dict[int, list[int]] = {}
    for kernel, home in enumerate(homes):
        if home is not None:
            kernels.setdefault(home, []).append(kernel)
    rows = []
    for home, own in sorted(nodes.items(), key=lambda pair: pair[1][0]):
        done_by = kernels.get(home, [])
        kernel_ops = [op_of(optimized.nodes[kernel].node) for kernel in done_by]
        rows.append(
            Row(
                original.nodes[own[0]].id,
                LAYER,
                _main_op(original, own, home),
                tuple(original.nodes[number].id for number in own),
                tuple(done_by),
                kernel_ops[0] if kernel_ops else "",
                any(map(is_integer, kernel_ops)),
            )
        )
    return rows


def _main_op(original: Flat, own: Sequence[int], home: int) -> str:
    heavy = [number for number in own if original.nodes[number].node.op_type in _HEAVY]
    return original.nodes[heavy[0] if heavy else home].op
