"""The room `present`."""
