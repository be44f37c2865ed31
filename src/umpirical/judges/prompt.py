"""The prompts that ship, and the marks around what is judged."""

import re
from importlib.resources import files

from umpirical.domain.digests import digest
from umpirical.domain.errors import UsageError
from umpirical.domain.trials import Presented

__all__ = ["builtin_prompt", "fence"]


def fence(shown: Presented) -> str:
    """A mark that no candidate could have written beforehand, as it depends on all of the text it fences.

    It is the same in both orders, so it tells nothing that the texts do not.
    """
    texts = sorted([shown.first, shown.second or ""])
    return digest("fence", [shown.task, *texts])[:8]


def builtin_prompt(name: str) -> str:
    """The text of a prompt that ships with Umpirical: `compare`, or for another arm than baseline `compare-strict`."""
    folder = files("umpirical.judges") / "prompts"
    found = folder / f"{name}.md"
    if not re.fullmatch(r"[a-z0-9-]+", name) or not found.is_file():
        known = sorted(path.name.removesuffix(".md") for path in folder.iterdir() if path.name.endswith(".md"))
        raise UsageError(f"no built-in prompt {name!r}", fix=f"known: {', '.join(known)}")
    return found.read_text(encoding="utf-8")
