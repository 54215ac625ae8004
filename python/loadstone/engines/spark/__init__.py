"""Spark: the distributed engine, on a cluster of our own or on a user's."""
