"""Graded statements about causes, read from a record and nothing else: one rule a file."""
