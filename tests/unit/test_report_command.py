"""`loadstone report`: where each format goes, and what it refuses."""

import json
from pathlib import Path

import pytest
from report_fixture import FEW, make_run, write_record

from loadstone.commands.report import report
from loadstone.errors import InputError, RecordError


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("runs") / "a.loadstone"
    write_record(make_run(FEW, repeat=2, scales=(10_000,)), path)
    return path


def test_text_goes_to_stdout(record: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert report(record, "json") == 0
    shown = capfdbinary.readouterr().out
    assert json.loads(shown)["schema"] == "loadstone-report-2"
    assert [path.name for path in record.parent.iterdir() if path.suffix == ".json"] == []


@pytest.mark.parametrize(("name", "start"), [("html", b"<!DOCTYPE html>"), ("parquet", b"PAR1")])
def test_files_lie_beside_the_record(
    name: str, start: bytes, record: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert report(record, name) == 0
    target = record.with_suffix(f".{name}")
    assert capfd.readouterr().out == f"{target}\n"
    assert target.read_bytes().startswith(start)


def test_out_names_a_file_or_stdout(
    record: Path, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    target = tmp_path / "deep" / "b.csv"
    assert report(record, "csv", target) == 0
    assert target.read_bytes().startswith(b"run_id,benchmark,")
    capfdbinary.readouterr()
    assert report(record, "html", Path("-")) == 0
    assert capfdbinary.readouterr().out.startswith(b"<!DOCTYPE html>")


def test_a_record_is_never_overwritten(record: Path) -> None:
    before = record.read_bytes()
    with pytest.raises(InputError, match="is the record itself"):
        report(record, "csv", record)
    assert record.read_bytes() == before


def test_an_unknown_format_lists_the_known(record: Path) -> None:
    with pytest.raises(InputError, match="no report 'pdf'") as caught:
        report(record, "pdf")
    for name in ("html", "md", "csv", "json", "parquet"):
        assert name in caught.value.hint


def test_no_record(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="there is no record"):
        report(tmp_path / "absent", "csv")
