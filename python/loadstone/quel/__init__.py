"""QUEL: its tree, and its translation to SQL."""
