"""A copy of an engine's settings that got slower: a study from the copy back to the original names
the setting that did it, and no other."""

from dataclasses import replace

import pytest
from desk import Desk

from loadstone.analysis.findings.finding import Grade
from loadstone.analysis.findings.learned import learned
from loadstone.analysis.summary import summarise
from loadstone.studies.view import study_map

pytestmark = [pytest.mark.machine, pytest.mark.slow]

COPIED = {
    "set.cache_size": ("10", "-262144"),
    "set.temp_store": ("1", "0"),
    "set.wal_autocheckpoint": ("500", "1000"),
    "set.cell_size_check": ("1", "0"),
}
"""The copy's value, and the original's. With a cache of ten pages each tuple by the index is read
from the file again."""
GUILTY = "set.cache_size"


def test_a_planted_regression_is_found_by_the_name_of_its_setting(desk: Desk) -> None:
    vary = [word for name, (copy, original) in COPIED.items()
            for word in ("--vary", f"{name}={copy},{original}")]  # fmt: skip
    done = desk.run("study", "wisconsin", "--on", "sqlite?durability=none", *vary,
                    "--rows", "10000", "--no-limits", "--operation", "select-10%-nonclustered",
                    "--seconds", "30", "--record", "r.loadstone")  # fmt: skip
    assert done.returncode == 0, done.stderr
    run = desk.read()
    assert all(answer.right for result in run.results for answer in result.answers)
    found = study_map(run)
    assert found is not None
    (operation,) = found.operations
    switches = {each.switch.tactic: each for each in operation.switches}
    guilty = switches[GUILTY]
    assert guilty.acts_alone and guilty.alone is not None and guilty.alone.value < 0.9
    assert max(switches.values(), key=lambda each: each.strength) is guilty
    # A finding is withheld where other programs were at work, which is not what is tested.
    calm = replace(run, results=tuple(replace(one, condition=None) for one in run.results))
    (explained,) = (
        each for each in learned(summarise(calm)).findings if each.grade is Grade.EXPLAINED
    )
    assert explained.kind == GUILTY
    assert f"{GUILTY} from 10 to -262144" in explained.sentence
