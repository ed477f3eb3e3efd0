"""Remote models: a child process fetches them into the cache and nowhere else."""
