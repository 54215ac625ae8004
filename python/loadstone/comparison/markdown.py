"""A comparison as Markdown, for a pull request."""

from collections.abc import Iterable, Sequence

from loadstone.comparison import words
from loadstone.comparison.cells import SLOWER
from loadstone.comparison.compare import Comparison, Matched
from loadstone.comparison.ledger import shown
from loadstone.report.figures import plural
from loadstone.report.markdown import plain, shorten
from loadstone.steering import legible


def render(comparison: Comparison) -> bytes:
    """UTF-8, GitHub's Markdown."""
    return legible("\n".join(_lines(comparison)) + "\n").encode()


def _lines(comparison: Comparison) -> Iterable[str]:
    yield f"**{plain(comparison.sentence())}**  "
    yield plain(words.runs(comparison))
    for matched in comparison.matched:
        yield from _matched(matched)


def _matched(matched: Matched) -> Iterable[str]:
    yield from ("", f"### {plain(matched.match.name)}")
    if flag := words.flag(matched):
        yield from ("", f"**{plain(flag)}**")
    if matched.pairs:
        yield ""
        yield from _table(words.HEADINGS, "|---|--:|---|--:|--:|--:|---|---|")
        for pair in matched.pairs:
            *figures, verdict = words.cells(pair)
            yield _row((*map(plain, figures), f"**{verdict}**" if verdict == SLOWER else verdict))
    left = list(words.remainders(matched))
    if left:
        yield from ("", "Not compared:", "")
        for rest in left:
            reason = plain(shorten(rest.reason, 200))
            yield f"- {plural(rest.count, 'cell')}: {reason} ({plain(rest.operations)})"
    yield from ("", "<details><summary>Terms</summary>", "")
    yield from _table(words.TERM_HEADINGS, "|---|---|---|---|")
    for entry in words.terms(matched):
        values = (shorten(shown(side)) for side in (entry.a, entry.b))
        yield _row((plain(entry.key), *map(plain, values), words.MARKS[entry.verdict]))
    if settings := words.equal_settings(matched):
        yield from ("", f"{settings}.")
    yield from ("", "</details>")


def _table(headings: Sequence[str], alignment: str) -> Iterable[str]:
    yield _row(headings)
    yield alignment


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"
