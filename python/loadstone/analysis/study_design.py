"""The combinations of an operation of a study: by its plan at first, and after each decision."""

from collections.abc import Iterable, Iterator

from loadstone.plan.plan import Plan
from loadstone.plan.study import HELD, OPENED, PRUNED, TAKEN_APART, Combination, Decision, Study
from loadstone.statistics.study import Design, Parts, grouped, parts_of

GROUP_SUFFIX = " switches"
"""Of a group's name as a part: `log` is a tactic, too."""


def first_design(study: Study, name: str) -> Design:
    """Of every operation: each switch a part, or, where the study is screened, each group."""
    names = [switch.key for switch in study.switches if not switch.further]
    further = parts_of(switch.key for switch in study.switches if switch.further)
    return Design(name, _screened(study) if study.screened else parts_of(names), {}, further)


def design_after(plan: Plan, study: Study, decisions: Iterable[Decision]) -> Design:
    """Of an operation of which these decisions were made."""
    found = first_design(study, plan.design)
    for one in decisions:
        if one.kind == HELD:
            found = found.holding(one.tactics)
        elif one.kind == PRUNED:
            found = found.pruning(one.tactics)
        elif one.kind == OPENED:
            found = found.opening(one.tactics)
    return found


def of_operation(decisions: Iterable[Decision], operation: str, rows: int) -> tuple[Decision, ...]:
    """Those about one operation at one scale."""
    return tuple(one for one in decisions if (one.operation, one.rows) == (operation, rows))


def taken_apart(decisions: Iterable[Decision]) -> Decision | None:
    """That which has all combinations of three measured, or calls for it."""
    return next((one for one in decisions if one.kind == TAKEN_APART), None)


def all_combinations(study: Study, decisions: Iterable[Decision]) -> tuple[Combination, ...]:
    """The plan's, and those that decisions added, each once."""
    return tuple(dict.fromkeys(_all(study, decisions)))


def _all(study: Study, decisions: Iterable[Decision]) -> Iterator[Combination]:
    yield from study.combinations
    for one in decisions:
        yield from one.combinations


def _screened(study: Study) -> Parts:
    groups: dict[str, list[str]] = {}
    ends = [switch for switch in study.switches if not switch.further]
    for switch in ends:
        if switch.group:
            groups.setdefault(switch.group, []).append(switch.key)
    named = {f"{name}{GROUP_SUFFIX}": own for name, own in groups.items() if len(own) > 1}
    return grouped((switch.key for switch in ends), named)
