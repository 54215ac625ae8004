"""Combinations that can never be measured are refused by the plan, with what to change."""

from pathlib import Path

import apsw
import pytest

from loadstone.errors import InputError
from loadstone.planning.study import study_of
from loadstone.run.planned import describe, plan_from, variant_of

NEVER = (
    ("oo7", "lode?detect=sigsegv&log=set-range", "log=set-range logs declared ranges",
     "choose detect=explicit, or another log"),
    ("rvm", "lode?detect=kernel&log=set-range", "log=set-range logs declared ranges",
     "choose detect=explicit, or another log"),
    ("oo7", "lode?cache=4096&shadows=cache", "its minimum is 65536", "at least cache=65536"),
    ("wisconsin", "lode?cache=65536&readahead=on", "needs a cache of 4 extents", "more"),
    ("wisconsin", "lode?cache=65536&memory=cache", "needs a cache that can lend", "cache=1048576"),
    ("wisconsin", "lode?memory=1024", "its minimum is 262144", "at least memory=262144"),
    ("oo7", "lode?detect=kernel&place=server", "maps no pages", "leave out detect=kernel"),
    ("oo1", "lode?locks=page&place=server&readahead=on", "may change", "readahead=off"),
    ("wisconsin", "sqlite?set.page_size=abc", "does not take 'abc' for page_size", "pragma_page"),
    ("wisconsin", "postgresql?set.work_mem=1XB", 'for parameter "work_mem": "1XB"', "units"),
    ("wisconsin", "postgresql?set.work_memm=1MB", "no setting 'work_memm'", "mean work_mem?"),
    ("wisconsin", "postgresql?work_mem=1MB", "set work_mem to '1MB'", "work_mem=1MiB"),
    ("wisconsin", "postgresql?work_mem=64", "its minimum is 65536", "at least work_mem=65536"),
    ("wisconsin", "postgresql?random_page_cost=1", "no tactic", "write set.random_page_cost"),
    ("wisconsin", "postgresql?set.work_mem=1MB&work_mem=1MiB", "as a setting", "leave out"),
    ("wisconsin", "duckdb?cache=1MiB", "its minimum is 8388608", "at least cache=8388608"),
    ("oo1", "lode?detect=sigsegv", "every cell is a gap: .*maps no pages", "another value"),
    ("oo1", "lode?access=hash&prefetch=on", "access=hash with prefetch=on", "another value"),
    ("oo7", "lode?prefetch=on", "references by itself", "another value"),
    ("rvm", "lode?place=server", "maps no pages", "another value"),
)  # fmt: skip


@pytest.mark.parametrize(("benchmark", "variant", "message", "hint"), NEVER)
def test_a_plan_refuses_what_no_run_could_open(
    benchmark: str, variant: str, message: str, hint: str
) -> None:
    with pytest.raises(InputError, match=message) as caught:
        plan_from({"benchmark": benchmark, "on": [variant]}, None)
    assert hint in caught.value.hint


@pytest.mark.parametrize(("benchmark", "variant"), [
    ("oo7", "lode?detect=sigsegv&log=page-grain"),
    ("oo7", "lode?cache=65536&shadows=cache"),
    ("oo7", "lode?locks=database&place=server&readahead=on"),
    ("wisconsin", "lode?cache=262144&readahead=on"),
    ("wisconsin", "sqlite?set.page_size=8192"),
    ("wisconsin", "postgresql?set.work_mem=1MB"),
    ("wisconsin", "postgresql?work_mem=1MiB"),
    ("oo1", "lode?access=links&prefetch=on"),
])  # fmt: skip
def test_a_plan_takes_what_differs_in_one_value(benchmark: str, variant: str) -> None:
    plan_from({"benchmark": benchmark, "on": [variant]}, None)


def test_a_plan_sets_no_limit_of_its_own_process() -> None:
    plan_from({"benchmark": "wisconsin", "on": ["sqlite?set.hard_heap_limit=100000000"]}, None)
    assert apsw.hard_heap_limit(-1) == 0


def test_a_gap_stays_a_gap_where_another_variant_has_something_to_measure() -> None:
    plan = plan_from({"benchmark": "oo7", "on": ["lode", "lode?prefetch=on"]}, None).plan
    gaps = {cell.variant: bool(cell.gap) for cell in plan.cells}
    assert gaps["lode?prefetch=on"]
    assert not gaps["lode"]


def test_users_are_refused_where_no_engine_serves_several() -> None:
    choices = {"benchmark": "oo7", "operations": ["M1"], "users": [2]}
    with pytest.raises(InputError, match=r"zodb cannot have --users: .* one user at a time"):
        plan_from(choices | {"on": ["zodb"]}, None)
    both = plan_from(choices | {"on": ["zodb", "lode"]}, None)
    assert "users of zodb are a gap: it serves one user at a time" in describe(both)


@pytest.mark.parametrize(("vary", "hint"), [
    ("work_mem=1MB", "write a size as a number of bytes, or in KiB, MiB or GiB: work_mem=1MiB"),
    ("work_mem=1MiB", "give both: --vary work_mem=4194304,1048576"),
    ("work_mem=4MiB", "give both: --vary work_mem=4194304,B"),
    ("set.work_mem=1MB", "give both: --vary set.work_mem=A,1MB"),
    ("join=hash", "give both: --vary join=auto,hash"),
    ("random_page_cost=1,4", "or write set.random_page_cost for a setting of the engine's own"),
])  # fmt: skip
def test_a_switch_that_lacks_something_is_refused_with_what_it_lacks(vary: str, hint: str) -> None:
    base, engine = variant_of("postgresql", "engines")
    with pytest.raises(InputError) as caught:
        study_of(base, engine, [vary], "walk")
    assert caught.value.hint.endswith(hint)


def test_a_switch_takes_sizes_as_a_variant_does() -> None:
    base, engine = variant_of("postgresql", "engines")
    study, _ = study_of(base, engine, ["work_mem=1MiB,64MiB"], "walk")
    assert [(one.base, one.other) for one in study.switches] == [("1048576", "67108864")]


def test_a_study_switches_nothing_that_the_release_lacks() -> None:
    base, engine = variant_of("duckdb", "engines")
    study, _ = study_of(base, engine, [], "walk", ["durability", "optimizer.join_order"])
    switched = [one.tactic for one in study.switches]
    assert "parallelism" in switched
    assert not {"durability", "optimizer.join_order"} & {*switched}
    with pytest.raises(InputError, match="cannot switch durability"):
        study_of(base, engine, ["durability", "parallelism"], "walk", ["durability"])


@pytest.mark.parametrize(("written", "meant"), [
    ("postgres", "postgresql"), ("postgres?jit=off", "postgresql"), ("mysql", "mariadb"),
    ("postgres@16", "postgresql"), ("sc", "spark"),
])  # fmt: skip
def test_a_scheme_of_urls_is_no_engines_name(written: str, meant: str) -> None:
    with pytest.raises(InputError, match="there is no engine") as caught:
        plan_from({"benchmark": "wisconsin", "on": [written]}, None)
    assert f"did you mean {meant}?" in caught.value.hint


def test_a_refusal_names_the_release(tmp_path: Path) -> None:
    for text in ("duckdb@1.4.0?set.TimeZone=UTC", "duckdb@1.4.0?cache=3", "duckdb@1.4.0?threads=2",
                 f"sqlite@venv:{tmp_path}/none"):  # fmt: skip
        release = text.partition("?")[0]
        with pytest.raises(InputError) as caught:
            variant_of(text, "engines")
        assert release in f"{caught.value.message} {caught.value.hint}", caught.value
