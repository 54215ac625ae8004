"""A test draws its cases from a seed that the suite is given, so that every run draws the same."""

import re

UNSEEDED = re.compile(
    r"""\brandom\.(?!Random\b|seed\b)[a-z]\w*\(   # a draw from Python's own generator
      | \bRandom\(\)                              # one seeded by the system
      | \bderandomize=                            # the profile of the suite says it""",
    re.VERBOSE,
)
OWNERS = ("tests/conftest.py", "tests/tidy/test_chance.py")


def unseeded(text: str) -> list[str]:
    return [found[0] for found in UNSEEDED.finditer(text)]


def test_no_test_draws_its_own_seed(texts):
    named = [path for path in texts if path.startswith("tests/") and path.endswith(".py")]
    assert len(named) > 50
    assert {path: unseeded(texts[path]) for path in named if path not in OWNERS and
            unseeded(texts[path])} == {}  # fmt: skip


def test_a_draw_without_a_seed_is_seen():
    assert unseeded("seed = random.randrange(2**32)") == ["random.randrange("]
    assert unseeded("dice = random.Random()") == ["Random()"]
    assert unseeded("@settings(derandomize=True)") == ["derandomize="]
    assert unseeded("dice = random.Random(seed); dice.random()") == []


def test_the_test_target_gives_the_rust_tests_a_seed(texts):
    recipe = re.search(r"^test:.*\n((?:\t.*\n)+)", texts["Makefile"], re.MULTILINE)
    assert recipe is not None and re.search(r"PROPTEST_RNG_SEED=\d+ cargo test", recipe[1])
