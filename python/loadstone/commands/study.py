"""`loadstone study`: which switches of an engine matter, on which operations, and by how much."""

from typing import Any

from loadstone.commands.run import DryRun, Page, PlanFile, Record, Resume, made, started, taking
from loadstone.plan.choices import STUDY, TWO_ENDED
from loadstone.plan.written_choices import read_given


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

    A switch is a tactic with a base and another value. The study measures all switches at their
    bases, all at their other values, and each alone and last, in blocks of new processes. With more
    than eight switches it begins with groups of them; where three act together, it adds all their
    combinations. It ends a combination that takes too long, and reports a lower bound. Every answer
    is checked, and every setting is read back. Without --vary: the six tactics that the engine
    declares for studies; with --vary all: every tactic.

    Exit codes: as those of `loadstone run`.
    """
    chosen = made(given)
    if resume is None and not (plan and read_given(plan).get("design")):
        chosen = {"design": TWO_ENDED, **chosen}
    return started(chosen, plan, record, resume, dry_run=dry_run, page=page, study=True)
