r"""The pages of `docs/results/`, made from the records beside them.

    python selfbench/results.py                     write every page again
    python selfbench/results.py --measure           measure first, all of it: some five minutes
    python selfbench/results.py --measure ingres    measure this one, then write every page

A page has the machine, the day, the command, and what the Markdown report prints of the paper or of
the study. `docs/explanation/papers.md` says what the papers asked. A record is replaced only if its
run has a usable figure: measure on an idle machine.
"""

import argparse
import gzip
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

import shape_1983

from loadstone.analysis.chapters import title_of
from loadstone.analysis.summary import summarise
from loadstone.analysis.verdict import circumstances, headline, verdict
from loadstone.record import read_chapters
from loadstone.record.model import Run
from loadstone.report import reproduce
from loadstone.report.legible import legible_run
from loadstone.report.markdown import ladder_lines, paper_lines
from loadstone.report.markdown_text import plain
from loadstone.report.paper_markdown import changes, pays_off, study_map_lines
from loadstone.studies.view import study_map

RESULTS = Path(__file__).parents[1] / "docs" / "results"
RECORDS = RESULTS / "records"
RECORD_BYTES_MAX = 512 * 1024
"""The limit of `tests/tidy/test_limits.py` for a tracked file."""


COMMANDS = {
    "wisconsin-1983": "run wisconsin --edition 1983 --quick --temperature warm"
    " --on 'lode?profile=u-ingres' --on 'lode?profile=c-ingres' --on 'lode?profile=idm-nodac'"
    " --on 'lode?profile=idm-dac' --on lode",
    "ingres": "run ingres --quick --on sqlite --on 'lode?profile=u-ingres'"
    " --on 'lode?profile=dc-ingres' --on 'lode?profile=fs-ingres'",
    "ingres-study": "study ingres --seconds 50",
    "idm": "run idm --quick",
    "oo1": "run oo1 --quick",
    "oo7": "run oo7 --quick",
    "rvm": "run rvm",
}
"""A page's name, and the command that measures it."""


def measured_by(name: str) -> list[str]:
    """The arguments of `loadstone` that make the record, as it keeps them."""
    made = ["--no-report", "--record", f"{name}.loadstone"]
    return [*shlex.split(COMMANDS[name]), *made]


def measure(name: str) -> None:
    """Run the command, and replace the record."""
    with tempfile.TemporaryDirectory() as folder:
        program = [sys.executable, "-m", "loadstone", *measured_by(name)]
        code = subprocess.run(program, cwd=folder, check=False).returncode
        if code:
            raise SystemExit(f"{name}: the run ended with {code}; its old record was kept")
        packed = gzip.compress((Path(folder) / f"{name}.loadstone").read_bytes(), mtime=0)
    if len(packed) > RECORD_BYTES_MAX:
        raise SystemExit(f"{name}: the record has {len(packed):,} bytes; measure less")
    RECORDS.mkdir(parents=True, exist_ok=True)
    (RECORDS / f"{name}.loadstone.gz").write_bytes(packed)


def run_of(name: str) -> Run:
    """The run in the packed record of this name."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{name}.loadstone"
        path.write_bytes(gzip.decompress((RECORDS / f"{name}.loadstone.gz").read_bytes()))
        (run,) = read_chapters(path)
    return run


def page(name: str) -> str:
    """The page of a record, in Markdown."""
    run = legible_run(run_of(name))
    whole, study = summarise(run), study_map(run)
    lines = [f"# {title_of(run)}{', a study' if study else ''}", ""]
    lines += ["Written by `python selfbench/results.py`; the questions and the decisions are in"]
    lines += [
        "[papers.md](../explanation/papers.md).",
        "",
        "```sh",
        reproduce.typed(run),
        "```",
        "",
    ]
    lines += [f"{plain(headline(whole))}  ", f"{plain(circumstances(run))}  "]
    lines += [plain(verdict(whole).sentence())]
    if study:
        lines += study_map_lines(study, whole)
        lines += pays_off(study, whole)
        lines += changes(study, whole)
    else:
        lines += [*paper_lines(whole), *ladder_lines(whole)]
    if name == "wisconsin-1983":
        lines += ["", "## Each time over its own system's scan", "", *shape_1983.tables(whole)]
    return "\n".join(lines).rstrip() + "\n"


def main() -> None:
    """Measure what was wanted; write every page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--measure", nargs="*", choices=[*COMMANDS], metavar="NAME")
    wanted = parser.parse_args().measure
    for name in [] if wanted is None else wanted or COMMANDS:
        measure(name)
    for name in COMMANDS:
        (RESULTS / f"{name}.md").write_text(page(name), encoding="utf-8")


if __name__ == "__main__":
    main()
