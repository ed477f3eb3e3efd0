"""What the outputs of a model lose when one layer is changed: from its weights alone, and measured."""
