"""One module per screen; what a screen shows, and which keys mean what on it."""
