"""A script: statements one after another, of which some are a transaction, as pgbench has them.

Its statements are those that a workload may have, each alone, and BEGIN, COMMIT (or END) and
ROLLBACK. They are sent one by one, as pgbench sends them.
"""

from collections.abc import Iterator, Mapping, Sequence

from loadstone.errors import InputError
from loadstone.quel.statement import Statement, is_control
from loadstone.workload import sql, sql_for_engine
from loadstone.workload.expression_types import Column

CONTROL: Mapping[str, str] = {
    "begin": "BEGIN", "begin transaction": "BEGIN", "begin work": "BEGIN",
    "start transaction": "BEGIN", "end": "COMMIT", "end transaction": "COMMIT",
    "end work": "COMMIT", "commit": "COMMIT", "commit transaction": "COMMIT",
    "commit work": "COMMIT", "rollback": "ROLLBACK", "abort": "ROLLBACK",
}  # fmt: skip
"""The forms of a transaction's begin and end, and those that every engine takes."""
_WRITES_FIRST: Mapping[str, str] = {"sqlite": "BEGIN IMMEDIATE"}
"""By dialect, how a transaction that will write begins: SQLite refuses one that has read first its
writing, where another has written since, and does not let it wait."""


def split(text: str, dialect: str, where: str) -> list[str]:
    """The statements of a script, in order, without their semicolons. Raises `InputError`."""
    found = sql.pieces(text, dialect, where)
    return [CONTROL.get(sql.words(one, dialect, where), one) for one in found]


def trees(text: str, dialect: str, where: str) -> Iterator[sql.Tree]:
    """Its statements but those that begin and end transactions. Raises `InputError` for what is
    none of a workload, and for transactions that do not fit into each other."""
    is_open = False
    for one in split(text, dialect, where):
        if not is_control(one):
            yield sql.parsed(one, dialect, where)
            continue
        if (one == "BEGIN") == is_open:
            stated = (
                "begins a transaction within another" if is_open else f"has {one} without BEGIN"
            )
            raise InputError(f"{where} {stated}")
        is_open = one == "BEGIN"
    if is_open:
        raise InputError(f"{where} begins a transaction and does not end it", hint="write COMMIT")


def changed_by(text: str, dialect: str, where: str) -> tuple[str, ...]:
    """The names of the tables that a script changes, each once."""
    names = (sql.changed_by(tree) for tree in trees(text, dialect, where))
    return tuple(dict.fromkeys(filter(None, names)))


def for_engine(
    text: str,
    written_in: str,
    dialect: str,
    stored: Mapping[str, str],
    columns: Sequence[Column],
    schema: str,
) -> Statement:
    """A script as an engine of a dialect gets it; otherwise as `sql_for_engine.for_engine`."""
    steps: list[tuple[str, bool]] = []
    for one in split(text, written_in, "the script"):
        if is_control(one):
            steps.append((one, False))
            continue
        stated = sql_for_engine.for_engine(one, written_in, dialect, stored, columns, schema)
        steps.append((stated.text, stated.kind == "retrieve"))
    if any(not (gives_rows or is_control(step)) for step, gives_rows in steps):
        begin = _WRITES_FIRST.get(dialect, "BEGIN")
        steps = [(begin if step == "BEGIN" else step, rows) for step, rows in steps]
    return Statement("script", ";\n".join(step for step, _ in steps), steps=tuple(steps))
