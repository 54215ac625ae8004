"""The commands: one file each, light at import."""
