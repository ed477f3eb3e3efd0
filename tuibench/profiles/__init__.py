"""Per-layer profiles of a model: layer times, the machine's roofs, and other forms of each layer."""
