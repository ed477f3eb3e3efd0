"""The room `profile`."""
