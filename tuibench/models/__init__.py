"""Model files and their inputs; parses untrusted bytes, so it runs only in child processes."""
