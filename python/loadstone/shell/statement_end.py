"""The place where a statement ends that is typed line by line."""

import re

_PLAIN = re.compile(r"""[^"'/;\s]+|\s+|/\*|[/;"']""")
_INSIDE = {
    '"': re.compile(r'(?:[^"\\]|\\.)*(?P<end>")?', re.DOTALL),
    "'": re.compile(r"(?:[^'\\]|\\.)*(?P<end>')?", re.DOTALL),
    "/*": re.compile(r".*?(?P<end>\*/)|.*", re.DOTALL),
}


class StatementEnd:
    """Follows the lines of a statement, each of them once, through texts and comments."""

    def __init__(self) -> None:
        self._inside = ""
        """The quote, or the comment's beginning, whose end has not come."""
        self.has_ended = False
        """Whether the last thing that counts is a semicolon."""

    @property
    def is_within(self) -> bool:
        """Whether the next line begins in a text or a comment."""
        return bool(self._inside)

    def feed(self, line: str) -> None:
        """The next line, its line feed included."""
        at = 0
        while at < len(line):
            if self._inside:
                found = _INSIDE[self._inside].match(line, at)
                if found is None or found["end"] is None:
                    return
                self._inside = ""
            else:
                found = _PLAIN.match(line, at)
                if found is None:
                    return
                self._follow(found[0])
            at = found.end()

    def _follow(self, piece: str) -> None:
        if piece in _INSIDE:
            self._inside = piece
        # A comment behind the semicolon changes nothing.
        if not piece.isspace() and piece != "/*":
            self.has_ended = piece == ";"
