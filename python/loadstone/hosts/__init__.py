"""Engines as a calling program reaches them: OO1's seam between program and database."""
