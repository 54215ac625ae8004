"""The run's verdict on itself: rule 6 of the method."""

import math
from collections import Counter, defaultdict
from dataclasses import dataclass
from datetime import UTC, datetime
from statistics import median, quantiles

from loadstone.analysis.agreement import Clause, clauses
from loadstone.analysis.cell_summary import CellSummary
from loadstone.analysis.limits import Refuted, refuted
from loadstone.analysis.noise import Noise, noise_of
from loadstone.analysis.summary import Summary, short_name
from loadstone.plan.role import Role
from loadstone.plan.variant import is_aa_control
from loadstone.record.model import LEFT_BEHIND, MEASURED, NOT_MEASURED, CellResult, Run
from loadstone.statistics.validity import AA_RATIO_MAX
from loadstone.text.numbers import lapse, listing, number, percent, plural, scaled, size
from loadstone.text.reasons import kinds, together

AMISS = ("failed", "disturbed", "invalid", "pending")
OWN = (Role.COMPETITOR, Role.LIMIT)
"""The roles that a run measures; the harness overhead and the controls check the instrument."""
SPARED = {
    False: "spared the cold start, as they were ended when warm",
    True: "spared, as a decision made them needless",
}
"""Of a run, and of a study."""
NOISE_MAX = 0.1
"""Between rounds: above it, the verdict warns."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Counts over the plan's cells and those that a study's decisions added, and the noise.

    `planned` and `statuses` are of all cells; `own_planned` and `own_statuses` of the engines'
    (competitors and limits). `limits`: whether cells were judged by the quality limits. `noise` is
    the A/A noise, None without an A/A control; then `repeat_difference` takes its place: the
    median, over the engines' cells in order that were measured in several rounds, of how much a
    cell's median differs between its first and its last round; nine cells in ten stay under
    `repeat_difference_p90`. `disturbed_reason` and `invalid_reason` are the commonest, with the
    range of its numbers.
    """

    planned: int
    statuses: Counter[str]
    answers_right: int
    answers_checked: int
    cold_proved: int
    cold_measured: int
    repeat_difference: float | None
    repeat_difference_p90: float | None
    own_planned: int
    own_statuses: Counter[str]
    limits: bool
    noise: Noise | None = None
    invalid_reason: str = ""
    invalid_reason_count: int = 0
    disturbed_reason: str = ""
    disturbed_reason_count: int = 0
    left_behind: tuple[str, ...] = ()
    """Variants of which something may be left in a database of the user's."""
    ended_early: tuple[str, ...] = ()
    """Why an engine ended a benchmark before all was measured, as long as something is missing."""
    refuted: tuple[Refuted, ...] = ()
    """Cells in which a competitor is faster than a limit that works alike."""
    of_study: bool = False
    agreement: tuple[Clause, ...] = ()
    """Of a user's workload, whose answers no oracle checks."""

    @property
    def clean(self) -> bool:
        """Whether nothing needs a reader's attention."""
        return (
            self.limits
            and not self.left_behind
            and not self.ended_early
            and not self.refuted
            and self.answers_right == self.answers_checked
            and all(clause.fine for clause in self.agreement)
            and self.cold_proved == self.cold_measured
            and not any(self.statuses[status] for status in AMISS)
        )

    def clauses(self) -> list[tuple[str, bool]]:
        """The verdict in short clauses, each with whether it is in order."""
        right = self.answers_right == self.answers_checked
        answers = f"{number(self.answers_right)} of {plural(self.answers_checked, 'answer')} right"
        clauses = self._measured()
        if self.agreement:
            clauses += self.agreement
        elif self.answers_checked:
            clauses.append((answers, right))
        elif self.own_planned:
            clauses.append(("no answer was checked", False))
        if self.cold_measured:
            proved = self.cold_proved == self.cold_measured
            cells = plural(self.cold_measured, "cold cell")
            clauses.append((f"{number(self.cold_proved)} of {cells} proved cold", proved))
        clauses += self._noise()
        clauses += self._limits()
        for status, words in (
            ("failed", "failed"),
            ("disturbed", "disturbed"),
            ("invalid", "invalid"),
            ("pending", "not run"),
            ("gap", "declared gaps"),
            ("censored", "ended, which gives a lower bound"),
            ("spared", SPARED[self.of_study]),
        ):
            count = self.own_statuses[status]
            if count:
                word = "declared gap" if status == "gap" and count == 1 else words
                word += self._why(status)
                clauses.append((f"{number(count)} {word}", status in ("gap", "censored", "spared")))
        clauses += [(reason, False) for reason in self.ended_early]
        if self.left_behind:
            whose = listing(self.left_behind)
            clauses.append((f"something may be left in the database of {whose}", False))
        return clauses

    def _measured(self) -> list[tuple[str, bool]]:
        """The number of cells that are in order: the engines', and, if some of these are not or
        there are no others, those of the harness overhead and the controls."""
        judged = "and in order" if self.limits else "and judged by no limits (--no-limits)"
        clauses = []
        if self.own_planned:
            cells = plural(self.own_planned, "cell")
            own = f"{number(self.own_statuses['ok'])} of {cells} measured {judged}"
            clauses.append((own, self.limits))
        beside = self.statuses - self.own_statuses
        planned = beside.total() - beside["gap"]
        fine = beside["ok"] == planned
        others = f"{number(beside['ok'])} of {plural(planned, 'cell')} of the harness and controls"
        if not self.own_planned:
            clauses.append((f"{others} measured {judged}", fine and self.limits))
        elif not fine:
            clauses.append((others, False))
        return clauses

    def _noise(self) -> list[tuple[str, bool]]:
        if self.noise is not None:
            again, worst = percent(self.noise.median), percent(self.noise.worst)
            words = f"A/A difference {again} (at worst {worst})"
            return [(words, self.noise.worst <= AA_RATIO_MAX - 1)]
        if self.repeat_difference is not None:
            again = percent(self.repeat_difference)
            words = f"a cell's last round differs from its first by {again}"
            return [(words, self.repeat_difference <= NOISE_MAX)]
        return []

    def _limits(self) -> list[tuple[str, bool]]:
        """For each limit whose claim is refuted, where it is so most clearly."""
        clauses = []
        for limit in dict.fromkeys(found.limit for found in self.refuted):
            own = [found for found in self.refuted if found.limit == limit]
            worst = min(own, key=lambda found: found.ratio)
            where = f"{worst.operation}, {number(worst.rows)}, {worst.temperature}"
            more = f", and of {plural(len(own) - 1, 'more cell')}" if len(own) > 1 else ""
            took = f"{worst.faster} takes {percent(worst.ratio)} of its time"
            clauses.append((f"{limit} is no limit of {where} ({took}){more}", False))
        return clauses

    def _why(self, status: str) -> str:
        reason, count = {
            "disturbed": (self.disturbed_reason, self.disturbed_reason_count),
            "invalid": (self.invalid_reason, self.invalid_reason_count),
        }.get(status, ("", 0))
        if not reason:
            return ""
        return f" ({'' if count == self.own_statuses[status] else 'mostly: '}{reason})"

    def sentence(self) -> str:
        """The verdict as one line."""
        return " · ".join(text for text, _ in self.clauses())


def verdict(summary: Summary) -> Verdict:
    """Judge a run."""
    run = summary.run
    added = _added(run)
    statuses = Counter(figure.status for figure in summary.figures.values())
    statuses += Counter(result.status for result in added)
    own = Counter(figure.status for figure in _own(summary))
    own += Counter(r.status for r in added if run.plan.role_of(r.cell.variant) in OWN)
    answers = [answer for result in run.results for answer in result.answers]
    cold = [
        result
        for result in run.results
        if result.cell.temperature == "cold" and result.status in MEASURED
    ]
    differences = sorted(filter(None, (_between_rounds(result) for result in _noisy(run))))
    disturbed, invalid = (_commonest(summary, status) for status in ("disturbed", "invalid"))
    return Verdict(
        planned=len(run.plan.cells) + len(added),
        statuses=statuses,
        answers_right=sum(answer.right for answer in answers),
        answers_checked=len(answers),
        cold_proved=sum(result.temperature_shown == "cold" for result in cold),
        cold_measured=len(cold),
        repeat_difference=median(differences) if differences else None,
        repeat_difference_p90=quantiles(differences, n=10)[-1] if len(differences) > 1 else None,
        own_planned=own.total() - own["spared"],
        own_statuses=own,
        limits=run.plan.limits,
        noise=noise_of(run),
        invalid_reason=together(invalid) if invalid else "",
        invalid_reason_count=len(invalid),
        disturbed_reason=together(disturbed) if disturbed else "",
        disturbed_reason_count=len(disturbed),
        left_behind=tuple(
            dict.fromkeys(event.variant for event in run.events if event.kind == LEFT_BEHIND)
        ),
        ended_early=_ended_early(run) if own["pending"] else (),
        refuted=refuted(summary),
        of_study=run.plan.study is not None,
        agreement=clauses(run),
    )


def _ended_early(run: Run) -> tuple[str, ...]:
    """The last reason alone: a resumption may have met another."""
    found = [event.message for event in run.events if event.kind == NOT_MEASURED]
    return tuple(f"{run.plan.benchmark} ended early: {message}" for message in found[-1:])


def _added(run: Run) -> list[CellResult]:
    """The cells that a study's decisions added to its plan."""
    if run.plan.study is None:
        return []
    planned = {cell.key for cell in run.plan.cells}
    return [result for result in run.results if result.cell.key not in planned]


def _commonest(summary: Summary, status: str) -> list[str]:
    found = kinds(f.reason for f in _own(summary) if f.status == status)
    return next(iter(found.values()), [])


def _own(summary: Summary) -> list[CellSummary]:
    """The figures of competitors and limits."""
    return [figure for figure in summary.figures.values() if figure.role in OWN]


def _noisy(run: Run) -> list[CellResult]:
    """The cells that show the noise without an A/A control; empty with one."""
    role_of = run.plan.role_of
    if any(is_aa_control(cell.variant) for cell in run.plan.cells):
        return []
    return [r for r in run.results if r.status == "ok" and role_of(r.cell.variant) in OWN]


def _between_rounds(result: CellResult) -> float | None:
    """|log| of the ratio of the last round's median to the first's."""
    rounds: dict[int, list[int]] = defaultdict(list)
    for sample in result.samples:
        rounds[sample.round].append(sample.elapsed_ns)
    if len(rounds) < 2:
        return None
    first, last = (median(rounds[key]) for key in (min(rounds), max(rounds)))
    return abs(math.log(last / first)) if first > 0 and last > 0 else None


def headline(summary: Summary) -> str:
    """The benchmark, the variants, the scales and temperatures."""
    run = summary.run
    plan = run.plan
    temperatures = dict.fromkeys(cell.temperature for cell in plan.cells)
    words = summary.words
    *others, last = plan.rows
    scales = listing([*map(number, others), scaled(last, words.scale)])
    clients = {client for v, client in summary.clients.items() if v in summary.columns}
    called = f" called from {clients.pop().capitalize()}," if len(clients) == 1 else ""
    if plan.study is not None:
        switches = plural(len(plan.study.switches), "switch", "switches")
        changed = plural(len({cell.operation for cell in plan.cells}), "operation")
        return (
            f"{words.title} ({plan.edition}) on {short_name(plan.study.base)},{called} {scales}"
            f": what {switches} change{'s' * (switches[:2] == '1 ')} in {changed}"
        )
    return (
        f"{words.title} ({plan.edition}) on {_participants(summary)},{called} "
        f"{scales}, {listing(temperatures)}"
    )


def _participants(summary: Summary) -> str:
    """The competitors, and the unranked variants beside them; without any, what was run."""
    names = summary.names
    parts = [listing(names[variant] for variant in summary.competitors)]
    for role in (Role.LIMIT, Role.CONTROL):
        own = [names[v] for v in summary.columns if summary.role_of(v) is role]
        if own:
            parts.append(f"the {role.value} {listing(own)}")
    reported = [part for part in parts if part]
    return " beside ".join(reported or [f"the harness alone: {listing(summary.variants)}"])


def circumstances(run: Run) -> str:
    """Place, time and duration; missing facts are left out."""
    created = datetime.fromisoformat(run.created_at).astimezone(UTC)
    parts = [place(run), f"{created.day} {created:%B %Y %H:%M} UTC"]
    elapsed_ns = sum(session.elapsed_ns or 0 for session in run.sessions)
    if elapsed_ns:
        parts.append(lapse(elapsed_ns))
    if len(run.sessions) > 1:
        parts.append(f"in {plural(len(run.sessions), 'session')}")
    return ", ".join(part for part in parts if part)


def place(run: Run) -> str:
    """The machine in a few words, from what the record holds of it."""
    known = {key: value for session in run.sessions for key, value in session.machine.items()}
    words = [known.get("cpu.model")]
    if known.get("cpu.count"):
        words.append(plural(known["cpu.count"], "CPU"))
    if known.get("memory.total_bytes"):
        words.append(size(known["memory.total_bytes"]))
    words.append(known.get("os.name"))
    return ", ".join(str(word) for word in words if word)
