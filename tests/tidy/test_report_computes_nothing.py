"""A report prints figures and computes none: no quotient, sum, logarithm or rank of what was
measured, and no threshold that a figure is held against. `analysis/` does that.

Not seen: a sum of two figures by `+`, which is how texts are joined, the least or greatest of a
few by `min` and `max`, and arithmetic of names alone.
"""

import ast
import re
from collections.abc import Iterator, Mapping

import pytest
from test_imports import PACKAGE, imports, package_files

ROOM = "report/"
DRAWN = ("axis", "charts", "drawing", "enhancement_chart", "history_page",
         "over_time_chart", "page_room", "screen", "shades", "users_chart")  # fmt: skip
"""The modules that turn figures into pixels, characters and shades, or say how much fits a page:
there arithmetic is drawing."""
ARITHMETIC = ast.Div | ast.FloorDiv | ast.Mod | ast.Mult | ast.Sub | ast.Pow
RANKED = ("sorted", "sort", "nlargest", "nsmallest")
COUNTED = (ast.Compare, ast.BoolOp, ast.Constant)
UNITS = ("NS_PER_S", "NS_PER_MS", "ns")
"""A figure over one of these is the same figure in another unit."""


def _calls(node: ast.AST, *names: str) -> bool:
    if not isinstance(node, ast.Call):
        return False
    called = node.func
    name = called.id if isinstance(called, ast.Name) else getattr(called, "attr", "")
    return name in names


def _figures(node: ast.AST) -> bool:
    """Whether it reads a value of another object, and is not a mere count of things."""
    if _calls(node, "len") or isinstance(node, COUNTED):
        return False
    if isinstance(node, ast.BinOp) and _is_text(node.left):
        return False
    if isinstance(node, ast.Attribute | ast.Subscript):
        return not isinstance(node, ast.Subscript) or not isinstance(node.slice, ast.Slice)
    return any(_figures(child) for child in ast.iter_child_nodes(node))


def _unit(node: ast.AST) -> bool:
    name = node.id if isinstance(node, ast.Name) else getattr(node, "attr", "")
    return name in UNITS


def _is_text(node: ast.AST) -> bool:
    """Text is repeated, not multiplied."""
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


def _textual(node: ast.AST) -> bool:
    """A text, or the lines of one."""
    return any(_is_text(one) or isinstance(one, ast.List) for one in ast.walk(node))


def _constant(node: ast.AST) -> bool:
    """A number, or a name in capitals."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, float)
    return isinstance(node, ast.Name) and node.id.isupper()


def _computed(node: ast.AST) -> str:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ARITHMETIC):
        if _unit(node.left) or _unit(node.right):
            return ""
        if _is_text(node.left):
            return ""
        quotient = isinstance(node.op, ast.Div)
        figures = _figures(node.left) or _figures(node.right)
        return "computes with a figure" if quotient or figures else ""
    if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add | ARITHMETIC):
        return "adds up figures" if _figures(node.value) and not _textual(node.value) else ""
    if _calls(node, "sum", "fsum", "fmean", "mean", "median"):
        return "sums figures" if any(_figures(_summand(one)) for one in node.args) else ""
    if _calls(node, *RANKED):
        keys = [each.value for each in node.keywords if each.arg in ("key", "reverse")]
        turned = any(isinstance(one, ast.UnaryOp) and isinstance(one.op, ast.USub)
                     for key in keys for one in ast.walk(key))  # fmt: skip
        return "ranks figures" if turned or any(_constant_true(key) for key in keys) else ""
    if isinstance(node, ast.Compare) and isinstance(
        node.ops[0], ast.Lt | ast.Gt | ast.LtE | ast.GtE
    ):
        sides = (node.left, node.comparators[0])
        held = any(map(_constant, sides)) and not any(_calls(side, "len") for side in sides)
        return "holds a figure against a threshold" if held else ""
    return ""


def _constant_true(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value is True


def _summand(node: ast.AST) -> ast.AST:
    return node.elt if isinstance(node, ast.GeneratorExp | ast.ListComp) else node


def computations(texts: Mapping[str, str]) -> Iterator[str]:
    for path, text in package_files(texts):
        if not path.startswith(ROOM) or path.removesuffix(".py").rpartition("/")[2] in DRAWN:
            continue
        yield from (
            f"{path}:{line}: imports {name}"
            for line, name in imports(text)
            if name.startswith("math")
        )
        for node in ast.walk(ast.parse(text)):
            if said := _computed(node):
                yield f"{path}:{node.lineno}: {said}"


TEMPLATES = f"{PACKAGE}report/page/"
TAG = re.compile(r"\{[{%].*?[%}]\}", re.DOTALL)
TEXT = re.compile(r"""'[^']*'|"[^"]*\"""")
OPERATOR = re.compile(r" (?:/|\*\*?) |\.\w+ [-+] |\|(?:sum|sort|max|min|round)\b")
IN_A_UNIT = re.compile(r"\(?[\w.]+ / (?:(?:panel\.)?unit\.ns|1000)\)?")


def template_computations(texts: Mapping[str, str]) -> Iterator[str]:
    """The arithmetic of the page's templates, but for a time in a unit."""
    for path, text in texts.items():
        if path.startswith(TEMPLATES):
            for tag in TAG.findall(text):
                if OPERATOR.search(IN_A_UNIT.sub("", TEXT.sub("", tag))):
                    yield f"{path}: {tag}"


def test_a_report_computes_nothing(texts):
    complaints = [*computations(texts), *template_computations(texts)]
    assert not complaints, "\n".join(complaints)


@pytest.mark.parametrize(
    "text",
    [
        "def f(a, b):\n    return a.value / max(b.value, 1.0)\n",
        "def f(a):\n    return percent(a.ratio - 1)\n",
        "def f(rows):\n    return sum(row.share for row in rows)\n",
        "def f(rows):\n    return sorted(rows, key=lambda row: -row.strength)\n",
        "def f(rows):\n    return sorted(rows, reverse=True)\n",
        "def f(one):\n    return abs(one.share) >= SHOWN_MIN\n",
        "def f(one):\n    return one.share < 0.01\n",
        "def f(share):\n    return abs(share) < SEEN_MIN\n",
        "def f(a, b):\n    return a / b\n",
        "def f(a, b):\n    return a.value // b.value\n",
        "def f(a):\n    return a.value % 10\n",
        "def f(rows):\n    total = 0\n    for row in rows:\n        total += row.share\n",
        "from math import log\n",
    ],
)
def test_a_computed_figure_is_seen(text):
    assert len([*computations({PACKAGE + "report/markdown.py": text})]) == 1


@pytest.mark.parametrize(
    "text",
    [
        "def f(a):\n    return duration(a.base_ms * NS_PER_MS)\n",
        "def f(rows):\n    return rows[: len(rows) - 1]\n",
        "def f(rows):\n    return sum(row.status == 'ok' for row in rows)\n",
        "def f(one):\n    return len(one.rows) > ROWS_MAX\n",
        "def f(one, lines):\n    lines += [one.name]\n    lines += f'{one.name}'\n",
    ],
)
def test_units_and_counts_are_no_figures(text):
    assert not [*computations({PACKAGE + "report/markdown.py": text})]


@pytest.mark.parametrize(
    ("tag", "count"),
    [
        ("{{ (load.tuples / load.elapsed_ns * 1e9)|digits }}", 1),
        ("{% for row in rows|sort(attribute='share') %}", 1),
        ("{{ (figure.elapsed_ns.value / unit.ns)|digits }}", 0),
        ("{{ ' - ' if loop.last }}", 0),
    ],
)
def test_a_computing_template_is_seen(tag, count):
    assert len([*template_computations({f"{TEMPLATES}a.html.j2": f"<p>{tag}</p>"})]) == count
