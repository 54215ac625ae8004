"""The figures that lessons and notes quote from the papers of INGRES and the IDM follow from the
published tables, on the base that their words name."""

import re

import pytest

from loadstone.benchmarks.idm.benchmark import IdmBenchmark
from loadstone.benchmarks.ingres.benchmark import PUBLISHED_ROWS, IngresBenchmark

PERCENT = re.compile(r"(?<![\d.])(\d+(?:\.\d)?) %( less)?")


def lesson_of(benchmark, operation: str) -> str:
    (found,) = (
        one.paper for one in benchmark.presentation().lessons if operation in one.operations
    )
    return " ".join(found.split())


def times_of(operation: str) -> list[tuple[float, float]]:
    """INGRES's times of a query and those of each enhancement, by table."""
    return [
        (values["INGRES"], values[next(name for name in values if name != "INGRES")])
        for table in IngresBenchmark().published().tables
        if table.number in {"1", "2", "5", "6"} and table.scale in {1, PUBLISHED_ROWS}
        for _, known, values in table.rows
        if known == operation
    ]


@pytest.mark.parametrize("letter", "bcdefghi")
def test_a_percentage_of_a_lesson_of_ingres_has_the_base_that_its_words_name(letter: str) -> None:
    """The paper's improvement is a part of the new time: INGRES takes so much longer. 51 % longer
    are 34 % less."""
    (operation,) = (
        one.name
        for one in IngresBenchmark().operations("1981", PUBLISHED_ROWS)
        if one.query == letter and not one.name.endswith("-hash")
    )
    pairs = times_of(operation)
    assert pairs
    # g's 85 % of Table 5 is printed, and follows from the time of Table 1.
    printed = {value for table in IngresBenchmark().published().tables
               for column in table.derived for label, value in column.printed.items()
               if label.startswith(f"{letter})")}  # fmt: skip
    longer = {round(100 * (then - now) / now, places) for then, now in pairs for places in (0, 1)}
    longer |= printed
    less = {round(100 * (then - now) / then, places) for then, now in pairs for places in (0, 1)}
    quoted = PERCENT.findall(lesson_of(IngresBenchmark(), operation))
    shares_of_the_profile = {"4.4"}
    for number, word in quoted:
        if number not in shares_of_the_profile:
            assert float(number) in (less if word else longer), (number, word)


def test_the_clocks_gains_in_the_lessons_of_the_idm_are_the_tables() -> None:
    rows = [
        row for table in IdmBenchmark().published().tables if table.number == "of test 11"
        for row in table.rows
    ]  # fmt: skip
    columns = {
        column.name: column.printed
        for table in IdmBenchmark().published().tables
        if table.number == "of test 11"
        for column in table.derived
    }
    for operation, whole in (("count-one", "36 to 69"), ("average-integers", "48 and 56")):
        lesson = lesson_of(IdmBenchmark(), operation)
        labels = [label for label, name, _ in rows if name and name[:5] == operation[:5]]
        gains = [columns["10 MHz, accelerator"][label] for label in labels]
        first, last = sorted((min(gains), max(gains)))
        assert [str(first), str(last)] == whole.replace(" and ", " to ").split(" to ")
        assert whole in lesson
        without = [columns["10 MHz"][label] for label in labels]
        joint = " to " if operation == "count-one" else " and "
        assert f"{min(without)}{joint}{max(without)} %" in lesson


def test_the_averages_that_table_10_prints_are_ratios_of_sums() -> None:
    """Also that of all, 1.118550, which was called neither a ratio of sums nor a mean."""
    tables = [table for table in IdmBenchmark().published().tables if table.number == "1 to 6"]

    def over(*systems: str) -> float:
        sums = [
            sum(table.rows[place][2][system] for table in tables for system in systems)
            for place in (1, 0)
        ]
        return sums[0] / sums[1]

    note = next(t.note for t in IdmBenchmark().published().tables if t.number == "10")
    for systems in (("IDM 500/2",), ("IDM 500/1",), ("IDM 500/2", "IDM 500/1")):
        assert f"{over(*systems):.5f}"[:7] in note
    assert "1.118550 of all, are ratios of sums" in note


def test_the_note_of_table_9_names_all_that_are_parts_of_ingress_time() -> None:
    for table in IngresBenchmark().published().tables:
        if table.number != "9":
            continue
        (column,) = table.derived
        for label, _, values in table.rows:
            then, now = values["INGRES"], values["MANGOS"]
            printed = column.printed[label]
            if abs(100 * (then - now) / now - printed) > 0.0501:
                assert printed == pytest.approx(100 * (then - now) / then, abs=0.0501), label
                assert f"{printed:.1f}" in table.note, (table.scale, label, printed)
