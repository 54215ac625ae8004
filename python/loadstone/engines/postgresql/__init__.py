"""PostgreSQL: its binaries, a private server, a session, a schema on a user's server."""
