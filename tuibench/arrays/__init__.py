"""Arrays in files without pickle, for exchange between processes, and their comparison."""
