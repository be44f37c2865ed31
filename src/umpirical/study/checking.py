"""Is a study fit to run. Reads files only."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from umpirical.runs.design import Design, presentations
from umpirical.stimuli.checking import check_stimuli, check_task
from umpirical.stimuli.datasheet_set import datasheet_stimuli
from umpirical.study.files import Study, load_study
from umpirical.study.preparing import chosen_tasks

__all__ = ["check_study"]


def check_study(path: Path, environment: Mapping[str, str]) -> tuple[list[str], dict[str, int]]:
    """Problems in words, and the number of calls for each judge. What cannot even be read raises ConfigError."""
    study = load_study(path)
    tasks = chosen_tasks(study)
    stimuli = list(datasheet_stimuli(tasks, seed=study.spec.seed))
    problems = [problem for task in tasks for problem in check_task(task)]
    problems += check_stimuli(tasks, stimuli)
    problems += _missing_keys(study, environment)
    calls = {}
    for judge in study.spec.judges:
        design = Design(repeats=study.spec.design.repeats, arms=tuple(judge.prompts) or ("baseline",))
        capabilities = judge.capabilities.build()
        calls[judge.name] = sum(1 for stimulus in stimuli for _ in presentations(stimulus, design, capabilities))
        if judge.kind == "grade":
            problems.append(f"judge {judge.name}: the datasheet measures compare judges so far")
    return problems, calls


def _missing_keys(study: Study, environment: Mapping[str, str]) -> Iterator[str]:
    for judge in study.spec.judges:
        variable = judge.model.api_key_env if judge.model else None
        if variable and not environment.get(variable):
            yield f"judge {judge.name}: the environment variable {variable} is not set"
