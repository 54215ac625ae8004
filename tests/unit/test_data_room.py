"""Tables larger than memory are said before they are made, and those larger than the disk refused;
and only where that is certain."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from loadstone.engines import tactic
from loadstone.errors import InputError
from loadstone.record.reader import read
from loadstone.run import data_room
from loadstone.run.data_room import larger_than_memory, room_of
from loadstone.run.planned import Planned, plan_from

RECORD = Path(__file__).parents[1] / "data" / "wisconsin.loadstone"
GIB = 1 << 30


def planned(*on: str, rows: int = 10_000, **choices: object) -> Planned:
    chosen = {"benchmark": "wisconsin", "on": on, "rows": (rows,), "temperature": ("warm",)}
    return plan_from(chosen | {"operations": ("select-1%-heap",)} | choices, None)


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch):
    """One with so much memory and free disk."""

    def of(memory_bytes: int, free_bytes: int) -> None:
        monkeypatch.setattr(tactic, "memory_bytes", lambda: memory_bytes)
        free = SimpleNamespace(disk_usage=lambda _: SimpleNamespace(free=free_bytes))
        monkeypatch.setattr(data_room, "shutil", free)

    return of


def test_the_plain_bytes_are_those_of_the_relations_that_are_loaded() -> None:
    # Two relations of n rows and two of a tenth, 208 bytes a tuple; one design of several.
    room = room_of(planned("sqlite", "duckdb"))
    assert room is not None
    assert room.plain_bytes == 208 * (2 * 10_000 + 2 * 1_000)
    assert room.least_bytes == round(room.plain_bytes * (0.9 + 0.2))


def test_tables_within_memory_need_no_word(machine, tmp_path: Path) -> None:
    machine(8 * GIB, 100 * GIB)
    assert larger_than_memory(planned("sqlite"), tmp_path) == ""


def test_tables_beyond_memory_are_said_first(machine, tmp_path: Path) -> None:
    machine(2 * GIB, 100 * GIB)
    said = larger_than_memory(planned("sqlite", rows=10**7), tmp_path)
    assert said.startswith(
        "the tables are larger than memory: 4.26 GiB for each variant, of 2.00 GiB"
    )
    assert f"100 GiB free in {tmp_path}" in said


def test_what_the_disk_cannot_hold_is_refused(machine, tmp_path: Path) -> None:
    machine(8 * GIB, 3 * GIB)
    with pytest.raises(InputError) as refused:
        larger_than_memory(planned("sqlite", rows=10**7), tmp_path)
    assert "3.00 GiB free" in refused.value.message
    assert "--rows" in refused.value.hint
    # DuckDB may store them in a fifth, and so much fits.
    assert larger_than_memory(planned("duckdb", rows=10**7), tmp_path) == ""


def test_a_workload_and_a_program_say_nothing(machine, tmp_path: Path) -> None:
    machine(1, 1)
    assert larger_than_memory(plan_from({"benchmark": "oo1", "on": ("sqlite",)}, None)) == ""
    assert larger_than_memory(plan_from({"sql": "SELECT 1 AS n", "on": ("sqlite",)}, None)) == ""


def test_no_engine_stored_less_than_its_share() -> None:
    run = read(RECORD)
    whole = plan_from({"benchmark": "wisconsin", "on": ("sqlite", "duckdb")}, None)
    shares = {name: kind.capabilities.stored_share for name, (_, kind) in whole.variants.items()}
    seen = 0
    for variant, rows, size_bytes in run.sizes:
        share = shares.get(variant.partition("?")[0], 0.0)
        operations = tuple(dict.fromkeys(cell.operation for cell in run.plan.cells))
        room = room_of(planned("sqlite", rows=rows, operations=operations))
        assert room is not None
        assert size_bytes >= share * room.plain_bytes
        seen += share > 0
    assert seen
