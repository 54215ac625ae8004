"""Refuse a plan that no record could keep, before anything is measured.

The plan and its presentation are written as a record has them and read back. Other texts of a
record are cut to their length when they are written."""

from loadstone.errors import InputError
from loadstone.plan.plan import Plan
from loadstone.plan.presentation import Presentation
from loadstone.record.schema import table_of

NOTHING_MEASURED = "nothing was measured; shorten it, or make two workloads of it"


def check_recordable(plan: Plan, presentation: Presentation) -> None:
    """Raise `InputError` if a record of this plan could not be written, or not be read again."""
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
