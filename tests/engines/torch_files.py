"""Writes small files of PyTorch; runs in the interpreter of that engine: python torch_files.py FOLDER."""

from __future__ import annotations

import copy
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from torch import nn


def write_all(folder: Path) -> None:
    """Write an exported program, TorchScript files and a pickle."""
    torch.manual_seed(3)
    mlp = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 4)).eval()
    x = torch.randn(2, 16)
    with torch.no_grad():
        np.savez(folder / "expected.npz", x=x.numpy(), y=mlp(x).numpy())
    batch = torch.export.Dim("batch", min=1, max=64)
    torch.export.save(torch.export.export(mlp, (x,), dynamic_shapes=({0: batch},)), folder / "mlp.pt2")
    half = copy.deepcopy(mlp).half()
    torch.export.save(torch.export.export(half, (x.half(),)), folder / "half.pt2")
    torch.jit.save(torch.jit.trace(mlp, x), folder / "mlp.pt")
    torch.save(mlp, folder / "pickle.pt")
    torch.jit.save(torch.jit.trace(_quantized(), x), folder / "int8.pt")
    torch.jit.save(torch.jit.script(_Greedy()), folder / "greedy.pt")
    torch.jit.save(torch.jit.script(_Harmful()), folder / "harmful.pt")


def write_checkpoints(folder: Path) -> None:
    """Write directories of transformers: a small BERT in two types, one with pickles, one with code of its own."""
    torch.manual_seed(5)
    sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
    config = transformers.BertConfig(vocab_size=50, max_position_embeddings=64, **sizes)
    bert = transformers.BertForSequenceClassification(config).eval()
    bert.save_pretrained(folder / "bert")
    bert.half().save_pretrained(folder / "half")
    (folder / "pickled").mkdir()
    config.save_pretrained(folder / "pickled")
    torch.save(bert.state_dict(), folder / "pickled" / "pytorch_model.bin")
    bert.save_pretrained(folder / "trusting")
    config.auto_map = {"AutoModel": "net.Net"}
    config.save_pretrained(folder / "trusting")
    bert.save_pretrained(folder / "unknown")
    del config.auto_map
    config.architectures = ["BertForTheFuture"]
    config.save_pretrained(folder / "unknown")
    picture = {**sizes, "image_size": 32, "patch_size": 8, "num_channels": 3}
    transformers.ViTForImageClassification(transformers.ViTConfig(**picture)).save_pretrained(folder / "vit")


def _quantized() -> Any:
    """Return the network with dynamically quantized products."""
    mlp = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 4)).eval()
    return torch.ao.quantization.quantize_dynamic(mlp, {nn.Linear}, dtype=torch.qint8)


class _Harmful(nn.Module):  # type: ignore[misc]
    """Writes far outside of a tensor, which ends the process."""

    def forward(self, input: torch.Tensor) -> torch.Tensor:  # noqa: A002 - as the inputs of the others are called
        """Make a tensor of four by four with a value at an index beyond any memory."""
        at = torch.full([2, 1], 1 << 40, dtype=torch.int64)
        values = torch.ones([1])
        return torch.ops.aten._sparse_coo_tensor_unsafe(at, values, [4, 4], is_coalesced=True).to_dense() + input.sum()


class _Greedy(nn.Module):  # type: ignore[misc]
    """Needs more memory than any machine has."""

    def forward(self, input: torch.Tensor) -> torch.Tensor:  # noqa: A002 - as the inputs of the others are called
        """Allocate more than any machine has."""
        return torch.zeros([1 << 40]) + input


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    write_all(Path(sys.argv[1]))
    write_checkpoints(Path(sys.argv[1]))
