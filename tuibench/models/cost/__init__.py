"""What each node of a model costs by its shapes: counted here, measured nowhere."""
