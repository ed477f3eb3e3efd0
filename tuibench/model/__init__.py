"""The room `model`."""
