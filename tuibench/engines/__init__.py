"""What executes a model: one module per engine behind one small protocol, and the registry that finds them."""
