"""A paper's profile beside today's, as the rows of a table."""

from collections.abc import Iterator, Mapping, Sequence

from loadstone.analysis.routines import VariantProfile
from loadstone.text.numbers import digits, percent

HOW = (
    "Shares of the time in programs, without the kernel, over all warm operations, each once; by"
    " the functions that do a routine's work today. If those took no time, the whole would be as"
    " many times as fast as the last line says: Amdahl's bound for whatever speeds them up."
)


def headings(found: Sequence[VariantProfile], labels: Mapping[str, str]) -> tuple[str, ...]:
    """The paper's column, then one for each variant."""
    return ("routine", "the paper", *(labels.get(one.variant, one.variant) for one in found))


def rows(found: Sequence[VariantProfile]) -> Iterator[tuple[str, ...]]:
    """A row for each routine, then all together, what has no name, and the bound."""
    for place, first in enumerate(found[0].shares if found else ()):
        reported = first.routine
        yield (
            f"{reported.name}: {reported.what}",
            f"{digits(reported.share_percent)} %",
            *(percent(one.shares[place].share) for one in found),
        )
    if found:
        yield (
            "all of them",
            f"{digits(found[0].then_percent)} %",
            *(percent(one.share) for one in found),
        )
        yield ("seldom seen, without a name", "", *(percent(one.unnamed) for one in found))
        yield (
            "as fast without them, at most",
            f"{digits(found[0].then_gain_most)}\N{MULTIPLICATION SIGN}",
            *(f"{digits(one.gain_most)}\N{MULTIPLICATION SIGN}" for one in found),
        )
