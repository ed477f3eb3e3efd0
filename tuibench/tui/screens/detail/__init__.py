"""Page of one benchmark, with a tab for each of its topics."""
