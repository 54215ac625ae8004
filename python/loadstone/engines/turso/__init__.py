"""Turso, the rewrite of SQLite in Rust, through pyturso."""
