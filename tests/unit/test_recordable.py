"""Refusal, before anything is measured, of a plan that no record keeps: one that is accepted is
written and read back."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from loadstone.errors import InputError
from loadstone.planning import recordable
from loadstone.record import Recorder, read
from loadstone.run.planned import Planned, plan_from

ON = {"on": ("sqlite",), "temperature": ("warm",)}
WORKLOAD = """
title = "{title}"
[data.t]
file = "{file}"
[[statement]]
name = "one"
title = "{statement}"
sql = "SELECT count(*) AS n FROM t {more}"
{end}
"""


def csv(place: Path, columns: list[str], name: str = "t.csv") -> None:
    place.joinpath(name).write_text(f"{','.join(columns)}\n{','.join('1' for _ in columns)}\n")


def folder(place: Path, file: str = "t.csv", **given: str) -> dict[str, Any]:
    place.mkdir(exist_ok=True)
    csv(place, ["a"], file)
    texts = {"title": "x", "statement": "y", "more": "", "end": ""} | given
    place.joinpath("workload.toml").write_text(WORKLOAD.format(file=file, **texts))
    return {"benchmark": str(place), **ON}


def column(place: Path, size: int) -> dict[str, Any]:
    csv(place, ["a" * size])
    return {"sql": "SELECT count(*) AS n FROM t", "data": (str(place / "t.csv"),), **ON}


def columns(place: Path, size: int) -> dict[str, Any]:
    csv(place, [f"c{n}" for n in range(size)])
    return {"sql": "SELECT count(*) AS n FROM t", "data": (str(place / "t.csv"),), **ON}


def file_of_text(place: Path, size: int) -> dict[str, Any]:
    path = place / ("q" * min(size, 251) + ".sql")
    path.write_text("SELECT 1 AS a")
    return {"sql": str(path), **ON}


def text(place: Path, size: int) -> dict[str, Any]:
    path = place / "q.sql"
    path.write_text(f"SELECT 1 AS a -- {'x' * size}")
    return {"sql": str(path), **ON}


def place_of_data(place: Path, size: int) -> dict[str, Any]:
    while size > 200:
        place, size = place / ("p" * 200), size - 201
    place = place / ("p" * max(size, 1))
    place.mkdir(parents=True)
    return column(place, 3)


def drawn(kind: str) -> Callable[[Path, int], dict[str, Any]]:
    def given(place: Path, size: int) -> dict[str, Any]:
        value = {"list": f"['{'v' * size}']", "pattern": f"'{'#' * size}'"}[kind]
        end = f"[statement.parameters]\nv = {{ {kind} = {value} }}"
        return folder(place / "w", more="WHERE 'a' <> :v", end=end)

    return given


CASES: dict[str, Callable[[Path, int], dict[str, Any]]] = {
    "a column's name": column,
    "columns": columns,
    "the title of a file": file_of_text,
    "a text": text,
    "the place of data": place_of_data,
    "a title": lambda place, size: folder(place / "w", title="x" * size),
    "a statement's title": lambda place, size: folder(place / "w", statement="x" * size),
    "a folder's name": lambda place, size: folder(place / ("f" * min(size, 255)), title=""),
    "a file's name": lambda place, size: folder(place / "w", file="f" * min(size, 251) + ".csv"),
    "a value": drawn("list"),
    "a pattern": drawn("pattern"),
}
SIZES = (1, 119, 120, 121, 199, 201, 255, 2_001, 4_100, 600_000)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("size", SIZES)
def test_a_plan_that_is_accepted_is_written_and_read_back(
    case: str, size: int, tmp_path: Path
) -> None:
    if size > 4_000 and case in ("columns", "a column's name", "the place of data"):
        size = 4_000 if case == "the place of data" else 2_500
    try:
        planned = plan_from(CASES[case](tmp_path, size), None)
    except (InputError, OSError):
        assert size > 100
        return
    found = read(written(planned, tmp_path / "x.loadstone"))
    assert found.plan == planned.plan
    assert found.plan.hash == planned.plan.hash


def written(planned: Planned, path: Path) -> Path:
    """A record of a plan, of which nothing is measured yet."""
    benchmark = planned.benchmark
    Recorder.create(
        path, planned.plan, {"citation": "no paper"}, benchmark.presentation(), "abc", "0"
    )
    return path


def test_a_column_whose_name_is_too_long_is_named_with_its_file(tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=r"t\.csv, line 1: .* column 1 is longer than 120"
    ) as caught:
        plan_from(column(tmp_path, 138), None)
    assert caught.value.hint


def test_a_plan_longer_than_a_record_s_is_refused(tmp_path: Path, monkeypatch) -> None:
    planned = plan_from(column(tmp_path, 3), None)
    presentation = planned.benchmark.presentation()
    kept = "x" * ((1 << 25) + 1)
    monkeypatch.setattr(type(planned.plan), "to_json", lambda self: kept)
    monkeypatch.setattr(type(planned.plan), "from_json", lambda text: planned.plan)
    with pytest.raises(InputError, match="its plan is too long"):
        recordable.check_recordable(planned.plan, presentation)
