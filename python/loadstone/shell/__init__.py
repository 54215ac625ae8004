"""lode asked in QUEL by a person: statements in, rows out."""
