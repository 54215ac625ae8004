"""Ladybug: what its clients share."""
