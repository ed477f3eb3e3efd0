"""The room `plots`."""
