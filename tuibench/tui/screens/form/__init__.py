"""The benchmark form."""
