"""A script: statements one after another, of which some are a transaction, as pgbench has them.

Its statements are those that a workload may have, each alone, and BEGIN, COMMIT (or END) and
ROLLBACK. They are sent one by one, as pgbench sends them.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from loadstone.errors import InputError, UnsupportedError
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
_MODE = (
    r"(?:isolation level (?:serializable|repeatable read|read committed|read uncommitted)"
    r"|read only|read write|deferrable|not deferrable)"
)
_BEGIN = re.compile(rf"(?:begin|start)(?: transaction| work)? ({_MODE}(?:(?: ,)? {_MODE})*)")
"""A begin with modes, as PostgreSQL has them."""
_WRITES_FIRST: Mapping[str, str] = {"sqlite": "BEGIN IMMEDIATE"}
"""By dialect, how a transaction that will write begins: SQLite refuses one that has read first its
writing, where another has written since, and does not let it wait."""


def split(text: str, dialect: str, where: str) -> list[str]:
    """The statements of a script, in order, without their semicolons. Raises `InputError`."""
    return [_step(one, sql.words(one, dialect, where)) for one in sql.pieces(text, dialect, where)]


def _step(text: str, words: str) -> str:
    moded = _BEGIN.fullmatch(words)
    return f"BEGIN {moded[1].upper()}" if moded else CONTROL.get(words, text)


def _begin(step: str, dialect: str, *, writes: bool) -> str:
    """The begin of a transaction as a dialect has it. SQLite's are all serialisable. Raises
    `UnsupportedError`."""
    if step != "BEGIN" and dialect not in ("postgres", "sqlite"):
        raise UnsupportedError(
            f"its script has {step}, which is sent to PostgreSQL alone, and to SQLite as BEGIN",
            hint="write BEGIN, and each engine has its own level",
        )
    if writes and dialect in _WRITES_FIRST:
        return _WRITES_FIRST[dialect]
    return step if dialect == "postgres" else "BEGIN"


def trees(text: str, dialect: str, where: str) -> Iterator[sql.Tree]:
    """Its statements but those that begin and end transactions. Raises `InputError` for what is
    none of a workload, and for transactions that do not fit into each other."""
    is_open = False
    for one in split(text, dialect, where):
        if not is_control(one):
            yield sql.parsed(one, dialect, where)
            continue
        begins = one.startswith("BEGIN")
        if begins == is_open:
            stated = (
                "begins a transaction within another" if is_open else f"has {one} without BEGIN"
            )
            raise InputError(f"{where} {stated}")
        is_open = begins
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
    writes = any(not (gives_rows or is_control(step)) for step, gives_rows in steps)
    steps = [
        (_begin(step, dialect, writes=writes) if step.startswith("BEGIN") else step, rows)
        for step, rows in steps
    ]
    return Statement("script", ";\n".join(step for step, _ in steps), steps=tuple(steps))
