"""A fixture for pytest: a performance test that Loadstone judges. `docs/how-to/python.md` has an
example.

pytest finds it by its entry point once Loadstone is installed; it imports nothing before a test
requests it.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from loadstone.api import Comparison, Record

NO_REGRESSION, UNDECIDED = "no regression", "undecided"


@pytest.fixture
def loadstone_ab(tmp_path: Path) -> "Callable[..., Comparison]":
    """A function that measures a change, before and after, in one interleaved run, and fails the
    test unless every cell excludes a slowdown.

    `loadstone_ab(before, after, fail_on=0.05, undecided="fail", across=(), **choices)`: `choices`
    as those of `loadstone.measure`, by default of the usual benchmark. With `undecided="skip"`
    a machine that is too busy to decide skips the test, and never passes it.
    """

    def judged(
        before: str,
        after: str,
        *,
        fail_on: float | str = 0.05,
        undecided: str = "fail",
        across: "str | Sequence[str]" = (),
        **choices: Any,
    ) -> "Comparison":
        import loadstone
        from loadstone.api import share_of
        from loadstone.errors import InputError
        from loadstone.plan.choices import Choices
        from loadstone.plan.variant import tactics_of
        from loadstone.run.planned import refuse_loops

        if undecided not in ("fail", "skip"):
            raise InputError(f"undecided is {undecided!r}", hint="choose fail or skip")
        threshold = share_of(fail_on)
        refuse_loops(choices)
        path = tmp_path / "ab.loadstone"
        usual: dict[str, Any] = {"temperature": "warm", "precision": min(0.015, threshold / 2)}
        if not choices.get("sql"):
            usual["benchmark"] = Choices().benchmark
        record = loadstone.measure(on=(before, after), record=path, **{**usual, **choices})
        plan = record.runs[0].plan
        a, b = plan.on[:2]
        named = (across,) if isinstance(across, str) else across
        meant = {*named, *tactics_of(a), *tactics_of(b)}
        found = loadstone.compare(record, variants=(a, b), fail_on=threshold, across=meant)
        open_yet = found.outcome == UNDECIDED or _too_busy(record, found)
        if undecided == "skip" and open_yet:
            pytest.skip(f"{found.outcome} on this machine: {path}")
        if found.outcome != NO_REGRESSION:
            pytest.fail(f"{found.outcome}: {path}\n{found.markdown()}", pytrace=False)
        results = record.runs[0].results
        without = [r.cell.key for r in results if r.status in ("failed", "censored")]
        if without:
            pytest.fail(f"no figure: {', '.join(without)}: {path}", pytrace=False)
        return found

    return judged


def _too_busy(record: "Record", found: "Comparison") -> bool:
    """Whether some cells could not be compared, all of them because the machine disturbed them: not
    because one failed, the terms differ, or no answer is known to be right."""
    from loadstone.plan.workload import DIVIDED

    if found.outcome not in ("nothing compared", "invalid"):
        return False
    results = [result for run in record.runs for result in run.results]
    disturbed = {result.cell.operation for result in results if result.disturbance is not None}
    disputed = {one.operation for run in record.runs for one in run.agreements
                if one.basis == DIVIDED}  # fmt: skip
    ended = any(result.status in ("failed", "censored") for result in results)
    left_out = {operation for operation, _ in found.left_out}
    return not ended and bool(disturbed) and left_out <= disturbed - disputed
