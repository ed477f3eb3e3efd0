"""The room `loss`."""
