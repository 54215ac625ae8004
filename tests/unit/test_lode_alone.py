"""The package `lode`, the engine without the laboratory, as its wheel is installed.

`make lode` builds the wheel into `dist/`; where there is none, or one of other files than those
here, the tests are skipped and say so.
"""

import os
import re
import subprocess
import sys
import venv
from email.message import Message
from email.parser import Parser
from pathlib import Path
from zipfile import ZipFile

import pyarrow as pa
import pytest

import loadstone.lode

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "embedded/lode"
MEGABYTES_MAX = 15
FILES = {"__init__.py", "errors.py", "_core.pyi", "py.typed", "_core.abi3.so"}

pytestmark = pytest.mark.slow

STORE = """
import sys
import lode

with lode.Database("a.lode") as database:
    with database.writing() as writing:
        objects = writing.objects("parts")
        wheel = objects.insert(b"wheel")
        objects.insert(wheel.to_bytes(8, "little") + b"spoke")
    database.execute("create parts (number = i4, name = c12)")
    for row in enumerate(("wheel", "spoke", "rim")):
        database.execute("append to parts (number = $1, name = $2)", row)
    below = database.prepare("range of p is parts retrieve (p.name) where p.number < $1")
    print(sorted(below.query(2).fetch()))
    print(type(below.query(2).__arrow_c_stream__()).__name__)
    try:
        database.execute("range of p is parts replace p (number = p.number / 0)")
    except lode.QueryError as error:
        print(type(error).__module__, error.message.splitlines()[0])
print(lode.Database.__module__, lode.tactics_of("durability=group")[0][0])
print(*{name.partition(".")[0] for name in sys.modules} & {"loadstone", "pyarrow", "duckdb"})
"""

READ = """
import lode

with lode.Database("b.lode", "open") as database, database.reading() as reading:
    print([object for _, object in reading.objects("parts").scan()])
    print(database.query("range of p is parts retrieve (p.all)").fetch())
"""

SIDE_BY_SIDE = """
import pyarrow, lode, loadstone.lode

assert lode.Database is not loadstone.lode.Database
with loadstone.lode.Database("b.lode", "read") as ours, lode.Database("b.lode", "read") as alone:
    text = "range of p is parts retrieve (p.all)"
    tables = [pyarrow.table(database.query(text)) for database in (ours, alone)]
    assert tables[0].equals(tables[1])
with lode.Database("c.lode") as database:
    try:
        loadstone.lode.Database("c.lode")
    except loadstone.lode.LodeError as error:
        print(error.message.partition(",")[0])
    print(database.load("parts", [("number", "i4"), ("name", "c12")], tables[0]))
"""


@pytest.fixture(scope="module")
def wheel() -> Path:
    found = sorted((ROOT / "dist").glob("lode-*.whl"), key=lambda path: path.stat().st_mtime)
    if not found:
        pytest.skip("there is no dist/lode-*.whl: `make lode` builds it")
    with ZipFile(found[-1]) as archive:
        for file in PACKAGE.iterdir():
            if archive.read(f"lode/{file.name}") != file.read_bytes():
                pytest.skip(f"{found[-1].name} has another {file.name}: `make lode` builds it anew")
    return found[-1]


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment that has the wheel, and nothing else."""
    folder = tmp_path_factory.mktemp("alone") / "venv"
    venv.create(folder, symlinks=True)
    python = folder / "bin/python"
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet"]
    subprocess.run([*pip, "--no-index", "--disable-pip-version-check", wheel], check=True)
    return python


def packages(python: Path) -> Path:
    (found,) = python.parents[1].glob("lib/python*/site-packages")
    return found


def run(program: str, python: Path, folder: Path, **environment: str) -> list[str]:
    done = subprocess.run(
        [python, "-W", "error", "-c", program], cwd=folder, capture_output=True, text=True,
        env={"PATH": os.environ["PATH"], **environment},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def metadata(wheel: Path) -> Message:
    with ZipFile(wheel) as archive:
        (name,) = (each for each in archive.namelist() if each.endswith(".dist-info/METADATA"))
        return Parser().parsestr(archive.read(name).decode())


def test_the_wheel_holds_lode_and_needs_nothing(wheel: Path) -> None:
    with ZipFile(wheel) as archive:
        held = {
            name for name in archive.namelist() if not re.match(r"lode-[^/]+\.dist-info/", name)
        }
    assert held == {f"lode/{name}" for name in FILES}
    assert metadata(wheel).get_all("Requires-Dist") is None
    assert metadata(wheel)["Version"] == loadstone.__version__


def test_it_is_small_once_installed(installed: Path) -> None:
    folder = packages(installed)
    assert {path.name.partition("-")[0] for path in folder.iterdir()} == {"lode"}
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    assert size <= MEGABYTES_MAX * 1e6


def test_it_works_alone_and_the_large_package_reads_it(installed: Path, tmp_path: Path) -> None:
    assert run(STORE, installed, tmp_path) == [
        "[('spoke',), ('wheel',)]",
        "PyCapsule",
        "lode.errors line 1, column 50: division by zero",
        "lode._core " + loadstone.lode.tactics_of("durability=group")[0][0],
        "",
    ]
    with loadstone.lode.Database(tmp_path / "a.lode", "open") as database:
        assert database.recovery is None
        rows = database.query("range of p is parts retrieve (p.number, p.name)").fetch()
        assert sorted(rows) == [(0, "wheel"), (1, "spoke"), (2, "rim")]
        with database.reading() as reading:
            (wheel, first), (_, second) = reading.objects("parts").scan()
            assert (first, second) == (b"wheel", wheel.to_bytes(8, "little") + b"spoke")


def test_it_reads_the_large_package_and_both_share_a_process(
    installed: Path, tmp_path: Path
) -> None:
    parts = pa.table({"number": [1, 2], "name": ["wheel", "hub"]})
    with loadstone.lode.Database(tmp_path / "b.lode") as database:
        with database.writing() as writing:
            writing.objects("parts").insert(b"wheel")
        database.load("parts", [("number", "i4"), ("name", "c12")], parts)
    assert run(READ, installed, tmp_path) == ["[b'wheel']", "[(1, 'wheel'), (2, 'hub')]"]
    found = os.pathsep.join([*filter(None, sys.path), str(packages(installed))])
    assert run(SIDE_BY_SIDE, Path(sys.executable), tmp_path, PYTHONPATH=found) == [
        "c.lode is open already",
        "2",
    ]


def test_its_readme_runs(installed: Path, tmp_path: Path) -> None:
    (example,) = re.findall(
        r"```python\n(.*?)```", (ROOT / "embedded/README.md").read_text(), re.DOTALL
    )
    assert run(example, installed, tmp_path) == re.findall(r"# (.+)", example)
