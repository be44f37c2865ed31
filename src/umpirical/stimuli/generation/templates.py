"""Prompts that ship, read from the files they are kept in."""

from functools import cache
from importlib.resources import files

__all__ = ["template"]


@cache
def template(package: str, name: str) -> str:
    """The prompt `name` of the folder `prompts` in a package, as it stands in the file."""
    return (files(package) / "prompts" / f"{name}.md").read_text(encoding="utf-8")
