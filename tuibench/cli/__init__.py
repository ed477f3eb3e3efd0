"""One module per command: parse, call services, print. Heavy imports are lazy."""
