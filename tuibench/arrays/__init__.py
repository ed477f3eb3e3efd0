"""Arrays that cross a process border, as files without pickle, and how far two sets of them differ."""
