"""The room `comparison`."""
