"""Prompt filling, in one pass: what is filled in is never looked at again."""

import re
from collections.abc import Mapping

__all__ = ["fill", "placeholders"]

_PLACEHOLDER = re.compile(r"\{\{ *([a-z_]+) *\}\}")


def fill(template: str, values: Mapping[str, str]) -> str:
    """`template` with every `{{name}}` replaced. A value that holds `{{task}}` keeps it, verbatim."""
    return _PLACEHOLDER.sub(lambda match: values[match[1]], template)


def placeholders(template: str) -> set[str]:
    return {match[1] for match in _PLACEHOLDER.finditer(template)}
