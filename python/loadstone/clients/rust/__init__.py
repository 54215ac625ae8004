"""Clients compiled into the core: the data path is Rust from end to end."""
