"""docs/reference/report.md describes the JSON report that the code writes: its members by their
names."""

import json
import re
from collections.abc import Iterator
from typing import Any

from budget_fixture import with_budgets
from oo1_report_fixture import make_oo1_run
from report_fixture import make_run
from study_fixture import record as study_record

from loadstone import registry

SECTION = "| member | content |"
SAID = re.compile(r"`([a-z]+(?:_[a-z]+)*(?:\.[a-z_]+)*)`")


def members(text: str) -> Iterator[str]:
    """Every name in the table of members."""
    table = text.partition(SECTION)[2].partition("\n\n")[0]
    for row in table.splitlines()[2:]:
        for name in SAID.findall(row):
            yield from name.split(".")


def names(value: Any) -> Iterator[str]:
    """Every key in a JSON value, and every text that is one word."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from names(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from names(inner)
    elif isinstance(value, str):
        yield value


def test_every_member_that_the_document_names_is_in_a_report(texts):
    said = set(members(texts["docs/reference/report.md"]))
    assert len(said) > 50
    render = registry.load_report("json")().render
    runs = (with_budgets(make_run()), make_oo1_run(), study_record())
    written = {name for run in runs for name in names(json.loads(render(run)))}
    # No record of the tests has these: a report writes the fields of their values.
    for module in ("break_even", "derived", "enhancements"):
        source = texts[f"python/loadstone/analysis/{module}.py"]
        written |= set(re.findall(r"^    (\w+):", source, re.MULTILINE))
    assert said - written == set()
