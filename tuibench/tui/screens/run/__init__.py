"""The room `run`."""
