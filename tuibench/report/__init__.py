"""What a run has to say, as text, tables and files; pure functions from results, with nothing measured here."""
