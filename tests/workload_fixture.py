"""The shop of docs/reference/workload.md: its file as the document shows it, and data for it."""

import re
from pathlib import Path

from desk import Desk
from pyarrow import csv, parquet

DOCUMENT = Path(__file__).parents[1] / "docs/reference/workload.md"
CUSTOMER = """\
id,name,city,since,active,credit
1,Ann,Oslo,2020-01-05,true,100.50
2,"Bo, B",Rome,2021-03-07,false,
3,,Oslo,,true,2.25
"""
QUICK = ("--on", "sqlite", "--on", "duckdb", "--temperature", "warm", "--repeat", "2", "--rounds",
         "1", "--no-limits", "--no-overhead")  # fmt: skip
ORDERS = "id,customer,placed,total\n" + "".join(
    f"{n},{n % 3 + 1},2024-{n % 12 + 1:02}-{n % 28 + 1:02} 10:15:00,{n * 7 % 100 + 0.1}\n"
    for n in range(200)
)


def made(place: Path) -> Path:
    """The folder `shop` in a place; and beside it the file of the document's first command."""
    folder = place / "shop"
    folder.mkdir()
    (folder / "customer.csv").write_text(CUSTOMER, encoding="utf-8")
    (folder / "orders.csv").write_text(ORDERS, encoding="utf-8")
    (text, *_) = re.findall(r"```toml\n(.*?)```", DOCUMENT.read_text("utf-8"), re.DOTALL)
    (folder / "workload.toml").write_text(text, encoding="utf-8")
    parquet.write_table(csv.read_csv(folder / "customer.csv"), place / "customer.parquet")
    return folder


def slowdown_of_duckdb(place: Path) -> Path:
    """The folder `messages` of docs/how-to/bisect.md, whose join got slower in DuckDB 1.2.0."""
    folder = place / "messages"
    folder.mkdir()
    text = (DOCUMENT.parents[1] / "how-to/bisect.md").read_text("utf-8")
    (only,) = re.findall(r"```toml\n(.*?)```", text, re.DOTALL)
    (folder / "workload.toml").write_text(only, encoding="utf-8")
    return folder


def shop(desk: Desk) -> Path:
    """The folder of the document's example."""
    return made(desk.folder)


def with_statement(desk: Desk, text: str) -> None:
    """A workload of the customers and one statement."""
    folder = shop(desk)
    tables = '[data.customer]\nfile = "customer.csv"\n'
    (folder / "workload.toml").write_text(tables + text, encoding="utf-8")


def statuses(desk: Desk) -> dict[tuple[str, str], str]:
    return {(r.cell.operation, r.cell.variant): r.status for r in desk.read().results}
