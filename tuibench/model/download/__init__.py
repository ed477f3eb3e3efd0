"""Remote models: fetches them into the cache and nowhere else."""
