"""What the integration of promptfoo does for a judge."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from umpirical.judges.adapters.catalogue import Adapted
from umpirical.judges.endpoint_spec import PromptfooSpec
from umpirical.judges.spec import JudgeSpec
from umpirical.registry import load_integration


class Promptfoo(Protocol):
    """Asks assertions through promptfoo's own command."""

    def describe(self, spec: PromptfooSpec, folder: Path) -> Mapping[str, Any]:
        """Returns what an assertion tells of itself, as keys of a judge in a study file."""
        ...

    def files(self, spec: PromptfooSpec, folder: Path) -> dict[str, Path]:
        """Returns every file that a judge of promptfoo may load, by name: the config, what it names, and all code."""
        ...

    def judge(self, spec: JudgeSpec, named: PromptfooSpec, folder: Path) -> Adapted:
        """Makes the assertion of a spec askable. Raises UsageError if it is no judge, or promptfoo is not there."""
        ...


def promptfoo() -> Promptfoo:
    found: Promptfoo = load_integration("promptfoo")
    return found
