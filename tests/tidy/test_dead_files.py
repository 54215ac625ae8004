"""No file lies about unused: every Rust file is a module, every Python module is imported.

A Python module lives if product code imports it, names it (`"loadstone.worker.main"` for a
subprocess or a late import), or `pyproject.toml` registers it. A script outside the package lives
if the Makefile, a document or another file names it.
"""

import ast
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

import pytest

RUST_ROOTS = re.compile(
    r"(?:^|/)(?:src/(?:lib|main|bin/[\w-]+)|(?:tests|benches|examples)/(?:[\w-]+|[\w-]+/main)"
    r"|fuzz_targets/\w+|build)\.rs$"
)
PACKAGE = "python/"
NAMED = r"loadstone(\.\w+)+(:\w+)?"


def dead_rust(texts: Mapping[str, str]) -> list[str]:
    rust = {path for path in texts if path.endswith(".rs")}
    alive: set[str] = set()
    waiting = [path for path in rust if RUST_ROOTS.search(path)] + cargo_paths(texts)
    while waiting:
        path = waiting.pop()
        if path in rust and path not in alive:
            alive.add(path)
            waiting += rust_modules(path, texts[path])
    return [f"{path}: no `mod` reaches it" for path in sorted(rust - alive)]


def cargo_paths(texts: Mapping[str, str]) -> list[str]:
    """Roots that a Cargo.toml names."""
    return [
        str(PurePosixPath(manifest).parent / path)
        for manifest, text in texts.items()
        if PurePosixPath(manifest).name == "Cargo.toml"
        for path in re.findall(r"\bpath = \"([^\"]+\.rs)\"", text)
    ]


def rust_modules(path: str, text: str) -> Iterator[str]:
    """Files that the file's `mod` declarations and `include!`s may mean."""
    here = PurePosixPath(path)
    is_folder = here.name in {"lib.rs", "main.rs", "mod.rs"} or RUST_ROOTS.search(path)
    below = here.parent if is_folder else here.with_suffix("")
    declaration = r"^\s*(?:pub(?:\([\w: ]+\))?\s+)?mod\s+(\w+)\s*;"
    for name in re.findall(declaration, text, re.MULTILINE):
        yield str(below / f"{name}.rs")
        yield str(below / name / "mod.rs")
    named = r"#\[path\s*=\s*\"([^\"]+)\"\]|include(?:_str|_bytes)?!\(\s*\"([^\"]+)\""
    for groups in re.findall(named, text):
        yield str(here.parent / "".join(groups))


def module_name(path: str) -> str:
    name = path.removeprefix(PACKAGE).removesuffix(".py").replace("/", ".")
    return name.removesuffix(".__init__")


def dead_python(texts: Mapping[str, str]) -> list[str]:
    named: set[str] = set(registered(texts.get("pyproject.toml", "")))
    for path, text in texts.items():
        if path.endswith(".py") and not path.startswith("tests/"):
            named |= modules_named(path, text) - {module_name(path)}
    alive = {".".join(name.split(".")[:n]) for name in named for n in range(1, len(name) + 1)}
    return [
        f"{path}: nothing imports it and nothing registers it"
        for path in texts
        if path.startswith(PACKAGE) and path.endswith(".py")
        if module_name(path) not in alive and not path.endswith("/__main__.py")
    ]


def modules_named(path: str, text: str) -> set[str]:
    """Modules (and names in modules) that a file imports or spells out as a text."""
    parts = module_name(path).split(".")
    package = parts if path.endswith("/__init__.py") else parts[:-1]
    found = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            source = ".".join([*base, *([node.module] if node.module else [])])
            found |= {source, *(f"{source}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Constant) and re.fullmatch(NAMED, str(node.value)):
            found.add(str(node.value).split(":")[0])
    return found


def registered(pyproject: str) -> Iterator[str]:
    """Modules that `pyproject.toml` registers as scripts and entry points."""
    project = tomllib.loads(pyproject).get("project", {})
    for group in [project.get("scripts", {}), *project.get("entry-points", {}).values()]:
        yield from (target.split(":")[0] for target in group.values())


def registered_but_missing(texts: Mapping[str, str]) -> list[str]:
    modules = {module_name(path) for path in texts if path.startswith(PACKAGE)}
    return [
        f"pyproject.toml: registers {name}, which does not exist"
        for name in registered(texts.get("pyproject.toml", ""))
        if name not in modules
    ]


def dead_scripts(texts: Mapping[str, str]) -> list[str]:
    """Python and shell files outside the package which nothing names."""
    complaints = []
    for path in texts:
        name = PurePosixPath(path)
        is_script = name.suffix in {".py", ".sh"} and not path.startswith(PACKAGE)
        if not is_script or re.match(r"test_\w+|conftest|__init__", name.stem):
            continue
        word = re.compile(rf"(?<![\w-]){re.escape(name.stem)}\b")
        # A plain search comes first: it is the quicker by far.
        others = (text for other, text in texts.items() if other != path and name.stem in text)
        if not any(map(word.search, others)):
            complaints.append(f"{path}: no Makefile, document or test names it")
    return complaints


CHECKS = [dead_rust, dead_python, registered_but_missing, dead_scripts]


@pytest.mark.parametrize("check", CHECKS)
def test_no_file_is_dead(check, texts):
    complaints = check(texts)
    assert not complaints, "\n".join(complaints)


RUST = {
    "crates/a/src/lib.rs": "pub mod one;\npub(crate) mod two;\n",
    "crates/a/src/one.rs": "mod inner;\n",
    "crates/a/src/one/inner.rs": "",
    "crates/a/src/two/mod.rs": '#[path = "odd.rs"]\nmod three;\n',
    "crates/a/src/two/odd.rs": "",
    "crates/a/tests/it/main.rs": "mod four;\n",
    "crates/a/tests/it/four.rs": "",
}
PYTHON = {
    "pyproject.toml": '[project.scripts]\na = "loadstone.cli:main"\n',
    "python/loadstone/__init__.py": "",
    "python/loadstone/cli.py": "from loadstone.one import two\nRUN = 'loadstone.worker.main'\n",
    "python/loadstone/one/__init__.py": "from . import three\n",
    "python/loadstone/one/two.py": "",
    "python/loadstone/one/three.py": "",
    "python/loadstone/worker/main.py": "",
}


@pytest.mark.parametrize("removed", ["mod inner;", "mod two;", "mod three;", "mod four;"])
def test_a_dead_rust_file_is_seen(removed):
    assert dead_rust(RUST) == []
    texts = {path: text.replace(removed, "// " + removed) for path, text in RUST.items()}
    if removed == "mod three;":
        texts = {path: re.sub(r"#\[path.*\]\n", "", text) for path, text in texts.items()}
    assert dead_rust(texts) != []


@pytest.mark.parametrize(
    "removed", ["import two", "import three", "'loadstone.worker.main'", "cli:main"]
)
def test_a_dead_python_module_is_seen(removed):
    assert dead_python(PYTHON) == []
    other = {"cli:main": "worker:main"}.get(removed, removed.split()[0] + " sys")
    other = "'worker'" if removed == "'loadstone.worker.main'" else other
    texts = {path: text.replace(removed, other) for path, text in PYTHON.items()}
    assert len(dead_python(texts)) == 1


def test_a_module_that_only_a_test_or_itself_imports_is_dead():
    alone = {"python/loadstone/lone.py": "import loadstone.lone\n"}
    test = {"tests/test_lone.py": "import loadstone.lone\n"}
    assert len(dead_python(PYTHON | alone | test)) == 1


def test_an_entry_point_to_nowhere_is_seen():
    assert registered_but_missing(PYTHON) == []
    texts = {path: text for path, text in PYTHON.items() if not path.endswith("cli.py")}
    assert len(registered_but_missing(texts)) == 1


def test_a_dead_script_is_seen():
    texts = {"selfbench/load.py": "", "Makefile": "\tpython selfbench/load.py\n"}
    assert dead_scripts(texts) == []
    assert len(dead_scripts(texts | {"Makefile": "\tpython selfbench/unload.py\n"})) == 1
