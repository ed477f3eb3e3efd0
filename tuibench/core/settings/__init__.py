"""The room `settings`."""
