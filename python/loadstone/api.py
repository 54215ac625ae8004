"""Loadstone for programs in Python: measure, read a record, compare. `docs/how-to/python.md` has
examples.

The names here are those of `import loadstone`, which imports this module when one of them is first
used. What a program gets is values; the record is the file that `loadstone` on the command line
reads, too. Errors are `LoadstoneError`s, each with a `hint`.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loadstone.errors import InputError, LoadstoneError, NotInstalledError, RecordError

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from loadstone.analysis.compare.chapters import Compared
    from loadstone.record.model import Run
    from loadstone.report.base import Report
    from loadstone.run.planned import Planned

__all__ = [
    "Comparison", "Difference", "LoadstoneError", "Record", "compare", "measure", "read", "study",
]  # fmt: skip

TEXTS_CHOSEN = ("on", "vary", "operations", "temperature")
NUMBERS_CHOSEN = ("rows",)
"""Choices for which an empty list is an error, not the default."""


@dataclass(frozen=True, slots=True)
class Record:
    """A record: the file of a run, and what it holds."""

    path: Path
    runs: "tuple[Run, ...]"
    """One for each benchmark; see `loadstone/record/model.py`."""

    def __repr__(self) -> str:
        """In a line, as a prompt shows it: the file has thousands of samples."""
        from loadstone.text.numbers import plural

        cells = sum(len(run.results) for run in self.runs)
        names = ", ".join(run.plan.benchmark or "one query" for run in self.runs)
        return f"<Record {self.path}: {names}, {plural(cells, 'cell')}>"

    def cells(self) -> list[dict[str, Any]]:
        """Every cell with its figures, in the columns of the CSV report
        (`docs/reference/report.md`)."""
        from loadstone.analysis.summary import summarise
        from loadstone.report import columns

        cells = (cell for run in self.runs for cell in columns.cells(summarise(run)))
        return [dict(columns.flat(cell)) for cell in cells]

    def arrow(self) -> "pa.Table":
        """Every sample with its cell, in the columns of the Parquet report; a cell without samples
        keeps one row."""
        import pyarrow.parquet as pq
        from pyarrow import BufferReader

        return pq.read_table(BufferReader(self.report("parquet")))

    def pandas(self) -> "pd.DataFrame":
        """As `arrow`. Raises `NotInstalledError` without pandas."""
        try:
            import pandas  # noqa: F401, ICN001 - that it can be imported is what is asked
        except ModuleNotFoundError as error:
            raise NotInstalledError(
                "pandas is not installed", hint="install it, or use arrow(), or cells()"
            ) from error
        return self.arrow().to_pandas()

    def report(self, form: str) -> bytes:
        """A report: html, md, csv, json or parquet."""
        from loadstone import registry

        if not isinstance(form, str):
            raise InputError(
                f"form is {form!r}", hint="give its name: html, md, csv, json, parquet"
            )
        report: Report = registry.load_report(form)()
        return report.of(self.runs)

    def findings(self) -> list[str]:
        """The record's findings, a sentence each, with its grade."""
        from loadstone.analysis.findings.learned import learned
        from loadstone.analysis.summary import summarise

        found = (each for run in self.runs for each in learned(summarise(run)).findings)
        return [f"{each.grade.value}: {each.sentence}" for each in found]


@dataclass(frozen=True, slots=True)
class Difference:
    """Two comparable cells. `ratio` is after over before, with its 95 % interval, whose
    ends are None with fewer than six pairs; `verdict` is slower, faster, same or undecided. Where
    `high` alone is None, the statement was ended at the time limit after: `after_ns`, `ratio` and
    `low` are lower bounds. Where `low` alone is, it was ended before: `before_ns` is a lower bound,
    `ratio` and `high` are upper ones."""

    operation: str
    rows: int
    temperature: str
    before_ns: float
    after_ns: float
    ratio: float
    low: float | None
    high: float | None
    verdict: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two records, or two variants of one, compared on equal terms."""

    found: "Compared"

    def __repr__(self) -> str:
        """In a line, as a prompt shows it."""
        pairs = len(self.differences)
        return f"<Comparison: {self.outcome}, {pairs:,} compared, {len(self.left_out):,} not>"

    @property
    def outcome(self) -> str:
        """`no regression`, which says that every cell excludes one; `answer changed`, `regression`,
        `undecided`, `nothing compared`, or `invalid`: some cell could not be compared."""
        return self.found.outcome

    @property
    def changed_answers(self) -> list[str]:
        """A sentence for each statement that the sides answer differently, with both answers."""
        from loadstone.record.changed_answers import sentence

        return [sentence(each) for _, one in self.found.comparisons for each in one.changed]

    @property
    def differences(self) -> list[Difference]:
        """Every pair of cells."""
        pairs = (pair for _, one in self.found.comparisons for pair in one.pairs)
        return [
            Difference(p.operation, p.rows, p.temperature, p.a_ns.value, p.b_ns.value,
                       p.ratio.value, p.ratio.low, p.ratio.high, p.verdict)
            for p in pairs
        ]  # fmt: skip

    @property
    def left_out(self) -> list[tuple[str, str]]:
        """(operation, reason) of each cell that was not compared."""
        return [(cell.operation, cell.reason)
                for _, one in self.found.comparisons for cell in one.unlike]  # fmt: skip

    def markdown(self) -> str:
        """As `loadstone compare --format md` prints it."""
        import io

        from loadstone.report.comparison import formats

        out = io.StringIO()
        formats.write_chapters(self.found, "md", out)
        return out.getvalue()


def read(path: str | Path) -> Record:
    """Read a record. Raises `RecordError`."""
    from loadstone.record import read_chapters

    place = _path("path", path)
    return Record(place, read_chapters(place))


def measure(
    benchmark: str | None = None,
    *,
    on: str | Sequence[str] | None = None,
    record: str | Path | None = None,
    **choices: Any,
) -> Record:
    """Run a benchmark, a workload's folder, or one query (`sql=`, `data=`), and return its record.

    `on`: the variants, as on the command line; by default those of its engines that are installed.
    `record`: a new file, in a folder that is there. `choices`: those of a plan file
    (`loadstone run --help`: `--repeat-seconds` is `repeat_s`, `--operation` is `operations`).
    Ctrl-C ends the run in good order, keeps the record, and raises `KeyboardInterrupt`. Raises
    `LoadstoneError`; that a cell failed is in its record, and is no error.
    """
    from loadstone.run.planned import plan_from

    path = _new_record(record)
    return _measured(plan_from(_chosen(benchmark, {**choices, "on": on}), None), path)


def study(
    benchmark: str | None = None,
    *,
    on: str | None = None,
    vary: str | Sequence[str] | None = None,
    seconds: float = 60.0,
    record: str | Path | None = None,
    **choices: Any,
) -> Record:
    """Measure what each switch of one engine changes, for about so many seconds; otherwise as
    `measure`. `vary`: `TACTIC=A,B`, or `all`."""
    from loadstone.plan.choices import TWO_ENDED
    from loadstone.run.planned import plan_from

    path = _new_record(record)
    chosen = _chosen(benchmark, {**choices, "on": on, "vary": vary})
    return _measured(plan_from({"design": TWO_ENDED, "within_s": seconds, **chosen}, None), path)


def compare(
    before: Record | str | Path,
    after: Record | str | Path | None = None,
    *,
    variants: tuple[str, str] | None = None,
    fail_on: float | str = 0.03,
    across: Iterable[str] = (),
) -> Comparison:
    """Compare two records, or two `variants` of one (then leave out `after`). `fail_on`: the share
    beyond which a slowdown is one; `across`: terms that may differ. Raises `InputError`."""
    from loadstone.analysis.compare.chapters import compare_chapters
    from loadstone.run.naming import pair_in

    threshold = share_of(fail_on)
    names = None if variants is None else _texts("variants", variants)
    if names is not None and len(names) != 2:
        raise InputError(f"variants are {len(names)}", hint="name two of one record")
    differing = _texts("across", across)
    first = _side("before", before)
    other = None if after is None else _side("after", after).runs
    pair = pair_in(first.runs, other, None if names is None else (names[0], names[1]))
    return Comparison(
        compare_chapters(first.runs, other, variants=pair, threshold=threshold, across=differing)
    )


def share_of(fail_on: float | str) -> float:
    """A threshold: 0.05, or "5%". Raises `InputError` for what is no share."""
    from loadstone.text.parsing import share

    found = share(fail_on, "fail_on")
    if not 0 < found < 1:
        raise InputError(f"fail_on is {fail_on!r}", hint="give a share below 1: 0.05 is 5 %")
    return found


def _side(name: str, given: Any) -> Record:
    """A record, or the one at a path."""
    if isinstance(given, Record):
        return given
    return read(_path(name, given))


def _chosen(benchmark: str | None, choices: Mapping[str, Any]) -> dict[str, Any]:
    """The choices as a plan file has them. Something to measure must be named, and an empty list is
    not taken for the default: either would measure for a long time what nobody asked for."""
    chosen = dict(choices)
    if benchmark is None and not chosen.get("sql"):
        raise InputError(
            "nothing to measure is named",
            hint="name a benchmark, the folder of a workload of yours, or a query by sql=",
        )
    if benchmark is not None:
        chosen["benchmark"] = str(benchmark) if isinstance(benchmark, Path) else benchmark
    for name in TEXTS_CHOSEN:
        if chosen.get(name) is None:
            chosen.pop(name, None)
        elif not (texts := _texts(name, chosen[name])):
            raise InputError(f"{name} is empty", hint=f"name one, or leave out {name}")
        else:
            chosen[name] = texts
    for name in (name for name in NUMBERS_CHOSEN if chosen.get(name) in ([], ())):
        raise InputError(f"{name} is empty", hint=f"name one, or leave out {name}")
    return chosen


def _texts(name: str, given: Any) -> tuple[str, ...]:
    """One text, or several."""
    try:
        found = (given,) if isinstance(given, str) else tuple(given)
    except TypeError:
        found = (given,)
    for one in found:
        if not isinstance(one, str):
            raise InputError(f"{name} has {one!r}", hint="give a text, or a list of texts")
    return tuple(one for one in found if one)


def _path(name: str, given: Any) -> Path:
    if not isinstance(given, str | Path) or not str(given) or "\0" in str(given):
        raise InputError(f"{name} is {given!r}", hint="give the path of a record")
    return Path(given)


def _new_record(given: Any) -> Path | None:
    """The path of a record to be written; None where nobody named one. Raises `RecordError` where
    its folder is missing."""
    from loadstone.record.writer import refuse_missing_folder

    if given is None:
        return None
    path = _path("record", given)
    refuse_missing_folder(path)
    return path


def _measured(planned: "Planned", record: Path | None) -> Record:
    from loadstone import measuring
    from loadstone.plan.written_choices import as_command
    from loadstone.run import session

    path = record or session.record_path([planned])
    command = as_command(planned.plan)
    ended = measuring.measure([planned], path, page=False, as_command=command)
    if ended.outcome == "interrupted":
        raise KeyboardInterrupt
    if ended.left:
        raise RecordError(
            f"something may be left in a database of yours: {'; '.join(ended.left)}",
            hint=f"the record is complete: {path}",
        )
    return read(path)
