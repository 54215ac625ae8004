"""A study's decisions while it runs, on real engines and on the one whose times are planted: each
decision is in the record, follows from the samples there, and is carried out."""

import pytest
from desk import Desk
from redecided import redecided

from loadstone.analysis.study_terms import study_terms
from loadstone.plan.choices import FACTORIAL
from loadstone.plan.study import HELD, OPENED, PRUNED, TAKEN_APART, Decision
from loadstone.record.model import CellResult, Run
from loadstone.studies.details import switch_details
from loadstone.studies.view import StudiedOperation, SwitchEffect, study_map

pytestmark = [pytest.mark.machine, pytest.mark.slow]

BLOCKS_MIN = 8
LOADED = ("page_size", "index")
"""Switches of SQLite that are only seen in relations loaded anew, both of one group: no worker has
its relations as one of them alone makes them."""


def ended(desk: Desk, *words: str) -> str:
    """Make a study. Returns its summary."""
    done = desk.run("study", "wisconsin", *words, "--no-limits", "--record", "r.loadstone")
    assert done.returncode == 0, done.stderr
    return done.stdout


def studied(desk: Desk, *words: str) -> Run:
    """The record of a study, of which every decision follows from the samples, and every setting
    was read back."""
    ended(desk, *words)
    assert (desk.folder / "r.html").exists()
    run = desk.read()
    assert not run.pending
    assert all(answer.right for result in run.results for answer in result.answers)
    for operation, (reported, again) in redecided(run).items():
        assert reported == again, operation
    for switch in study_terms(run).switches:
        assert switch.read == switch.of > 0, switch
        assert (switch.base_read, switch.other_read) == (switch.base, (switch.other,))
    assert desk.leftovers() == []
    return run


def of(run: Run, operation: str) -> dict[str, CellResult]:
    """The cells of an operation, by variant."""
    return {one.cell.variant: one for one in run.results if one.cell.operation == operation}


def decided(run: Run, operation: str) -> dict[str, Decision]:
    return {one.kind: one for one in run.decisions if one.operation == operation}


def mapped(run: Run, operation: str) -> tuple[StudiedOperation, dict[str, SwitchEffect]]:
    found = study_map(run)
    assert found is not None
    one = next(each for each in found.operations if each.name == operation)
    switches = {each.switch.tactic: each for each in one.switches}
    for detail in switch_details(run, found):
        if detail.operation.name == operation:
            # The map's figures stand on blocks, which its cell opens.
            effect = switches[detail.effect.switch.tactic]
            assert len(detail.alone) >= BLOCKS_MIN or effect.alone is None
            assert len(detail.last) >= BLOCKS_MIN or effect.last is None
    return one, switches


def test_a_join_that_takes_too_long_is_ended_and_the_others_are_measured_without_it(
    desk: Desk,
) -> None:
    """Without an automatic index SQLite's join scans a relation for each row of the other one."""
    join = "join-AselB-heap"
    run = studied(desk, "--on", "sqlite", "--rows", "20000", "--operation", join, "--seconds", "6",
                  "--vary", "automatic_index", "--vary", "durability",
                  "--vary", "temp_store")  # fmt: skip
    cells, held = of(run, join), decided(run, join)[HELD]
    assert held.tactics == ("automatic_index",)
    alone = cells["sqlite?automatic_index=off"]
    assert alone.status == "censored"
    assert not alone.samples
    assert "SCAN" in alone.statements[0].plan, "its plan says why"
    explained = [one.variation for one in alone.statements]
    assert len(explained) == len({*explained}), "once"
    spared = {name for name, one in cells.items() if one.status == "spared"}
    assert spared == {name for name in run.plan.variants if "automatic_index=off" in name} - {
        alone.cell.variant
    }
    end = cells["sqlite?durability=none&temp_store=memory"]
    assert (end.status, len(end.samples) >= BLOCKS_MIN) == ("ok", True), (
        "the other end is another one"
    )
    operation, switches = mapped(run, join)
    join_effect = switches["automatic_index"]
    assert join_effect.held and join_effect.alone is None
    assert join_effect.alone_beyond is not None and join_effect.alone_beyond > 1
    for name in ("durability", "temp_store"):
        assert switches[name].alone is not None and switches[name].last is not None
    assert operation.effects.whole is not None


def test_a_switch_without_work_is_pruned_where_it_has_none_and_nowhere_else(desk: Desk) -> None:
    """A query to the client writes nothing, so that there is nothing to wait for."""
    query, change = "select-one-clustered-client", "append-indexed"
    run = studied(desk, "--on", "sqlite", "--rows", "1000", "--seconds", "20", "--operation", query,
                  "--operation", change, "--vary", "durability", "--vary", "journal",
                  "--vary", "mmap")  # fmt: skip
    pruned = decided(run, query)[PRUNED]
    assert set(pruned.tactics) == {"durability", "journal"}
    assert PRUNED not in decided(run, change)
    assert run.plan.study is not None
    measured = {name for name, one in of(run, query).items() if one.samples}
    by_flips = {each.flipped: each.variant for each in run.plan.study.combinations}
    assert {by_flips["durability",], by_flips["journal",]} <= measured, "one each, to confirm it"
    assert by_flips["durability", "journal", "mmap"] in measured, "scouted, with its counters"
    spared = {name for name, one in of(run, query).items() if one.status == "spared"}
    assert spared and not spared & measured
    _, switches = mapped(run, query)
    assert switches["durability"].pruned
    assert switches["durability"].alone is not None and switches["durability"].last is None
    _, switches = mapped(run, change)
    assert switches["durability"].last is not None


def test_groups_are_opened_and_three_that_act_together_are_taken_apart(desk: Desk) -> None:
    """No switch of the three does anything alone; nine switches are more than are flipped one by
    one. `a` and `f` cancel, so that only `g` beside them opens their group."""
    run = studied(desk, "--on", "planted?time_us=200", "--vary", "all", "--rows", "1000",
                  "--operation", "min-heap", "--seconds", "30")  # fmt: skip
    made = decided(run, "min-heap")
    assert {"storage switches", "execution switches", "log switches"} <= set(made[OPENED].tactics)
    assert made[OPENED].blocks >= BLOCKS_MIN
    assert set(made[TAKEN_APART].tactics) == {"g", "h", "i"}
    assert made[TAKEN_APART].blocks > made[OPENED].blocks
    operation, switches = mapped(run, "min-heap")
    assert not any(switches[name].group for name in "abcdfghi"), "each is reported by itself"
    if made[TAKEN_APART].undone:
        assert set(operation.escalate) == {"g", "h", "i"}
    else:
        assert operation.further is not None and operation.further.whole is not None
        assert {frozenset(one.flipped) for one in made[TAKEN_APART].combinations} >= {
            frozenset(pair) for pair in ("gh", "gi", "hi")
        }


def test_work_without_time_is_decided_and_reported_with_its_command(desk: Desk) -> None:
    words = ("--on", "planted?time_us=200", *(w for name in "eghi" for w in ("--vary", name)))
    words = (*words, "--rows", "1000", "--operation", "min-heap", "--seconds", "3")
    reported = " ".join(ended(desk, *words).split())
    run = desk.read()
    ((decisions, again),) = redecided(run).values()
    assert decisions == again
    if not again:
        pytest.skip("so busy a machine hides that three act together")
    apart = decided(run, "min-heap")[TAKEN_APART]
    assert apart.undone and apart.combinations == ()
    assert set(apart.tactics) == {"g", "h", "i"}
    assert f"--design {FACTORIAL}" in reported
    assert all(f"--vary {name}=off,on" in reported for name in "ghi")


def test_many_switches_of_a_real_engine_are_flipped_in_groups(desk: Desk) -> None:
    """Some of them need the relations loaded anew, in another file."""
    names = ("durability", "journal", "cache=268435456,1048576", "mmap", "temp_store", "page_size",
             "parallelism=1,2", "automatic_index", "index")  # fmt: skip
    words = [word for name in names for word in ("--vary", name)]
    run = studied(desk, "--on", "sqlite", *words, "--rows", "1000", "--seconds", "2",
                  "--operation", "append-indexed")  # fmt: skip
    assert run.plan.study is not None and run.plan.study.screened
    made = decided(run, "append-indexed")
    _, switches = mapped(run, "append-indexed")
    opened = set(made[OPENED].tactics) if OPENED in made else set()
    for name in names:
        each = switches[name.partition("=")[0]]
        group = f"{each.switch.group} switches"
        assert each.group == ("" if group in opened else group)
        if group in opened and name in LOADED:
            assert each.held and each.alone is None and "loaded anew" in each.failure
        elif group in opened:
            assert each.alone is not None and each.last is not None


def test_operations_for_which_no_time_is_left_stay_to_be_measured(desk: Desk) -> None:
    names = ("min-heap", "select-1%-heap", "append-heap")
    words = ("--on", "planted?time_us=200", "--vary", "a", "--vary", "d", "--rows", "1000",
             *(word for name in names for word in ("--operation", name)),
             "--seconds", "0.1")  # fmt: skip
    done = desk.run("study", "wisconsin", *words, "--no-limits", "--no-report",
                    "--record", "r.loadstone")  # fmt: skip
    assert done.returncode == 0, done.stderr
    run = desk.read()
    assert {result.cell.operation for result in run.results} == {names[0]}
    assert {cell.operation for cell in run.pending} == set(names[1:])
    assert "0.1 s were over before 2 operations had begun" in done.stderr
    assert "loadstone study --resume r.loadstone" in done.stderr
    again = desk.run("study", "--resume", "r.loadstone", "--no-report")
    assert again.returncode == 0, again.stderr
    assert {cell.operation for cell in desk.read().pending} == {names[2]}
