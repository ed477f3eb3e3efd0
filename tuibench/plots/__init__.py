"""Figures as rows of styled text, the same for screens, pipes and exports."""
