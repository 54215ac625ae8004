"""Every row of a paper's table stands beside what it is about, or says why nothing does."""

import tomllib
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from oo1_report_fixture import make_oo1_run
from report_fixture import make_run, write_record

import loadstone.benchmarks
from loadstone import registry
from loadstone.analysis.published import Comparison, comparisons
from loadstone.analysis.summary import summarise
from loadstone.benchmarks.idm.benchmark import IdmBenchmark
from loadstone.benchmarks.oo1.benchmark import Oo1Benchmark
from loadstone.benchmarks.oo7.benchmark import Oo7Benchmark
from loadstone.benchmarks.rvm.benchmark import RvmBenchmark
from loadstone.benchmarks.wisconsin.benchmark import WisconsinBenchmark
from loadstone.record.model import Run, Term
from loadstone.record.reader import read
from loadstone.report.paper_words import paper_line, paper_tables, unmeasured

FOLDER = Path(loadstone.benchmarks.__file__).parent
TUPLES = {
    "100 of 10,000": 100, "1,000 of 10,000": 1_000, "1 of 10,000": 1,
    "clustered index, 100 of 10,000": 100, "clustered index, 1,000 of 10,000": 1_000,
    "non-clustered index, 100 of 10,000": 100, "non-clustered index, 1,000 of 10,000": 1_000,
    "joinAselB": 1_000, "joinABprime": 1_000, "joinCselAselB": 1_000,
    "sjoinAselB": 1_000, "sjoinABprime": 1_000, "sjoinCselAselB": 1_000,
    "100/10,000": 100, "1,000/1,000": 1_000,
    "MIN scalar": 1, "MIN, 100 partitions": 100, "SUM, 100 partitions": 100,
}  # fmt: skip
"""Label -> the result's tuples, as the paper says; what is not here changes one tuple."""
KINDS = {
    "1": ("select", "heap", "relation"), "2": ("select", "clustered", "relation"),
    "3": ("select", "clustered", "client"), "4": ("join", "heap", "relation"),
    "5": ("join", "clustered", "relation"), "6": ("join", "nonclustered", "relation"),
    "7": ("project", "heap", "relation"), "8": ("m", "heap", "relation"),
    "9": ("m", "indexed", "relation"), "10": ("update", "heap", "update"),
    "11": ("update", "indexed", "update"),
}  # fmt: skip
"""Table -> what its operations are, on what structure, and where their results go."""
UPDATES = {"append": "append", "delete": "delete", "modify": "modify"}
MEASURES = {"lookup": "lookup", "traversal": "traversal", "traverse": "traversal",
            "insert": "insert", "reverse traverse": "reverse"}  # fmt: skip


def wisconsin_rows(edition: str):
    for table in WisconsinBenchmark().published().tables:
        for label, operation, _ in table.rows:
            if edition not in table.absent.get(label, {}):
                yield table, label, operation


@pytest.mark.parametrize("edition", ["1983", "1993"])
def test_a_wisconsin_row_gives_as_many_tuples_as_the_paper_says(edition: str) -> None:
    paper = WisconsinBenchmark()
    operations = {item.name: item for item in paper.operations(edition, 10_000)}
    relations = sorted({item.relation for item in paper.stored_relations(edition)})
    answers = paper.answers(edition, 10_000, relations)
    for table, label, name in wisconsin_rows(edition):
        assert table.scale == 10_000
        if label in TUPLES:
            assert answers.of(operations[name], 0)[0] == TUPLES[label], (table.number, label)
        else:
            assert label.split()[0] in UPDATES


@pytest.mark.parametrize("edition", ["1983", "1993"])
def test_a_wisconsin_row_is_of_the_tables_operation_and_structure(edition: str) -> None:
    operations = {item.name: item for item in WisconsinBenchmark().operations(edition, 10_000)}
    for table, label, name in wisconsin_rows(edition):
        operation = operations[name]
        kind, structure, destination = KINDS[table.number]
        where = (edition, table.number, label)
        if "non-clustered" in label:
            structure = "nonclustered"
        assert structure in (operation.storage, operation.design), where
        assert operation.destination == destination, where
        if kind == "update":
            assert name.startswith(label.split()[0]), where
            assert label.endswith("non-key") == ("nonkey" in name), where
        elif kind == "m":
            assert name.startswith(label[:3].lower()), where
            assert ("partitions" in label) == ("partitions" in name), where
        else:
            assert name.startswith(kind), where
        if kind == "join":
            assert label.lstrip("s").removeprefix("join") == name.split("-")[1], where


def test_only_the_edition_of_1983_projects_as_table_7_does() -> None:
    rows = {(table.number, label) for table, label, _ in wisconsin_rows("1993")}
    assert not any(number == "7" for number, _ in rows)
    assert sum(table.number == "7" for table, _, _ in wisconsin_rows("1983")) == 2


def test_an_oo1_row_is_of_its_measure_its_temperature_and_its_database() -> None:
    measures = {item.name for item in Oo1Benchmark().operations("1992", 20_000)}
    for table in Oo1Benchmark().published().tables:
        assert table.scale == {"III": 200_000, "V, large": 200_000, "IV": 2_000_000}.get(
            table.number, 20_000
        )
        assert table.place == ("local" if "local" in table.title.lower().split() else "remote")
        end = "-no-locality" if "without locality" in table.title else ""
        for label, operation, _ in table.rows:
            measure, _, temperature = label.partition(", ")
            if measure == "database size":
                assert operation == "size"
            elif measure.startswith(("load", "build")):
                assert operation == "load"
            else:
                temperature = temperature or "cold"
                assert temperature != "cold" or ", cold" in label or "cold" in table.title
                names = ["lookup", "traversal", "insert"]
                names = names if measure == "total" else [MEASURES[measure]]
                names = [f"{name}{end}" for name in names]
                assert operation == f"{'+'.join(names)}@{temperature}", (table.number, label)
                assert set(names) <= measures


@pytest.mark.parametrize("benchmark", [Oo7Benchmark(), RvmBenchmark()])
def test_figures_without_numbers_are_reported_in_words(
    benchmark: Oo7Benchmark | RvmBenchmark,
) -> None:
    found = benchmark.published()
    for table in found.tables:
        edition = table.edition or benchmark.default_edition
        operations = {item.name for item in benchmark.operations(edition, table.scale)}
        assert table.number.startswith("Figure")
        for _, operation, values in table.rows:
            name, _, temperature = (operation or "").partition("@")
            assert name in operations
            assert temperature in table.title.split(", ")
            # A number would be compared with today's times.
            assert values
            assert all(isinstance(value, str) for value in values.values())
    assert set(benchmark.presentation().reimplemented) | {"ObjectStore"} == set(found.systems)


def test_a_figure_is_called_one_beside_todays_times() -> None:
    run = make_run(("project-1%", "project-100%"), scales=(10_000,))
    run = with_published(replace(run, plan=replace(run.plan, edition="1993-3")), Oo7Benchmark())
    for table in run.published["tables"]:
        # As if they were OO7's.
        for row, name in zip(table["rows"], 2 * ("project-1%", "project-100%"), strict=False):
            row[1] = f"{name}@{row[1].partition('@')[2]}"
    tables = tables_of(run)
    assert tables["Figure 8"].heading == "Figure 8. OO7, small database, warm"
    assert [row.published["page diffing"].text for row in tables["Figure 8"].rows] == [
        "as page grain", "fastest", "fastest"
    ]  # fmt: skip
    assert all(row.measured and row.gain is None for row in tables["Figure 8"].rows)
    assert "--rows 100000" in tables["Figure 10"].missing
    # What is added beside would take this edition's place, and its three figures with it.
    assert (tables["Figure 10"].add, tables["Figure 10"].apart) == ("--rows 100000", "")
    assert tables["Figure 11"].apart == "--edition 1993-9 --rows 100000"
    assert tables["Figure 11"].add == ""
    assert tables["Figure 11"].missing.endswith(tables["Figure 11"].apart)
    assert paper_line(comparisons(summarise(run))).endswith(
        "; for 1 other add --rows 100000; for 1 other make a run of its own with"
        " --edition 1993-9 --rows 100000"
    )
    # Also where nothing of it can be drawn.
    disturbed = tuple(replace(one, status="disturbed") for one in run.results)
    for reported in (run, replace(run, results=disturbed)):
        for name in ("html", "md", "json", "csv"):
            assert registry.load_report(name)().render(reported)
        page = registry.load_report("html")().render(reported).decode()
        assert "Figure 8. OO7, small database, warm" in page
        assert "published and measured" not in page, "nothing of it is a number"
        assert "as page grain" in page
        # Nothing of a table of numbers stands over words.
        assert ">elapsed, in words<" in page
        markdown = registry.load_report("md")().render(reported).decode()
        assert "elapsed, in words" in markdown
        for text in (page, markdown):
            assert "in words" in text
            for word in ("s elapsed", "Hollow", "As published", "est over best"):
                assert word not in text, word


def tables_of(run: Run) -> dict[str, Comparison]:
    found = comparisons(summarise(run))
    assert found is not None
    return {table.number: table for table in found.tables}


def with_published(run: Run, benchmark) -> Run:
    import json

    return replace(run, published=json.loads(json.dumps(asdict(benchmark.published()))))


def reading(run: Run, **access: str) -> Run:
    terms = tuple(Term(variant, "access", None, value) for variant, value in access.items())
    return replace(run, terms=(*run.terms, *terms))


def test_table_vii_stands_beside_b_trees_and_nothing_else() -> None:
    run = with_published(make_oo1_run(), Oo1Benchmark())
    seven = tables_of(run)["VII"]
    assert not seven.measured
    assert seven.missing == ("no variant with access=btree was run: add --on 'lode?access=btree'")
    seven = tables_of(reading(run, sqlite="links", postgresql="btree: of connections"))["VII"]
    shown = {variant for row in seven.rows for variant in row.measured}
    assert shown == {"postgresql"}
    for row in seven.rows:
        assert [one.best for one in row.measured.values() if one.text] in ([True], [])
        assert all(one.ratio is None or one.ratio.value == 1 for one in row.measured.values())
    assert set(tables_of(run)["II"].rows[4].measured) == {
        "sqlite", "postgresql", "zodb", "memory"
    }  # fmt: skip


def test_a_projection_of_1993_does_not_stand_beside_table_7() -> None:
    run = with_published(make_run(("project-1%", "project-100%"), scales=(10_000,)),
                         WisconsinBenchmark())  # fmt: skip
    assert all(row.measured for row in tables_of(run)["7"].rows)
    of_1993 = replace(run, plan=replace(run.plan, edition="1993"))
    seven = tables_of(of_1993)["7"]
    assert not seven.measured
    found = comparisons(summarise(of_1993))
    (line,) = (line for line in unmeasured(found) if line.startswith("Table 7"))
    assert "100/10,000: no counterpart: Q18 projects on six attributes, and 400 tuples stay" in line
    page = registry.load_report("html")().render(of_1993).decode()
    assert "Q18 projects on six attributes" in page


def test_a_row_without_a_counterpart_says_so_in_every_format() -> None:
    run = with_published(make_oo1_run(), Oo1Benchmark())
    size = tables_of(run)["VI"].rows[0]
    assert size.absent == "no counterpart: known only for the database that a run loads first"
    text = registry.load_report("md")().render(run).decode()
    (row,) = (line for line in text.splitlines() if line.startswith("| database size, MB | **5.0"))
    assert "no counterpart: known only for the database" in row
    page = registry.load_report("html")().render(run).decode()
    assert "no counterpart: known only for the database" in page
    assert page.count(">not in this run</td>") == text.count("| not in this run |")
    assert "no counterpart: not in this run" not in text


@pytest.mark.parametrize("scale", [1_000, 100_000])
def test_another_number_of_tuples_fills_no_row_of_the_paper(scale: int) -> None:
    run = with_published(make_run(("select-1%-heap",), scales=(scale,)), WisconsinBenchmark())
    assert not any(table.measured for table in tables_of(run).values())
    assert {table.missing for table in tables_of(run).values()} == {
        "not run at 10,000: add --rows 10000"
    }


def test_a_table_of_relations_of_one_size_stands_beside_any_scale() -> None:
    run = make_run(("select-1%-heap",), scales=(50_000,))
    published = dict(run.published)
    (first, *_) = published["tables"]
    for fixed in (False, True):
        published["tables"] = ({**first, "fixed": fixed},)
        (table,) = comparisons(summarise(replace(run, published=published))).tables
        assert table.measured is fixed
        assert bool(table.missing) is not fixed


def test_best_over_best_names_both() -> None:
    run = with_published(make_oo1_run(), Oo1Benchmark())
    whole = summarise(run)
    table = next(t for t in paper_tables(comparisons(whole), whole) if "II. Small" in t.title)
    cells = dict(table.rows)
    assert cells["lookup, warm"][-1].text.endswith("× OODBMS / sqlite")  # noqa: RUF001
    assert cells["traversal, cold"][-1].text.endswith("× INDEX and OODBMS / sqlite")  # noqa: RUF001


def test_a_remote_table_says_that_todays_are_local() -> None:
    run = with_published(make_oo1_run(), Oo1Benchmark())
    tables = tables_of(run)
    assert tables["II"].note.endswith("Today's are local: on the client's machine.")
    assert "Today's" not in tables["V, small"].note
    far = replace(run, terms=(*run.terms, Term("postgresql", "place", "remote", "remote")))
    assert tables_of(far)["II"].note.endswith("on the client's machine, except postgresql.")


def test_a_row_of_users_stands_beside_their_closed_loop() -> None:
    """Test 1 of the IDM: 8 users with ten requests each, at 4,000 answers a second, take 20 ms."""
    published = asdict(IdmBenchmark().published())
    table = next(one for one in published["tables"] if one["requests"])
    run = make_run()
    closed = next(point for point in run.users if point.model == "closed")
    loop = replace(closed, operation="script", variant="sqlite", users=8, completed=8_000,
                   elapsed_ns=2_000_000_000)  # fmt: skip
    others = (
        replace(loop, users=4, status="failed", completed=0),
        replace(loop, users=24, model="open"),
        replace(loop, variant="duckdb", completed=16_000),
        replace(loop, users=16, beside="2 users on insert"),
    )
    published["tables"] = [table | {"scale": loop.rows}]
    found = tables_of(replace(run, published=published, users=(loop, *others)))["of test 1"]
    shown = {row.label: row.measured for row in found.rows}
    assert {label for label, measured in shown.items() if measured} == {"8 users", "4 users"}
    assert shown["8 users"]["sqlite"].elapsed_ns.value == 20e6
    (alone,) = [row.absent for row in found.rows if row.label == "1 user"]
    assert alone == "no closed loop of 1: add --users 1"
    assert shown["8 users"]["sqlite"].ratio.value == 2.0
    assert shown["8 users"]["duckdb"].best
    assert shown["4 users"]["sqlite"].status == "failed"
    assert not shown["4 users"]["sqlite"].text


def test_throughput_by_users_is_printed_recomputed_and_of_each_variant() -> None:
    """Test 1: 24 users get 2.73 times one user's throughput; of 18 the paper prints 2.169, and
    2.619 follows from its time. Today 2,000 answers a second of one user and 3,000 of eight."""
    published = asdict(IdmBenchmark().published())
    table = next(one for one in published["tables"] if one["requests"])
    run = make_run()
    closed = next(point for point in run.users if point.model == "closed")
    one = replace(closed, operation="script", variant="sqlite", users=1, completed=4_000,
                  elapsed_ns=2_000_000_000)  # fmt: skip
    eight = replace(one, users=8, completed=6_000)
    others = (replace(one, variant="duckdb"), replace(eight, variant="duckdb", status="invalid"))
    published["tables"] = [table | {"scale": one.rows}]
    run = replace(run, published=published, users=(one, eight, *others))
    found = tables_of(run)["of test 1"]
    rows = {row.label: row.derived[0] for row in found.rows}
    assert {label: cell.printed for label, cell in rows.items()} == {
        "1 user": "1.0", "2 users": "1.688", "4 users": "2.123", "8 users": "2.574",
        "14 users": "2.689", "16 users": "2.659", "18 users": "2.169", "24 users": "2.734",
    }  # fmt: skip
    differing = {label: cell.recomputed for label, cell in rows.items() if cell.recomputed}
    assert differing == {"2 users": pytest.approx(1.68876, abs=1e-5),
                         "18 users": pytest.approx(2.61873, abs=1e-5)}  # fmt: skip
    by_variant = dict(zip(found.derived[0].each, rows["8 users"].each, strict=True))
    assert by_variant["sqlite"] == pytest.approx(1.5)
    assert by_variant["duckdb"] is None, "invalid"
    assert rows["4 users"].each == (None,) * len(found.derived[0].each), "not measured"
    (words,) = paper_tables(comparisons(summarise(run)), summarise(run))
    columns = [dict(zip(words.headings, (cell.text for cell in cells), strict=True))
               for _, cells in words.rows]  # fmt: skip
    assert columns[3]["throughput: one user's as 1, as printed"] == "2.574"
    assert columns[6]["throughput: one user's as 1, as printed"] == "2.169 (recomputed 2.619)"
    assert columns[3]["today: sqlite"] == "1.50"
    for name in ("md", "html", "json"):
        assert registry.load_report(name)().render(run)


def test_a_drawing_stands_beside_the_table_of_its_own_size() -> None:
    """Two tables of one number, as the sizes of the INGRES tables: each has its own drawing."""
    run = make_run(("select-1%-heap",))
    table = next(t for t in run.published["tables"] if t["number"] == "1")
    scales = sorted({view.rows for view in summarise(run).views})
    published = run.published | {
        "tables": [table | {"title": f"Of {rows}", "scale": rows} for rows in scales]
    }
    page = registry.load_report("html")().render(replace(run, published=published)).decode()
    for rows in scales:
        assert f"<title>Table 1. Of {rows}" in page


@pytest.mark.parametrize("benchmark", [Oo1Benchmark(), WisconsinBenchmark()])
def test_a_published_number_keeps_its_digits(benchmark, tmp_path: Path) -> None:
    """Through the record, too: 270 is not printed as 270.0, nor 1.0 as 1."""
    text = (FOLDER / benchmark.name / "published.toml").read_text(encoding="utf-8")
    tables = tomllib.loads(text, parse_float=str)["table"]
    run = with_published(
        make_oo1_run() if benchmark.name == "oo1" else make_run(("select-1%-heap",)), benchmark
    )
    write_record(run, tmp_path / "a.loadstone")
    shown = tables_of(read(tmp_path / "a.loadstone"))
    several = 0
    for table in tables:
        for row, known in zip(table["rows"], shown[table["number"]].rows, strict=True):
            printed = [str(value) for value in row["values"] if value != ""]
            assert [value.text for value in known.published.values()] == printed
            several += sum(value.endswith(".0") for value in printed)
    assert several > 3


SECTIONS = {
    "4": {"lookup", "traversal", "reverse", "insert"},
    "5": {"range", "scan", "reference", "group", "update"},
    "9": {"ordered", "lookup-no-locality", "traversal-no-locality", "insert-no-locality"},
    "4 and 7": {"lookup-batch", "traversal-batch", "reverse-batch"},
    "8": {"nothing", "empty", "constant"},
}
"""Of the paper of 1992: its measures, those it dropped or considered, orders, batches, calls."""


def test_an_operation_of_oo1_names_the_section_that_it_is_from() -> None:
    operations = {item.name: item.query for item in Oo1Benchmark().operations("1992", 20_000)}
    assert set(operations) == set().union(*SECTIONS.values())
    document = (Path(__file__).parents[2] / "docs/reference/oo1.md").read_text(encoding="utf-8")
    for section, names in SECTIONS.items():
        word = "sections" if "and" in section else "section"
        for name in names:
            assert operations[name].split(",")[0] == f"{word} {section}", name
            (row,) = (
                line
                for line in document.splitlines()
                if line.startswith("|") and f"`{name}`" in line and "section" in line
            )
            assert f"{word} {section}" in row.replace(", Table VI", ""), name


def test_only_what_the_paper_recommends_is_called_recommended() -> None:
    groups = {item.name: item.group for item in Oo1Benchmark().operations("1992", 20_000)}
    recommended = {name for name, group in groups.items() if group == "Recommended"}
    assert recommended == {"range", "scan", "update"}


def test_the_calls_of_the_paper_belong_to_its_cold_total() -> None:
    from loadstone.benchmarks.oo1.presentation import LADDER

    tables = {table.number: table for table in Oo1Benchmark().published().tables}
    total = next(values for label, _, values in tables["II"].rows if label == "total, cold")
    assert f"its {total['RDBMS']} s" in LADDER.paper
    assert "section 8" in LADDER.paper


@pytest.mark.parametrize("name", ["md", "html"])
def test_an_invalid_figure_stands_in_grey_beside_the_papers(name: str) -> None:
    """On a busy machine a table of the word alone says nothing."""
    run = with_published(make_oo1_run(), Oo1Benchmark())
    spoiled = tuple(
        replace(r, status="invalid", reason="busy")
        if (r.cell.operation, r.cell.variant, r.cell.temperature) == ("lookup", "zodb", "warm")
        else r
        for r in run.results
    )
    run = replace(run, results=spoiled)
    row = next(r for r in tables_of(run)["II"].rows if r.label == "lookup, warm")
    figure = row.measured["zodb"]
    assert (figure.status, figure.text, figure.standing) == ("invalid", "900 µs", "")
    assert not figure.best
    text = registry.load_report(name)().render(run).decode()
    wanted = {
        "md": "(900 µs) invalid",
        "html": '<span class="n">900 µs</span><span class="x"><i>inv',
    }
    assert wanted[name] in text
