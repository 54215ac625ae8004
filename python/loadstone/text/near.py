"""Names that a mistyped one may mean, as the beginning of an error's hint."""

from collections.abc import Iterable, Sequence


def nearest(word: str, known: Iterable[str], most: int = 3, cutoff: float = 0.6) -> list[str]:
    """The known names most like a word, the nearest first."""
    # Imported here: the command line imports this module, and only a message needs difflib.
    from difflib import get_close_matches

    return get_close_matches(word, [*known], most, cutoff)


def did_you_mean(word: str, known: Iterable[str], most: int = 3, cutoff: float = 0.6) -> str:
    """`did you mean sqlite? `, or nothing where no known name is like the word."""
    return question(nearest(word, known, most, cutoff))


def question(names: Sequence[str]) -> str:
    """The question for names found otherwise."""
    return f"did you mean {' or '.join(names)}? " if names else ""
