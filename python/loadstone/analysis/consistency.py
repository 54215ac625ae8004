"""A report does not print contradicting statements of a record side by side.

In a contradiction the worse statement counts: a wrong answer over a status of ok, evidence over a
label. Nothing here mends a record; it decides what a report may say of it.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from loadstone.record.model import MEASURED, CellResult, ColdEvidence, Run, Sample
from loadstone.statistics.validity import WORK_SHARE_SLACK
from loadstone.text.numbers import digits, percent, plural, size

NOTHING_READ = "but nothing was read from storage inside the clock"
SINGLE = "1"


def consistent(run: Run) -> Run:
    """The run with every cell's status made consistent."""
    return replace(run, results=tuple(map(_corrected, run.results)))


def _corrected(result: CellResult) -> CellResult:
    """A measured cell without a sample, or with a wrong answer, has failed."""
    if result.status not in MEASURED:
        return result
    wrong = sum(not answer.right for answer in result.answers)
    if not result.samples:
        reason = f"recorded as {result.status}, but without a sample"
    elif wrong:
        reason = f"recorded as {result.status}, but {wrong} of {len(result.answers)} answers wrong"
    else:
        return result
    return replace(result, status="failed", reason=reason)


def processors(run: Run) -> float:
    """The machine's number of processors; without bound if no session reports it."""
    reported = [session.machine.get("cpu.count") for session in run.sessions]
    return max((float(count) for count in reported if isinstance(count, int) and count > 0),
               default=float("inf"))  # fmt: skip


def threads(samples: Sequence[Sample], most: float) -> float:
    """The number of `most` processors that a client can have used: as many as its threads, and the
    share that its counters add, which are read just outside the clock. Unknown number: all."""
    known = [sample.client_threads for sample in samples if sample.client_threads is not None]
    if not known or len(known) < len(samples):
        return most
    return min(most, max(known) * (1 + WORK_SHARE_SLACK))


def believable(share: float | None, most: float) -> float | None:
    """Processors' time over elapsed time; None beyond the capacity of `most` processors: then it
    was not counted over the same time."""
    return None if share is None or share > most else share


def busy(client: float, server: float | None, parallelism: str | None) -> str:
    """The share of the elapsed time that a client computed, and its server. More than 1 is the work
    of several processors, or, where there can be but one, an addition of the counters."""
    said = f"the client {_computes(client, parallelism if server is None else SINGLE)}"
    return said if server is None else f"{said}, the server {_computes(server, None)}"


def _computes(share: float, parallelism: str | None) -> str:
    if share <= 1:
        return f"computes for {percent(share)} of the elapsed time"
    if parallelism == SINGLE:
        return "computes all the time (its counters are read just outside the clock)"
    return f"keeps {digits(share, 2)} processors busy"


def answers_words(checked: int, samples: int) -> str:
    """The number of some that samples' answers were checked."""
    if checked == samples:
        return "Every sample\N{RIGHT SINGLE QUOTATION MARK}s answer was checked"
    were = "was" if checked == 1 else "were"
    return f"{plural(checked, 'answer')} of {plural(samples, 'sample')} {were} checked"


def proof_words(result: CellResult) -> str:
    """The evidence of a cold cell, from its worst samples, and why it is no proof, if it is
    none."""
    evidence = result.evidence
    proved = sum(item.holds and item.ordinal not in result.refuted for item in evidence)
    why = next(
        (item.reason or "the evidence contradicts itself" for item in evidence if not item.holds),
        "",
    )
    methods = "+".join(sorted({item.method for item in evidence}))
    said = [f"{proved} of {plural(len(evidence), 'sample')} proved by {methods}: {_seen(evidence)}"]
    said += [*_opening(evidence), *_read(result)]
    said += [why] if why else []
    said += [NOTHING_READ] if not why and (result.read_nothing or result.refuted) else []
    return "; ".join(said)


def _seen(evidence: Sequence[ColdEvidence]) -> str:
    """Pages when the clock started; after opening, which brings some in again; before eviction."""
    at_clock = _most(item.resident_at_clock for item in evidence)
    shown = "an unknown number of pages" if at_clock is None else plural(at_clock, "page")
    opened = _count(_most(item.resident_opened for item in evidence))
    before = _count(_most(item.resident_before for item in evidence))
    return (
        f"{shown} of its data files in memory when the clock started, {opened} after opening,"
        f" {before} before eviction"
    )


def _opening(evidence: Sequence[ColdEvidence]) -> Iterator[str]:
    """The bytes that opening read, and the data that may be in the engine's memory since."""
    read = _most(item.opening_read_bytes for item in evidence)
    if read is not None:
        yield f"opening read {size(read)} from the device"
    kept = _most(item.kept_bytes for item in evidence)
    data = [item.data_bytes for item in evidence if item.data_bytes is not None]
    if kept is not None and data:
        yield f"it left at most {size(kept)} of {size(min(data))} in the engine's own memory"


def _read(result: CellResult) -> Iterator[str]:
    """The bytes that the samples read themselves: the minimum."""
    read = [sample.read_bytes for sample in result.samples if sample.read_bytes is not None]
    if read:
        several = len(result.samples) > 1
        reported = f"{size(min(read))}{' or more' if several else ''}"
        yield f"{'each' if several else 'the'} sample then read {reported}"


def _most(figures: Iterable[int | None]) -> int | None:
    """The maximum of figures; None if one is unknown."""
    known = list(figures)
    return None if None in known else max(item or 0 for item in known)


def _count(pages: int | None) -> str:
    return "an unknown number" if pages is None else f"{pages:,}"


def samples_checked(results: Sequence[CellResult]) -> tuple[int, int]:
    """(answers, samples) of those cells that have any answer."""
    asked = [result for result in results if result.answers and result.samples]
    return sum(len(r.answers) for r in asked), sum(len(r.samples) for r in asked)
