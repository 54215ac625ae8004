"""`loadstone study`: which switches of an engine matter, on which operations, and by how much."""

from typing import Any

from loadstone.commands.run import DryRun, Page, PlanFile, Record, Resume, made, started, taking
from loadstone.plan.choices import FACTORIAL, STUDY, TWO_ENDED


@taking(STUDY)
def study(
    *,
    plan: PlanFile = None,
    record: Record = None,
    resume: Resume = None,
    dry_run: DryRun = False,
    page: Page = True,
    **given: Any,
) -> int:
    """Measure what each switch of an engine changes.

    Every tactic of the engine, or each one that --vary names, has a base and another value. The
    study measures both ends, and each switch alone and last, in blocks of new processes. Every
    answer is checked, and every setting is read back. Without --vary: the tactics that the engine
    declares for studies.

    Exit codes: as those of `loadstone run`.
    """
    factorial = given.pop("design")
    chosen = made(given)
    if resume is None and (plan is None or factorial is not None):
        chosen["design"] = FACTORIAL if factorial else TWO_ENDED
    return started(chosen, plan, record, resume, dry_run=dry_run, page=page)
