"""Output loss when one layer is changed: estimated from the weights, and measured."""
