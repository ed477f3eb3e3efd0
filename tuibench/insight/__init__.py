"""What a profile says, from its figures alone."""
