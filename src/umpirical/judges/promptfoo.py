"""What the integration of promptfoo does for a judge."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from umpirical.domain.errors import UsageError
from umpirical.judges.adapters.catalogue import Adapted
from umpirical.judges.endpoint_spec import PromptfooSpec
from umpirical.judges.spec import JudgeSpec
from umpirical.registry import load_integration


@dataclass(frozen=True, slots=True)
class FoundAssertion:
    """An assertion in a config that can be a judge."""

    title: str
    keys: Mapping[str, Any]
    """What it tells of itself, as keys of a judge in a study file."""
    made_of: Mapping[str, Any]
    files: Sequence[Path]
    """Files that it names."""
    sees_task: bool


class Promptfoo(Protocol):
    """Asks assertions through promptfoo's own command."""

    def assertions(self, config: str, folder: Path) -> Sequence[tuple[str, FoundAssertion | UsageError]]:
        """Returns the place of each model-graded assertion in a config, and what it is, or why it is no judge here."""
        ...

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
