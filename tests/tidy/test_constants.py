"""A constant has one owner: no two modules give one value the same name."""

import ast
from collections import defaultdict
from collections.abc import Mapping

import pytest
from test_imports import PACKAGE, package_files

OWN = {
    "FOLDER": "where the module lies",
    "TACTICS": "the file beside the module",
    "R": "a type's name in signatures",
    "ABSENT": "a sign of two tables",
    "COLUMNS_MAX": "the width of two commands' tables",
    "FILE_BYTES_MAX": "of files of several kinds",
    "FINDINGS_MAX": "of a screen and of a line",
    "ID_BITS": "of two papers' programs",
    "ITERATION": "of two papers' operations",
    "KIB": "1024",
    "LIBC": "a handle of the system's library",
    "SHOWN_LETTERS_MAX": "of a text in two messages",
    "STRIP_PX": "the width of two drawings",
    "TEMPERATURES": "of a completion, which imports no plan",
    "TEXT_BYTES_MAX": "of texts of three commands",
    "UNLIMITED": "the same word for two limits",
    "WORD": "a name in two languages",
}
"""Name -> what it is in each module, so that one may change alone."""


def constants(text: str) -> list[tuple[str, str]]:
    """(Name, value as written) of each at the top of a module."""
    return [
        (node.targets[0].id.strip("_"), ast.unparse(node.value))
        for node in ast.parse(text).body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
        if node.targets[0].id.strip("_").isupper()
    ]


def said_again(texts: Mapping[str, str]) -> dict[str, list[str]]:
    places: dict[tuple[str, str], list[str]] = defaultdict(list)
    for path, text in package_files(texts):
        for constant in constants(text):
            places[constant].append(path)
    return {name: own for (name, _), own in places.items() if len(own) > 1}


def test_a_constant_has_one_owner(texts):
    again = {name: places for name, places in said_again(texts).items() if name not in OWN}
    assert not again, "\n".join(f"{name}: {', '.join(own)}" for name, own in again.items())


def test_each_exception_is_still_needed(texts):
    assert set(OWN) <= set(said_again(texts))


@pytest.mark.parametrize(
    ("one", "other", "found"),
    [
        ("CONFIDENCE = 0.95\n", "CONFIDENCE = 0.95\n", True),
        ("_ENDINGS = (SIGINT, SIGTERM)\n", "ENDINGS = (SIGINT, SIGTERM)\n", True),
        ("REPEAT_S = 20.0\n", "REPEAT_S = 5.0\n", False),
    ],
)
def test_a_constant_that_is_said_again_is_seen(one, other, found):
    texts = {PACKAGE + "statistics/a.py": one, PACKAGE + "analysis/b.py": other}
    assert bool(said_again(texts)) is found
