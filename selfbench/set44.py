"""Test 5 (Simon, 1985): is nine tenths of SET 44 what an accelerator saves?

    loadstone run idm --budget --temperature warm --on 'lode?disk=buffered&profile=idm-nodac' \
        --on 'lode?disk=buffered&profile=idm-dac' --operation 'count-*' \
        --operation append-word --operation replace-word --operation replace-all-with-s \
        --record set44.loadstone
    python selfbench/set44.py set44.loadstone

SET 44 was the time in which the database processor did the accelerator's work. Here that is the
part of a statement's CPU time in which the variant without it evaluates conditions tuple by tuple:
the interpreter's functions, as the sampler of `--budget` found them, as far as they have names.
Nine tenths of it stand beside the CPU time that the variant with the accelerator saved, by the
medians of the same run.
"""

import argparse
import re
from pathlib import Path
from statistics import median

from loadstone import record
from loadstone.record.model import CellResult

RULE = 0.9
CONDITIONS = re.compile(
    r"<?(lode_query::execution::interpreted|.*\blode_query::execution::interpreted)"
)
"""Functions that evaluate a condition, tuple by tuple."""
OFF, ON = "idm-nodac", "idm-dac"


def set44_ns(result: CellResult) -> float:
    """Of one statement, the time in which conditions were evaluated."""
    budget = result.budget
    if budget is None or not budget.statements:
        raise SystemExit(f"{result.cell.operation} has no time budget: run it with --budget")
    seen = sum(part.samples for part in budget.parts if CONDITIONS.match(part.function))
    return seen * budget.period_ns / budget.statements


def main() -> None:
    """Print the rule beside the saving, operation by operation."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("record", type=Path)
    found = {
        (result.cell.operation, ON if f"profile={ON}" in result.cell.variant else OFF): result
        for result in record.read(parser.parse_args().record).results
        if result.budget is not None and "profile=idm-" in result.cell.variant
    }
    print(
        f"{'us of CPU, a statement':24} {OFF:>10} {ON:>10}"
        f" {'saved':>8} {'SET 44':>8} {'0.9 of it':>9}"
    )
    for operation in dict.fromkeys(operation for operation, _ in found):
        off, on = (found.get((operation, variant)) for variant in (OFF, ON))
        if off is None or on is None or not (off.samples and on.samples):
            continue
        times = [
            median(sample.client_cpu_ns or 0 for sample in one.samples) / 1e3 for one in (off, on)
        ]
        spent = set44_ns(off) / 1e3
        print(
            f"{operation:24} {times[0]:10,.1f} {times[1]:10,.1f} {times[0] - times[1]:8,.1f}"
            f" {spent:8,.1f} {RULE * spent:9,.1f}"
        )


if __name__ == "__main__":
    main()
