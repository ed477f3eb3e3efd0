"""The shell's door to the hall: reads what was typed, hands it over, and prints what comes back."""
