"""The room `cost`."""
