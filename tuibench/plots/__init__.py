"""Figures as rows of styled text, drawn alike for screens, pipes and exports."""
