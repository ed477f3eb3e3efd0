"""The precision a model really computed in, from the tensors its kernels read; the request may differ."""

from __future__ import annotations

from collections.abc import Iterable

from tuibench.profiles.mapping import is_integer, is_product
from tuibench.profiles.timing import KernelTime

_INT8 = "int8"
_FLOATS = {"float": "f32", "float16": "f16", "bfloat16": "bf16", "double": "f64"}


def name_precision(kernels: Iterable[KernelTime]) -> str:
    """Return the products' precision; else that of kernels reading floats, else of any kernel; '' without kernels.

    Several are joined in order of their time, as in 'int8 + f32'.
    """
    told = [kernel for kernel in kernels if kernel.mean_calls > 0]
    groups = (
        [kernel for kernel in told if is_integer(kernel.op) or is_product(kernel.op)],
        [kernel for kernel in told if kernel.reads in _FLOATS],
        told,
    )
    for group in groups:
        us_of: dict[str, float] = {}
        for kernel in group:
            name = _INT8 if is_integer(kernel.op) else _FLOATS.get(kernel.reads, kernel.reads)
            if name:
                us_of[name] = us_of.get(name, 0.0) + kernel.raw_us
        if us_of:
            return " + ".join(sorted(us_of, key=lambda name: -us_of[name]))
    return ""
