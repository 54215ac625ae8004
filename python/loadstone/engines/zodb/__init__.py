"""ZODB: what its clients share."""
