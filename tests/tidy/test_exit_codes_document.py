"""docs/reference/exit-codes.md says what the exit codes mean: the codes must be those of the
program."""

import ast
import re


def codes_of_program(diagnostics: str) -> list[int]:
    """The values of the enumeration `Exit`, without importing it."""
    for node in ast.parse(diagnostics).body:
        if isinstance(node, ast.ClassDef) and node.name == "Exit":
            return [ast.literal_eval(item.value) for item in node.body if hasattr(item, "targets")]
    raise AssertionError("diagnostics has no class Exit")


def codes_described(document: str) -> list[int]:
    return [int(code) for code in re.findall(r"^\| (\d+) \| \w", document, re.MULTILINE)]


def test_exit_codes_are_described(texts):
    codes = codes_of_program(texts["python/loadstone/diagnostics.py"])
    assert codes_described(texts["docs/reference/exit-codes.md"]) == codes


def test_a_code_that_is_not_described_is_seen():
    program = 'class Exit:\n    """Why."""\n    OK = 0\n    BAD = 1\n'
    assert codes_of_program(program) == [0, 1]
    assert codes_described("| code | meaning |\n| 0 | well |\n") == [0]
