"""Prompt templates. They are filled in one pass: what has been filled in is never looked at again."""

import re
from collections.abc import Mapping
from functools import cache, lru_cache
from importlib.resources import files

_PLACEHOLDER = re.compile(r"\{\{ *([a-z_]+ *|row\.[^{}\n]*)\}\}")
"""A name, or a column of the data, whose name may hold anything but braces."""


def fill(template: str, values: Mapping[str, str]) -> str:
    """`template` with every `{{name}}` replaced. A value that holds `{{task}}` keeps it, verbatim."""
    texts, names = _parts(template)
    filled = [""] * (len(texts) + len(names))
    filled[::2] = texts
    filled[1::2] = [values[name] for name in names]
    return "".join(filled)


# A judge has few templates, and each is filled for every trial.
@lru_cache(maxsize=64)
def _parts(template: str) -> tuple[list[str], list[str]]:
    """Returns the texts around the placeholders, and the names in these."""
    found = _PLACEHOLDER.split(template)
    return found[::2], [name.strip() for name in found[1::2]]


def placeholders(template: str) -> set[str]:
    return set(occurrences(template))


def occurrences(template: str) -> list[str]:
    """The names of all placeholders, in order, each as often as it stands there."""
    return [match[1].strip() for match in _PLACEHOLDER.finditer(template)]


@cache
def shipped_template(package: str, name: str) -> str:
    """The template `name` from the folder `prompts` of a package, as it stands in the file."""
    return (files(package) / "prompts" / f"{name}.md").read_text(encoding="utf-8")
