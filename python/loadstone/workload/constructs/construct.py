"""The shape of a construct, and of its texts in other dialects."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import ErrorLevel, exp

from loadstone.errors import UnsupportedError

Meaning = Callable[[exp.Expr, str], str]
"""What a node means in a dialect; empty where it is no such construct, or is the same to all."""
Write = Callable[[exp.Expr, str, str], exp.Expr | None]
"""(node, meaning, target) to the node's text in the target dialect; None: it stays as it is."""
_ATOMS = (
    exp.Column,
    exp.Literal,
    exp.Func,
    exp.Paren,
    exp.Var,
    exp.Subquery,
    exp.Null,
    exp.Boolean,
)


@dataclass(frozen=True, slots=True)
class Construct:
    """One that dialects understand differently. `examples`: expressions over the columns of
    `tests/conformance/test_translations.py`, which holds every engine to them."""

    name: str
    nodes: tuple[type[exp.Expr], ...]
    meaning: Meaning
    write: Write
    examples: tuple[str, ...]


def written(text: str, node: exp.Expr, target: str, *operands: exp.Expr | str) -> exp.Expr:
    """A node as this text of the target dialect, in which `{0}` is the first operand."""
    found: exp.Expr = exp.Var(this=text.format(*(operand(one, target) for one in operands)))
    found.type = node.type
    return found


def operand(node: exp.Expr | str, target: str) -> str:
    """The text of a node, as it can stand beside any operator."""
    if isinstance(node, str):
        return node
    text = node.sql(dialect=target, unsupported_level=ErrorLevel.RAISE, normalize_functions=False)
    return text if isinstance(node, _ATOMS) else f"({text})"


def formed(
    forms: Mapping[str, Mapping[str, str]], operands: Callable[[exp.Expr], Sequence[exp.Expr]]
) -> Write:
    """Writes by texts: a meaning has one for each target in which the node means another thing."""

    def write(node: exp.Expr, meaning: str, target: str) -> exp.Expr | None:
        text = forms.get(meaning, {}).get(target)
        return None if text is None else written(text, node, target, *operands(node))

    return write


def gap(what: str, target: str) -> UnsupportedError:
    """The error of a construct without a form in a dialect."""
    return UnsupportedError(
        f"no translation of it to {target}, which takes {what} for another thing",
        hint="give the statement a text for this engine: text.ENGINE",
    )


def of_dialects(meanings: Mapping[str, str], is_one: Callable[[exp.Expr], bool]) -> Meaning:
    """A meaning that depends on the dialect alone, of the nodes that are one."""
    return lambda node, dialect: meanings.get(dialect, "") if is_one(node) else ""


def both(node: exp.Expr) -> tuple[exp.Expr, exp.Expr]:
    """The operands of a binary operator."""
    return node.this, node.expression
