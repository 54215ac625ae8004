"""Shared by the clients for OO1: its loops, its objects, its Table I."""
