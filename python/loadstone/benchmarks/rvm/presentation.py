"""RVM's benchmark to its readers: its words, and what its times are."""

from pathlib import Path

from loadstone.plan.presentation import Presentation, lessons_from

PRESENTATION = Presentation(
    title="RVM",
    scale="accounts",
    answer="transactions",
    stored="records",
    basis="A time is that of a trial, 4,000 transactions one after another, each with its begin "
    "and its commit; a four thousandth of it is the paper's time of a transaction. An audit reads "
    "all records.",
    writes=("tpca-sequential", "tpca-random", "tpca-localized"),
    reimplemented={
        "setrange": "lode?log=set-range",
        "page grain": "lode?detect=kernel&log=page-grain",
        "page diffing": "lode?detect=kernel",
        "page diffing, UNIX": "lode?detect=sigsegv",
    },
    lessons=lessons_from(Path(__file__).with_name("lessons.toml").read_text("utf-8")),
)
