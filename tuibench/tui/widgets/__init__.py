"""What screens are made of; a widget gets values and asks nobody."""
