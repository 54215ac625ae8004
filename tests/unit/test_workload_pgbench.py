"""Scripts of pgbench: what is read means what it means there, and what is not read is named."""

from collections import Counter
from pathlib import Path

import pytest

from loadstone.errors import InputError, UnsupportedError
from loadstone.run.planned import plan_from
from loadstone.workload import pgbench, script, sql
from loadstone.workload.parameters import filled, values_of

SELECT_ONLY = r"""-- as pgbench --show-script=select-only has it
\set aid random(1, 100000 * :scale)
SELECT abalance FROM pgbench_accounts WHERE aid = :aid;
"""


def drawn(expression: str, number: int = 1, *before: str) -> list:
    lines = "\n".join(f"\\set {one}" for one in (*before, f"x {expression}"))
    script = pgbench.script_of(f"{lines}\nSELECT :x;", "w")
    draws = script.draws(1, "s", 3)
    return [values["x"] for values in values_of(draws, number, "w")]


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("7", 7), ("-7 / 2", -3), ("7 / -2", -3), ("-7 % 3", -1), ("mod(7, -3)", 1),
        ("2 + 3 * 4", 14), ("(2 + 3) * 4", 20), ("100000 * :scale", 300_000), ("abs(-4)", 4),
        ("greatest(1, 5, 3)", 5), ("least(4, 2)", 2), ("int(7.9)", 8), ("double(2)", 2.0),
        ("+:scale - - 1", 4), ("random(5, 5)", 5), ("9223372036854775807", 2**63 - 1),
        ("-9223372036854775808", -(2**63)), ("7.0 / 2", 3.5), ("int(3.99)", 4), ("int(2.5)", 2),
        ("5 # 4", 1), ("6 & 3 | 8", 10), ("1 << 3 + 1", 16), ("~ 5 + 1", -7), ("2 + 3 % 2", 3),
        ("7.5 % 2", 0), ("1 < 2 AND NOT 3 < 2", True), ("1 != 2 or 1 / 0 = 1", True),
        ("null AND false", None), ("1 + null", None), ("null IS NULL", True),
        ("1 isnull", False), ("1 NOTNULL", True), ("1 IS NOT TRUE", True), ("1 = 1 IS TRUE", True),
        ("CASE WHEN 1 > 2 THEN 3 WHEN null THEN 4 ELSE 5 END", 5),
        ("CASE WHEN 0 THEN 3 END", None), ("case when 1 then 2 else 1 / 0 end", 2),
        ("pow(2, 0.5)", 2**0.5), ("pi()", 3.141592653589793),
        ("SQRT(16)", 4.0), ("exp(0)", 1.0), ("ln(1)", 0.0), ("debug(4)", 4), ("1e3", 1000.0),
        ("hash_fnv1a(7, 3)", 3232700585171816769), ("hash_murmur2(7, 3)", 8125866431149839784),
        ("hash(7, 3)", 8125866431149839784), ("permute(5, 1000, 3)", 98),
        ("permute(-7, 1000, 3)", 542),
        ("permute(7, 1099511627776, 3)", 245514686085), ("1 \\\n + \\\r\n 2", 3),
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
    "another command": (refused(r"\sleep 1 ms"), r"line 1 has \sleep, which is not read"),
    "a condition": (refused(r"\if :scale > 1"), r"\if, which is not read"),
    "no function": (refused(r"\set x other(1, 2)"), "calls other, no function"),
    "three bounds": (refused(r"\set x random(1, 2, 3)"), "random has 2 arguments"),
    "a flat zipf": (refused(r"\set x random_zipfian(1, 9, 0.99)"), "from 1.001 to 1000"),
    "an unset variable": (refused(r"\set x :y + 1"), "names :y, which nothing sets"),
    "the client's number": (refused(r"\set x :client_id"), "names :client_id, which nothing sets"),
    "one in a statement": ("SELECT 1;\nSELECT :low;", "line 2 names :low, which nothing sets"),
    "no expression": (refused(r"\set x 1 +"), "cannot be read, at its end"),
    "no value": (refused(r"\set x"), "sets nothing"),
    "a power": (refused(r"\set x 9 ** 9"), "cannot be read"),
    "an attribute": (refused(r"\set x (1).__class__"), "cannot be read"),
    "hexadecimal": (refused(r"\set x 0x10"), "cannot be read"),
    "an underscore": (refused(r"\set x 1_000"), "cannot be read"),
    "a note": (refused(r"\set x random(1, 10) # a note"), "cannot be read"),
    "a cast": (refused(r"\set x (1 > 3) :: int"), "cannot be read"),
    "two comparisons": (refused(r"\set x 1 < 2 < 3"), "cannot be read"),
    "a text": (refused(r"\set x 'a'"), "cannot be read"),
    "a truth value as a number": (refused(r"\set x true + 1"), "true is no number"),
    "a number as a truth value": (refused(r"\set x 1 and true"), "neither true nor false"),
    "division by nothing": (refused(r"\set x 1 / 0"), "it has no value"),
    "infinity": (refused(r"\set x exp(1000)"), "inf is no number"),
    "no bounds": (refused(r"\set x random(5, 1)"), "no whole number is from 5 to 1"),
    "no bigint": (refused(r"\set x 9223372036854775807 + 1"), "is no bigint"),
    "beyond a bigint": (refused(r"\set x 9223372036854775808"), "is no bigint"),
    "beyond a float": (refused(r"\set x 1e400"), "beyond the range"),
    "too many ranks": (refused(r"\set x random_zipfian(1, 9999999, 1.1)"), "at most 1,000,000"),
    "a nest": (refused(r"\set x " + "(" * 5_000 + "1" + ")" * 5_000), "nested too deeply"),
    "an answer kept": ("SELECT 1 AS a \\gset", r"\gset, which is not read"),
    "one kept under a prefix": ("SELECT 'it''s' AS a \\gset p_\nSELECT 2;", r"\gset, which is"),
    "all answers kept": ("SELECT 1 AS a\n  \\aset", r"line 2 has \aset, which is not read"),
    "a command behind a statement": ("SELECT 1; \\sleep 1 ms", r"\sleep, which is not read"),
    "a pipeline's semicolon": ("SELECT 1\\; SELECT 2;", r"\;, which is not read"),
    "set twice": ("\\set x 1\nSELECT :x;\n\\set x 2\nSELECT :x;", "behind a statement that names"),
    "set late": ("SELECT ':x';\n\\set x 2\n", "behind a statement that names"),
    "a byte 0": ("SELECT 1;\0", "has a byte 0"),
    "nothing": ("-- a note\n", "has no statement"),
    "no end of a text": ("SELECT 'a", "begins a text without an end"),
    "no end of a comment": ("SELECT 1 /* a", "begins a comment without an end"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_not_read_is_named(case: str) -> None:
    text, stated = REFUSED[case]
    with pytest.raises(InputError) as caught:
        pgbench.script_of(text, "w").draws(1, "s", 1)
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


CASES = {
    "capitals": ("\\SET rid random(7, 7)\nCALL_IT :rid;", ["CALL_IT 7"]),
    "two statements on one line": ("SELECT 1; SELECT 2;", ["SELECT 1", "SELECT 2"]),
    "no semicolon at the end": ("\\set x 4\nSELECT :x", ["SELECT 4"]),
    "a byte order mark": ("\ufeff\\set x 4\nSELECT :x;", ["SELECT 4"]),
    "lines that end as on Windows": ("\\set x 4\r\nSELECT :x\r\n, 1;\r\n", ["SELECT 4\r\n, 1"]),
    "a command between statements": ("SELECT 1;\n\\set x 4\nSELECT :x;", ["SELECT 1", "SELECT 4"]),
    "a command ends a statement": (
        "SELECT 1 -- one\n\\set x 4\nSELECT :x", ["SELECT 1", "SELECT 4"],
    ),
    "lines of a text": (
        "SELECT 'a\n-- b\n\\set c\nd\\\ne';", ["SELECT 'a\n-- b\n\\set c\nd\\\ne'"],
    ),
    "letters that break no line": ("SELECT '\u2028\x85\f';", ["SELECT '\u2028\x85\f'"]),
    "a line that goes on": ("\\set x 1 + \\\n 2\nSELECT :x;", ["SELECT 3"]),
    "within quotes": (
        "\\set aid -7\nSELECT '10:15:00' AS t, 'a:aid' AS u, now()::date AS d,"
        " '{\"k\":\":aid\"}'::text AS j, 3 -:aid, $$:aid$$, \":aid\", ':none' WHERE :aid > 0;",
        ["SELECT '10:15:00' AS t, 'a-7' AS u, now()::date AS d,"
         " '{\"k\":\"-7\"}'::text AS j, 3 -(-7), $$-7$$, \"-7\", ':none' WHERE (-7) > 0"],
    ),
    "each kind of value": (
        "\\set a double(7)\n\\set b 1 < 2\n\\set c null\n\\set d 0.1 + 0.2\n"
        "SELECT :a, :b, :c, :d, ':c';", ["SELECT 7, true, NULL, 0.3, 'NULL'"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_a_script_is_read_as_pgbench_reads_it(case: str) -> None:
    text, statements = CASES[case]
    read = pgbench.script_of(text, "w")
    (first,) = filled(read.text, "postgres", read.draws(1, "s", 1), 1, "w")
    found = sql.pieces(first, "postgres", "w")
    assert [one.removesuffix("-- one").rstrip() for one in found] == statements


def test_a_hash_without_a_seed_has_one_of_its_workload() -> None:
    def found(seed: int) -> object:
        draws = pgbench.script_of("\\set x hash(7)\nSELECT :x;", "w").draws(seed, "s", 1)
        return values_of(draws, 1, "w")[0]["x"]

    assert found(1) == found(1) != found(2)


@pytest.mark.parametrize("rows", ["same", "grows"])
def test_a_script_of_one_change_has_what_users_must_leave(tmp_path: Path, rows: str) -> None:
    (tmp_path / "workload.toml").write_text(
        f'{WORKLOAD}{rows} = ["SELECT count(*) AS n FROM pgbench_accounts"]\n', encoding="utf-8"
    )
    (tmp_path / "script.sql").write_text(
        "\\set aid random(1, 9)\nUPDATE pgbench_accounts SET abalance = 1 WHERE aid = :aid;",
        encoding="utf-8",
    )
    plan = plan_from({"benchmark": str(tmp_path), "on": ("sqlite",)}, None).plan
    assert plan.workload is not None
    (one,) = plan.workload.statements
    assert one.script and one.script_changes == ("pgbench_accounts",)


def test_a_transaction_may_name_its_level(tmp_path: Path) -> None:
    query = "SELECT count(*) AS n FROM pgbench_accounts"
    (one,) = texts(tmp_path, f"BEGIN READ ONLY, NOT DEFERRABLE;\n{query};\nABORT;")
    assert script.split(one, "postgres", "w")[2] == "ROLLBACK"
    (one,) = texts(tmp_path, f"BEGIN ISOLATION LEVEL SERIALIZABLE;\n{query};\nEND;")
    begins = {
        dialect: script.for_engine(one, "postgres", dialect, {}, (), "").steps[0][0]
        for dialect in ("postgres", "sqlite")
    }
    assert begins == {"postgres": "BEGIN ISOLATION LEVEL SERIALIZABLE", "sqlite": "BEGIN"}
    with pytest.raises(UnsupportedError):
        script.for_engine(one, "postgres", "duckdb", {}, (), "")


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
