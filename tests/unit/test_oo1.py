"""OO1 as data: the published tables are whole and add up, and its operations are the program's."""

import pytest

from loadstone import _core
from loadstone.benchmarks.oo1.benchmark import (
    ITERATIONS,
    TABLE_VI,
    WARMING,
    Oo1Benchmark,
    call_of,
)
from loadstone.benchmarks.oo1.database import Database, database_of
from loadstone.errors import InputError

DRAWN = 10
BENCHMARK = Oo1Benchmark()
PUBLISHED = BENCHMARK.published()
TABLES = {table.number: table for table in PUBLISHED.tables}
TOTAL = "lookup+traversal+insert"
WITHOUT = tuple(f"{measure}-no-locality" for measure, _ in TABLE_VI)
# Rows and values of each table, counted in the paper.
COUNTS = {
    "II": (11, 33), "III": (11, 33), "IV": (10, 10), "V, small": (4, 12), "V, large": (4, 12),
    "VI": (9, 9), "VII": (9, 9), "A, remote": (9, 54), "A, local": (6, 36),
}  # fmt: skip


def values_of(number: str) -> dict[str, dict[str, float | str]]:
    return {operation: dict(values) for _, operation, values in TABLES[number].rows if operation}


def half_of_last_place(value: float) -> float:
    """The distance from the truth that a rounded value may be: 0.5 for 33, 0.05 for 3.3."""
    _, _, decimals = str(value).partition(".")
    return 0.5 / 10 ** len(decimals)


def test_every_table_is_there_with_all_its_values() -> None:
    counted = {
        number: (len(table.rows), sum(len(values) for _, _, values in table.rows))
        for number, table in TABLES.items()
    }
    assert counted == COUNTS


@pytest.mark.parametrize("number", COUNTS)
def test_totals_add_up_to_what_was_printed(number: str) -> None:
    values = values_of(number)
    whole = "+".join(WITHOUT) if number == "VI" else TOTAL
    added = 0
    for state in ("cold", "warm"):
        for system, total in values.get(f"{whole}@{state}", {}).items():
            terms = [values[f"{measure}@{state}"][system] for measure in whole.split("+")]
            difference = abs(sum(float(term) for term in terms) - float(total))
            assert difference <= half_of_last_place(float_or_int(total)) + 1e-9, (system, state)
            added += 1
    assert added


def float_or_int(value: float | str) -> float:
    assert not isinstance(value, str)
    return value


def test_figures_that_the_paper_prints_twice_are_the_same() -> None:
    names = {"INDEX": "INDEX", "OODBMS": "OODB4", "RDBMS": "RDBMS1"}
    remote, again = values_of("II"), values_of("A, remote")
    local, appendix = values_of("V, small"), values_of("A, local")
    for here, there in names.items():
        for operation in again:
            if (here, operation) != ("OODBMS", f"{TOTAL}@warm"):  # 5 and 5.1
                assert again[operation][there] == remote[operation][here], operation
        for operation in ("size", "load"):
            assert appendix[operation][there] == remote[operation][here]
        for operation in local:
            shown, exact = appendix[operation][there], local[operation][here]
            assert shown == exact or abs(float(shown) - float(exact)) <= 0.5, operation


def test_marks_are_kept_as_text() -> None:
    marked = {
        (number, value)
        for number in TABLES
        for values in values_of(number).values()
        for value in values.values()
        if isinstance(value, str)
    }
    assert marked == {
        ("II", "1100*"), ("III", "16400*"), ("IV", "78000+"), ("A, local", "1100*")
    }  # fmt: skip


def test_tables_name_what_exists() -> None:
    known = {operation.name for operation in BENCHMARK.operations("1992", 20_000)}
    for number, table in TABLES.items():
        assert set(table.systems) <= set(PUBLISHED.systems)
        assert table.scale in (20_000, 200_000, 2_000_000)
        assert table.edition == BENCHMARK.default_edition
        for operation in values_of(number):
            if operation not in ("size", "load"):
                names, _, state = operation.partition("@")
                assert set(names.split("+")) <= known
                assert (set(names.split("+")) <= set(WITHOUT)) == (number == "VI")
                assert state in ("cold", "warm")


def test_operations_are_the_programs_measures_with_an_input_for_each_sample() -> None:
    operations = BENCHMARK.operations("1992", 20_000)
    plain = [operation.name for operation in BENCHMARK.operations("1992-no-locality", 20_000)]
    assert plain == _core.oo1_measures()
    assert [operation.name for operation in operations] == [*plain, *WITHOUT]
    for operation in operations:
        called = [call_of(text) for text in operation.texts]
        assert called == [(operation.storage, number + 1) for number in range(ITERATIONS)]
        assert operation.name.removesuffix("-no-locality") == operation.storage


def test_operations_without_locality_are_in_the_full_preset_alone() -> None:
    for operation in BENCHMARK.operations("1992", 20_000):
        if operation.name in WITHOUT:
            assert operation.presets == {"full"}
            assert not operation.concurrent_users


def test_each_design_has_its_stage_and_its_database() -> None:
    stored = {item.design: item for item in BENCHMARK.stored_relations("1992")}
    assert BENCHMARK.stages("1992") == (frozenset({"oo1"}), frozenset({"no-locality"}))
    assert BENCHMARK.stages("1992-no-locality") == (frozenset({"oo1"}),)
    assert len({item.relation for item in stored.values()}) == len(stored)
    local, scattered = (
        database_of("1992", stored[design].relation, 1_000) for design in ("oo1", "no-locality")
    )
    assert local == Database(1_000, locality=True, seed=1)
    assert scattered == Database(1_000, locality=False, seed=1)
    (alone,) = BENCHMARK.stored_relations("1992-no-locality")
    assert database_of("1992-no-locality", alone.relation, 1_000) == scattered


def test_a_measure_is_answered_by_the_database_of_its_design() -> None:
    answers = BENCHMARK.answers("1992", 1_000, ["oo1-no-locality"])
    local, scattered = (_core.Oo1Oracle(1_000, locality=locality) for locality in (True, False))
    known = {operation.name: operation for operation in BENCHMARK.operations("1992", 1_000)}
    assert answers.of(known["traversal"], 2) == local.answer("traversal", 3)
    assert answers.of(known["traversal-no-locality"], 2) == scattered.answer("traversal", 3)
    assert local.answer("traversal", 3) != scattered.answer("traversal", 3)


def test_no_warm_up_has_an_input_that_is_sampled() -> None:
    """Warmed up on its own inputs, a look-up shows how fast the processor's caches are."""
    for operation in BENCHMARK.operations("1992", 20_000):
        assert len(set(operation.texts)) == ITERATIONS
        assert len(set(operation.warming)) == WARMING
        assert not set(operation.texts) & set(operation.warming)
    inputs = [
        tuple(_core.oo1_inputs(20_000, 1, True, "lookup", number + 1))
        for number in range(ITERATIONS + WARMING)
    ]
    assert len(set(inputs)) == ITERATIONS + WARMING, "the generator's numbers come again too soon"


@pytest.mark.parametrize("edition", BENCHMARK.editions)
def test_iterations_differ_and_their_answers_are_known(edition: str) -> None:
    relations = [stored.relation for stored in BENCHMARK.stored_relations(edition)]
    answers = BENCHMARK.answers(edition, 1_000, relations)
    for operation in BENCHMARK.operations(edition, 1_000):
        known = [answers.of(operation, number) for number in range(DRAWN)]
        if operation.name in ("nothing", "empty", "constant"):
            assert set(known) == {(0, "")}
        elif operation.name == "scan":
            assert set(known) == {answers.contents(relations[0])}
        else:
            assert len(set(known)) == DRAWN, operation.name


@pytest.mark.parametrize("rows", [199, 100_000_001])
def test_a_database_that_cannot_be_is_refused(rows: int) -> None:
    with pytest.raises(InputError, match="OO1 cannot have"):
        BENCHMARK.operations("1992", rows)
    with pytest.raises(InputError, match="no edition '1993'"):
        BENCHMARK.check_scale("1993", 20_000)
