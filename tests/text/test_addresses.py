import pytest

from umpirical.text.inert import plain_address


@pytest.mark.parametrize(
    ("url", "plain"),
    [
        ("https://me:word@host.example:8000/v1?key=x#part", "https://host.example:8000/v1"),
        ("http://host.example", "http://host.example"),
    ],
)
def test_an_address_is_written_without_what_may_be_a_secret(url, plain):
    assert plain_address(url) == plain
