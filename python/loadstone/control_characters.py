"""Characters that would steer a terminal, or hide or reorder text, made visible.

For everything that people read: messages, paths, and the texts of a record.
"""

import json
import re
from typing import Any

STEERING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ud800-\udfff\ufeff]"
)
"""Controls, but for tab and line feed; what sets the direction of writing; separators of lines that
only some programs know; characters without width; halves of pairs, which no file can hold."""
PICTURES = 0x2400
"""The first of Unicode's pictures of the first 32 control characters."""


def legible(text: str) -> str:
    """The same with every such character shown: ESC as its picture, others by their number."""
    return STEERING.sub(_shown, text)


def legible_line(text: str) -> str:
    """The same on one line: a name with a line feed in it forges no second one."""
    return legible(text).replace("\n", "\N{SYMBOL FOR NEWLINE}").replace("\t", " ")


def legible_json(value: Any, **options: Any) -> str:
    """JSON that says the same and steers nothing: such characters are escaped. `options` are those
    of `json.dumps`."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, **options)
    # Half of a pair, which JSON can determine and UTF-8 cannot, becomes a question mark.
    plain = text.encode(errors="replace").decode()
    return STEERING.sub(lambda found: f"\\u{ord(found[0]):04x}", plain)


def _shown(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code < 32:
        return chr(PICTURES + code)
    return f"\\u{code:04x}"
