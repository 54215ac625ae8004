"""Scripts, and mixes of statements with weights: what each variation is, and what they may be."""

from collections.abc import Mapping, Sequence

from loadstone.errors import InputError
from loadstone.plan.workload import OwnText, Workload, WorkloadStatement
from loadstone.workload import script, sql
from loadstone.workload.entries import StatementToml
from loadstone.workload.parameters import random_bits, start_of


def drawn(weights: Mapping[str, int], seed: int, name: str, variations: int) -> list[str]:
    """Which of these each variation is, drawn by their weights."""
    start, total = start_of(seed, name, "mix"), sum(weights.values())
    found = []
    for number in range(variations):
        at = random_bits(start, number) * total >> 64
        for one, weight in weights.items():
            at -= weight
            if at < 0:
                found.append(one)
                break
    return found


def mixed(
    stated: StatementToml, alone: Mapping[str, WorkloadStatement], seed: int, where: str
) -> WorkloadStatement:
    """A statement whose variations are those of others, drawn by weights. Raises `InputError`."""
    if stated.sql or stated.pgbench or stated.parameters or stated.text:
        raise InputError(f"{where} is a mix, and has a text of its own", hint="keep one")
    parts = []
    for name in stated.mix:
        if name not in alone:
            raise InputError(
                f"{where} mixes {name[:60]!r}, and there is no such statement",
                hint=f"there are: {', '.join(alone)}",
            )
        parts.append(alone[name])
    dialect = max(one.dialect for one in parts)  # one in no dialect is read in the others'
    if {one.dialect for one in parts} - {sql.GENERIC, dialect}:
        raise InputError(
            f"{where} mixes statements that are written in several dialects",
            hint="write all in one; each may have texts for other engines",
        )
    order = drawn(stated.mix, seed, stated.name, stated.variations)
    dialects = dict.fromkeys(own.dialect for one in parts for own in one.own)
    given = {one.name: one for one in parts}

    def texts(dialect: str) -> tuple[str, ...]:
        found = []
        for number, name in enumerate(order):
            written_in, own = given[name].texts_for(dialect)
            if dialect and written_in != dialect and dialect in dialects:
                raise InputError(
                    f"{where}: {name} has no text for {dialect}, and another of its statements has",
                    hint="give all of them one, or none",
                )
            found.append(own[number % len(own)])
        return tuple(found)

    changed = (
        name for one in parts for name in (*filter(None, [one.changes]), *one.script_changes)
    )
    return WorkloadStatement(
        stated.name, stated.title or stated.name, dialect, texts(""),
        tuple(OwnText(dialect, texts(dialect)) for dialect in dialects),
        min(one.digits for one in parts), script=True,
        script_changes=tuple(dict.fromkeys(changed)),
        volatile=_each_once(stated.volatile, *(one.volatile for one in parts)),
        same=_each_once(stated.same, *(one.same for one in parts)), grows=stated.grows,
    )  # fmt: skip


def _each_once(*lists: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one for each in lists for one in each))


def check_script(
    workload: Workload, stated: WorkloadStatement, known: Sequence[str], where: str
) -> None:
    """Raise `InputError` where a script is none that is measured."""
    changed: dict[str, None] = {}
    for dialect, texts in (
        (stated.dialect, stated.texts),
        *((o.dialect, o.texts) for o in stated.own),
    ):
        for text in sql.of_each_shape(texts, dialect, where):
            for tree in script.trees(text, dialect, where):
                if workload.as_it_stands:
                    sql.check_reading(tree, where)
                    continue
                sql.check_tables(tree, known, where)
                changed |= dict.fromkeys(filter(None, [sql.changed_by(tree)]))
    if {*changed} != {*stated.script_changes}:
        raise InputError(f"{where} changes other tables than are declared")
    columns = {
        f"{table.name}.{column.name}" for table in workload.tables for column in table.columns
    }
    for each in stated.volatile:
        if each not in columns:
            raise InputError(
                f"{where}: volatile names {each[:60]!r}, no column of the workload's tables",
                hint="write TABLE.COLUMN",
            )
    for text in (*stated.same, *stated.grows):
        tree = sql.parsed(text, stated.dialect, f"{where}, same or grows")
        if sql.changed_by(tree):
            raise InputError(f"{where}: same and grows are queries", hint="write SELECT …")
        sql.check_tables(tree, known, where)
