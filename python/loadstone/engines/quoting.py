"""A name in a statement, as the SQL standard quotes it."""


def quoted(name: str) -> str:
    """A delimited identifier: any name is one, and none means anything else."""
    return '"' + name.replace('"', '""') + '"'
