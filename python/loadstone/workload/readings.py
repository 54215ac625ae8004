"""What each engine was asked: a text of its own dialect, our translation, or a text that names no
dialect, which it read by its own rules.

So an answer that differs is not always the engine's fault. The labels, and when each would be
false:

    translated otherwise  the text is of another dialect, and the answer to our translation differs.
                          False if an engine that got the same translation gives the expected
                          answer: then the translation has kept the meaning.
    read otherwise        no dialect is named, and the text has a form that the two dialects are
                          known to understand differently. False if the answers differ for another
                          reason; so it names the forms.
"""

from collections.abc import Sequence

from loadstone.errors import InputError
from loadstone.plan.workload import READ_OTHERWISE, TRANSLATED_OTHERWISE, WorkloadStatement
from loadstone.text.numbers import listing
from loadstone.workload import script, sql
from loadstone.workload.constructs import read_otherwise
from loadstone.workload.constructs.queries import NULL_ORDER
from loadstone.workload.expression_types import Column
from loadstone.workload.votes import Group, Vote

OWN, TRANSLATED, ITSELF = "own", "translated", "by its own rules"


def reading_of(stated: WorkloadStatement, dialect: str) -> str:
    """What an engine of a dialect was asked with a statement."""
    if not stated.names_dialect:
        return ITSELF if dialect in sql.STANDARD_QUOTES else TRANSLATED
    written_in, _ = stated.texts_for(dialect)
    return OWN if written_in == dialect else TRANSLATED


def is_translation(group: Group) -> bool:
    """Whether all of a group's answers are to our translations."""
    return all(vote.reading == TRANSLATED for vote in group.votes)


def label_of(
    vote: Vote,
    others: Sequence[Group],
    stated: WorkloadStatement,
    columns: Sequence[Column],
    words: str,
) -> str:
    """The label of an answer that differs from all of these; empty where the engine is to blame."""
    beside = [other for group in others for other in group.votes]
    if any(other.dialect == vote.dialect for other in beside):
        return ""
    if vote.reading == TRANSLATED:
        return f"{TRANSLATED_OTHERWISE}: {words}"
    if vote.reading != ITSELF:
        return ""
    found: dict[str, None] = {}
    for other in beside:
        if other.reading == ITSELF:
            forms = [
                form
                for form in _read_otherwise(stated, columns, vote.dialect, other.dialect)
                if form != NULL_ORDER or _has_null(vote) or _has_null(other)
            ]
            if not forms:
                return ""
            found |= dict.fromkeys(forms)
    if not found:
        return ""
    return (
        f"{READ_OTHERWISE}: no dialect is named, so {listing(found)} means another thing: {words}"
    )


def _has_null(vote: Vote) -> bool:
    return any(value is None for row in vote.rows() or () for value in row)


def _read_otherwise(
    stated: WorkloadStatement, columns: Sequence[Column], one: str, other: str
) -> tuple[str, ...]:
    _, texts = stated.texts_for(one)
    try:
        trees = [*script.trees(texts[0], one, stated.name)]
    except InputError:
        return ()
    return tuple(name for tree in trees for name in read_otherwise(tree, columns, one, other))
