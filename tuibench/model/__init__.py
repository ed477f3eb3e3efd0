"""ONNX models: inspection, inputs, costs, profiles and losses; parses untrusted bytes, so only in child processes."""
