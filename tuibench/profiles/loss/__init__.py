"""Output loss of a model when one layer is changed: estimated from the weights, and measured."""
