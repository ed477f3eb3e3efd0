"""The room `imports`."""
