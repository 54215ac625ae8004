"""The rules by which dialects of SQL differ where QUEL is translated: one value for each.

QUEL itself is one, too, of an engine that speaks it.
"""

from dataclasses import dataclass

from loadstone.errors import InputError


@dataclass(frozen=True, slots=True)
class Dialect:
    """A language of statements; the defaults are those of most dialects of SQL."""

    name: str
    """As sqlglot names it, or `quel`."""
    is_quel: bool = False
    """Whether a program goes to the engine as it is."""
    types_its_values: bool = True
    """Whether integers have a width at which they overflow, a bare 0.1 is a decimal, and a sum or a
    mean has another type than what it is taken of."""
    casts_round: bool = True
    """Whether a cast to a whole number rounds, else it cuts the fraction off, as QUEL does."""
    divides_whole: bool = True
    """Whether `/` of whole numbers cuts the rest off, as QUEL does."""
    has_glob: bool = False
    """Whether a pattern with sets is a word of its own, else LIKE or a regular expression."""
    pads_text: bool = False
    """Whether char(n) is padded until it is cast to a text."""
    orders_by_collation: bool = False
    """Whether the order of letters is the database's own, unless a statement says otherwise."""
    filters_aggregates: bool = True
    """Whether an aggregate may have a FILTER, else its argument is missing where it is not met."""
    means_are_exact: bool = True
    """Whether the mean of whole numbers has the digits that it takes, else a few."""
    deletes_by_alias: bool = True
    """Whether the one table of a DELETE may have another name there, else only where it is named
    as the one of several to delete from."""
    matches_by_function: bool = False
    """Whether a regular expression is matched by REGEXP_INSTR alone."""
    cuts_to_digits: bool = False
    """Whether a fraction is cut off by TRUNCATE, to no digits, else by TRUNC."""
    has_dates: bool = True
    """Whether dates and times have types, else they are texts or numbers."""


SQLITE = Dialect(
    "sqlite", types_its_values=False, casts_round=False, has_glob=True, has_dates=False
)
DUCKDB = Dialect("duckdb", divides_whole=False)
POSTGRES = Dialect("postgres", pads_text=True, orders_by_collation=True)
SPARK = Dialect("spark", casts_round=False, divides_whole=False)
MYSQL = Dialect(
    "mysql",
    divides_whole=False,
    filters_aggregates=False,
    means_are_exact=False,
    deletes_by_alias=False,
    matches_by_function=True,
    cuts_to_digits=True,
)
CLICKHOUSE = Dialect("clickhouse", casts_round=False, divides_whole=False)
QUEL = Dialect("quel", is_quel=True)
OF_SQL = (SQLITE, DUCKDB, POSTGRES, SPARK, MYSQL, CLICKHOUSE)


def is_quel(name: str) -> bool:
    """Whether a dialect is no SQL; one that nothing is translated to may have any name."""
    return name == QUEL.name


def has_dates(name: str) -> bool:
    """Whether a dialect has types for dates and times; one of another name has."""
    return all(each.has_dates for each in OF_SQL if each.name == name)


def dialect_named(name: str) -> Dialect:
    """The rules of a dialect. Raises `InputError` where there is none of that name."""
    known = (*OF_SQL, QUEL)
    for dialect in known:
        if dialect.name == name:
            return dialect
    names = ", ".join(each.name for each in known)
    raise InputError(f"no translation to {name}", hint=f"there is {names}")
