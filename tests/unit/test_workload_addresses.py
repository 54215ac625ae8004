"""Addresses of networks in an answer are compared as the texts that PostgreSQL writes."""

from ipaddress import ip_address, ip_interface, ip_network

import pytest

from loadstone.workload.answers import plain


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (ip_address("127.0.0.1"), "127.0.0.1"),
        (ip_address("2001:db8::1"), "2001:db8::1"),
        (ip_interface("127.0.0.1/24"), "127.0.0.1/24"),
        (ip_interface("2001:db8::1/64"), "2001:db8::1/64"),
        (ip_network("127.0.0.0/8"), "127.0.0.0/8"),
        (ip_network("2001:db8::/32"), "2001:db8::/32"),
    ],
)
def test_an_address_is_its_text(value: object, text: str) -> None:
    assert plain(value) == text
