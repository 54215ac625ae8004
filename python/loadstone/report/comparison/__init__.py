"""A comparison of two records as a table, Markdown or JSON."""
