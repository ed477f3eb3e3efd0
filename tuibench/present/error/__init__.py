"""The words of errors: a message and a hint for each code."""
