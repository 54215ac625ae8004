"""The calling programs: what drives an engine when no statement does."""
