"""The room `download`."""
