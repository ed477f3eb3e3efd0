"""Make the file that probes PyTorch: the network of the sample `tiny` as TorchScript.

    python tools/make_torch_sample.py PYTHON    PYTHON has PyTorch, such as that of `tuibench engines install torch`

The bytes differ with the release of PyTorch; the weights are those of tiny.onnx.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import onnx
from onnx import numpy_helper

SAMPLES = Path(__file__).resolve().parent.parent / "tuibench" / "data" / "samples"
PROGRAM = """
import json, sys, torch
class Tiny(torch.nn.Module):
    def __init__(self, weights):
        super().__init__()
        for name, values in weights.items():
            self.register_parameter(name.replace(".", "_"), torch.nn.Parameter(torch.tensor(values)))
    def forward(self, features):
        hidden = torch.relu(features @ self.hidden_weight + self.hidden_bias)
        return hidden @ self.scores_weight + self.scores_bias
module = Tiny(json.load(sys.stdin)).eval()
torch.jit.save(torch.jit.trace(module, torch.zeros(2, 8)), sys.argv[1])
"""


def main() -> None:
    """Write tiny.pt beside tiny.onnx."""
    graph = onnx.load(SAMPLES / "tiny.onnx").graph
    weights = {one.name: numpy_helper.to_array(one).tolist() for one in graph.initializer}
    command = [sys.argv[1], "-W", "ignore", "-c", PROGRAM, str(SAMPLES / "tiny.pt")]
    subprocess.run(command, input=json.dumps(weights), text=True, check=True)


if __name__ == "__main__":
    main()
