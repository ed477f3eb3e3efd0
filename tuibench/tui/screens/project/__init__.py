"""Home, and the pages of a project."""
