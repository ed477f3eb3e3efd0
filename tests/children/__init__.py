"""First entry of PYTHONPATH of every process that a test starts."""
