"""`--skew`: which edition it chooses, and what it refuses."""

from pathlib import Path

import pytest

from loadstone.errors import InputError
from loadstone.run.skew import skewed


def test_it_chooses_the_edition_of_the_distribution(tmp_path: Path) -> None:
    assert skewed({"rows": [10_000]}, None, "zipf") == {"rows": [10_000], "edition": "1993-skewed"}
    file = tmp_path / "plan.toml"
    file.write_text('benchmark = "wisconsin"\n')
    assert skewed({}, file, "zipf") == {"edition": "1993-skewed"}
    file.write_text('benchmark = "idm"\n')
    with pytest.raises(InputError, match="idm has no skewed data"):
        skewed({}, file, "zipf")


@pytest.mark.parametrize(
    ("chosen", "distribution", "said", "hint"),
    [
        ({"benchmark": "oo1"}, "zipf", "oo1 has no skewed data", "wisconsin has"),
        ({"benchmark": "wisconsin"}, "normal", "skewed by 'normal'", "it has: --skew zipf"),
        ({"edition": "1983"}, "zipf", "1983 is chosen, too", "one of them"),
        ({"benchmark": "./shop"}, "zipf", "./shop brings its own", "zipf = "),
        ({"sql": "SELECT 1"}, "zipf", "--sql brings its own", "zipf = "),
    ],
)
def test_what_has_no_such_data_is_refused(
    chosen: dict[str, object], distribution: str, said: str, hint: str
) -> None:
    with pytest.raises(InputError) as caught:
        skewed(chosen, None, distribution)
    assert said in caught.value.message
    assert hint in caught.value.hint
