"""No modules use each other in a circle: what both need stands below both.

In Rust a module is looked at with all that is in its folder, so that a circle of two folders is
seen where no two files make one. A module and its own parent may use each other: they are one thing
in parts. In Python every import counts, also one that only a type checker makes.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

import pytest
from test_imports import PACKAGE, imports, package_files

CRATES = ("clients", "datasets", "export", "lode", "measure", "python", "quel", "query")

Module = tuple[str, ...]

USE = re.compile(r"^\s*(?:pub(?:\([^)]*\))?\s+)?use\s+([^;]+);", re.MULTILINE)
INLINE = re.compile(r"(?<![\w$])(?:crate|super)(?:::\w+)+")
SILENT = re.compile(r"//[^\n]*|\"(?:[^\"\\]|\\.)*\"")
"""Comments and texts."""
TESTS = re.compile(r"^#\[cfg\(.*test.*\)\]\nmod \w+ \{.*", re.MULTILINE | re.DOTALL)


def modules(texts: Mapping[str, str], crate: str) -> dict[Module, str]:
    """A crate's modules, by their path from its root, with their text."""
    source = PurePosixPath("crates", crate, "src")
    found = {}
    for path, text in texts.items():
        if path.endswith(".rs") and PurePosixPath(path).is_relative_to(source):
            *folders, name = PurePosixPath(path).relative_to(source).with_suffix("").parts
            found[(*folders, *([] if name in ("lib", "mod") else [name]))] = TESTS.sub("", text)
    return found


def paths(tree: str) -> Iterator[list[str]]:
    """The paths that one `use` names: `a::{b, c::d}` is `a::b` and `a::c::d`."""
    head, brace, rest = tree.partition("{")
    if not brace:
        yield [part.split(" as ")[0].strip() for part in head.strip().split("::")]
        return
    prefix = [part.strip() for part in head.strip().removesuffix("::").split("::") if part.strip()]
    depth, start = 0, 0
    inside = rest[: rest.rindex("}")] + ","
    for at, letter in enumerate(inside):
        depth += (letter == "{") - (letter == "}")
        if letter == "," and depth == 0:
            if inside[start:at].strip():
                yield from (prefix + path for path in paths(inside[start:at]))
            start = at + 1


def used(module: Module, text: str, known: Mapping[Module, str]) -> Iterator[Module]:
    """The modules of its crate to which a module's `use` lines, and paths within its code, lead. A
    path that begins with the name of a module beside it is not seen, nor what a macro makes."""
    code = SILENT.sub("", text)
    for line in (*USE.findall(code), *INLINE.findall(USE.sub("", code))):
        for first, *rest in paths(line):
            at = module
            if first == "crate":
                at = ()
            elif first == "super":
                at = module[:-1]
                while rest and rest[0] == "super":
                    at, rest = at[:-1], rest[1:]
            elif first != "self":
                continue
            while rest and (*at, rest[0]) in known:
                at, rest = (*at, rest[0]), rest[1:]
            yield at


def circles(texts: Mapping[str, str], crate: str) -> set[tuple[str, str]]:
    """Pairs of modules beside each other of which each uses the other, folders as one."""
    known = modules(texts, crate)
    arrows = set()
    for module, text in known.items():
        for other in used(module, text, known):
            shared = next(
                (at for at, (a, b) in enumerate(zip(module, other, strict=False)) if a != b), None
            )
            if shared is not None:
                arrows.add((module[: shared + 1], other[: shared + 1]))
    return {
        ("::".join(one), "::".join(other))
        for one, other in arrows
        if one < other and (other, one) in arrows
    }


@pytest.mark.parametrize("crate", CRATES)
def test_no_two_modules_use_each_other(crate, texts):
    complaints = [
        f"crates/{crate}: {one} and {other} use each other; move what both need below both"
        for one, other in sorted(circles(texts, crate))
    ]
    assert not complaints, "\n".join(complaints)


def test_every_crate_is_looked_at(texts):
    sources = {path.split("/")[1] for path in texts if re.match(r"crates/\w+/src/", path)}
    assert sources == set(CRATES)


def test_a_circle_is_seen():
    root = "crates/planted/src/"
    files = {
        "lib.rs": "mod a;\nmod b;\npub use a::One;\n",
        "a.rs": "use crate::b::deep::{self, Two as Other, more::Three};\n",
        "b/mod.rs": "mod deep;\npub use deep::Two;\n",
        "b/deep.rs": "use super::Here;\nuse std::fmt;\n",
    }
    planted = {root + path: text for path, text in files.items()}
    assert circles(planted, "planted") == set()
    planted[root + "b/deep.rs"] += "pub(super) use super::super::a::One;\n"
    assert circles(planted, "planted") == {("a", "b")}
    for within in ("fn f() {\n    super::super::a::one();\n}\n", "fn f(of: crate::a::One) {}\n"):
        planted[root + "b/deep.rs"] = within
        assert circles(planted, "planted") == {("a", "b")}
    planted[root + "b/deep.rs"] = '// as crate::a::One\nconst OF: &str = "crate::a::One";\n'
    assert circles(planted, "planted") == set()
    tests_alone = "use crate::c;\n#[cfg(test)]\nmod tests {\n    use crate::a::One;\n}\n"
    planted[root + "b/deep.rs"] = tests_alone
    assert circles(planted, "planted") == set()


def imported(texts: Mapping[str, str]) -> dict[str, set[str]]:
    """The modules of the Python package, and those that each imports."""
    files = dict(package_files(texts))
    found: dict[str, set[str]] = {}
    for path, text in files.items():
        found[path] = set()
        for _, name in imports(text):
            parts = name.split(".")[1:]
            for at in (parts, parts[:-1]):
                file = "/".join(at) + ".py"
                if name.startswith("loadstone.") and file in files and file != path:
                    found[path].add(file)
    return found


def python_circles(texts: Mapping[str, str]) -> list[str]:
    """Of each module that reaches itself, the shortest way."""
    arrows = imported(texts)
    reported = []
    for start in sorted(arrows):
        ways = {target: [start, target] for target in arrows[start]}
        open_ends = list(ways)
        while open_ends and start not in ways:
            at = open_ends.pop(0)
            for target in arrows[at] - ways.keys():
                ways[target] = [*ways[at], target]
                open_ends.append(target)
        if start in ways:
            reported.append(" -> ".join(ways[start]))
    return reported


def test_no_modules_of_the_package_import_each_other_in_a_circle(texts):
    assert len(imported(texts)) > 300
    complaints = python_circles(texts)
    assert not complaints, "\n".join(complaints)


def test_a_circle_of_python_modules_is_seen():
    files = {
        "plan/a.py": "import os\nfrom loadstone.plan.b import One\n",
        "plan/b.py": "from loadstone.plan import c\n",
        "plan/c.py": "from loadstone.errors import InputError\n",
        "errors.py": "",
    }
    planted = {PACKAGE + path: text for path, text in files.items()}
    assert python_circles(planted) == []
    for_types = "if TYPE_CHECKING:\n    from loadstone.plan.a import Two\n"
    planted[PACKAGE + "plan/c.py"] += f"from typing import TYPE_CHECKING\n{for_types}"
    reported = python_circles(planted)
    assert len(reported) == 3
    assert reported[0] == "plan/a.py -> plan/b.py -> plan/c.py -> plan/a.py"
