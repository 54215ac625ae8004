"""One place writes to stdout and stderr, and sees to what passes: `diagnostics`."""

import ast
from collections.abc import Iterator, Mapping

import pytest

PACKAGE = "python/loadstone/"
OWNER = f"{PACKAGE}diagnostics.py"
WAYS = {"print", "typer.echo", "typer.secho", "Console", "rich.print", "sys.stdout.write",
        "sys.stderr.write", "click.echo"}  # fmt: skip


def written_elsewhere(texts: Mapping[str, str]) -> list[str]:
    return [
        f"{path}:{line}: {way}: use diagnostics.tell, say or console"
        for path, text in texts.items()
        if path.startswith(PACKAGE) and path.endswith(".py") and path != OWNER
        for line, way in _calls(text)
        if way in WAYS
    ]


def _calls(text: str) -> Iterator[tuple[int, str]]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call):
            yield node.lineno, ast.unparse(node.func)


def test_one_place_writes(texts):
    complaints = written_elsewhere(texts)
    assert not complaints, "\n".join(complaints)


@pytest.mark.parametrize("line", ["print(1)", "typer.echo('a')", "Console().print('a')",
                                  "sys.stdout.write('a')"])  # fmt: skip
def test_another_is_seen(line):
    assert len(written_elsewhere({f"{PACKAGE}commands/data.py": f"{line}\n"})) == 1
    assert written_elsewhere({OWNER: f"{line}\n"}) == []
