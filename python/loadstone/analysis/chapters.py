"""A run of several benchmarks as a whole. Pure: summaries in, frozen values out."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from loadstone.analysis.findings.finding import RANK
from loadstone.analysis.findings.learned import Learned, Theme, learned
from loadstone.analysis.noise import aa_cells, noise_among
from loadstone.analysis.summary import Summary
from loadstone.analysis.verdict import Verdict, place, verdict
from loadstone.record.model import Run
from loadstone.text.numbers import lapse, listing, plural


@dataclass(frozen=True, slots=True)
class Chapter:
    """One benchmark of a run, with what the rules found in it."""

    number: int
    whole: Summary
    learned: Learned
    verdict: Verdict

    @property
    def title(self) -> str:
        """Its benchmark and edition."""
        return title_of(self.whole.run)


def chapters(wholes: Sequence[Summary]) -> tuple[Chapter, ...]:
    """The benchmarks of a run, in its order."""
    return tuple(
        Chapter(number, whole, learned(whole), verdict(whole))
        for number, whole in enumerate(wholes)
    )


def title_of(run: Run) -> str:
    """Its benchmark and edition."""
    return f"{run.presentation.title} ({run.plan.edition})"


def themes(found: Sequence[Chapter]) -> list[tuple[Chapter, Theme]]:
    """The findings of all, the best grade and the weightiest first."""
    every = [(chapter, theme) for chapter in found for theme in chapter.learned.themes]
    return sorted(every, key=lambda one: (RANK[one[1].grade], -one[1].weight))


def headline_of(wholes: Sequence[Summary]) -> str:
    """The benchmarks, and every engine that some of them was run on."""
    names = dict.fromkeys(whole.names[v] for whole in wholes for v in whole.competitors)
    on = f" on {listing(names)}" if names else ""
    return f"{listing(title_of(whole.run) for whole in wholes)}{on}"


def circumstances_of(runs: Sequence[Run]) -> str:
    """Place, time and duration of all; missing facts are left out."""
    created = datetime.fromisoformat(runs[0].created_at).astimezone(UTC)
    where = next(filter(None, map(place, runs)), "")
    elapsed_ns = sum(session.elapsed_ns or 0 for run in runs for session in run.sessions)
    parts = [where, f"{created.day} {created:%B %Y %H:%M} UTC", lapse(elapsed_ns)]
    parts.append(f"{plural(len(runs), 'benchmark')}, one after the other")
    return ", ".join(part for part in parts if part)


def verdict_of(found: Sequence[Chapter]) -> Verdict:
    """One verdict on all: counts added, the noise of all A/A cells."""
    each = [chapter.verdict for chapter in found]
    cells = [cell for chapter in found for cell in aa_cells(chapter.whole.run)]
    disturbed, invalid = (
        max(each, key=lambda one: getattr(one, f"{status}_reason_count"))
        for status in ("disturbed", "invalid")
    )
    return Verdict(
        planned=sum(one.planned for one in each),
        statuses=sum((one.statuses for one in each), Counter[str]()),
        answers_right=sum(one.answers_right for one in each),
        answers_checked=sum(one.answers_checked for one in each),
        cold_proved=sum(one.cold_proved for one in each),
        cold_measured=sum(one.cold_measured for one in each),
        repeat_difference=max(_reported(one.repeat_difference for one in each), default=None),
        repeat_difference_p90=max(
            _reported(one.repeat_difference_p90 for one in each), default=None
        ),
        own_planned=sum(one.own_planned for one in each),
        own_statuses=sum((one.own_statuses for one in each), Counter[str]()),
        limits=all(one.limits for one in each),
        noise=noise_among(cells),
        invalid_reason=invalid.invalid_reason,
        invalid_reason_count=invalid.invalid_reason_count,
        disturbed_reason=disturbed.disturbed_reason,
        disturbed_reason_count=disturbed.disturbed_reason_count,
        left_behind=tuple(dict.fromkeys(name for one in each for name in one.left_behind)),
        ended_early=tuple(reason for one in each for reason in one.ended_early),
        refuted=tuple(cell for one in each for cell in one.refuted),
    )


def _reported(values: Iterator[float | None]) -> Iterator[float]:
    return (value for value in values if value is not None)
