"""Layer times, the machine's peak rates, and layers measured alone or in int8."""
