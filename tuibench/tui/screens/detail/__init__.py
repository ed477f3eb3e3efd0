"""The room `detail`."""
