"""The room `form`."""
