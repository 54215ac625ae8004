"""Refusal, before anything is measured, of a plan that no record could keep: all that its reader
refuses.

The plan and its presentation go through the writer's form and the reader's checks. What else a
record holds is cut to its length when it is written, or is a figure.
"""

from loadstone.errors import InputError
from loadstone.plan.plan import Plan
from loadstone.plan.presentation import Presentation
from loadstone.record.schema import table

NOTHING_MEASURED = "nothing was measured; shorten it, or make two workloads of it"


def check_recordable(plan: Plan, presentation: Presentation) -> None:
    """Raise `InputError` where no record could be written of a plan, or read afterwards."""
    columns = {column.name: column for column in table("run").columns}
    for name, written, read in (
        ("plan", plan.to_json, Plan.from_json),
        ("presentation", presentation.to_json, Presentation.from_json),
    ):
        try:
            kept = written()
            read(kept)
        except InputError as error:
            raise InputError(
                f"no record can keep it: {error.message}", hint=error.hint or NOTHING_MEASURED
            ) from error
        if not columns[name].holds(kept):
            raise InputError(
                f"its {name} is too long for a record: {len(kept):,} letters;"
                f" allowed is {columns[name].kind.allowed}",
                hint=NOTHING_MEASURED,
            )
