"""OO7 to its readers: its words, and what its counts count."""

from pathlib import Path

from loadstone.plan.presentation import Presentation, lessons_from

PRESENTATION = Presentation(
    title="OO7",
    scale="atomic parts",
    answer="objects",
    stored="objects",
    basis="A time is that of one transaction, its begin and its commit included. An operation that "
    "updates counts its updates, T4 and T8 the letters that they find. The paper's hot is the mean "
    "of the repetitions after the first and before the last, today's warm a median; both repeat "
    "the same input.",
    writes=(
        "T2a", "T2b", "T2c", "T3a", "T3b", "T3c", "T5do", "T5undo", "CU", "S1", "S2",
        "M2", "M4", "M5", "M6",
    ),
    reimplemented={
        "page grain": "lode?detect=kernel&log=page-grain",
        "page diffing": "lode?detect=kernel",
        "page diffing, UNIX": "lode?detect=sigsegv",
    },
    lessons=lessons_from(Path(__file__).with_name("lessons.toml").read_text("utf-8")),
)  # fmt: skip
