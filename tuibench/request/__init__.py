"""What is asked of a benchmark: typed flags and fields to the spec that a runner carries out, and back to a command."""
