"""Is a study fit to run. Reads files only."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from umpirical.domain.gates import GateResult
from umpirical.runs.design import Design, presentations
from umpirical.stimuli.recipes import recipe
from umpirical.study.files import Study, load_study
from umpirical.study.stimuli import build_stimuli, chosen_carriers, chosen_tasks

__all__ = ["Checked", "check_study"]


@dataclass(frozen=True, slots=True)
class Checked:
    """What was found."""

    problems: list[str]
    gates: list[GateResult]
    calls: dict[str, int]
    """Of each judge."""


def check_study(path: Path, environment: Mapping[str, str]) -> Checked:
    """Problems in words, gates, and the number of calls. What cannot even be read raises ConfigError."""
    study = load_study(path)
    stimuli, gates = build_stimuli(
        chosen_tasks(study),
        recipe(study.spec.design.size),
        seed=study.spec.seed,
        carriers=chosen_carriers(study),
    )
    problems = [f"gate {gate.name}: {gate.found}; allowed: {gate.allowed}" for gate in gates if _blocked(gate)]
    problems += _missing_keys(study, environment)
    calls = {}
    for judge in study.spec.judges:
        design = Design(repeats=study.spec.design.repeats, arms=tuple(judge.prompts) or ("baseline",))
        ways = (presentations(stimulus, design, judge.capabilities.build(), judge.kind) for stimulus in stimuli)
        calls[judge.name] = sum(1 for shown in ways for _ in shown)
    return Checked(problems, gates, calls)


def _blocked(gate: GateResult) -> bool:
    return gate.blocks and not gate.passed


def _missing_keys(study: Study, environment: Mapping[str, str]) -> Iterator[str]:
    for judge in study.spec.judges:
        variable = judge.model.api_key_env if judge.model else None
        if variable and not environment.get(variable):
            yield f"judge {judge.name}: the environment variable {variable} is not set"
