"""Addresses as they may be shown and kept: without what may be a secret."""

from urllib.parse import urlsplit


def plain_address(url: str) -> str:
    """Returns where a URL leads, without a user, a password, a query or a fragment."""
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl()
