"""Scripts of pgbench: what is read means what it means there, and what is not read is named."""

from collections import Counter
from pathlib import Path

import pytest

from loadstone.errors import InputError
from loadstone.run.planned import plan_from
from loadstone.workload import pgbench, script
from loadstone.workload.parameters import values_of

SELECT_ONLY = r"""-- as pgbench --show-script=select-only has it
\set aid random(1, 100000 * :scale)
SELECT abalance FROM pgbench_accounts WHERE aid = :aid;
"""


def drawn(expression: str, number: int = 1, *before: str) -> list:
    lines = "\n".join(f"\\set {one}" for one in (*before, f"x {expression}"))
    script = pgbench.script_of(f"{lines}\nSELECT :x;", "w")
    draws = script.draws(1, "s", 3, "w")
    return [values["x"] for values in values_of(draws, number, "w")]


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("7", 7), ("-7 / 2", -3), ("7 / -2", -3), ("-7 % 3", -1), ("mod(7, -3)", 1),
        ("2 + 3 * 4", 14), ("(2 + 3) * 4", 20), ("100000 * :scale", 300_000), ("abs(-4)", 4),
        ("greatest(1, 5, 3)", 5), ("least(4, 2)", 2), ("int(7.9)", 7), ("double(2)", 2.0),
        ("+:scale - - 1", 4), ("random(5, 5)", 5), ("9223372036854775807", 2**63 - 1),
        ("7.0 / 2", 3.5),
    ],
)  # fmt: skip
def test_an_expression_has_the_value_that_it_has_in_pgbench(expression, value) -> None:
    assert drawn(expression) == [value]
    assert type(drawn(expression)[0]) is type(value)


def test_a_variable_may_be_set_of_others_and_be_called_as_a_word_of_any_language() -> None:
    assert drawn(":lambda * :in", 1, "lambda 6", "in :lambda + 1") == [42]


@pytest.mark.parametrize(
    "expression",
    ["random(3, 12)", "random_exponential(3, 12, 5.0)", "random_gaussian(3, 12, 2.5)",
     "random_zipfian(3, 12, 1.2)"],
)  # fmt: skip
def test_random_numbers_are_in_their_bounds_and_the_same_again(expression: str) -> None:
    found = drawn(expression, 4_000)
    assert {*found} == {*range(3, 13)}
    assert found == drawn(expression, 4_000)


@pytest.mark.slow
def test_random_numbers_have_their_distributions() -> None:
    counts = Counter(drawn("random_exponential(1, 10, 5.0)", 20_000))
    assert counts[1] / 20_000 == pytest.approx(0.396, abs=0.02)  # (1 - e^-0.5) / (1 - e^-5)
    # A small parameter, at which the part that is cut off counts: (1 - e^-0.05) / (1 - e^-0.5)
    counts = Counter(drawn("random_exponential(1, 10, 0.5)", 20_000))
    assert counts[1] / 20_000 == pytest.approx(0.1239, abs=0.01)
    counts = Counter(drawn("random_zipfian(1, 2, 2.0)", 20_000))
    assert counts[1] / counts[2] == pytest.approx(4, rel=0.1)
    counts = Counter(drawn("random_gaussian(1, 10, 2.5)", 20_000))
    # The manual's formula: (PHI(0) - PHI(-0.5)) / (2 PHI(2.5) - 1)
    assert counts[5] / 20_000 == pytest.approx(0.1939, abs=0.01)
    assert counts[5] / counts[6] == pytest.approx(1, rel=0.1)
    counts = Counter(drawn("random(1, 4)", 20_000))
    assert all(count / 20_000 == pytest.approx(0.25, abs=0.02) for count in counts.values())


def test_two_variables_of_a_transaction_are_independent() -> None:
    both = zip(drawn("random(1, 3)", 900), drawn(":y", 900, "y random(1, 3)"), strict=True)
    assert len({*both}) == 9


def refused(line: str, statement: str = "SELECT :x;") -> str:
    return f"{line}\n{statement}"


REFUSED = {
    "another command": (refused(r"\sleep 1 ms"), r"\sleep, which is not read"),
    "a condition": (refused(r"\if :scale > 1"), r"\if, which is not read"),
    "a function": (refused(r"\set x permute(1, 2)"), "permute(1, 2), which is not read"),
    "an unset variable": (refused(r"\set x :y + 1"), "names :y, which nothing sets"),
    "no expression": (refused(r"\set x 1 +"), "cannot be read"),
    "a power": (refused(r"\set x 9 ** 9"), "which is not read"),
    "an attribute": (refused(r"\set x (1).__class__"), "which is not read"),
    "a call of another": (refused(r"\set x __import__('os')"), "which is not read"),
    "a text": (refused(r"\set x 'a'"), "which is not read"),
    "division by nothing": (refused(r"\set x 1 / 0"), "it has no value"),
    "no bounds": (refused(r"\set x random(5, 1)"), "no whole number is from 5 to 1"),
    "no bigint": (refused(r"\set x 9223372036854775807 + 1"), "is no bigint"),
    "too many ranks": (refused(r"\set x random_zipfian(1, 9999999, 1.1)"), "at most 1,000,000"),
    "a nest": (refused(r"\set x " + "(" * 5_000 + "1" + ")" * 5_000), "cannot be read"),
    "an answer kept": ("SELECT 1 AS a \\gset", r"\gset, which is not read"),
    "one kept under a prefix": ("SELECT 'it''s' AS a \\gset p_\nSELECT 2;", r"\gset, which is"),
    "all answers kept": ("SELECT 1 AS a\n  \\aset", r"\aset, which is not read"),
    "a command behind a statement": ("SELECT 1; \\sleep 1 ms", r"\sleep, which is not read"),
    "a pipeline's semicolon": ("SELECT 1\\; SELECT 2;", r"\;, which is not read"),
    "set twice": ("\\set x 1\nSELECT :x;\n\\set x 2\nSELECT :x;", "sets it a second time"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_not_read_is_named(case: str) -> None:
    text, stated = REFUSED[case]
    with pytest.raises(InputError) as caught:
        pgbench.script_of(text, "w").draws(1, "s", 1, "w")
    assert stated in caught.value.message


WORKLOAD = """
[data.pgbench_accounts]
sql = "SELECT i + 1 AS aid, 0 AS abalance FROM range(100) AS t(i)"
primary_key = "aid"
[[statement]]
name = "lookup"
pgbench = "script.sql"
variations = 20
"""


def texts(place: Path, script: str, workload: str = WORKLOAD) -> tuple[str, ...]:
    (place / "workload.toml").write_text(workload, encoding="utf-8")
    (place / "script.sql").write_text(script, encoding="utf-8")
    choices = {"benchmark": str(place / "workload.toml"), "on": ("sqlite", "duckdb")}
    planned = plan_from(choices, None).plan.workload
    assert planned is not None
    return planned.statements[0].texts


def test_a_script_is_a_statement_of_a_workload(tmp_path: Path) -> None:
    found = texts(tmp_path, SELECT_ONLY)
    assert len({*found}) == 20
    beginning = "SELECT abalance FROM pgbench_accounts WHERE aid = "
    assert all(one.startswith(beginning) for one in found)
    larger = texts(tmp_path, SELECT_ONLY, WORKLOAD + "scale = 50\n")
    largest = max(int(one.rstrip(";").rpartition(" ")[2]) for one in larger)
    assert 100_000 < largest <= 5_000_000
    assert len(texts(tmp_path, "SELECT count(*) AS n FROM pgbench_accounts;")) == 1
    change = "\\set aid random(1, 9)\nUPDATE pgbench_accounts SET abalance = 1 WHERE aid = :aid;"
    assert texts(tmp_path, change)[0].startswith("UPDATE")


@pytest.mark.parametrize(
    "text", [r"SELECT 'a\gset', E'\\\'\gset'", r'SELECT "\gset"', r"SELECT $x$ \gset $x$ -- \gset",
             r"SELECT 1 /* \gset */"],
)  # fmt: skip
def test_a_backslash_within_a_text_is_no_command(text: str) -> None:
    assert pgbench.script_of(text, "w").text == text


@pytest.mark.parametrize("behind", ["-- all", "/* all */", "\n-- a; b\n", ";; -- c\n;"])
def test_a_comment_behind_the_last_semicolon_is_no_statement(tmp_path: Path, behind: str) -> None:
    count = "SELECT count(*) AS n FROM pgbench_accounts;"
    (one,) = texts(tmp_path, f"{count} {behind}")
    assert one.startswith(count)
    (several,) = texts(tmp_path, f"BEGIN; -- now\n{count} -- and\nEND; {behind}")
    assert len(script.split(several, "postgres", "s")) == 3


def test_a_script_has_no_text_beside_it(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has sql beside a script"):
        texts(tmp_path, SELECT_ONLY, WORKLOAD + 'sql = "SELECT 1"\n')


@pytest.mark.parametrize("variations", [1, 2, 40])
def test_what_a_rare_script_changes_is_known_where_no_variation_has_it(
    tmp_path: Path, variations: int
) -> None:
    (tmp_path / "rare.sql").write_text("BEGIN;\nUPDATE t SET x = x + 1;\nEND;\n", encoding="utf-8")
    (tmp_path / "often.sql").write_text("SELECT x FROM t;\n", encoding="utf-8")
    (tmp_path / "workload.toml").write_text(
        '[data.t]\nsql = "SELECT 1 AS x"\n[[statement]]\nname = "s"\n'
        f'pgbench = ["rare.sql@1", "often.sql@9"]\nvariations = {variations}\n',
        encoding="utf-8",
    )
    plan = plan_from({"benchmark": str(tmp_path), "on": ("sqlite",)}, None).plan
    assert plan.workload is not None
    assert plan.workload.statements[0].script_changes == ("t",)
