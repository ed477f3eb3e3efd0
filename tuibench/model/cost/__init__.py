"""The cost of each node: multiply-accumulates, element-wise operations, bytes and parameters."""
