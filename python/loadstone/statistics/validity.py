"""The limits beyond which a cell is disturbed (its interval is wider) or invalid (its figure is
unusable). Rule 6 of the method; docs/reference/method.md gives the same numbers, and a test
compares the two."""

from collections.abc import Sequence
from statistics import median
from typing import NamedTuple, Protocol

from loadstone.plan.role import Role
from loadstone.record.model import (
    AnswerCheck,
    ColdEvidence,
    Condition,
    Disturbance,
    Sample,
    StatementText,
    refuted,
)
from loadstone.statistics.disturbance import (
    COUNTERS_NS,
    PRINTED_SPAN_MAX,
    SPAN_MAX,
    disturbance,
    printed_span,
    span,
)
from loadstone.statistics.paired_ratio import paired, paired_ratio

STOLEN_SHARE_MAX = 0.05
FOREIGN_SHARE_MAX = 0.20
SPEED_DRIFT_MAX = 0.15
OVERHEAD_SHARE_MAX = 0.5
CLOCK_SHARE_MAX = 0.1
AA_RATIO_MAX = 1.10
AA_RATIO_BELIEVED = 2.0
"""If a variant and its A/A control differ by more than this, neither measurement is credible."""
CLIENT_SHARE_MAX = 0.95
WORK_SHARE_SLACK = 0.02
"""The excess of CPU time over the elapsed time of each thread that is allowed: two clocks are read,
not one."""
CLIENT_SLACK_NS, SERVER_SLACK_NS = COUNTERS_NS, 10_000_000
"""The same for a sample as a whole: the time between reading the two clocks; and one tick, in which
the kernel counts the time of processes that a server waited for."""
INTERRUPTED_SHARE_MAX = 0.05
"""Of a cell's samples: between the clock and the counters an interrupt may lengthen some, or
another thread of the engine's, that computes while ours waits for a processor."""
INTERRUPTED_ONE_OF = 3
"""Of so many samples one may be such: the medians are still others'. A defect of the instrument is
in most."""
SHARE_NS_MIN = 100_000_000
"""Under a share of a processor: the kernel stops a process for some milliseconds at a time, so that
a shorter statement runs at full speed, or waits for one whole stop."""
NO_RELATION = (
    "its plan reads no relation (a constant, or an answer in the catalog): nothing can be cold"
)
"""DuckDB folds a count of all tuples, a least or a largest value into a constant, and has the
values of a column in its catalog where they are all equal, as those of one tuple are."""
PAIRS_MIN = 3
"""Fewer pairs that all lie to one side are chance."""


ADVICE = (
    (
        "the hypervisor took",
        "measure where, or when, the hypervisor leaves this machine its processors",
    ),
    ("other programs took", "end other programs, or wait for them"),
    ("the processor ran", "let the machine cool down, or fix its clock frequency"),
    ("measured twice", "name it with --operation to measure it longer"),
    ("the clock's own", "choose a larger --rows: the operation is too short to time"),
    ("too short for a share", "choose a larger --rows: it must take 0.1 s to feel the share"),
    ("the harness alone", "choose a larger --rows: the operation is too short for this harness"),
    ("nothing was read", "run loadstone doctor to see whether reads are counted on this disk"),
    ("the instrument is wrong", "keep the record and report it: this is a defect of Loadstone"),
    ("the client's headroom", "fewer --users, or a lower --rate: the client is the bottleneck"),
)
"""The way in which each reason of this module begins, and what to do about it."""


class Measured(Protocol):
    """A cell that has samples, and what else it is judged by."""

    @property
    def samples(self) -> Sequence[Sample]: ...
    @property
    def answers(self) -> Sequence[AnswerCheck]: ...
    @property
    def evidence(self) -> Sequence[ColdEvidence]: ...


class Judgement(NamedTuple):
    """A cell's status by the limits: `ok`, `disturbed` or `invalid`, and why."""

    status: str
    reason: str
    disturbance: Disturbance | None


def judge(
    cell: Measured,
    overhead: Sequence[Sample],
    condition: Condition,
    *,
    clock_ns: float,
    role: Role = Role.COMPETITOR,
    limited: bool = False,
    parallelism: int = 1,
    apart: float = 1.0,
) -> Judgement:
    """Hold a cell against all limits. `overhead`: the null engine's samples of its operation;
    `condition`: of the machine meanwhile; `limited`: whether its variant has a share of a
    processor; `apart`: the factor by which its variant differs from its own A/A control.

    A disturbed cell keeps its figure, within the bounds that the machine's condition (where that is
    the reason) and the A/A difference leave; where they leave too little, it is invalid.
    """
    samples = cell.samples
    # A cell without an answer (a rung of a ladder) is there to measure the harness.
    below = overhead if cell.answers else []
    if reason := (
        of_coldness(samples, cell.answers, cell.evidence)
        or of_work(samples, overhead)
        or of_share(samples, limited=limited)
        or of_instrument(samples, below, clock_ns, role)
    ):
        return Judgement("invalid", reason, None)
    machine, again = of_machine(condition), of_aa_control(apart)
    if not (machine or again):
        return Judgement("ok", "", None)
    found = disturbance(samples, condition if machine else None, apart, parallelism)
    nothing = of_disturbance(samples, found, apart)
    reason = "; ".join(filter(None, (machine, again, nothing)))
    return Judgement("invalid" if nothing else "disturbed", reason, found)


def of_machine(condition: Condition) -> str:
    """Every limit of the machine that was exceeded, with the figure; empty if none was."""
    stolen, foreign, drift = (
        condition.stolen_share or 0.0,
        condition.foreign_share or 0.0,
        condition.speed_drift or 0.0,
    )
    reported = []
    if stolen > STOLEN_SHARE_MAX:
        reported.append(f"the hypervisor took {stolen:.0%} of the processors' time")
    if foreign > FOREIGN_SHARE_MAX:
        reported.append(f"other programs took {foreign:.0%} of the processors' time")
    if abs(drift) > SPEED_DRIFT_MAX:
        word = "slower" if drift > 0 else "faster"
        reported.append(f"the processor ran {abs(drift):.0%} {word} than when the session began")
    return "; ".join(reported)


def of_instrument(
    samples: Sequence[Sample],
    overhead: Sequence[Sample],
    clock_ns: float,
    role: Role = Role.COMPETITOR,
) -> str:
    """Why a cell is too short for the instrument; `overhead` are the null engine's samples of the
    same operation, `clock_ns` the clock's resolution and cost together.

    A figure with much harness in it says little of an engine. It says all that a limit claims: the
    time of the same program without a database, of which the program's own loops are a part.
    """
    median_ns = median(sample.elapsed_ns for sample in samples)
    if clock_ns > CLOCK_SHARE_MAX * median_ns:
        return f"the clock's own {clock_ns:.0f} ns are too large a share of {median_ns:.0f} ns"
    if overhead and role is not Role.LIMIT:
        share = median(sample.elapsed_ns for sample in overhead) / max(median_ns, 1)
        if share > OVERHEAD_SHARE_MAX:
            return f"the harness alone takes {share:.0%} of it"
    return ""


def of_share(samples: Sequence[Sample], *, limited: bool) -> str:
    """Why a cell is too short for a variant that has a share of a processor."""
    median_ns = median(sample.elapsed_ns for sample in samples)
    if not limited or median_ns >= SHARE_NS_MIN:
        return ""
    return (
        f"too short for a share of a processor, which the kernel gives by milliseconds:"
        f" {median_ns / 1e6:.3g} ms"
    )


def of_coldness(
    samples: Sequence[Sample], answers: Sequence[AnswerCheck], evidence: Sequence[ColdEvidence]
) -> str:
    """Why the proof of cold and the counters of a cell contradict each other."""
    if wrong := refuted(samples, answers, evidence):
        those = "1 sample that was" if len(wrong) == 1 else f"{len(wrong)} samples that were"
        return f"nothing was read from the device in {those} proved cold"
    return ""


def without_data(
    samples: Sequence[Sample],
    answers: Sequence[AnswerCheck],
    evidence: Sequence[ColdEvidence],
    statements: Sequence[StatementText],
) -> str:
    """Why a cell proved cold read nothing without a contradiction: the engine's own plans reach no
    relation. Such a cell measures no cold data; empty where it does, or where no plan says."""
    proved = {item.ordinal for item in evidence if item.proved and item.bytes > 0}
    # An answer without tuples contradicts nothing, and is no proof of cold data either.
    nothing = bool(answers) and all(one.read_bytes == 0 for one in samples)
    nothing = nothing and {one.ordinal for one in samples} <= proved
    if not (nothing or refuted(samples, answers, evidence)) or not statements:
        return ""
    return NO_RELATION if all(one.access == "" for one in statements) else ""


def of_work(samples: Sequence[Sample], overhead: Sequence[Sample] = ()) -> str:
    """Why the counters are wrong: a thread cannot compute for longer than the clock ran, so a
    larger CPU time was counted outside the clock. `overhead`: the null engine's samples of the same
    operation; what they count beyond their time is the cost of reading the counters there."""
    reading_ns = [
        sample.client_cpu_ns - sample.elapsed_ns
        for sample in overhead
        if sample.client_cpu_ns is not None
    ]
    client_slack_ns = max(CLIENT_SLACK_NS, *reading_ns) if reading_ns else CLIENT_SLACK_NS
    found = []
    for sample in samples:
        for who, used_ns, threads, slack_ns in (
            ("client", sample.client_cpu_ns, sample.client_threads, client_slack_ns),
            ("server", sample.server_cpu_ns, sample.server_threads, SERVER_SLACK_NS),
        ):
            if used_ns is None or threads is None:
                continue
            if used_ns > (1 + WORK_SHARE_SLACK) * sample.elapsed_ns * threads + slack_ns:
                share = used_ns / (sample.elapsed_ns or 1)
                found.append(
                    f"the instrument is wrong: the {who}'s {threads} thread(s) cannot have computed"
                    f" for {share:.0%} of the elapsed time (sample {sample.ordinal})"
                )
                break
    borne = max(INTERRUPTED_SHARE_MAX * len(samples), len(samples) >= INTERRUPTED_ONE_OF)
    return found[0] if len(found) > borne else ""


def of_client(share: float) -> str:
    """Why a loop of users measured its client and not the engine; `share` is the client's use of
    one processor, which its threads share."""
    if share > CLIENT_SHARE_MAX:
        return f"the client's headroom is exhausted: it used {share:.0%} of one processor"
    return ""


def of_disturbance(samples: Sequence[Sample], found: Disturbance, apart: float) -> str:
    """Why a disturbed figure is unusable; empty if it is usable. `apart`: the factor of the A/A
    difference."""
    if apart > AA_RATIO_BELIEVED:
        return f"more than {AA_RATIO_BELIEVED:g} times apart is not credible"
    if span(found) > SPAN_MAX:
        return f"the remaining interval spans more than a factor of {SPAN_MAX:g}"
    if printed_span(samples, found) > PRINTED_SPAN_MAX:
        return f"with its samples' own scatter it spans more than a factor of {PRINTED_SPAN_MAX:g}"
    return ""


def aa_factor(first: Sequence[Sample], second: Sequence[Sample]) -> float:
    """The factor by which one variant, measured twice side by side, differs beyond the limit; 1 if
    it does not. The whole interval and the median must lie beyond it; with too few pairs for an
    interval, every pair, on the same side."""
    ratio = paired_ratio(second, first)
    if ratio is None:
        return 1.0
    low, high = ratio.low, ratio.high
    if low is None or high is None:
        singles = [b.elapsed_ns / max(a.elapsed_ns, 1) for a, b in paired(first, second)]
        low, high = min(singles), max(singles)
        if len(singles) < PAIRS_MIN or (low <= AA_RATIO_MAX and high >= 1 / AA_RATIO_MAX):
            return 1.0
    apart = max(ratio.value, 1 / max(ratio.value, 1e-9))
    return apart if apart > AA_RATIO_MAX and not low <= 1 <= high else 1.0


def of_aa_control(apart: float) -> str:
    """Why an A/A pair that differs by this factor is disturbed; empty if it is not."""
    return f"measured twice, it differs by {apart - 1:.0%}" if apart > 1 else ""
