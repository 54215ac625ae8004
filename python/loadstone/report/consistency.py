"""What a record says of itself that cannot both be true is not printed side by side.

A record is believed where it convicts itself least: a wrong answer over a status of ok, evidence
over a label. Nothing here mends a record; it decides what a report may say of it.
"""

from collections.abc import Sequence
from dataclasses import replace

from loadstone.record.model import MEASURED, CellResult, Run
from loadstone.report.figures import digits, percent

NOTHING_READ = "but nothing was read from storage inside the clock, so that nothing shows it"
SINGLE = "1"


def consistent(run: Run) -> Run:
    """The run with every cell at its own word."""
    return replace(run, results=tuple(map(_convicted, run.results)))


def _convicted(result: CellResult) -> CellResult:
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
    """How many the machine has; without bound where no session tells."""
    told = [session.machine.get("cpu.count") for session in run.sessions]
    return max((float(count) for count in told if isinstance(count, int) and count > 0),
               default=float("inf"))  # fmt: skip


def believable(share: float | None, most: float) -> float | None:
    """Processors' time over elapsed time; None beyond what all processors can do: then it was not
    counted over the same time."""
    return None if share is None or share > most else share


def busy(client: float, server: float | None, parallelism: str | None) -> str:
    """How much of the elapsed time a client computed, and its server. More than all of it is the
    work of several processors, or, where there can be but one, of what the counters saw besides."""
    said = f"the client {_computes(client, parallelism if server is None else SINGLE)}"
    return said if server is None else f"{said}, the server {_computes(server, None)}"


def _computes(share: float, parallelism: str | None) -> str:
    if share <= 1:
        return f"computes for {percent(share)} of the elapsed time"
    if parallelism == SINGLE:
        return "computes all the time (its counters are read just outside the clock)"
    return f"keeps {digits(share, 2)} processors busy"


def answers_words(checked: int, samples: int) -> str:
    """How many of some samples' answers were checked."""
    if checked == samples:
        return "Every sample\N{RIGHT SINGLE QUOTATION MARK}s answer was checked"
    return f"{checked:,} answers of {samples:,} samples were checked"


def proof_words(result: CellResult) -> str:
    """What the evidence of a cold cell shows, and why it does not do, where it does not."""
    evidence = result.evidence
    proved = sum(item.holds for item in evidence)
    why = next((item.reason or "it contradicts itself" for item in evidence if not item.holds), "")
    last = evidence[-1]
    after = _count(last.resident_after)
    pages = f"{_count(last.resident_before)} pages in memory before eviction, {after} after"
    said = [f"{proved} of {len(evidence)} samples proved by {last.method}: {pages}"]
    said += [why] if why else []
    said += [NOTHING_READ] if not why and result.read_nothing else []
    return "; ".join(said)


def _count(pages: int | None) -> str:
    return "an unknown number of" if pages is None else f"{pages:,}"


def samples_checked(results: Sequence[CellResult]) -> tuple[int, int]:
    """(answers, samples) of those cells that have any answer."""
    asked = [result for result in results if result.answers and result.samples]
    return sum(len(r.answers) for r in asked), sum(len(r.samples) for r in asked)
