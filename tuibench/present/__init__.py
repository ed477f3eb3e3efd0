"""Words, tables, figures and exports, made of facts for shell, dashboard and files; no input or output."""
