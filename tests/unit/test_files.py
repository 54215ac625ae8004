"""A report never replaces a file of the user's own."""

import os
from pathlib import Path

import pytest
from report_fixture import FEW, make_run, write_record

from loadstone import measuring, registry
from loadstone.commands.report import report
from loadstone.errors import InputError
from loadstone.run.planned import plan_from
from loadstone.text.files import read_text, read_toml

FORMATS = ("html", "md", "csv", "json", "parquet")


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("runs") / "a.loadstone"
    write_record(make_run(FEW[:1], repeat=2, scales=(10_000,)), path)
    return path


@pytest.mark.parametrize("form", FORMATS)
def test_a_report_replaces_a_report_of_its_format_and_nothing_else(
    form: str, record: Path, tmp_path: Path
) -> None:
    target = tmp_path / "notes"
    notes = b"<!DOCTYPE html><p>run_id,benchmark: my notes on loadstone run, plan B</p>"
    for content in (notes, b"PAR1 notes PAR1", record.read_bytes()):
        target.write_bytes(content)
        with pytest.raises(InputError, match="not a Loadstone report of that format"):
            report(record, form, target)
        assert target.read_bytes() == content
    target.write_bytes(b"")
    report(record, form, target)
    made = target.read_bytes()
    assert registry.load_report(form).mark.search(made)
    report(record, form, target)  # one of ours
    assert target.read_bytes() == made
    other = FORMATS[FORMATS.index(form) - 1]
    with pytest.raises(InputError, match="not a Loadstone report of that format"):
        report(record, other, target)
    assert target.read_bytes() == made


def test_a_place_that_is_no_file_is_not_replaced_and_a_link_stays_a_link(
    record: Path, tmp_path: Path
) -> None:
    fifo, folder, loop = tmp_path / "fifo", tmp_path / "folder", tmp_path / "loop"
    os.mkfifo(fifo)
    folder.mkdir()
    loop.symlink_to(loop)
    for target in (fifo, folder, loop, Path("/dev/null")):
        with pytest.raises(InputError, match=r"is not a file|a dangling link"):
            report(record, "csv", target)
    link, same = tmp_path / "link", tmp_path / "same"
    link.symlink_to(tmp_path / "real")
    with pytest.raises(InputError, match="a dangling link"):
        report(record, "csv", link)
    (tmp_path / "real").touch()
    report(record, "csv", link)
    assert link.is_symlink()
    assert (tmp_path / "real").read_bytes().startswith(b"run_id")
    same.hardlink_to(record)
    before = record.read_bytes()
    with pytest.raises(InputError, match="is the record itself"):
        report(record, "csv", same)
    assert record.read_bytes() == before


@pytest.mark.parametrize("name", ["r.html", "notes.loadstone"])
def test_a_run_is_refused_before_it_begins_where_its_page_would_replace_something(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    notes = tmp_path / "notes.html"
    notes.write_text("years of work")
    planned = plan_from({"rows": [1000], "on": ["sqlite"], "operations": ["min-heap"],
                                 "temperature": ["warm"], "overhead": False}, None)  # fmt: skip
    with pytest.raises(InputError, match=r"the same name|not a Loadstone report of that format"):
        measuring.start(planned, Path(name), page=True)
    assert [path.name for path in tmp_path.iterdir()] == ["notes.html"]
    assert notes.read_text() == "years of work"


def test_a_byte_order_mark_is_no_part_of_a_text(tmp_path: Path) -> None:
    """Editors of Windows write one: in a statement, a workload, a script, a list of values."""
    marked = tmp_path / "workload.toml"
    marked.write_text('\ufeffseed = 7\n[data.t]\nsql = "SELECT 1 AS a"\n', encoding="utf-8")
    assert read_text(marked, 1 << 10, "the workload").startswith("seed")
    assert read_toml(marked, 1 << 10, "the workload")["seed"] == 7
    latin = tmp_path / "latin.sql"
    latin.write_bytes("\ufeffSELECT 'Zü'".encode()[:-3] + b"\xfc'")
    with pytest.raises(InputError, match="byte 13 is 0xfc"):
        read_text(latin, 1 << 10, "the statement")


@pytest.mark.parametrize("number", ["inf", "-inf", "nan", "1e999"])
def test_a_number_of_a_toml_file_is_finite(tmp_path, number):
    (tmp_path / "w.toml").write_text(f"x = {number}\n")
    with pytest.raises(InputError, match="not a finite number"):
        read_toml(tmp_path / "w.toml", 1 << 10, "the workload")
