"""The translation compares no dialect by its name: `quel/dialect.py` has the rules of each."""

import ast
from collections.abc import Iterator, Mapping

import pytest
from test_imports import PACKAGE, package_files

from loadstone.quel.dialect import OF_SQL, QUEL

NAMES = {each.name for each in (*OF_SQL, QUEL)}
OWNER = "quel/dialect.py"


def chosen_by_name(texts: Mapping[str, str]) -> Iterator[str]:
    for path, text in package_files(texts):
        if not path.startswith("quel/") or path == OWNER:
            continue
        for node in ast.walk(ast.parse(text)):
            sides = [node.left, *node.comparators] if isinstance(node, ast.Compare) else []
            named = any(
                isinstance(each, ast.Constant) and each.value in NAMES
                for side in sides
                for each in ast.walk(side)
            )
            if named or any(ast.unparse(side).endswith("dialect") for side in sides):
                yield f"{path}:{node.lineno}: {ast.unparse(node)}: make it a rule of {OWNER}"


def test_no_rule_is_chosen_by_the_name_of_a_dialect(texts):
    complaints = [*chosen_by_name(texts)]
    assert not complaints, "\n".join(complaints)


@pytest.mark.parametrize(
    "text",
    [
        "def f(dialect):\n    return dialect == 'postgres'\n",
        "def f(name):\n    return name in ('sqlite', 'duckdb')\n",
        "def f(self):\n    return self.scope.dialect != OTHER\n",
    ],
)
def test_a_compared_name_is_seen(text):
    assert len([*chosen_by_name({PACKAGE + "quel/translate.py": text})]) == 1
