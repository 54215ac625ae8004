"""A comment that documents something begins with its noun: "The pages that a writer changes", and
not "What it changes", which leaves the reader to find the noun; "The number of pages", and not "How
many pages there are"."""

import re
from collections.abc import Iterator, Mapping

import pytest

RUST = re.compile(r"\s*(//[/!])(?: (.*))?$")
PYTHON = re.compile(r'\s*r?"""(.*)$')
RIDDLE = re.compile(r"(?:What|Who|Whom|Whose|How|Where)\b")


def beginnings(path: str, text: str) -> Iterator[tuple[int, str]]:
    """(line, words) at the beginning of each paragraph of Rust's documentation, and of each
    docstring of Python."""
    mark = ""
    for number, line in enumerate(text.splitlines(), start=1):
        if path.endswith(".rs"):
            found = RUST.match(line)
            if found and found[2] and found[1] != mark:
                yield number, found[2]
            mark = found[1] if found and found[2] else ""
        elif path.endswith((".py", ".pyi")) and (found := PYTHON.match(line)):
            yield number, found[1]


def riddles(texts: Mapping[str, str]) -> list[str]:
    return [
        f"{path}:{number}: begin with the noun: {words[:70]}"
        for path, text in texts.items()
        for number, words in beginnings(path, text)
        if RIDDLE.match(words)
    ]


def test_documentation_begins_with_the_noun(texts):
    complaints = riddles(texts)
    assert not complaints, "\n".join(complaints)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.rs", "/// What it changes.\nfn change() {}\n"),
        ("a.rs", "//! Who holds it.\n"),
        ("a.rs", "/// How many pages it has.\n"),
        ("a.py", '"""Where it lies."""\n'),
        ("a.rs", "    /// Change it.\n    ///\n    /// # Errors\n    ///\n    /// What it says.\n"),
        ("a.py", 'def f():\n    """What it is."""\n'),
        ("a.pyi", '"""Whose it is.\n"""\n'),
    ],
)
def test_a_riddle_is_seen(path, text):
    assert len(riddles({path: text})) == 1


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.rs", "/// The caller says it.\n/// What it says is printed.\n"),
        ("a.rs", "/// Whether it is so.\n// What a comment may say.\n"),
        ("a.rs", "/// Whatever comes.\n"),
        ("a.rs", "/// However many there are.\n"),
        ("a.py", 'x = """\nWhat a text may say."""\n'),
        ("a.md", "/// What a document may say.\n"),
    ],
)
def test_other_beginnings_are_left_alone(path, text):
    assert riddles({path: text}) == []
