"""Numbers as people write them."""

import pytest

from loadstone.errors import InputError
from loadstone.text.parsing import whole_number


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", 0),
        ("10000", 10_000),
        ("10_000", 10_000),
        ("1e7", 10**7),
        ("10k", 10**4),
        ("2M", 2 * 10**6),
    ],
)
def test_reads(text, value):
    assert whole_number(text, "--rows") == value


@pytest.mark.parametrize("text", ["", "-1", "1.5", "ten", "1e", "1e999", "k", "1 0"])
def test_refuses_and_names_the_argument(text):
    with pytest.raises(InputError, match="--rows"):
        whole_number(text, "--rows")
