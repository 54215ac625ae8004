"""The project's text speaks of the project alone: no one's machine, paths or private addresses; and
in the field's words: one word for each thing, none of those that it replaced."""

import re
from collections.abc import Iterator, Mapping
from fnmatch import fnmatch
from pathlib import PurePosixPath

import pytest

# Patterns are spelled in parts, so that this file does not find itself.
BANNED = {
    "a path of one machine": r"(?<![\w.~/-])/(?:wo" + r"rk|ro" + r"ot|Us" + r"ers|ho" + r"me)/\w\w",
    "a private address": r"\b(?:192\." + r"168|10\.\d{1,3})\.\d{1,3}\.\d{1,3}\b",
    "a key": r"-----BEG" + r"IN [A-Z ]*PRIVATE KEY-----",
    "a mark of an unfinished merge": r"^(?:<{7}|>{7}) ",
}
INDEX_OPTIONS = r"^\s*(?:--?(?:extra-)?index-url|--find-links|-f\s)|://"
CRATES_SOURCE = "registry+https://github.com/rust-lang/crates.io-index"


def banned_words(texts: Mapping[str, str]) -> list[str]:
    return [
        f"{path}:{number}: {kind}: {match[0]}"
        for path, text in texts.items()
        for number, line in enumerate(text.splitlines(), start=1)
        for kind, pattern in BANNED.items()
        if (match := re.search(pattern, line))
    ]


def foreign_registries(texts: Mapping[str, str]) -> list[str]:
    """Lock files and settings must work for everyone: the public registries, by their defaults."""
    complaints = []
    for path, text in texts.items():
        pattern = {
            "Cargo.lock": r"^source = \"(?!" + re.escape(CRATES_SOURCE) + r"\")",
            "config.toml": r"^\s*(?:replace-with|registry|index)\s*=",
            "pyproject.toml": r"^\[\[?tool\.uv\.index|^\s*(?:extra-)?index-url\s*=",
        }.get(path.split("/")[-1])
        if path.startswith("requirements") and path.endswith(".lock"):
            pattern = INDEX_OPTIONS
        if pattern:
            complaints += [
                f"{path}:{number}: not everyone has this registry: {line.strip()}"
                for number, line in enumerate(text.splitlines(), start=1)
                if re.search(pattern, line)
            ]
    return complaints


@pytest.mark.parametrize("check", [banned_words, foreign_registries])
def test_the_text_speaks_of_the_project_alone(check, texts):
    complaints = check(texts)
    assert not complaints, "\n".join(complaints)


@pytest.mark.parametrize(
    "text",
    ["see /ho" + "me/ann/x", "'/ro" + "ot/xy'", "host=192." + "168.1.7", "<<<<<" + "<< ours"],
)
def test_a_banned_word_is_seen(text):
    assert len(banned_words({"a.md": f"fine\n{text}\n"})) == 1


@pytest.mark.parametrize(
    "text", ["a/work/b", "127.0.0.1", "https://a.org/home/x", "version 10.4.2"]
)
def test_other_words_are_left_alone(text):
    assert banned_words({"a.md": text}) == []


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("Cargo.lock", 'source = "registry+https://example.org/index"'),
        ("requirements.lock", "--index-url https://example.org/simple"),
        ("fuzz/Cargo.lock", 'source = "git+https://example.org/a"'),
        (".cargo/config.toml", 'replace-with = "mirror"'),
        ("pyproject.toml", "[[tool.uv.index]]"),
    ],
)
def test_a_foreign_registry_is_seen(path, line):
    assert len(foreign_registries({path: f"{line}\n"})) == 1


def test_the_public_registry_is_left_alone():
    texts = {"Cargo.lock": f'source = "{CRATES_SOURCE}"\n', "requirements.lock": "rich==15.0.0\n"}
    assert foreign_registries(texts) == []


UNREAD = ("LICENSE", "tests/tidy/test_words.py")

# The word of now -> what it replaced, as a part of a name or in a text.
REPLACED = {
    "fork": r"spells?(?! out)",
    "observation": r"witness(?:es)?",
    "speed probe": r"yardsticks?",
    "A/A control": r"twins?",
    "load level": r"crowds?",
    "concurrent users": r"(?<!how )(?<!as )many[ _]?users",
    "refork": r"renew(?:s|ed|als?|able|ing)?",
    "undecided": r"wanting",
    "client; hypervisor": r"hosts?|hosted",
    "preset": r"--panel|(?:quick|default|full|cold) panels?|panels(?= full)",
    "summary": r"portraits?",
    "comparison of terms": r"ledgers?",
    "harness overhead": r"(?<!\.)floors?(?!\()",
    "median": r"middles|middle_ns|_middle|the middle of what",
    "interleaved group": r"units? of interleaving",
    "block; interleaved; alternate": r"by_turn|in turns|(?:takes?|taking|took) turns|by turns"
    r"|a turn"
    r"|(?:its|their|his|whose|'s) turns?|(?:first|last|next|each|such) turn",
    "mark": r"announces?",
    "idle states disabled": r"awake",
    "re-implemented; replaced": r"reviv(?:e[ds]?|als?)",
    "contradict": r"convict(?:s|ed|ing)?",
    "peers": r"rivals?",
    "group": r"shelf|shelves",
    "leftovers": r"rubbish",
    "the noun": r"he|his|him|whoever|whomever",
}
OF_LODE = {
    "try_read": r"glance[sd]?",
    "record tag": r"labels?",
    "prefetcher; task": r"has_hands|(?:the|its|four|no) hands?(?! (?:goes|came|went))|errands?",
    "stale; version": r"outdated|stamp(?:s|ed)?",
    "cancelled; abort victim": r"doom(?:s|ed)?|sacrific\w*",
    "unpacked node": r"draft(?:s|ed)?",
    "frame budget; permit": r"shelf|rooms?(?= of the cache)",
    "corruption": r"struct damaged|struct fault",
    "second-chance bit": r"watched(?=,| all|: bool)",
    "offset hint": r"guess(?:es|ed)?",
    "read; try_read": r"(?:a|an|one|each|every|no|last|first|the|in) looks?(?! up|-up|_)",
    "wait state": r"fates?",
    "`locks=database`": r"locks=table",
}
"""The same of words that elsewhere mean something else."""
LODE = "crates/lode/", "docs/lode.md", "docs/lode-format.md", "python/loadstone/engines/lode/"
OLD = {
    now: re.compile(rf"(?<![a-z])(?:{old})(?![a-z])", re.IGNORECASE)
    for now, old in (REPLACED | OF_LODE).items()
}
MAYBE = {now: re.compile(old) for now, old in (REPLACED | OF_LODE).items()}
"""The pattern that a text in lower case must match before it is read line by line: without the look
around a word, most patterns begin with letters, which `re` finds ten times as fast."""
CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
BREAK = re.compile(r"\n\s*(?:///?|//!|[#*>])?\s*")
BEGINNING = re.compile(r"\s*(?:///?|//!|[#*>])?\s*(\S+)")
"""Of a line: what marks a comment, and the first word."""

HOST = "a host on a network"
EARLIER = "names of earlier records, choices and options"
ALLOWED = {
    ("refork", "crates/clients/*lmdb*"): "LMDB's own names",
    ("refork", "docs/method.md"): "a file's memory",
    ("client; hypervisor", "*mariadb*"): HOST,
    ("client; hypervisor", "*postgresql*"): HOST,
    ("client; hypervisor", "*spark*"): HOST,
    ("client; hypervisor", "Cargo.toml"): "a feature of Cranelift",
    ("client; hypervisor", "*/tests.rs"): HOST,
    ("client; hypervisor", "*/wire.rs"): HOST,
    ("client; hypervisor", "docs/record.md"): HOST,
    ("client; hypervisor", "python/loadstone/plan/variant.py"): HOST,
    ("client; hypervisor", "python/loadstone/registry.py"): HOST,
    ("client; hypervisor", "selfbench/*"): HOST,
    ("client; hypervisor", "tests/cli/test_hostile_input.py"): HOST,
    ("client; hypervisor", "tests/cli/test_lode_*.py"): HOST,
    ("client; hypervisor", "tests/cli/test_user_secrets.py"): HOST,
    ("client; hypervisor", "tests/conformance/test_user_sqlite.py"): HOST,
    ("client; hypervisor", "tests/report_fixture.py"): "the paper's own word",
    ("client; hypervisor", "tests/unit/test_diagnostics.py"): HOST,
    ("client; hypervisor", "tests/unit/test_report_summary.py"): HOST,
    ("client; hypervisor", "tests/unit/test_secret.py"): HOST,
    ("client; hypervisor", "tests/unit/test_variant.py"): HOST,
    ("client; hypervisor", "tests/user_server.py"): HOST,
    ("harness overhead", "crates/quel/*"): "rounding down",
    **dict.fromkeys(((now, "*earlier_*.py") for now in REPLACED), EARLIER),
    **dict.fromkeys(((now, "CHANGELOG.md") for now in REPLACED), EARLIER),
    **dict.fromkeys(((now, "python/loadstone/record/schema.py") for now in REPLACED), EARLIER),
    ("speed probe", "tests/unit/test_record_columns.py"): EARLIER,
    ("`locks=database`", "crates/lode/src/tactics/tests.rs"): "a value that is refused",
}
"""(The word of now, files) -> why the one that it replaced may stand there."""


CODE = {
    ".rs": r'//[^\n]*|\'(?:[^\'\\\n]|\\.)\'|b?r(#*)"(?:[^"]|"(?!\1))*"\1|b?"(?:[^"\\]|\\.)*"',
    ".py": r'#[^\n]*|\w{0,2}"""(?:[^\\]|\\.)*?"""|\w{0,2}"(?:[^"\\\n]|\\.)*"',
    ".toml": r'#[^\n]*|"""(?:[^\\]|\\.)*?"""|"(?:[^"\\\n]|\\.)*"',
    ".css": r"/\*.*?\*/|:[^;{}]*[;}]",
    ".j2": r"\{#.*?#\}|[>}][^<{]*[<{]|[a-z]-?anchor=\"\w+\"",
}
"""The end of a file's name -> its comments and strings, in which words are no names."""
SKIPPED = {end: re.compile(rf"{skip}|([A-Za-z_][\w-]*)", re.DOTALL) for end, skip in CODE.items()}
SENTENCE_WORDS = 5
"""So many words and more in a name, a test's, are a sentence: read as prose."""
NAMES = {
    "block; round": (r"turns?", "", "the word of prose: in turn, turn into"),
    "median": (
        r"middles?",
        "python/loadstone/statistics python/loadstone/analysis python/loadstone/report "
        "python/loadstone/run selfbench crates/measure",
        "elsewhere a place: a node is split in the middle",
    ),
    "mark start, mark end": (r"post(?:s|ed)?", "", ""),
    "export state, import state": (
        r"learn|leave",
        "python/loadstone/engines python/loadstone/benchmarks python/loadstone/clients "
        "python/loadstone/worker",
        "elsewhere a client leaves, a word of prose",
    ),
    "interleaved group": (r"units?", "python/loadstone/run", "elsewhere of measurement"),
    "stage": (r"scale(?<!first_scale)", "python/loadstone/run", "elsewhere a benchmark's size"),
    "cell summary": (r"figure_(?:of_)?cell|cell_figures?", "", "a figure is also any number"),
    "offset hint": (r"guess(?:es|ed)?", "crates/lode", "elsewhere of estimates"),
    "try_read, inspect": (r"look(?:s|ed)?(?!_ups?\b|_up_)", "crates/lode", "elsewhere of Python"),
    "prefetch": (
        r"fetch(?:ed|es)?(?!_(?:add|sub|max|min|update|or|and))",
        "crates/lode/src/pages crates/lode/src/buffer crates/lode/src/heap crates/lode/src/btree "
        "crates/lode/src/hash crates/lode/src/links",
        "a client does fetch pages from a server, and atomics fetch",
    ),
    "forwarding stub, relocated record": (
        r"forwards?|bod(?:y|ies)",
        "crates/lode/src/heap crates/lode/src/slotted",
        "elsewhere a direction, and the body of a record of the log",
    ),
    "free space; frame budget": (r"rooms?", "crates/lode", "elsewhere of modules"),
    "permit": (r"taken", "crates/lode/src/buffer", "elsewhere a word of prose"),
    "prefetcher": (r"hands", "crates/lode crates/query", ""),
    "pinned; lock set": (r"held", "crates/lode/src", "elsewhere of processors and tactics"),
    "unpacked node": (r"draft(?:s|ed)?", "crates/lode", "a query plan has a draft"),
    "split, merge, collapse root": (
        r"cuts?|join(?:s|ed)?|lower(?:ed)?", "crates/lode/src/btree", "elsewhere of files",
    ),
    "stale": (r"outdated", "", ""),
    "version": (r"stamp(?:s|ed)?", "", ""),
    "allocation hint": (
        r"near",
        "crates/lode/src/heap crates/lode/src/hash crates/lode/src/links crates/lode/src/space",
        "elsewhere a distance",
    ),
    "logged, unlogged; reported": (r"told|tells?", "", ""),
    "unlogged": (r"fresh", "crates/lode", "elsewhere a fresh tuple"),
    "before image": (r"kept", "crates/lode", "elsewhere a word of prose"),
    "wait state": (r"fates?", "", ""),
    "corruption": (
        r"damaged|faults?",
        "crates/lode/src/btree crates/lode/src/hash crates/lode/src/heap crates/lode/src/log "
        "crates/lode/src/slotted crates/lode/src/columns crates/lode/src/disk",
        "elsewhere of a page that is not in memory, and of a query's text",
    ),
    "add resident, remove resident": (
        r"settles?|settled|leaves?|leave_\w+", "crates/lode/src/buffer", "a relation is settled",
    ),
}  # fmt: skip
"""The word of now -> (words that it replaced, as words of a name; the folders in which they are
banned, empty: everywhere; the reason why not elsewhere)."""
OLD_NAMES = {
    now: (re.compile(rf"(?<![a-z])(?:{old})(?![a-z])"), tuple(folders.split()) or ("",))
    for now, (old, folders, _) in NAMES.items()
}


def names(path: str, text: str) -> Iterator[tuple[int, str]]:
    """(place, name) of each name in a file's code, and of the file itself."""
    yield 0, path.rsplit("/", 1)[-1].rsplit(".", 1)[0]
    if pattern := SKIPPED.get(path[path.rfind(".") :]):
        for match in pattern.finditer(text):
            if name := match[match.lastindex or 0] if match.lastindex == pattern.groups else None:
                yield match.start(), name


def words_of(name: str) -> str:
    """`TwoWords`, `two_words` and `two-words` as `two_words`."""
    return CAMEL.sub("_", name).replace("-", "_").lower().strip("_")


def replaced_names(texts: Mapping[str, str]) -> list[str]:
    """Names of which a word is one that was replaced."""
    complaints = []
    for path, text in texts.items():
        patterns = [
            (now, pattern)
            for now, (pattern, folders) in OLD_NAMES.items()
            if path.startswith(folders)
        ]
        known: dict[str, list[str]] = {}
        for place, name in names(path, text) if not path.startswith(UNREAD) else ():
            if name not in known:
                words = words_of(name)
                is_name = words.count("_") + 1 < SENTENCE_WORDS
                known[name] = [now for now, old in patterns if is_name and old.search(words)]
            complaints += [
                f"{path}:{text.count(chr(10), 0, place) + 1}: of {name!r} a word is {now} now"
                for now in known[name]
            ]
    return complaints


def replaced_words(texts: Mapping[str, str]) -> list[str]:
    """Words in texts and paths that were replaced. A longer word that holds one (witnessed) is
    not seen: most of these are words of their own."""
    complaints = []
    for path, text in texts.items():
        if path.startswith(UNREAD) or path.endswith((".lock", ".golden")):
            continue
        allowed = {now for now, files in ALLOWED if fnmatch(path, files)}
        spaced = CAMEL.sub("_", text)
        lower = BREAK.sub(" ", spaced.lower())
        patterns = [
            (now, pattern)
            for now, pattern in OLD.items()
            if now not in allowed
            and (now in REPLACED or path.startswith(LODE))
            and (MAYBE[now].search(lower) or MAYBE[now].search(path.lower()))
        ]
        complaints += [
            f"{path}:{number}: {match[0]!r} is called {now} now"
            for number, line in lines_of(path, spaced if patterns else "")
            for now, pattern in patterns
            if (match := pattern.search(line))
        ]
    return complaints


def lines_of(path: str, text: str) -> Iterator[tuple[int, str]]:
    """(number, line) of a text: the file's own path first, and between two lines the last word of
    one with the first of the next, for words that a line break parts."""
    yield 0, " ".join(PurePosixPath(path).with_suffix("").parts)
    before = ""
    for number, line in enumerate(text.splitlines(), start=1):
        yield number, line
        first = BEGINNING.match(line)
        if before and first:
            yield number, f"{before} {first[1]}"
        before = line.rstrip(" *").rpartition(" ")[2]


def test_each_thing_has_the_fields_word(texts):
    complaints = replaced_words(texts)
    assert not complaints, "\n".join(complaints)


def test_no_name_has_a_replaced_word(texts):
    complaints = replaced_names(texts)
    assert not complaints, "\n".join(complaints)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("crates/query/src/a.rs", "let a = '\"'; fn turn_away() {}"),
        ("crates/measure/src/a.rs", 'let x = "a"; let middle_ns = 1;'),
        ("crates/lode/src/heap/a.rs", "struct NoRoom;"),
        ("crates/lode/src/heap/a.rs", "enum Fit { ForwardHere }"),
        ("crates/lode/src/buffer/a.rs", "let pages_taken = 0;"),
        ("crates/lode/src/shared/a.rs", "enum Origin { Kept }"),
        ("crates/lode/src/lock/a.rs", "struct HeldLocks;"),
        ("crates/lode/src/btree/a.rs", "fn cut_leaf() {}"),
        ("crates/lode/src/a.rs", "let page_stamp = 1;"),
        ("crates/lode/src/hash/a.rs", "let near = page;"),
        ("crates/lode/src/a.rs", "struct Hands(u8);"),
        ("crates/lode/tests/a.rs", "enum Fate {}"),
        ("crates/lode/tests/a.rs", "fn look_after(x: u8) {}"),
        ("crates/lode/src/hash/a.rs", "fn is_damaged() {}"),
        ("crates/clients/src/told.rs", ""),
        ("python/loadstone/run/a.py", "turns_ns = 1"),
        ("python/loadstone/run/a.py", '"""Text."""\n\nclass Unit:\n    pass\n'),
        ("python/loadstone/analysis/a.py", "class TermsTold:\n    pass\n"),
        ("python/loadstone/worker/a.py", "def learn(self):\n    pass\n"),
        ("python/loadstone/engines/a/tactics.toml", "[tell-rungs]\n"),
        ("python/loadstone/report/page/a.css", ".strip .middle { color: red }\n"),
        ("python/loadstone/report/page/a.html.j2", '<p class="middle">{{ a }}</p>\n'),
        ("python/loadstone/report/page/a.html.j2", "<p>{{ reported.middle }}</p>\n"),
    ],
)  # fmt: skip
def test_a_replaced_word_is_seen_in_a_name(path, text):
    assert len(replaced_names({path: text})) == 1


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("crates/query/src/a.rs", '// turn\nlet x = "a turn";'),
        ("crates/lode/src/a.rs", "fn look_up() {}"),
        ("crates/lode/src/a.rs", "fn a_page_that_was_kept_is_read() {}"),
        ("crates/lode/src/buffer/a.rs", "word.fetch_add(1)"),
        ("crates/lode/src/btree/a.rs", "let middle = at;"),
        ("python/loadstone/run/a.py", '"""A turn."""\nreturned = "turn"  # turn\n'),
        ("python/loadstone/report/page/a.css", "td { vertical-align: middle; }\n"),
        ("python/loadstone/report/page/a.html.j2", "<b>middle</b>\n"),
        ("docs/a.md", "the turn"),
    ],
)
def test_a_word_that_is_no_name_is_left_alone(path, text):
    assert replaced_names({path: text}) == []


@pytest.mark.parametrize(
    "text",
    [
        "def _spell(self):", "SPELL_NS = 3", "class TwinCell:", "the harness's own floor",
        "HostError", "load_host()", "a host serves it", "--panel full", "many_users", "ManyUsers",
        "the portrait", "hold_awake()", "it convicts itself", "whoever reads it", "what he sees",
        "yardstick_ns", "in turns", "NEAR_FLOOR", "middle_ns", "the ledger's rows",
    ],
)  # fmt: skip
def test_a_replaced_word_is_seen(text):
    assert replaced_words({"a.md": f"fine\n{text}\n"})


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.md", "one after another, in\nturns.\n"),
        ("a.rs", "    /// By the default\n    /// panel.\n"),
        ("a.py", "# takes\n# turns\n"),
        ("run/crowd/a.py", ""),
        ("docs/twins.md", ""),
        ("run/yardstick.py", ""),
    ],
)
def test_a_replaced_word_is_seen_over_two_lines_and_in_a_path(path, text):
    assert replaced_words({path: text})


@pytest.mark.parametrize(
    "text",
    ["at a glance", "struct Stamp", "is_doomed", "fn outdated(", "locks=table", "record_label",
     "let the hands go", "watched: bool", "Draft::of"],
)  # fmt: skip
def test_a_word_that_lode_replaced_is_seen_there(text):
    assert replaced_words({"crates/lode/src/a.rs": f"// fine\n// {text}\n"})
    assert not replaced_words({"crates/query/src/a.rs": f"// fine\n// {text}\n"})


@pytest.mark.parametrize(
    "text",
    [
        "hostile", "math.floor(x)", "x.floor()", "witnessing", "how many users there are",
        "spells out", "the default preset", "a ghost", "the cellar",
    ],
)  # fmt: skip
def test_words_that_hold_one_are_left_alone(text):
    assert replaced_words({"a.md": text}) == []


def test_each_exception_is_still_needed(texts):
    read = {path: text for path, text in texts.items() if not path.startswith(UNREAD)}
    idle = [
        (now, files)
        for now, files in ALLOWED
        if ALLOWED[now, files] != EARLIER
        and not any(
            fnmatch(path, files) and OLD[now].search(CAMEL.sub("_", text))
            for path, text in read.items()
        )
    ]
    assert not idle
