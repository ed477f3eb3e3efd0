"""Results that come from elsewhere: foreign files become results or a reason; only inside the child."""
