"""One module per command: parse, ask, print; nothing heavy is imported before it is needed."""
