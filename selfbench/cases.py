"""What people reported of engines and of benchmark tools, re-made small: each case is run, and its
outcome held against the right one. Prints a line for each step; exit code 1 where one is wrong.

    python selfbench/cases.py             all; releases of engines are installed, some 20 minutes
    python selfbench/cases.py 7 44        some
    python selfbench/cases.py --keep DIR  records and data stay in a folder

A case is its files and its steps: a command, the exit codes that are right, what it must print, and
what it must not.
"""

import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cases_files import FILES_44, FILES_45, clickbench, int96, northwind

Writer = Callable[[Path], object]
WORKLOADS = Path(__file__).parent / "cases"
BUSY = (8,)
"""The exit code where other programs had so much of the machine that no figure is usable."""
LIMIT_S = 900
"""Of a command."""
THREE = "--on sqlite --on duckdb --on postgresql"
QUICK = "--temperature warm --repeat 6 --repeat-most 6 --no-budget"


@dataclass(frozen=True)
class Step:
    """A command of Loadstone, as a shell takes it. `$DIR` is the case's folder, `$THREE` names
    three engines."""

    command: str
    codes: tuple[int, ...] = (0,)
    says: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    environment: Mapping[str, str] | None = None


@dataclass(frozen=True)
class Case:
    """`files`: name to text, or to what writes it."""

    title: str
    files: Mapping[str, str | Writer]
    steps: Sequence[Step]


def run(words: str, **rest: Any) -> Step:
    """A short run."""
    return Step(f"run {words} {QUICK}", **rest)


def run_on_file(name: str, codes: tuple[int, ...], says: tuple[str, ...]) -> Step:
    """A short run of a query for all rows of one file of the case."""
    table = Path(name).stem
    command = f"--sql 'SELECT * FROM {table}' --data $DIR/{name} --on sqlite --on duckdb"
    return run(command, codes=codes, says=says)


def workload(name: str) -> Writer:
    """A file `workload.toml` of those in the folder `cases`."""

    def write(path: Path) -> None:
        path.write_text((WORKLOADS / f"{name}.toml").read_text())

    return write


READ = "SELECT abalance FROM pgbench_accounts WHERE aid = :aid;\n"
UPDATE = "UPDATE pgbench_accounts SET abalance = abalance + 1 WHERE aid = :aid;\n"
HOT, COLD = "\\set aid random(1, 10)\n", "\\set aid random(11, 1000)\n"
NAMES = 'n\nAnna\nANNA\nannabel\nBob\n""\n'
READING = (
    "at,v\n2023-09-20T23:30:00+02:00,1\n2023-09-21T00:30:00+02:00,2\n"
    "2023-10-29T00:30:00Z,3\n2023-10-29T01:30:00Z,4\n"
)
WRONG = (r"Traceback", r"internal error")
"""Never printed."""

CASES: dict[int, Case] = {
    1: Case(
        "INT96 timestamps outside 1677 to 2262",
        {"contract.parquet": int96},
        (
            run(
                '--sql "SELECT id, valid_to FROM contract ORDER BY id" --data '
                "$DIR/contract.parquet $THREE",
                says=(r"as 3 engines agree",),
                never=("2169",),
            ),
        ),
    ),
    3: Case(
        "DuckDB 1.5.x removes a LEFT JOIN that could multiply rows",
        {"elim/workload.toml": workload("elim")},
        (
            Step(
                "bisect duckdb 1.4.4..1.5.5 --benchmark $DIR/elim",
                (11,),
                (r"\b6\b", r"\b10\b"),
            ),
            run(
                '$DIR/elim --on duckdb@1.5.5 --on "duckdb@1.5.5?optimizer.join_elimination=off"',
                codes=(11,),
                says=(r"\b6\b", r"\b10\b"),
            ),
            run("$DIR/elim $THREE"),
        ),
    ),
    7: Case(
        "LIMIT at a tie, and without ORDER BY",
        {"ties/workload.toml": workload("ties")},
        (run("$DIR/ties $THREE", says=(r"open answer",), never=(r"not the expected answer",)),),
    ),
    8: Case(
        "the same text means another thing",
        {
            "named/names.csv": NAMES,
            "own/names.csv": NAMES,
            "named/workload.toml": workload("likes-named"),
            "own/workload.toml": workload("likes"),
        },
        (
            run("$DIR/named $THREE", never=(r"not the expected answer",)),
            run("$DIR/own $THREE", codes=(0, 1), says=(r"own rules|by its own",)),
        ),
    ),
    9: Case(
        "DuckDB 1.4.0 materialises each CTE",
        {"widecte/workload.toml": workload("widecte")},
        (
            Step(
                "ab $DIR/widecte --before duckdb@1.3.2 --after duckdb@1.4.0 --repeat-seconds 2",
                (1,),
                (r"slower", r"(?i)cte"),
            ),
        ),
    ),
    13: Case(
        "DuckDB: SEMI JOIN by nested loops",
        {"semi/workload.toml": workload("semi")},
        (
            run(
                "$DIR/semi --on duckdb@1.4.0 $THREE",
                never=(r"name no difference",),
            ),
        ),
    ),
    14: Case(
        "one condition in ON turns a hash join into nested loops",
        {"onclause/workload.toml": workload("onclause")},
        (
            run(
                "$DIR/onclause --on duckdb@1.1.0 $THREE --time-limit 30",
                never=(r"name no difference",),
            ),
        ),
    ),
    15: Case(
        "SQLite 3.41.0: a literal in one arm of UNION ALL",
        {"affinity/workload.toml": workload("affinity")},
        (
            Step(
                "bisect sqlite 3.40.0..3.42.0 --benchmark $DIR/affinity --repeat-seconds 2",
                (1,),
                (r"3\.41\.0", r"(?i)scan"),
            ),
        ),
    ),
    18: Case(
        "a tree by recursion",
        {"tree/workload.toml": workload("tree")},
        (run("$DIR/tree $THREE", says=(r"as 3 engines agree",)),),
    ),
    19: Case(
        "with statistics it is worse, and without",
        {"front/workload.toml": workload("front")},
        (
            run(
                '$DIR/front --on sqlite --on "sqlite?statistics=off" --on '
                '"sqlite?set.analysis_limit=100" --on postgresql --on '
                '"postgresql?statistics=off"',
            ),
        ),
    ),
    30: Case(
        "failures that make an engine look fast",
        {"fails/workload.toml": workload("fails")},
        (
            run(
                "$DIR/fails $THREE --users 2 --loop-seconds 1",
                codes=(1,),
                says=(r"fail",),
            ),
        ),
    ),
    40: Case(
        "pgbench scripts with values from the command line",
        {
            "none/workload.toml": workload("script"),
            "none/x.sql": "\\set aid random_zipfian(1, 1000, :parameter)\n" + READ,
            "low/workload.toml": workload("script"),
            "low/x.sql": "\\set parameter 0.99\n\\set aid random_zipfian(1, 1000, :parameter)\n"
            + READ,
            "right/workload.toml": workload("script"),
            "right/x.sql": "\\set parameter 2\n\\set aid random_zipfian(1, 1000, :parameter)\n"
            + READ,
            "three/workload.toml": workload("script"),
            "three/x.sql": "\\set aid random(2, 10, 3)\n" + READ,
        },
        (
            run("$DIR/none --on sqlite", codes=(2,), says=(r":?parameter",)),
            run("$DIR/low --on sqlite", codes=(2,), says=(r"1\.001",)),
            run("$DIR/right --on sqlite"),
            run("$DIR/three --on sqlite", codes=(2,), says=(r"random",)),
        ),
    ),
    41: Case(
        "a rollback, and weights by hand",
        {
            "hotcold/workload.toml": workload("hotcold"),
            "hotcold/hot-read.sql": HOT + READ,
            "hotcold/hot-update.sql": HOT + UPDATE,
            "hotcold/cold-read.sql": COLD + READ,
            "hotcold/cold-update.sql": COLD + UPDATE,
            "hotcold/undone.sql": HOT + "BEGIN;\n" + UPDATE + "ROLLBACK;\n",
            "if/workload.toml": workload("script"),
            "if/x.sql": HOT + "\\if :aid > 3\n" + READ + "\\endif\n",
        },
        (
            run(
                "$DIR/hotcold --on postgresql --on sqlite --users 2 --loop-seconds 1",
            ),
            run("$DIR/if --on sqlite", codes=(2,), says=(r"\\if", r"mix")),
        ),
    ),
    42: Case(
        "small things in scripts that pgbench takes",
        {
            f"s{number}/{name}": text
            for number, script in enumerate(
                (
                    "\\set aid 1 + permute(random(1, 10) - 1, 1000)\n" + READ,
                    "\\set b (3 > 2) :: int\n\\set aid :b\n" + READ,
                    "\\set aid random(1, 10)\n" + READ.replace(";", ""),
                    "\ufeff\\set aid random(1, 10)\r\n" + READ,
                    "\\set aid 1\nSELECT 'a\n-- no comment\nb' AS t, abalance"
                    " FROM pgbench_accounts WHERE aid = :aid;\n",
                )
            )
            for name, text in (("workload.toml", workload("script")), ("x.sql", script))
        },
        (
            *(run(f"$DIR/s{number} --on postgresql") for number in (0, 2, 3, 4)),
            # pgbench's expressions have no casts.
            run("$DIR/s1 --on postgresql", codes=(2,), says=(r"x\.sql, line 1",)),
        ),
    ),
    44: Case(
        "CSV files as they come",
        {name: text for name, text, _, _ in FILES_44},
        tuple(run_on_file(name, codes, says) for name, _, codes, says in FILES_44),
    ),
    45: Case(
        "Parquet files as they come",
        {name: write for name, write, _, _ in FILES_45},
        tuple(run_on_file(name, codes, says) for name, _, codes, says in FILES_45),
    ),
    46: Case(
        "ClickBench's queries on a file of its shape",
        {"hits.parquet": clickbench},
        (
            run(
                "--sql \"SELECT count(*) AS n FROM hits WHERE URL LIKE '%google%'\" --data "
                "$DIR/hits.parquet $THREE",
                codes=(2,),
                says=(r"URL", r"types"),
            ),
            run(
                '--sql "SELECT count(*) AS n, sum(ResolutionWidth + 1) AS w FROM hits WHERE URL'
                " LIKE '%google%' AND SearchPhrase <> ''\" --dialect postgresql --types URL=text"
                " --types Referer=text --types SearchPhrase=text --data $DIR/hits.parquet "
                "$THREE",
                says=(r"as 3 engines agree",),
            ),
        ),
    ),
    47: Case(
        "Join Order Benchmark: aliases that are words, texts in another order",
        {"job/workload.toml": workload("job")},
        (run("$DIR/job $THREE", says=(r"as 3 engines agree|as postgresql",)),),
    ),
    48: Case(
        "a SQLite file with names that need quotes",
        {"north wind#1.db": northwind},
        (
            run(
                '--sql "SELECT sum([UnitPrice] * [Quantity] * (1 - [Discount])) AS r FROM '
                '[Order Details]" --on sqlite://$DIR/north%20wind%231.db',
            ),
            run(
                '--sql "SELECT 1 AS x" --on "sqlite://$DIR/north wind#1.db"',
                codes=(2,),
                says=(r"%23|%20",),
            ),
        ),
    ),
    49: Case(
        "time zones",
        {"zone/workload.toml": workload("zone"), "zone/reading.csv": READING},
        tuple(
            run("$DIR/zone $THREE", never=(r"not the expected answer",), environment={"TZ": zone})
            for zone in ("Pacific/Auckland", "America/St_Johns", "UTC")
        ),
    ),
}


def write(folder: Path, files: Mapping[str, str | Writer]) -> None:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, str):
            path.write_bytes(content.encode())
        else:
            content(path)


def faults_of(step: Step, folder: Path) -> list[str]:
    """What is wrong with the outcome of a step."""
    words = shlex.split(step.command.replace("$THREE", THREE))
    words = [word.replace("$DIR", str(folder)) for word in words]
    environment = os.environ | {"COLUMNS": "200"} | dict(step.environment or {})
    try:
        done = subprocess.run(
            [sys.executable, "-m", "loadstone", *words], cwd=folder, env=environment,
            capture_output=True, text=True, timeout=LIMIT_S, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return [f"not ended after {LIMIT_S} s"]
    text = done.stdout + done.stderr
    (folder / "last-output.txt").write_text(text)
    faults = []
    if done.returncode not in (*step.codes, *(BUSY if 0 in step.codes else ())):
        faults.append(f"exit code {done.returncode}, not {' or '.join(map(str, step.codes))}")
    faults += [f"does not say {wanted}" for wanted in step.says if not re.search(wanted, text)]
    faults += [f"says {bad}" for bad in (*step.never, *WRONG) if re.search(bad, text)]
    if faults:
        faults.append(" | ".join(text.strip().splitlines()[-3:])[:400])
    return faults


def main(arguments: list[str]) -> int:
    keep = None
    if "--keep" in arguments:
        at = arguments.index("--keep")
        keep = Path(arguments[at + 1]).absolute()
        del arguments[at : at + 2]
    wrong = 0
    with tempfile.TemporaryDirectory() as temporary:
        for number in map(int, arguments or CASES):
            case = CASES[number]
            folder = (keep or Path(temporary)) / f"case-{number}"
            folder.mkdir(parents=True, exist_ok=True)
            write(folder, case.files)
            for step in case.steps:
                faults = faults_of(step, folder)
                wrong += bool(faults)
                command = step.command.replace("$DIR/", "")[:60]
                print(f"{number:3} {'wrong' if faults else 'right'}  {case.title}: {command}",
                      flush=True)  # fmt: skip
                for fault in faults:
                    print(f"           {fault}")
    print(f"{wrong} steps wrong" if wrong else "all right")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
