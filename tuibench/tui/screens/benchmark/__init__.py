"""The room `benchmark`."""
