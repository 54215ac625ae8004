"""Clients that call an engine's own Python interface."""
