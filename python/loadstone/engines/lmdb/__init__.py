"""LMDB: what its clients share."""
