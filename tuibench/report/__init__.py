"""Results and facts as text, JSON, CSV and Markdown; nothing here measures or prints."""
