"""The dashboard: screens and widgets over one seam; it imports neither onnx, onnxruntime nor numpy, ever."""
