"""SQLite: a file of our own, and tables in a file of a user's."""
