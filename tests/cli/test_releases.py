"""Another release of an engine, installed by pip from a folder of packages, and measured beside the
installed one.

The packages are the installed APSW under other numbers: real ones, and no network is needed.
"""

import os
import zipfile
from importlib.metadata import distribution
from pathlib import Path

import pytest
from desk import Desk

CHOICES = ("--rows", "1000", "--repeat", "2", "--no-overhead", "--no-limits", "--no-report",
           "--temperature", "warm", "--operation", "select-1%-heap",
           "--record", "r.loadstone")  # fmt: skip


def package(folder: Path, release: str) -> None:
    """A wheel of the installed APSW that says it is another release."""
    found = distribution("apsw")
    info = f"apsw-{release}.dist-info"
    with zipfile.ZipFile(folder / f"apsw-{release}-py3-none-any.whl", "w") as wheel:
        names = []
        for file in found.files or ():
            if file.parts[0] == "apsw" and "__pycache__" not in file.parts:
                wheel.write(found.locate_file(file), str(file))
                names.append(str(file))
        metadata = f"Metadata-Version: 2.1\nName: apsw\nVersion: {release}\n"
        kind = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        wheel.writestr(f"{info}/METADATA", metadata)
        wheel.writestr(f"{info}/WHEEL", kind)
        record = "".join(f"{name},,\n" for name in (*names, f"{info}/METADATA", f"{info}/WHEEL"))
        wheel.writestr(f"{info}/RECORD", f"{record}{info}/RECORD,,\n")


@pytest.fixture
def index(desk: Desk) -> dict[str, str]:
    """The variables by which pip finds packages in the desk's folder, and nowhere else."""
    return {
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(desk.folder),
        "XDG_CACHE_HOME": str(desk.folder / "cache"),
    }


def linked() -> str:
    """The release of SQLite in the installed APSW."""
    return ".".join(distribution("apsw").version.split(".")[:3])


@pytest.mark.slow
def test_a_release_is_measured_beside_the_installed_one(desk: Desk, index: dict[str, str]):
    number = linked()
    package(desk.folder, f"{number}.77")
    on = ("--on", f"sqlite@{number}", "--on", "sqlite")
    done = desk.run("run", "wisconsin", *on, *CHOICES, **index)
    assert done.returncode == 0, done.stderr
    assert f"'apsw=={number}.*'" in done.stderr  # the command is shown
    assert desk.read().plan.variants == (f"sqlite@{number}", "sqlite")
    reported = {term.variant: term.read_back for term in desk.read().terms if term.key == "version"}
    assert set(reported.values()) == {number}
    place = next((desk.folder / "cache" / "loadstone" / "builds").glob("apsw-*"))
    assert (place / "apsw").is_dir()
    again = desk.run("run", "wisconsin", *on, *CHOICES[:-1], "s.loadstone", **index)
    assert again.returncode == 0, again.stderr
    assert "installed once" not in again.stderr
    # The record alone is enough to go on with, and to compare.
    both = ("--variants", f"sqlite@{number}", "sqlite")
    compared = desk.run("compare", "r.loadstone", *both, "--format", "json")
    assert compared.stdout, compared.stderr
    assert "refused" not in compared.stdout


@pytest.mark.slow
def test_a_package_that_brings_another_release_is_refused(desk: Desk, index: dict[str, str]):
    package(desk.folder, "3.1.0.0")
    done = desk.run("run", "wisconsin", "--on", "sqlite@3.1.0", *CHOICES, **index)
    assert done.returncode == 3
    assert f"sqlite@3.1.0: the engine that started is {linked()}" in done.stderr
    assert not desk.record.exists()


@pytest.mark.slow
def test_a_release_that_is_not_to_be_had_leaves_nothing(desk: Desk, index: dict[str, str]):
    done = desk.run("run", "wisconsin", "--on", "sqlite@3.2.0", *CHOICES, **index)
    assert done.returncode == 3
    assert "sqlite 3.2.0 cannot be installed" in done.stderr
    nowhere = {**index, "PIP_NO_INDEX": "0", "PIP_INDEX_URL": "http://127.0.0.1:9/simple",
               "PIP_RETRIES": "0"}  # fmt: skip
    done = desk.run("run", "wisconsin", "--on", "sqlite@3.2.0", *CHOICES, **nowhere)
    assert done.returncode == 3
    assert "no package index can be reached" in done.stderr
    assert [*(desk.folder / "cache" / "loadstone" / "builds").iterdir()] == []
    assert not desk.record.exists()


@pytest.mark.slow
def test_a_server_is_started_from_a_folder_of_programs(desk: Desk):
    from loadstone.engines.postgresql.binaries import require_server

    folder = require_server() / "pginstall" / "bin"
    done = desk.run("run", "wisconsin", "--on", f"postgresql@{folder}", *CHOICES)
    if os.geteuid() == 0 and "cannot run the programs" in done.stderr:
        pytest.skip("the server's account cannot enter the environment's folder")
    assert done.returncode == 0, done.stderr
    reported = {term.key: term.read_back for term in desk.read().terms}
    assert reported["postgresql"] == str(folder)
    assert "PostgreSQL" in reported["version"]
