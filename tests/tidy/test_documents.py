"""The documents and the error hints name things that exist: paths, links, `make` targets, commands.

Looked at: code spans and shell blocks of every Markdown file, and every `hint=` in the Python code.
"""

import ast
import fnmatch
import re
import shlex
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import PurePosixPath

import pytest

Commands = Mapping[tuple[str, ...], set[str]]
"""Words of a command -> its options; the program itself is the empty tuple."""

SPAN = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
FENCE = re.compile(r"^(```|~~~)(\w*)[^\n]*\n(.*?)^\1", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)|\b(?:src|href)=\"([^\"]+)\"")
HELP = {"-h", "--help"}
SHELLS = {"sh", "bash", "shell", "console"}
SOURCES = {".py", ".pyi", ".rs", ".md", ".quel", ".sql"}


def prose(text: str) -> str:
    return FENCE.sub("", text)


def spans(texts: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """(where, code span) of each document and each hint."""
    for path, text in texts.items():
        if path.endswith(".md"):
            yield from ((path, span) for span in SPAN.findall(prose(text)))
        elif path.endswith(".py"):
            yield from ((path, span) for hint in hints(text) for span in hint_spans(hint))


@cache
def hints(text: str) -> tuple[str, ...]:
    """The constant texts of all `hint=` arguments of a Python file."""
    return tuple(_hints(text)) if "hint" in text else ()


def _hints(text: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.keyword) and node.arg == "hint":
            for part in ast.walk(node.value):
                if isinstance(part, ast.Constant) and isinstance(part.value, str):
                    yield part.value


def hint_spans(hint: str) -> list[str]:
    """Code spans, and options that stand bare in the sentence."""
    return SPAN.findall(hint) + re.findall(r"(?<!\S)--[a-z][\w-]+", SPAN.sub("", hint))


def command_lines(texts: Mapping[str, str]) -> Iterator[tuple[str, list[str]]]:
    """(where, words) of each command in a span or in a shell block."""
    for where, span in spans(texts):
        yield where, words_of(span)
    for path, text in texts.items():
        if not path.endswith(".md"):
            continue
        for _, language, block in FENCE.findall(text):
            if language in SHELLS:
                for line in block.replace("\\\n", " ").splitlines():
                    yield path, words_of(line.removeprefix("$ "))


def words_of(line: str) -> list[str]:
    try:
        return shlex.split(line, comments=True)
    except ValueError:  # an unfinished quotation: not a command
        return []


# --- paths and links ------------------------------------------------------------------------


def missing_paths(texts: Mapping[str, str]) -> list[str]:
    known = set(texts) | {str(parent) for path in texts for parent in PurePosixPath(path).parents}
    folders = {path.split("/")[0] for path in texts if "/" in path}
    ignored = tuple(line.strip().strip("/") for line in texts.get(".gitignore", "").split())
    complaints = []
    for where, span in spans(texts):
        path = span.split(":")[0].removeprefix("./")
        if not re.fullmatch(r"[\w.*<>{}/-]+", path) or (ignored and path.startswith(ignored)):
            continue
        from_root = path.split("/")[0] in folders and "/" in path
        if from_root or PurePosixPath(path).suffix in SOURCES:
            pattern = re.sub(r"<[^>]*>|\{[^}]*\}|\bNAME\b", "*", path.rstrip("/"))
            patterns = [pattern] if from_root else [pattern, f"*/{pattern}"]
            if not any(fnmatch.filter(known, each) for each in patterns):
                complaints.append(f"{where}: names `{span}`, which does not exist")
    return complaints


def missing_documents(texts: Mapping[str, str]) -> list[str]:
    """Documents that source code sends its reader to."""
    return [
        f"{path}: names {name}, which does not exist"
        for path, text in texts.items()
        if PurePosixPath(path).suffix in {".py", ".pyi", ".rs", ".toml"}
        for name in sorted(set(re.findall(r"(?<![\w/])docs/[\w/-]+\.md", text)))
        if name not in texts and "/tidy/" not in path
    ]


def broken_links(texts: Mapping[str, str], files: frozenset[str] = frozenset()) -> list[str]:
    """`files` are linked to, but are no texts: pictures."""
    known = set(texts) | files | {str(p) for path in texts for p in PurePosixPath(path).parents}
    complaints = []
    for path, text in texts.items():
        if not path.endswith(".md"):
            continue
        for target in ("".join(groups) for groups in LINK.findall(prose(text))):
            if re.match(r"[a-z]+:", target):
                continue
            name, _, anchor = target.partition("#")
            linked = resolved(PurePosixPath(path).parent, name) if name else path
            if linked not in known:
                complaints.append(f"{path}: links to {target}, which does not exist")
            elif anchor and linked.endswith(".md") and anchor not in anchors(texts[linked]):
                complaints.append(f"{path}: links to {target}, but there is no such heading")
    return complaints


def resolved(folder: PurePosixPath, name: str) -> str:
    parts: list[str] = list(folder.parts)
    for part in PurePosixPath(name).parts:
        if part == "..":
            parts = parts[:-1]
        elif part != ".":
            parts.append(part)
    return "/".join(parts) or "."


def anchors(text: str) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", prose(text), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


# --- names in code ------------------------------------------------------------------------------

FOR_DEVELOPERS = ("ARCHITECTURE.md", "CONTRIBUTING.md", "STYLE.md")
NAME_IN = re.compile(r"`([\w.:]+)`\s+(?:in|of)\s+`([\w/.-]+\.(?:py|rs|pyi|toml))`")
NAME = re.compile(r"[A-Za-z]\w*_\w+|[A-Z][a-z]+[A-Z]\w+|\w+(?:::\w+)+|[A-Z]{4,}")


def missing_names(texts: Mapping[str, str]) -> list[str]:
    """Names of functions, types and constants in what developers read. A name of another thing that
    a document meant is not seen, nor one of a single lower-case word."""
    code = "\n".join(
        text
        for path, text in texts.items()
        if PurePosixPath(path).suffix in {".py", ".pyi", ".rs", ".toml"} or path == "Makefile"
    )
    words = set(re.findall(r"\w+", code))
    complaints = []
    for path in FOR_DEVELOPERS:
        text = prose(texts.get(path, ""))
        for span in SPAN.findall(text):
            name = re.split(r"::|=", span)[-1]
            if NAME.fullmatch(span) and name not in words:
                complaints.append(f"{path}: names `{span}`, which no code does")
        for name, file in NAME_IN.findall(text):
            there = [body for known, body in texts.items() if known == file]
            last = re.split(r"::|\.", name)[-1]
            if there and not re.search(rf"\b{re.escape(last)}\b", there[0]):
                complaints.append(f"{path}: names `{name}` in {file}, which has none")
    return complaints


# --- make and loadstone -----------------------------------------------------------------------


def missing_targets(texts: Mapping[str, str]) -> list[str]:
    rules = re.findall(r"^([\w. /$()-]+?):(?!=)", texts.get("Makefile", ""), re.MULTILINE)
    targets = {target for rule in rules for target in rule.split()}
    return [
        f"{where}: `make {target}` is no target of the Makefile"
        for where, words in command_lines(texts)
        if words[:1] == ["make"]
        for target in words[1:]
        if re.fullmatch(r"[a-z][\w-]*", target) and target not in targets
    ]


def missing_commands(texts: Mapping[str, str], commands: Commands) -> list[str]:
    others = set(re.findall(r"addoption\(\s*\"(--[\w-]+)", "\n".join(texts.values())))
    every_option = HELP.union(others, *commands.values())
    complaints = []
    for where, words in command_lines(texts):
        if words and PurePosixPath(words[0]).name == "loadstone":
            problem = command_problem(words[1:], commands)
            complaints += [f"{where}: `{shlex.join(words)}`: {problem}"] if problem else []
        elif words and re.match(r"--[a-z]", words[0]):
            option = words[0].split("=")[0]
            if option not in every_option:
                complaints.append(f"{where}: no command has the option {option}")
    return complaints


def command_problem(words: list[str], commands: Commands) -> str | None:
    """The error in the words after `loadstone`; None where there is none."""
    at: tuple[str, ...] = ()
    for word in (word.strip("[]") for word in words):
        is_group = any(len(path) == len(at) + 1 and path[: len(at)] == at for path in commands)
        if re.match(r"--?[a-zA-Z]", word):
            option = word.split("=")[0]
            if option not in commands[at] | HELP:
                return f"{' '.join(('loadstone', *at))} has no option {option}"
        elif (*at, word) in commands:
            at = (*at, word)
        elif is_group and re.fullmatch(r"[a-z][\w-]*", word):
            return f"there is no command {' '.join((*at, word))}"
    return None


@pytest.fixture(scope="session")
def commands() -> Commands:
    """The program's own tree of commands, as its argument parser has it."""
    import typer

    from loadstone import cli

    app = next(value for value in vars(cli).values() if isinstance(value, typer.Typer))
    tree: dict[tuple[str, ...], set[str]] = {}

    def visit(at: tuple[str, ...], command: object) -> None:
        params = getattr(command, "params", ())
        tree[at] = {name for param in params for name in [*param.opts, *param.secondary_opts]}
        for name, child in getattr(command, "commands", {}).items():
            visit((*at, name), child)

    visit((), typer.main.get_command(app))
    return tree


# --- the repository, and proof that each check can fail -----------------------------------------


@pytest.mark.parametrize(
    "check", [missing_paths, missing_documents, missing_targets, missing_names]
)
def test_names_in_documents_exist(check, texts):
    complaints = check(texts)
    assert not complaints, "\n".join(complaints)


def test_links_resolve(texts, tracked):
    complaints = broken_links(texts, frozenset(tracked))
    assert not complaints, "\n".join(complaints)


def test_commands_and_options_exist(texts, commands):
    complaints = missing_commands(texts, commands)
    assert not complaints, "\n".join(complaints)


MAKEFILE = ".PHONY: run\nrun test: .venv/done\n\tx\nA := b\n"
COMMANDS = {(): {"--version"}, ("run",): {"--on"}, ("data",): set(), ("data", "wisconsin"): {"-o"}}


@pytest.mark.parametrize("span", ["src/b.rs", "b.rs", "src/<name>.py", "src/sub/", "a/src/a.rs:7"])
def test_a_missing_path_is_seen(span):
    texts = {"README.md": f"See `{span}`.\n", "src/a.rs": ""}
    assert missing_paths(texts) == [f"README.md: names `{span}`, which does not exist"]


@pytest.mark.parametrize(
    "span", ["src/a.rs", "a.rs", "./src/*.rs", "src", "src/", "n/s", "runs/x.md"]
)
def test_a_path_that_exists_or_is_none_is_left_alone(span):
    texts = {"README.md": f"See `{span}`.\n", "src/a.rs": "", ".gitignore": "/runs/\n"}
    assert missing_paths(texts) == []


def test_a_missing_document_is_seen():
    assert len(missing_documents({"a.rs": "//! See docs/no.md.\n"})) == 1


@pytest.mark.parametrize("target", ["b.md", "../README.md#no", "#no", "../docs"])
def test_a_broken_link_is_seen(target):
    texts = {"README.md": "# Yes\n", "docs/a/c.md": f"# C\n[here]({target})\n"}
    assert len(broken_links(texts)) == 1


@pytest.mark.parametrize("target", ["../../README.md#yes-it-is", "#c", "..", "https://a.org/#x"])
def test_a_sound_link_is_left_alone(target):
    texts = {"README.md": "# Yes, it is\n", "docs/a/c.md": f"# C\n[here]({target})\n"}
    assert broken_links(texts) == []


@pytest.mark.parametrize("text", ["`make no`", "```sh\n$ make no\n```\n", "`make run no`"])
def test_a_missing_target_is_seen(text):
    assert len(missing_targets({"a.md": text, "Makefile": MAKEFILE})) == 1
    assert missing_targets({"a.md": text.replace("no", "test"), "Makefile": MAKEFILE}) == []


@pytest.mark.parametrize(
    "line", ["loadstone walk", "loadstone run --no", "loadstone data no", "--no", "loadstone -x"]
)
def test_a_missing_command_is_seen(line):
    assert len(missing_commands({"a.md": f"Say `{line}`.\n"}, COMMANDS)) == 1
    hint = line if line.startswith("--") else f"`{line}`"
    assert len(missing_commands({"a.py": f"f(hint='try {hint} now')\n"}, COMMANDS)) == 1


@pytest.mark.parametrize(
    "line",
    ["loadstone --version", "loadstone run x --on a", "loadstone data wisconsin -o f", "--on a"],
)
def test_a_command_that_exists_is_left_alone(line):
    assert missing_commands({"a.md": f"```sh\n{line} # why\n```\n`{line}`\n"}, COMMANDS) == []


CITED = re.compile(r"(?:OO1|Cattell)[^.;|]{0,60}[Ss]ection \d\.\d")
"""Its sections have no parts: such a number is out of another text."""


def test_no_text_cites_a_part_of_a_section_of_the_paper_of_1992(texts):
    assert CITED.search("INDEX (OO1, section 7.1): a parent")
    lines = {path: " ".join(text.split()) for path, text in texts.items()}
    own = "tests/tidy/test_documents.py"
    assert not [path for path, text in lines.items() if path != own and CITED.search(text)]


CODE = {"a.py": "def a_thing() -> None:\n    OTHER = 1\n", "b.rs": "fn walk() {}\n"}


@pytest.mark.parametrize(
    "said",
    ["as `no_such_thing` does", "`NoSuchThing`", "`NOSUCH`", "`Driver::runs`", "`OTHER` in `b.rs`"],
)
def test_a_name_that_no_code_has_is_seen(said):
    assert len(missing_names({**CODE, "STYLE.md": said})) == 1


@pytest.mark.parametrize("said", ["`a_thing`", "`Driver::walk`", "`OTHER` in `a.py`", "`word`"])
def test_a_name_that_code_has_is_left_alone(said):
    assert missing_names({**CODE, "STYLE.md": said}) == []
