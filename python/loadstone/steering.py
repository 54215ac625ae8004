"""Characters that would steer a terminal, or hide or reorder what stands beside them, made visible.
For everything that people read: messages, paths, and the texts of a record."""

import re

STEERING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ud800-\udfff\ufeff]"
)
"""Controls, but for tab and line feed; what sets the direction of writing; separators of lines that
only some programs know; characters without width; halves of pairs, which no file can hold."""
PICTURES = 0x2400
"""Where Unicode has pictures of the first 32 controls."""


def legible(text: str) -> str:
    """The same with every such character shown: ESC as its picture, others by their number."""
    return STEERING.sub(_shown, text)


def _shown(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code < 32:
        return chr(PICTURES + code)
    return f"\\u{code:04x}"
