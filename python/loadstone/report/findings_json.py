"""The findings of a record, and the line of each row, as members of the JSON report."""

import dataclasses
from typing import Any

from loadstone.analysis.findings.finding import Finding
from loadstone.analysis.findings.learned import learned
from loadstone.analysis.summary import Summary
from loadstone.report.columns import plain


def findings_members(whole: Summary) -> dict[str, Any]:
    """`findings`, the weightiest of a grade first, and `whys`, in the order of the rows."""
    found = learned(whole)
    return {
        "findings": [_finding(each) for theme in found.themes for each in theme.findings],
        "whys": [
            {
                "operation": operation,
                "rows": rows,
                "temperature": temperature,
                "grade": why.grade,
                "words": why.words,
            }
            for (operation, rows, temperature), why in found.whys.items()
        ],
    }


def _finding(found: Finding) -> dict[str, Any]:
    numbers = [
        {"name": each.name, "unit": each.unit, "figure": plain(each.figure)}
        for each in found.numbers
    ]
    return {**dataclasses.asdict(found), "numbers": numbers}
