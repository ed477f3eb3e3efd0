"""The dashboard: screens and widgets that use the project through one API, without onnx, onnxruntime or numpy."""
