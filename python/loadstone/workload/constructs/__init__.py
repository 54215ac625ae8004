"""Constructs of SQL that mean something else in another dialect: one value for each.

A construct says what a node of a statement's tree means in each dialect. Where two dialects differ,
`write` gives the node another text in the target's, with the source's meaning, or raises
`UnsupportedError`: a gap that is known. What is no construct here keeps sqlglot's translation, and
its answer may differ by right: such an answer gets the label `translated otherwise`.
"""

from collections.abc import Iterator, Sequence

from sqlglot import ErrorLevel, exp

from loadstone.workload.constructs.construct import Construct
from loadstone.workload.constructs.conversions import CONVERSIONS
from loadstone.workload.constructs.dates import DATES
from loadstone.workload.constructs.numbers import NUMBERS
from loadstone.workload.constructs.queries import QUERIES
from loadstone.workload.constructs.rounding import ROUNDING
from loadstone.workload.constructs.texts import TEXTS
from loadstone.workload.expression_types import Column, annotate

CONSTRUCTS: tuple[Construct, ...] = (
    *NUMBERS, *ROUNDING, *CONVERSIONS, *TEXTS, *DATES, *QUERIES
)  # fmt: skip


def translated(tree: exp.Expr, columns: Sequence[Column], source: str, target: str) -> str:
    """A tree of one dialect as a text of another. Raises `UnsupportedError` where a construct has
    no form there, and sqlglot's own error where it knows none."""
    annotate(tree, columns, source)
    for node in reversed([*tree.walk(bfs=False)]):  # those within a node before it
        for construct, meaning in _of_node(node, source):
            if meaning == construct.meaning(node, target):
                continue
            written = construct.write(node, meaning, target)
            if written is not None:
                written.type = node.type
                if node is tree:
                    tree = written
                else:
                    node.replace(written)
                break
    # Names of functions that sqlglot does not know stay as they are written: quoted, capitals
    # would name another.
    return tree.sql(dialect=target, unsupported_level=ErrorLevel.RAISE, normalize_functions=False)


def read_otherwise(
    tree: exp.Expr, columns: Sequence[Column], one: str, other: str
) -> tuple[str, ...]:
    """The names of the constructs in a tree that two dialects, each of which reads the text by its
    own rules, take for something else."""
    annotate(tree, columns, one)
    found = (
        construct.name
        for node in tree.walk()
        for construct, meaning in _of_node(node, one)
        if meaning != construct.meaning(node, other)
    )
    return tuple(dict.fromkeys(found))


def _of_node(node: exp.Expr, dialect: str) -> Iterator[tuple[Construct, str]]:
    for construct in CONSTRUCTS:
        if isinstance(node, construct.nodes) and (meaning := construct.meaning(node, dialect)):
            yield construct, meaning
