"""A plan is frozen, printable, hashable, and says no in words."""

import dataclasses

import pytest

from loadstone.benchmarks.base import Operation
from loadstone.engines.capabilities import Capabilities, Structure
from loadstone.errors import InputError
from loadstone.plan.choices import Choices
from loadstone.plan.plan import SAMPLES_MAX, Plan
from loadstone.plan.variant import Variant
from loadstone.plan.written_choices import choices_from, read_given
from loadstone.planning.planner import make_plan
from loadstone.planning.repetition import REPEAT_MOST
from loadstone.run.planned import plan_from
from loadstone.statistics.paired_ratio import INTERVAL_PAIRS_MIN


class TwoOperations:
    """A benchmark of two operations, one of which needs a hash organisation."""

    name = "two"
    editions = ("first", "second")
    default_edition = "first"
    default_scales = (1000, 10000)
    cold_samples = 3
    workload = None
    seam = "engines"

    def check_scale(self, edition, rows):
        if rows < 100:
            raise InputError(f"{edition} needs at least 100 rows, not {rows}")

    def operations(self, edition, rows):
        base = Operation(
            name="scan",
            title="a scan",
            group="g",
            query="",
            design="heap",
            storage="heap",
            destination="client",
            texts=("retrieve (a = 1)",),
            presets=frozenset({"quick", "cold"}),
        )
        return [base, dataclasses.replace(base, name="probe", storage="hash", presets=frozenset())]


HEAP_ONLY = Capabilities(
    structures={"heap": Structure(True), "hash": Structure(False, "it has no hash organisation")}
)


def plan(choices=None, variants=("a", "b")):
    return make_plan(
        choices or Choices(),
        TwoOperations(),
        [Variant(name) for name in variants],
        dict.fromkeys(variants, HEAP_ONLY),
    )


def test_same_choices_give_the_same_hash_and_another_seed_another():
    assert plan().hash == plan().hash
    assert plan().hash != plan(Choices(seed=7)).hash


def test_another_wording_of_a_gap_is_the_same_plan():
    made = plan()
    reworded = tuple(
        dataclasses.replace(cell, gap=cell.gap and "no such thing") for cell in made.cells
    )
    assert reworded != made.cells
    assert dataclasses.replace(made, cells=reworded).hash == made.hash
    assert dataclasses.replace(made, cells=made.cells[1:]).hash != made.hash


def test_json_round_trip_keeps_the_hash():
    made = plan()
    again = Plan.from_json(made.to_json())
    assert again == made
    assert again.hash == made.hash


def test_gaps_are_declared_in_the_plan_with_their_reason():
    gaps = {cell.operation: cell.gap for cell in plan().cells}
    assert gaps == {"scan": "", "probe": "it has no hash organisation"}


def test_only_the_cold_preset_is_cold_unless_full():
    def cold(preset):
        cells = plan(Choices(preset=preset)).cells
        return {cell.operation for cell in cells if cell.temperature == "cold"}

    assert cold("default") == {"scan"}
    assert cold("full") == {"scan", "probe"}


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        (Choices(edition="third"), "no edition 'third'"),
        (Choices(rows=(10,)), "at least 100 rows"),
        (Choices(preset="huge"), "no preset 'huge'"),
        (Choices(operations=("scam",)), "no operation 'scam'"),
    ],
)
def test_impossible_choices_are_refused(choices, message):
    with pytest.raises(InputError, match=message):
        plan(choices)


def test_a_variant_named_twice_is_refused():
    with pytest.raises(InputError, match="named twice"):
        plan(variants=("a", "a"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("repat = 3", "unknown choice repat"),
        ("[idm]\nrows = [100]", "only a plan for --all has such tables"),
        ("repeat = 'many'", "repeat must be a whole number, not 'many'"),
        ("rows = ['1e5']", "rows must be a whole number, not '1e5'"),
        ("temperature = ['tepid']", "temperature must be one of warm, cold, hot, not 'tepid'"),
        ("time_limit_s = 0", "time_limit_s must be more than 0"),
        ("repeat = 0", "between 1 and"),
        ("seed = true", "seed must be a whole number, not true"),
        ("= 3", "not a TOML file"),
    ],
)
def test_bad_plan_files_are_refused_with_their_name(tmp_path, text, message):
    file = tmp_path / "plan.toml"
    file.write_text(text)
    with pytest.raises(InputError, match=message) as caught:
        Choices(**read_given(file))
    assert str(file) in caught.value.message


def test_plain_values_become_choices():
    made = choices_from({"rows": 1000, "on": ["sqlite"], "time_limit_s": 5}, "here")
    assert made.rows == (1000,)
    assert made.on == ("sqlite",)


def test_a_plan_of_more_samples_than_a_record_holds_is_refused():
    few = plan(Choices(temperature=("warm",), repeat_most=100_000))
    assert sum(max(c.samples, few.repeat_most) for c in few.cells if not c.gap) <= SAMPLES_MAX
    many = tuple(f"v{n}" for n in range(20))
    with pytest.raises(InputError, match="may come to 4,000,000 samples"):
        plan(Choices(temperature=("warm",), repeat_most=100_000), many)
    with pytest.raises(InputError, match="may come to"):
        plan(Choices(temperature=("warm",), repeat=100_000), many)


def test_nobody_who_chose_nothing_is_refused():
    """Of many cells each may be repeated less."""
    some = plan(Choices(temperature=("warm",)), tuple(f"v{n}" for n in range(2_000)))
    assert some.repeat_most < REPEAT_MOST
    assert plan().repeat_most == REPEAT_MOST


def test_in_a_preset_of_the_papers_statements_none_takes_most_of_its_time():
    assert plan().time_limit_s == 10
    assert plan(Choices(operations=("scan",))).time_limit_s == 60
    assert plan(Choices(rows=(1_000, 1_000_000))).time_limit_s == 60
    assert plan(Choices(time_limit_s=3600.0)).time_limit_s == 3600


def test_a_misspelt_choice_of_a_plan_file_is_reported_the_near_ones():
    with pytest.raises(InputError) as caught:
        choices_from({"repat": 3}, "here")
    assert caught.value.hint.startswith("did you mean repeat")
    with pytest.raises(InputError) as caught:
        choices_from({"xyzzy": 3}, "here")
    assert caught.value.hint.startswith("known: ")


def test_the_quick_preset_repeats_often_enough_for_an_interval() -> None:
    """With fewer no row of `loadstone run --all` would say why."""
    cells = plan_from({"preset": "quick", "on": ("sqlite",)}, None).plan.cells
    warm = [cell.samples for cell in cells if cell.temperature == "warm"]
    assert warm and min(warm) >= INTERVAL_PAIRS_MIN


@pytest.mark.parametrize(
    ("on", "control"),
    [
        (("duckdb", "sqlite"), "duckdb#2"),
        (("duckdb", "sqlite?cache=2MiB", "sqlite"), "sqlite?cache=2097152#2"),
        (("duckdb", "sqlite?cache=2MiB&durability=none", "sqlite"), "duckdb#2"),
        (("duckdb", "sqlite#2", "sqlite"), ""),
    ],
    ids=["the first", "of one switch", "of two switches", "requested"],
)
def test_the_engine_of_a_switch_is_measured_twice_before_the_first(
    on: tuple[str, ...], control: str
) -> None:
    made = plan_from({"on": on, "preset": "quick"}, None).plan
    assert made.aa_control == control
    assert sum(name.endswith("#2") for name in made.variants) == 1
