"""The meaning of each mark of unequal terms: a line for each term, the same for every format."""

from loadstone.analysis.summary import Summary
from loadstone.text.numbers import listing, size


def unequal_lines(summary: Summary, *, marks: bool = False) -> list[str]:
    """A line for each term in which some cell differs from its row: the variants with their values,
    and the rows' values.

    One variant's value of a term is the same in all its cells, but rows may differ: then both are
    shown. `marks`: each line begins with the short mark at the cells.
    """
    short: dict[str, str] = {}
    usual: dict[str, dict[str, None]] = {}
    own: dict[str, dict[tuple[str, str], None]] = {}
    for figure in summary.figures.values():
        for term in figure.unequal:
            if figure.cell.variant not in summary.columns:
                continue
            short[term.key] = term.mark
            usual.setdefault(term.key, {})[term.usual] = None
            own.setdefault(term.key, {})[figure.cell.variant, term.own] = None
    return [
        f"{_name(key, short[key] if marks else key)}: "
        + listing(f"{summary.labels[v]} {_value(key, said)}" for v, said in own[key])
        + (f"; the rows' {listing(_value(key, said) for said in usual[key])}" if marks else "")
        for key in short
    ]


def _name(key: str, mark: str) -> str:
    return key if key == mark else f"{mark}, {key}"


def _value(key: str, said: str) -> str:
    known = key.startswith("cache") and said.isdigit()
    return size(int(said)) if known else said
