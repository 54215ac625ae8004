"""Loadstone for programs: light to import, and its document's examples do what they say."""

import os
import re
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest
from compared_runs import calm_run

import loadstone
from loadstone import api
from loadstone.errors import InputError, NotInstalledError
from loadstone.plan.choices import DEFINED

EXAMPLE = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
DOCUMENT = Path(__file__).parents[2] / "docs/how-to/python.md"
pytest_plugins = ["pytester"]


def examples() -> list[str]:
    return EXAMPLE.findall(DOCUMENT.read_text(encoding="utf-8"))


def test_importing_loadstone_imports_nothing_else():
    probe = "import sys, loadstone; print(*[m for m in sys.modules if m.startswith('loadstone.')])"
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_every_name_that_is_reported_is_there():
    assert set(api.__all__) == {*loadstone.__all__} - {"__version__"}
    assert all(getattr(loadstone, name) for name in dir(loadstone))
    with pytest.raises(AttributeError):
        _ = loadstone.nothing


def test_a_comparison_is_reported_in_values():
    slow = loadstone.Record(Path("b"), (calm_run(2, factor=2.0),))
    found = loadstone.compare(loadstone.Record(Path("a"), (calm_run(1),)), slow)
    assert found.outcome == "regression"
    assert {pair.verdict for pair in found.differences} == {"slower"}
    assert all(1.9 < pair.low < pair.ratio < pair.high < 2.1 for pair in found.differences)
    assert "**slower**" in found.markdown()


def test_a_prompt_shows_a_line_and_not_every_sample():
    record = loadstone.Record(Path("a"), (calm_run(1),))
    cells = len(record.runs[0].results)
    assert repr(record) == f"<Record a: wisconsin, {cells} cells>"
    found = loadstone.compare(record, record)
    assert repr(found) == f"<Comparison: {found.outcome}, {len(found.differences)} compared, 0 not>"


@pytest.mark.parametrize("fail_on", [0, -1, 5000])
def test_a_threshold_is_a_share(fail_on):
    record = loadstone.Record(Path("a"), (calm_run(1),))
    with pytest.raises(InputError, match="fail_on"):
        loadstone.compare(record, record, fail_on=fail_on)


def test_without_pandas_the_way_out_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(NotInstalledError, match="pandas") as caught:
        loadstone.Record(Path("a"), (calm_run(1),)).pandas()
    assert "arrow()" in caught.value.hint


def test_cells_and_samples_are_those_of_the_reports():
    record = loadstone.Record(Path("a"), (calm_run(1),))
    header = record.report("csv").decode().splitlines()
    names = next(line for line in header if not line.startswith("#")).split(",")
    assert [*record.cells()[0]] == names
    samples = sum(len(result.samples) for result in record.runs[0].results)
    assert record.arrow().num_rows == samples


def plugin() -> list[str]:
    """The way in which pytest finds our fixture: by the entry point of what is installed or, where
    that was built before there was one, by name. Both at once it refuses."""
    found = entry_points(group="pytest11", name="loadstone")
    return [] if found else ["-p", "loadstone.pytest_plugin"]


def run_example(code: str, folder: Path, name: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "LOADSTONE_SCRATCH": str(folder / "scratch")}
    (folder / name).write_text(code)
    words = ["-m", "pytest", "-q", *plugin()] if "test_" in name else []
    return subprocess.run([sys.executable, *words, name], cwd=folder, env=environment,
                          capture_output=True, text=True)  # fmt: skip


@pytest.mark.slow
def test_the_documents_examples_run(tmp_path):
    *programs, test = examples()
    done = run_example("\n".join(programs), tmp_path, "example.py")
    assert done.returncode == 0, done.stderr
    assert "select-1%-heap sqlite " in done.stdout
    assert (tmp_path / "wisconsin.loadstone").exists()
    done = run_example(test, tmp_path, "test_example.py")
    # On a busy machine it may skip, or some cell of it may be invalid; it never errs.
    assert done.returncode in (0, 1) and " error" not in done.stdout, done.stdout
    assert re.search("1 (passed|skipped)|invalid|nothing compared|regression", done.stdout)


BUSY, QUIET, FAILED, DISPUTED = "busy", "quiet", "failed", "disputed"


@pytest.mark.parametrize(
    ("outcome", "cell", "undecided", "word"),
    [("no regression", QUIET, "fail", "passed"), ("regression", QUIET, "skip", "failed"),
     ("undecided", QUIET, "fail", "failed"), ("undecided", QUIET, "skip", "skipped"),
     ("nothing compared", QUIET, "skip", "failed"), ("invalid", QUIET, "skip", "failed"),
     ("nothing compared", BUSY, "skip", "skipped"), ("invalid", BUSY, "skip", "skipped"),
     ("nothing compared", BUSY, "fail", "failed"), ("regression", BUSY, "skip", "failed"),
     ("nothing compared", DISPUTED, "skip", "failed"),
     ("nothing compared", FAILED, "skip", "failed"),
     ("no regression", FAILED, "skip", "failed"), ("no regression", QUIET, "pass", "failed")],
)  # fmt: skip
def test_only_a_decided_change_passes(pytester, outcome, cell, undecided, word):
    # The verdict is made elsewhere: here, what a test makes of it.
    disturbance = None if cell == QUIET else 1
    status = {QUIET: "ok", FAILED: "failed"}.get(cell, "invalid")
    pytester.makeconftest(f"""
        import loadstone
        from types import SimpleNamespace as S
        plan = S(on=("a", "b"))
        cell = S(key="c", operation="o")
        result = S(status={status!r}, cell=cell, disturbance={disturbance})
        disputed = [S(operation="o", basis="divided")] if {cell == DISPUTED} else []
        run = S(plan=plan, results=[result], agreements=disputed)
        left_out = [("o", "why")] if {status != "ok"} else []
        loadstone.measure = lambda **_: S(runs=[run])
        loadstone.compare = lambda *_, **__: S(
            outcome={outcome!r}, left_out=left_out, markdown=lambda: "")
    """)
    pytester.makepyfile(f"""
        def test_it(loadstone_ab):
            loadstone_ab("a", "b", undecided={undecided!r})
    """)
    done = pytester.runpytest_subprocess(*plugin(), "-p", "no:cacheprovider")
    done.assert_outcomes(**{word: 1})


def test_an_error_within_a_test_shows_what_to_do(pytester):
    pytester.makepyfile("""
        def test_it(loadstone_ab):
            loadstone_ab("sqlit", "sqlite")
    """)
    done = pytester.runpytest_subprocess(*plugin(), "-p", "no:cacheprovider")
    done.stdout.fnmatch_lines(["*there is no engine 'sqlit'*", "*did you mean sqlite?*"])


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("fail_on='5'", "fail_on: '5' is not a percentage"),
        ("fail_on=-1", "fail_on is -1"),
        ("fail_on=True", "fail_on is True"),
        ("users=4", "users: loops of users are not judged"),
    ],
)
def test_what_a_test_cannot_be_judged_by_is_refused_in_words(pytester, given, said):
    pytester.makepyfile(f"""
        import loadstone, pytest

        def test_it(loadstone_ab):
            with pytest.raises(loadstone.LoadstoneError) as caught:
                loadstone_ab("sqlite", "duckdb", {given})
            assert {said!r} in caught.value.message
    """)
    done = pytester.runpytest_subprocess(*plugin(), "-p", "no:cacheprovider")
    done.assert_outcomes(passed=1)


def test_one_term_that_may_differ_is_no_list_of_letters(pytester):
    pytester.makeconftest("""
        import loadstone
        from types import SimpleNamespace as S
        loadstone.measure = lambda **_: S(runs=[S(plan=S(on=("a", "b")), results=[])])
        loadstone.compare = lambda *_, across, **__: S(
            outcome="no regression" if set(across) == {"isolation"} else "invalid",
            markdown=lambda: "")
    """)
    pytester.makepyfile("""
        def test_it(loadstone_ab):
            loadstone_ab("a", "b", across="isolation")
            loadstone_ab("a", "b", across=["isolation"])
    """)
    done = pytester.runpytest_subprocess(*plugin(), "-p", "no:cacheprovider")
    done.assert_outcomes(passed=1)


NAN = float("nan")


@pytest.mark.parametrize(
    "call",
    [
        lambda: loadstone.compare(""), lambda: loadstone.compare(None),
        lambda: loadstone.compare("a", after=""), lambda: loadstone.compare("a", variants="ab"),
        lambda: loadstone.compare("a", variants=("a",)), lambda: loadstone.compare("a", variants=3),
        lambda: loadstone.compare("a", across=3), lambda: loadstone.compare("a", fail_on=NAN),
        lambda: loadstone.compare("a", fail_on="5%"), lambda: loadstone.compare("a", fail_on=True),
        lambda: loadstone.read(None), lambda: loadstone.read(5), lambda: loadstone.read(b"x"),
        lambda: loadstone.read("a\0b"), lambda: loadstone.measure(5),
        lambda: loadstone.measure(on=5), lambda: loadstone.measure(on=[5]),
        lambda: loadstone.measure(["wisconsin"]), lambda: loadstone.measure({}),
        lambda: loadstone.measure("wisconsin", operations=5),
        lambda: loadstone.measure("wisconsin", rows="a"),
        lambda: loadstone.measure("wisconsin", nonsense=1),
        lambda: loadstone.measure("wisconsin", record=5, on="sqlite"),
        lambda: loadstone.measure("wisconsin", on="sqlite\0"),
        lambda: loadstone.measure("wis\0consin"), lambda: loadstone.measure(""),
        lambda: loadstone.measure(sql=5), lambda: loadstone.measure(sql="select 1", data=5),
        lambda: loadstone.study(vary=5), lambda: loadstone.study(on="lode", seconds="x"),
        lambda: loadstone.study(on="lode", seconds=NAN),
    ],
)  # fmt: skip
def test_an_odd_argument_is_reported_and_no_bug_of_ours(call):
    with pytest.raises(loadstone.LoadstoneError):
        call()


class Ran(loadstone.LoadstoneError):
    """Of a run that was about to begin."""


ODD = [
    None, 0, 5, -1, 10**30, 0.5, NAN, float("inf"), True, b"x", "", "x", "\0", "\udc80", [], (),
    [None], [[]], [""], {}, {"a": 1}, {5}, object(),
    Path("/nonexistent/x"), "/nonexistent/x.loadstone", Path(__file__), Path(__file__).parent,
]  # fmt: skip
MEASURED = {"benchmark": "wisconsin", "on": "sqlite", "operations": ["min-heap"], "rows": 1000}
STUDIED = {**MEASURED, "on": "duckdb", "vary": "all", "seconds": 60}


def odd_calls():
    """Every parameter of every public function with every odd value, beside fair ones."""
    record = loadstone.Record(Path("a"), (calm_run(1),))
    compared = {"before": record, "after": record}
    choices = [choice.name for choice in DEFINED]
    for function, fair, names in (
        (loadstone.read, {"path": "/nonexistent"}, ["path"]),
        (record.report, {"form": "json"}, ["form"]),
        (loadstone.compare, compared, [*compared, "variants", "fail_on", "across"]),
        (loadstone.measure, MEASURED, {*choices, "record", "nonsense"}),
        (loadstone.study, STUDIED, {*choices, "record", "vary", "seconds"}),
    ):
        for name in sorted(names):
            for value in ODD:
                yield function, {**fair, name: value}, name


@pytest.mark.slow
def test_every_odd_value_of_every_parameter_is_reported_as_an_error_of_ours(monkeypatch):
    def about_to_run(_planned, path, **_):
        assert Path(path).parent.is_dir() or Path(path).parent == Path("runs")
        raise Ran("it ran")

    monkeypatch.setattr("loadstone.measuring.measure", about_to_run)
    for function, given, name in odd_calls():
        try:
            function(**given)
        except loadstone.LoadstoneError:
            continue
        except BaseException as error:
            raise AssertionError(f"{function.__name__}({name}={given[name]!r})") from error
    assert not Path("/nonexistent").exists()


@pytest.mark.parametrize(
    "call",
    [
        lambda: loadstone.measure(), lambda: loadstone.measure(on="sqlite"),
        lambda: loadstone.study(), lambda: loadstone.measure(sql=""),
        *(lambda name=name: loadstone.measure("wisconsin", **{name: []})
          for name in ("on", "operations", "rows", "temperature")),
        lambda: loadstone.measure("wisconsin", on=""),
        lambda: loadstone.measure("wisconsin", on=()),
        lambda: loadstone.study("wisconsin", on=[]), lambda: loadstone.study("wisconsin", vary=[]),
        lambda: loadstone.measure("wisconsin", record="/nonexistent/x.loadstone"),
        lambda: loadstone.study("wisconsin", record="/nonexistent/x.loadstone", on="duckdb"),
    ],
)  # fmt: skip
def test_nothing_is_measured_that_nobody_named(monkeypatch, call):
    def run(*_, **__):
        raise AssertionError("a run began")

    monkeypatch.setattr("loadstone.measuring.measure", run)
    with pytest.raises(loadstone.LoadstoneError) as caught:
        call()
    assert caught.value.hint
