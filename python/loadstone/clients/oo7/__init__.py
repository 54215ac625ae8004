"""Shared by the clients for OO7: its program."""
