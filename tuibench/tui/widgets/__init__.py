"""Widgets that screens are composed of. A widget shows the values it is given and fetches nothing itself."""
