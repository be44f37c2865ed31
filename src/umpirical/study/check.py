"""Is a study fit to run. Reads files only."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from umpirical.domain.gates import GateResult
from umpirical.protocols.protocol import Checked
from umpirical.protocols.study import Study
from umpirical.study.file import load_study

__all__ = ["CheckedStudy", "check_study"]


@dataclass(frozen=True, slots=True)
class CheckedStudy:
    """What was found."""

    problems: list[str]
    gates: list[GateResult]
    calls: dict[str, int]
    """How many calls each judge takes."""
    notes: list[str]
    """What is worth knowing, and stops nothing."""


def check_study(path: Path, environment: Mapping[str, str], *, outside: bool = False) -> CheckedStudy:
    """Problems in words, gates, and the number of calls. What cannot even be read raises ConfigError."""
    study = load_study(path, outside=outside)
    checked: Checked = study.protocol.check(study)
    problems = [*checked.problems, *_missing_keys(study, environment)]
    return CheckedStudy(problems, checked.gates, _calls(study, checked), checked.notes)


def _calls(study: Study[Any], checked: Checked) -> dict[str, int]:
    calls = {}
    for judge in study.spec.judges:
        design = study.protocol.design(study, judge)
        ways = (design.presentations(stimulus, judge.capabilities, judge.kind) for stimulus in checked.stimuli)
        calls[judge.name] = sum(1 for each in ways for _ in each)
    return calls


def _missing_keys(study: Study[Any], environment: Mapping[str, str]) -> Iterator[str]:
    judges = [(f"judge {judge.name}", judge.model) for judge in study.spec.judges]
    for name, model in (*judges, *study.protocol.models(study)):
        variable = model.api_key_env if model else None
        if variable and not environment.get(variable):
            yield f"{name}: the environment variable {variable} is not set"
