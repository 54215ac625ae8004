"""Another release or build of an engine: how it is named, distinguished, and found."""

import sys
import sysconfig
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from compared_runs import calm_run, reasons, with_term

from loadstone import registry
from loadstone.analysis.compare.compare import compare
from loadstone.analysis.summary import short_name
from loadstone.engines.duckdb.settings import synced
from loadstone.engines.sqlite.engine import SqliteEngine
from loadstone.engines.system import System
from loadstone.errors import EngineError, InputError, UnsupportedError
from loadstone.plan.release import INSTALLED, Release, parse_release
from loadstone.plan.variant import Variant, engine_of, parse_variant, release_of
from loadstone.record.model import Run, Term
from loadstone.run import builds
from loadstone.worker.requests import _refuse_other_release

TACTICS = frozenset({"parallelism"})


@pytest.mark.parametrize(
    ("text", "engine", "release"),
    [
        ("duckdb@1.4.0", "duckdb", "1.4.0"),
        ("duckdb@1.5.0.dev12?parallelism=2", "duckdb", "1.5.0.dev12"),
        ("postgresql@/opt/pg/bin", "postgresql", "/opt/pg/bin"),
        ("duckdb@venv:/opt/v#2", "duckdb", "venv:/opt/v"),
        ("duckdb", "duckdb", ""),
    ],
)
def test_a_release_is_part_of_the_name(text: str, engine: str, release: str) -> None:
    variant = parse_variant(text, TACTICS)
    assert (variant.engine, str(variant.release), variant.name) == (engine, release, text)
    assert (engine_of(text), release_of(text)) == (engine, release)
    assert registry.engine_named(text) == engine
    assert short_name(variant.name).startswith(text.removesuffix("#2"))


def test_the_at_of_a_url_is_no_release() -> None:
    url = "postgresql://alice@db.example/app"
    assert parse_variant(url, TACTICS).release == INSTALLED
    assert release_of(parse_variant(url, TACTICS).name) == ""
    assert registry.engine_named(url) == "postgresql"


@pytest.mark.parametrize("text", ["duckdb@", "duckdb@new", "duckdb@./v", "duckdb@venv:v"])
def test_a_name_that_is_no_release_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="names no release") as caught:
        parse_variant(text, TACTICS)
    assert "@NUMBER" in caught.value.hint


def test_two_releases_have_two_folders_and_their_names_stay_apart() -> None:
    releases = [Release(number=each) for each in ("1.4.0", "1_4_0", "1.40", "")]
    slugs = {Variant("duckdb", release=each).slug for each in releases}
    assert len(slugs) == 4


@pytest.mark.parametrize("text", ["null@1.0", "lode@2", "sqlite@/usr/lib/libsqlite3.so"])
def test_an_engine_without_releases_says_so(text: str) -> None:
    engine = registry.load_engine(registry.engine_named(text))
    with pytest.raises(InputError, match="cannot be another release"):
        engine.check(parse_variant(text, frozenset()))


def test_a_folder_without_a_server_is_refused(tmp_path: Path) -> None:
    engine = registry.load_engine("postgresql")
    with pytest.raises(InputError, match="has no program initdb"):
        engine.check(Variant("postgresql", release=parse_release(str(tmp_path))))


@pytest.mark.parametrize(
    ("asked", "reported", "fits"),
    [
        ("1.4.0", "v1.4.0", True),
        ("1.4.0", "v1.4.1", False),
        ("1.4.0", "v1.4", True),
        ("3.46.0.1", "3.46.0", True),
        ("3.46", "3.46.1", False),
        ("18.6.0", "PostgreSQL 18.6 on x86_64", True),
        ("17.6.0", "PostgreSQL 18.6 on x86_64", False),
        ("1.4.0", "unknown", False),
        ("venv:/v", "v9", True),
        ("", "v9", True),
    ],
)
def test_an_engine_of_another_release_is_refused(asked: str, reported: str, fits: bool) -> None:
    variant = Variant("duckdb", release=parse_release(asked) if asked else INSTALLED)
    if fits:
        _refuse_other_release(variant, {"version": reported})
        return
    with pytest.raises(EngineError, match="the engine that started is"):
        _refuse_other_release(variant, {"version": reported})


def test_a_release_that_always_syncs_cannot_leave_it_out() -> None:
    assert synced("full", {"threads"}) == {}
    assert synced("none", {"fsync_mode"}) == {"fsync_mode": "NONE"}
    with pytest.raises(UnsupportedError, match="no fsync_mode"):
        synced("none", {"threads"})


def renamed(run: Run, name: str) -> Run:
    """A run in which sqlite has another name."""

    def now(variant: str) -> str:
        return name if variant == "sqlite" else variant

    def cells(cell):
        return replace(cell, variant=now(cell.variant))

    variants = tuple(map(now, run.plan.variants))
    on = tuple(map(now, run.plan.on))
    plan = replace(run.plan, variants=variants, on=on, cells=tuple(map(cells, run.plan.cells)))
    return replace(
        run,
        plan=plan,
        results=tuple(replace(one, cell=cells(one.cell)) for one in run.results),
        terms=tuple(replace(one, variant=now(one.variant)) for one in run.terms),
        structure_notes=tuple((now(v), *rest) for v, *rest in run.structure_notes),
    )


def test_releases_are_compared_and_what_one_lacks_is_no_other_term() -> None:
    before = renamed(with_term(calm_run(1), "version", "1"), "sqlite@1.0")
    after = with_term(calm_run(2), "version", "2")
    later = Term("sqlite", "automatic_index", "on", "on")
    after = replace(after, terms=(*after.terms, later))
    found = compare(before, after, variants=("sqlite@1.0", "sqlite"))
    assert reasons(found) == set()
    assert found.outcome == "no regression"


def test_a_term_that_both_releases_have_must_be_equal() -> None:
    before = renamed(with_term(calm_run(1), "durability", "none"), "sqlite@1.0")
    found = compare(before, calm_run(2), variants=("sqlite@1.0", "sqlite"))
    assert found.outcome == "nothing compared"
    assert any("durability" in reason for reason in reasons(found))


def test_another_version_that_nobody_asked_for_is_still_refused() -> None:
    before = renamed(with_term(calm_run(1), "version", "1"), "sqlite?cache=2097152")
    found = compare(before, with_term(calm_run(2), "version", "2"),
                    variants=("sqlite?cache=2097152", "sqlite"))  # fmt: skip
    assert any("version: 1 against 2" in reason for reason in reasons(found))


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("PYTHONPATH", raising=False)
    return tmp_path / "cache" / "loadstone" / "builds"


@pytest.fixture
def venv(tmp_path: Path) -> Callable[[str], Path]:
    """An environment with a package called apsw, of these files."""

    def made(*files: str) -> Path:
        site = tmp_path / "venv" / "lib" / f"python{sysconfig.get_python_version()}"
        site = site / "site-packages"
        info = site / "apsw-9.dist-info"
        info.mkdir(parents=True)
        for name in (*files, "other/__init__.py"):
            (site / name).parent.mkdir(exist_ok=True)
            (site / name).write_text("")
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: apsw\nVersion: 9\n")
        (info / "RECORD").write_text("".join(f"{name},,\n" for name in files))
        return tmp_path / "venv"

    return made


ENGINE: type[System] = SqliteEngine


def build_of(folder: Path) -> Release:
    return parse_release(f"venv:{folder}")


def test_of_an_environment_a_worker_sees_that_one_package(cache: Path, venv) -> None:
    variant = Variant("sqlite", release=build_of(venv("apsw/__init__.py", "../../../bin/apsw")))
    builds.prepare([(variant, ENGINE)])
    folder = Path(builds.environment_of(variant, ENGINE)["PYTHONPATH"])
    assert folder.parent == cache
    assert [path.name for path in folder.iterdir()] == ["apsw"]
    assert (folder / "apsw" / "__init__.py").exists()
    builds.prepare([(variant, ENGINE)])  # once more, and nothing is wrong


def test_a_folder_that_lost_its_module_is_not_replaced_by_what_is_installed(cache, venv) -> None:
    variant = Variant("sqlite", release=build_of(venv("apsw/__init__.py")))
    builds.prepare([(variant, ENGINE)])
    (Path(builds.environment_of(variant, ENGINE)["PYTHONPATH"]) / "apsw").unlink()
    with pytest.raises(EngineError, match="brings no module apsw"):
        builds.prepare([(variant, ENGINE)])


def test_an_environment_that_has_not_the_package_itself_is_refused(cache: Path, venv) -> None:
    variant = Variant("sqlite", release=build_of(venv("editable.pth")))
    with pytest.raises(InputError, match="editable"):
        builds.prepare([(variant, ENGINE)])
    path = Path(variant.release.environment)
    (path / "lib").rename(path / "gone")
    with pytest.raises(InputError, match="no environment of Python"):
        builds.prepare([(variant, ENGINE)])


def test_the_installed_engine_needs_no_environment(cache: Path) -> None:
    for release in (INSTALLED, parse_release("/opt/bin")):
        assert builds.environment_of(Variant("postgresql", release=release), ENGINE) == {}
    found = builds.environment_of(Variant("sqlite", release=Release(number="1.0")), ENGINE)
    assert list(found) == ["PYTHONPATH"]
    assert sys.implementation.cache_tag in found["PYTHONPATH"]
