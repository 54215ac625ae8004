"""The project's text speaks of the project alone: no key, no path of a machine, no private address
or package registry."""

import re
from collections.abc import Mapping

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
