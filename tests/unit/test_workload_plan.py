"""A workload in its plan: complete, the same again, and another where anything of it is another."""

import html
import json
import shlex
from dataclasses import replace
from pathlib import Path

import pytest
from report_fixture import make_run
from typer.testing import CliRunner
from workload_fixture import CUSTOMER, made

from loadstone import registry
from loadstone.cli import app
from loadstone.errors import InputError
from loadstone.plan.plan import Plan
from loadstone.report.reproduce import command, plan_toml
from loadstone.report.terminal_summary import summary
from loadstone.run.planned import plan_from

PAPER = make_run(("select-1%-heap",), scales=(10_000,))
ON = {"on": ("sqlite", "duckdb")}
FOLDER = {"benchmark": "./shop", **ON}
ALONE = {"sql": "SELECT city, 'a b' AS x FROM customer -- so", "data": ("customer.parquet",), **ON}


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    made(tmp_path)
    return tmp_path


def planned(choices: dict, file: Path | None = None) -> Plan:
    return plan_from(choices, file).plan


@pytest.mark.parametrize("choices", [FOLDER, ALONE], ids=["folder", "query"])
def test_a_page_says_how_to_plan_the_same(choices: dict, place: Path) -> None:
    plan = planned(choices)
    run = replace(PAPER, plan=plan)
    words = shlex.split(command(run))
    stated = CliRunner().invoke(app, [*words[1:], "--dry-run"])
    assert stated.output.startswith(f"plan {plan.hash}: "), (words, stated.output)
    file = place / "plan.toml"
    file.write_text(plan_toml(run), encoding="utf-8")
    assert planned({}, file) == plan
    assert Plan.from_json(plan.to_json()) == plan


def test_types_are_named_beside_a_query() -> None:
    for text in ("credit=decimal(12,3)", "customer.credit=decimal(12,3)"):
        plan = planned({**ALONE, "types": (text,)})
        assert plan.workload is not None
        assert plan.workload.tables[0].columns[-1].type == "decimal(12,3)"
        assert f"--types '{text}'" in command(replace(PAPER, plan=plan))
    assert planned(ALONE).edition != plan.edition


@pytest.mark.parametrize(
    ("types", "facts"),
    [
        (("credit=",), ("'credit='",)), (("credit",), ("'credit'",)),
        (("credit=text", "credit=float8"), ("customer.credit", "text", "float8")),
        (("credit=decimal(40,2)",), ("decimal(40,2)",)),
    ],
)  # fmt: skip
def test_a_type_that_is_none_is_refused(types: tuple, facts: tuple) -> None:
    with pytest.raises(InputError) as caught:
        planned({**ALONE, "types": types})
    assert all(fact in caught.value.message for fact in facts)


@pytest.mark.parametrize("name", ["md", "html"])
def test_the_types_taken_are_shown(name: str) -> None:
    run = replace(PAPER, plan=planned(FOLDER))
    text = html.unescape(registry.load_report(name)().render(run).decode())
    shown = CliRunner().invoke(app, ["run", "./shop", "--on", "sqlite", "--dry-run"]).output
    screen = " ".join(str(one) for one in summary(run, Path("r"), None))
    for said in (text, shown, screen):
        assert "customer (customer.csv): id int8, name text" in said
        assert "total decimal(3,1)" in said


def test_a_plan_of_a_paper_knows_no_workload() -> None:
    assert not {"workload", "sql", "data"} & {*json.loads(PAPER.plan.to_json())}
    assert Plan.from_json(PAPER.plan.to_json()) == PAPER.plan


def test_a_plan_of_queries_is_written_as_before_there_were_changes() -> None:
    plan = planned(FOLDER)
    stated = json.loads(plan.to_json())["workload"]["statements"]
    assert stated
    assert not any("changes" in one for one in stated)
    changing = planned({"sql": "DELETE FROM customer", "data": ("customer.parquet",), **ON})
    assert changing.workload is not None
    assert changing.workload.changed == ("customer",)
    assert Plan.from_json(changing.to_json()) == changing
    assert changing.workload.edition != planned(ALONE).workload.edition


CHANGES = {
    "data": lambda shop: (shop / "customer.csv").write_text(CUSTOMER.replace("Ann", "Amy")),
    "text": lambda shop: edited(shop, "count(*) AS orders", "count(*) AS o"),
    "key": lambda shop: edited(shop, 'indexes = ["customer"]', 'indexes = ["placed"]'),
    "type": lambda shop: edited(shop, "decimal(10,2)", "decimal(12,2)"),
    "seed": lambda shop: edited(shop, "title =", "seed = 7\ntitle ="),
}


def edited(shop: Path, before: str, after: str) -> None:
    file = shop / "workload.toml"
    text = file.read_text("utf-8")
    assert before in text
    file.write_text(text.replace(before, after, 1), encoding="utf-8")


@pytest.mark.parametrize("change", CHANGES)
def test_whatever_is_another_makes_it_another_edition(change: str, place: Path) -> None:
    before = planned(FOLDER)
    CHANGES[change](place / "shop")
    after = planned(FOLDER)
    assert before.edition != after.edition
    assert before.hash != after.hash


def test_neither_its_place_nor_its_title_makes_it_another_edition(place: Path) -> None:
    before = planned(FOLDER)
    edited(place / "shop", "A small shop", "A large shop")
    (place / "shop").rename(place / "store")
    assert planned({**FOLDER, "benchmark": "./store"}).edition == before.edition


@pytest.mark.parametrize(
    ("choices", "stated"),
    [
        ({"sql": "SELECT 1", "benchmark": "oo1"}, "--sql runs no benchmark"),
        ({"data": ("customer.parquet",)}, "--data needs --sql"),
        ({"sql": "query"}, "neither a statement nor a file"),
        ({"sql": "none.sql"}, "none.sql"),
        ({**FOLDER, "rows": (7,)}, "has 203 rows"),
        ({**FOLDER, "operations": ("revenue",)}, "it has revenue-by-city, orders-by-month"),
        ({**ALONE, "data": ("customer.parquet", "shop/customer.csv")},
         "customer.parquet and --data shop/customer.csv"),
        ({"sql": "SELECT 1 AS a", "types": ("a=text",)}, "--types needs --data"),
        ({**ALONE, "types": ("text",)}, "customer.COLUMN=TYPE"),
        ({**ALONE, "types": ("none=text",)}, "has no column 'none'"),
        ({**ALONE, "types": ("id=number",)}, "no type 'number'"),
        ({"benchmark": "./none"}, "there is no workload"),
    ],
)  # fmt: skip
def test_choices_that_do_not_fit_together_are_refused(choices: dict, stated: str) -> None:
    with pytest.raises(InputError) as caught:
        planned(choices)
    assert stated in f"{caught.value.message}; {caught.value.hint}"
