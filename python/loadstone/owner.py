"""A run's identity where it becomes part of a path or of a statement: checked, or refused.

It comes from a record, which people exchange.
"""

import re

from loadstone.errors import RecordError

OWNER = re.compile(r"[0-9a-z]{1,32}")


def checked_owner(text: object) -> str:
    """The same text. Raises `RecordError` unless it is 1 to 32 digits and small letters."""
    if isinstance(text, str) and OWNER.fullmatch(text):
        return text
    raise RecordError(
        f"invalid name of a run: {str(text)[:60]!r}",
        hint="run names have digits and small letters: the record is damaged or"
        " was made by another program",
    )
