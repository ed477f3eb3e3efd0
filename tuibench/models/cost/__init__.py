"""Cost of each node of a model, computed from shapes; nothing here measures."""
