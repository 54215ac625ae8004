r"""Loading against each engine's own best way from a ready file.

Ours generates the rows while it loads them; the peer finds them ready in a file that the page
cache holds: psql's `\copy` from CSV, DuckDB's `INSERT ... SELECT` from our Parquet, the sqlite3
shell's `.import` from CSV in one transaction (APSW's shell where that one is not installed).
Same engine, settings, table and durability on both sides, no index; the sides alternate.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import pyarrow as pa

from loadstone import _core, registry
from loadstone._core import clock_ns
from loadstone.engines.base import Engine
from loadstone.engines.capabilities import Attribute, Table
from loadstone.plan.variant import Variant

GOAL = 1.2
RELATION = ("wisconsin", "1993", "tenktup1")
TYPES = {"sqlite": {"char": "TEXT", "int": "INTEGER"}, "duckdb": {"char": "VARCHAR"}}

Action = Callable[[], object]


def attributes() -> tuple[Attribute, ...]:
    """The relation's."""
    return tuple(Attribute(*pair) for pair in _core.attributes(*RELATION))


def columns(engine: Engine) -> str:
    """Column definitions as the engine's own `load` writes them."""
    types = {"int4": "INTEGER"} | {"char(52)": TYPES.get(engine.name, {}).get("char", "char(52)")}
    collation = ' COLLATE "C"' if engine.name == "postgresql" else ""
    return ", ".join(
        f'"{a.name}" {types[a.type]}{collation if a.type != "int4" else ""}' for a in attributes()
    )


def ours(engine: Engine, rows: int) -> Action:
    """Generate and load."""

    def load() -> None:
        reader = pa.RecordBatchReader.from_stream(_core.RelationStream(*RELATION, rows))
        if engine.load(Table("ours", attributes()), reader) != rows:
            raise SystemExit(f"{engine.name} did not load {rows} rows")

    return load


def postgresql_peer(engine: Engine, csv: Path, parquet: Path) -> Action:
    r"""The \copy of psql, table creation in the same transaction."""
    del parquet
    from loadstone.engines.postgresql.binaries import binaries, server_account

    psql = str(binaries(server_account()) / "psql")
    ((host, schema),) = engine.fetch(
        "SELECT current_setting('unix_socket_directories'), current_schema()"
    )
    command = [psql, "-X", "-q", "-h", host, "-U", "loadstone", "-v", "ON_ERROR_STOP=1", "-1"]
    command += ["-c", "DROP TABLE IF EXISTS peer", "-c", f"CREATE TABLE peer ({columns(engine)})"]
    command += ["-c", f"\\copy peer from '{csv}' csv", "postgres"]
    options = f"-c search_path={schema} -c client_min_messages=warning"
    environment = {**os.environ, "PGOPTIONS": options}
    return lambda: subprocess.run(command, check=True, env=environment)


def duckdb_peer(engine: Engine, csv: Path, parquet: Path) -> Action:
    """DuckDB reading our Parquet."""
    del csv

    def load() -> None:
        engine.drop("peer")
        engine.run(f"CREATE TABLE peer ({columns(engine)})")
        engine.run(f"INSERT INTO peer SELECT * FROM read_parquet('{parquet}')")

    return load


def sqlite_peer(engine: Engine, csv: Path, parquet: Path) -> Action:
    """The shell's .import into a database file of its own."""
    del parquet
    database = engine.scratch / "peer.db"
    shell = shutil.which("sqlite3")
    command = [shell] if shell else [sys.executable, "-m", "apsw"]
    script = "\n".join(
        [
            "PRAGMA journal_mode = wal;",
            "PRAGMA synchronous = full;",
            "PRAGMA cache_size = -262144;",
            "BEGIN;",
            "DROP TABLE IF EXISTS peer;",
            f"CREATE TABLE peer ({columns(engine)});",
            ".mode csv",
            f".import {csv} peer",
            "COMMIT;",
        ]
    )

    def load() -> None:
        subprocess.run(
            [*command, str(database)],
            input=script,
            text=True,
            check=True,
            stdout=subprocess.DEVNULL,
        )

    return load


PEERS = {"sqlite": sqlite_peer, "duckdb": duckdb_peer, "postgresql": postgresql_peer}


def compare(name: str, folder: Path, rows: int, rounds: int, files: tuple[Path, Path]) -> float:
    """Print one engine's line; returns ours over the peer's time."""
    scratch = folder / name
    scratch.mkdir()
    engine = registry.load_engine(name)(Variant(name), scratch, "bench")
    engine.start()
    try:
        sides: dict[str, Action] = {
            "ours": ours(engine, rows),
            "peer": PEERS[name](engine, *files),
        }
        elapsed_s: dict[str, list[float]] = {side: [] for side in sides}
        for round_number in range(rounds + 1):
            for side, load in sides.items():
                started_ns = clock_ns()
                load()
                # The first round creates files and fills the page cache: not counted.
                if round_number > 0:
                    elapsed_s[side].append((clock_ns() - started_ns) / 1e9)
    finally:
        for path in scratch.glob("peer.db*"):
            path.unlink()
        engine.remove()
    mine, theirs = (statistics.median(elapsed_s[side]) for side in ("ours", "peer"))
    verdict = "reached" if mine / theirs <= GOAL else "MISSED"
    print(f"{name:12} {mine:9.3f} {theirs:9.3f} {mine / theirs:7.2f}  goal {GOAL:g} {verdict}")
    return mine / theirs


def main(argv: Sequence[str] | None = None) -> int:
    """Run the comparison; 0 where every engine reaches the goal."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=300_000, help="rows of tenktup1")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--on", action="append", choices=sorted(PEERS))
    options = parser.parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="loadstone-", dir="/var/tmp") as name:
        folder = Path(name)
        # A server that drops to another account has to pass through.
        folder.chmod(0o755)
        files = (folder / "rows.csv", folder / "rows.parquet")
        for path in files:
            _core.export(*RELATION, options.rows, str(path), path.suffix[1:])
            path.chmod(0o644)
        strip_header(files[0])
        print(f"loading {options.rows:,} rows, median of {options.rounds} alternating rounds, s")
        print(f"{'':12} {'ours':>9} {'peer':>9} {'ratio':>7}")
        ratios = [
            compare(engine, folder, options.rows, options.rounds, files)
            for engine in options.on or PEERS
        ]
    return 0 if max(ratios) <= GOAL else 1


def strip_header(path: Path) -> None:
    """Take the line of names off a CSV file, if it has one: the shells' imports want rows only."""
    names = ",".join(a.name for a in attributes())
    with path.open(encoding="ascii") as source:
        if source.readline().replace('"', "").strip() != names:
            return
        bare = path.with_suffix(".bare")
        with bare.open("w", encoding="ascii") as target:
            shutil.copyfileobj(source, target)
    bare.replace(path)


if __name__ == "__main__":
    raise SystemExit(main())
