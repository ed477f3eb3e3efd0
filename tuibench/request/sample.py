"""The models in the package: they can be measured on a new machine."""

from __future__ import annotations

SAMPLES = {
    "sample": ("cnn.onnx", "a residual CNN for 224x224 images, symbolic batch, a few ms on one core"),
    "sample:text": ("text.onnx", "a two-layer text encoder, symbolic batch and sequence"),
    "sample:tiny": ("tiny.onnx", "a small MLP of a few microseconds, for overheads"),
}
"""Token to (file under data/samples, description)."""


def list_samples() -> str:
    """Return the text that `sample:?` prints."""
    return "".join(f"{token:<13} {text}\n" for token, (_, text) in SAMPLES.items())
