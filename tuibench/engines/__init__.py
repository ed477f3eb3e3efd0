"""Inference engines: one module per engine behind a small protocol, and the registry that finds them."""
