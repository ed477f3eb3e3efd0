"""The room `worker`."""
