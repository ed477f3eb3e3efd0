"""Page of a run: progress, grid of cells, log."""
