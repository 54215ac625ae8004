"""Refusal, before anything is measured, of a plan that no record could keep: all that its reader
refuses.

The plan and its presentation go through the writer's form and the reader's checks. What else a
record holds is cut to its length when it is written, or is a figure.
"""

from loadstone.errors import InputError
from loadstone.plan.plan import Plan
from loadstone.plan.presentation import Presentation
from loadstone.record.schema import table_of

NOTHING_MEASURED = "nothing was measured; shorten it, or make two workloads of it"


def check_recordable(plan: Plan, presentation: Presentation) -> None:
    """Raise `InputError` where no record could be written of a plan, or read afterwards."""
    limits = {column.name: column.letters for column in table_of("run").columns}
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
        limit = limits[name]
        if limit is not None and len(kept) > limit.most:
            raise InputError(
                f"its {name} is too long for a record: {len(kept):,} letters;"
                f" allowed are {limit.most:,}",
                hint=NOTHING_MEASURED,
            )
