"""Is a study fit to run. Reads files only."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from umpirical.domain.gates import GateResult
from umpirical.domain.stimuli import Stimulus
from umpirical.judges.spec import ModelSpec
from umpirical.runs.design import presentations
from umpirical.stimuli.controlled.recipes import recipe
from umpirical.study.files import Study, load_study
from umpirical.study.preparing import run_design
from umpirical.study.stimuli import build_stimuli, chosen_carriers, chosen_tasks
from umpirical.study.stress.checking import check_stress

__all__ = ["Checked", "check_study"]


@dataclass(frozen=True, slots=True)
class Checked:
    """What was found."""

    problems: list[str]
    gates: list[GateResult]
    calls: dict[str, int]
    """Of each judge."""
    notes: list[str]
    """What is worth knowing, and stops nothing."""


def check_study(path: Path, environment: Mapping[str, str], *, outside: bool = False) -> Checked:
    """Problems in words, gates, and the number of calls. What cannot even be read raises ConfigError."""
    study = load_study(path, outside=outside)
    keys = list(_missing_keys(study, environment))
    if study.stress is not None:
        stressed = check_stress(study)
        return Checked([*stressed.problems, *keys], [], _calls(study, stressed.stimuli), stressed.notes)
    stimuli, gates = build_stimuli(
        chosen_tasks(study),
        recipe(study.spec.design.size),
        seed=study.spec.seed,
        carriers=chosen_carriers(study),
    )
    problems = [f"gate {gate.name}: {gate.found}; allowed: {gate.allowed}" for gate in gates if _blocked(gate)]
    return Checked([*problems, *keys], gates, _calls(study, stimuli), [])


def _calls(study: Study, stimuli: Iterable[Stimulus]) -> dict[str, int]:
    shown = list(stimuli)
    calls = {}
    for judge in study.spec.judges:
        design, capabilities = run_design(study, judge), judge.capabilities.build()
        ways = (presentations(stimulus, design, capabilities, judge.kind) for stimulus in shown)
        calls[judge.name] = sum(1 for each in ways for _ in each)
    return calls


def _blocked(gate: GateResult) -> bool:
    return gate.blocks and not gate.passed


def _missing_keys(study: Study, environment: Mapping[str, str]) -> Iterator[str]:
    asked: list[tuple[str, ModelSpec | None]] = [(f"judge {judge.name}", judge.model) for judge in study.spec.judges]
    if study.stress is not None:
        writers = (("generator", study.stress.generator), ("validator", study.stress.validator))
        asked += [(name, writer.model) for name, writer in writers if writer is not None]
    for name, model in asked:
        variable = model.api_key_env if model else None
        if variable and not environment.get(variable):
            yield f"{name}: the environment variable {variable} is not set"
