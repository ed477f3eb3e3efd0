"""tuibench measures how fast an ONNX model really runs on this machine, and says how far each number can be trusted."""

__version__ = "0.1.0"
