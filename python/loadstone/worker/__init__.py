"""The child process that owns one engine: it answers requests and holds the clock."""
