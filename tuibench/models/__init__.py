"""What a model is and what can be fed to it; parses foreign bytes, so it runs only inside child processes."""
