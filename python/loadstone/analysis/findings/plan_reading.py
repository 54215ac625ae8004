"""An engine's own plan, read from its text: how it joins, groups and removes duplicates,
and how many rows it expects.

The words are those of the engines' EXPLAIN; a text without any of them says nothing. A plan names
what was planned, and not the time that it took.
"""

import re
from collections.abc import Iterable, Mapping

from loadstone.record.model import StatementText

_JOIN = (
    (r"hash[ _]join", "a hash join"),
    (r"merge[ _]join", "a merge join"),
    (r"using automatic (?:partial )?(?:covering )?index", "nested loops over an index made for it"),
    (r"nested[ _]loops?", "nested loops"),
    # One table inside the other, in the order of the lines, as https://sqlite.org/eqp.html has it.
    (r"(?m)^ *(?:scan|search) \w+[^\n]*\n(?:[^\n]*\n)*? *(?:scan|search) \w+", "nested loops"),
    # lode's, whose pipelines are numbered; of several ways the one that takes most.
    (r"(?m)^ *(?:\d+\. )?loop scan \w+ is ", "nested loops"),
    (r"(?m)^ *\d+\. substitute: ", "tuple substitution"),
    (r"(?m)^ *(?:\d+\. )?loop \S+ \w+ is ", "nested loops over an index"),
    (r"(?m)^ *\d+\. merge \w+ is temporary ", "a merge join"),
    (r"(?m)^ *probe \w+ is table ", "a hash join"),
)
_GROUP = (
    (r"use temp b-tree for (?:group by|distinct)", "a temporary B-tree"),
    (r"perfect[ _]hash[ _]group[ _]by", "an array over the values"),
    (r"hash[ _]group[ _]by|hash ?aggregate", "a hash table"),
    (r"groupaggregate|\bunique\b", "sorted rows"),
    (
        r"(?m)^ *sort temporary (\d+) by [^\n]*\n *\d+\. scan \w+ is temporary \1\n"
        r" *aggregation \d+ by ",
        "sorted rows",
    ),
    (r"(?m)^ *distinct \w+ is \(|^ *aggregation \d+ by ", "a hash table"),
)
_CLASSES: Mapping[str, tuple[tuple[re.Pattern[str], str], ...]] = {
    name: tuple((re.compile(pattern, re.IGNORECASE), words) for pattern, words in known)
    for name, known in (("joins by", _JOIN), ("groups by", _GROUP))
}
_EXPECTED = re.compile(r"\brows=(\d+)|~\s?(\d[\d,.]*) rows?\b", re.IGNORECASE)


def operators(plan: str) -> dict[str, str]:
    """`joins by` and `groups by` -> how, of those that the plan names."""
    found = {}
    for name, known in _CLASSES.items():
        reported = next((words for pattern, words in known if pattern.search(plan)), None)
        if reported:
            found[name] = reported
    return found


def operators_apart(
    one: Iterable[StatementText], other: Iterable[StatementText]
) -> tuple[tuple[str, str, str], ...]:
    """(`joins by`, how the one does, how the other does) where the first plans of both report it,
    and differ."""
    first, second = (operators(_first_plan(texts)) for texts in (one, other))
    return tuple(
        (name, first[name], second[name])
        for name in _CLASSES
        if name in first and name in second and first[name] != second[name]
    )


def rows_expected(plan: str) -> int | None:
    """The rows that the plan's topmost operator expects; None where it shows none."""
    reported = _EXPECTED.search(plan)
    if reported is None:
        return None
    digits = re.sub(r"\D", "", reported.group(1) or reported.group(2))
    return int(digits) if digits else None


def _first_plan(texts: Iterable[StatementText]) -> str:
    return next((text.plan for text in texts if text.plan), "")
