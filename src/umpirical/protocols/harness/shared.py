"""What every study in the place of a configuration has: tests, texts, writers, judges and their prompts."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from umpirical.protocols.harness.configuration import (
    DATASET,
    EVALUATION,
    PERTURBATION,
    RUN,
    SYNTHETIC_DATA,
    HarnessConfig,
)
from umpirical.protocols.imports.configuration import slug
from umpirical.protocols.protocol import OWN_MODELS, STUDY_FILE
from umpirical.protocols.stress.protocol import LONGEST_TEXT
from umpirical.protocols.stress.spec import HARNESS_NAMES
from umpirical.stats.juries import LEAST
from umpirical.store.files import read_named_text

AGENT_TESTS = {"agent_perturbation": "violate", "agent_positives": "satisfy"}


def chosen_tests(config: HarnessConfig) -> list[str]:
    """Returns the tests that the harness would evaluate, by its names."""
    run, evaluated = f"{PERTURBATION}.tests_to_run", f"{EVALUATION}.tests_to_evaluate"
    made, asked = config.names(run), config.names(evaluated)
    chosen = asked or made or ["label_flip"]
    agents = [test for test in chosen if test in AGENT_TESTS]
    chosen = agents or chosen
    said = f"stress.tests: {listed(own_tests(chosen))}"
    if agents:
        said = f"rewriting.objectives: {listed(AGENT_TESTS[test] for test in agents)}"
    for key, named in ((run, made), (evaluated, asked)):
        left = [test for test in named if test not in chosen]
        whose = "these need a study of their own" if agents else "texts of these are written and shown to no judge"
        reasons = [f"{whose}: {', '.join(left)}"] if left else []
        unknown = [test for test in named if not agents and not own_tests([test])]
        reasons += [NO_TEST.get(test, f"there is no test {test}") for test in unknown]
        if reasons:
            config.changed(key, said, "; ".join(reasons))
        else:
            config.kept(key, said)
    return chosen


NO_TEST = {"answer_ambiguity": "answer_ambiguity is excluded: a model answers again, and the answer has no known grade"}
"""Tests of the harness that are not here, and why."""

SEVERAL = {"verbosity_bias": ("verbosity-explained", "verbosity-short")}
"""A name of the harness's documentation that stands for two tests."""


def own_tests(tests: Iterable[str]) -> list[str]:
    """Returns our names of the harness's tests, without those that are not here."""
    known = {name: (own,) for name, own in HARNESS_NAMES.items()} | SEVERAL
    return list(dict.fromkeys(own for test in tests for own in known.get(test, ())))


def listed(names: Iterable[str]) -> str:
    return f"[{', '.join(names)}]"


def shared_keys(config: HarnessConfig) -> dict[str, Any]:
    """Returns what a study of either kind has: a name, a seed, and how many calls are made at a time."""
    seed = config.count(f"{SYNTHETIC_DATA}.seed", 1)
    workers = config.count(f"{EVALUATION}.max_workers", 10)
    workers = max(1, workers, config.count(f"{SYNTHETIC_DATA}.max_workers", 0))
    config.kept(f"{RUN}.module_name", f"study: {config.module}")
    config.kept(f"{SYNTHETIC_DATA}.seed", f"seed: {seed}")
    for key in (f"{EVALUATION}.max_workers", f"{SYNTHETIC_DATA}.max_workers"):
        config.kept(key, f"concurrency: {workers}")
    key = f"{PERTURBATION}.use_HITL_process"
    asks = str(config.get(key)).lower() in ("true", "yes", "on")
    why = "people review with  umpirical review, before or after a run" if asks else "a review is open to you"
    config.kept(
        key, "review: {undecided: count}", f"{why}; with undecided: exclude, texts without a decision are not used"
    )
    return {"study": config.module, "seed": seed, "concurrency": workers, "review": {"undecided": "count"}}


def filling_texts(config: HarnessConfig) -> dict[str, str]:
    """Returns what the harness fills its prompts with: texts of the file, and those of files that it names."""
    found = {}
    for name, value in config.mapping(f"{DATASET}.default_params").items():
        if isinstance(value, Mapping | list):
            raise config.error(f"{DATASET}.default_params.{name}", f"expected text, got {value!r:.60}")
        found[name] = "" if value is None else str(value)
    for name in config.mapping(f"{DATASET}.default_params_path"):
        key = f"{DATASET}.default_params_path.{name}"
        if file := config.text(key):
            path = config.file(key, file, config.data)
            found[name] = read_named_text(path, name=file, most=LONGEST_TEXT)
    return {name: text for name, text in found.items() if text}


def writer(adapter: str, name: str, tokens: int | None = None) -> dict[str, Any]:
    model = {"adapter": adapter, "name": name}
    return {"model": model} if tokens is None else {"model": model, "max_tokens": tokens}


SOURCE = "the Judge Reliability Harness"

USUAL_MODEL = "openai/gpt-4o-mini"
"""The model of the harness's own default configuration."""


@dataclass(frozen=True, slots=True)
class OwnJudge:
    """A judge of the configuration."""

    name: str
    model: str
    template: str

    @property
    def entry(self) -> dict[str, Any]:
        """The judge as a study names it, with the built-in prompt."""
        return {"name": self.name, "model": {"adapter": "inspect", "name": self.model}}


def own_judges_of(config: HarnessConfig) -> list[OwnJudge]:
    """Returns the judges: one model, or the list that takes its place."""
    template, model = f"{EVALUATION}.template", f"{EVALUATION}.autograder_model_name"
    usual = config.text(template) or "single_judge"
    found = []
    entries = config.get(f"{EVALUATION}.judges")
    for number, entry in enumerate(entries if isinstance(entries, list) else [entries] if entries else []):
        if not isinstance(entry, Mapping) or not entry.get("model"):
            raise config.error(f"{EVALUATION}.judges", f"judge {number + 1} has no model")
        name = str(entry.get("name") or entry["model"])
        found.append(OwnJudge(slug(name), str(entry["model"]), str(entry.get("template") or usual)))
        place = f"{EVALUATION}.judges[{number}]"
        config.kept(f"{place}.name", f"judge {found[-1].name}")
        config.kept(f"{place}.model", f"model: {entry['model']} in {OWN_MODELS}")
        config.dropped(f"{place}.preprocess_columns_map", "every judge reads the same columns")
    if found:
        config.dropped(model, "judges takes its place, in the harness also")
    else:
        name = config.text(model) or USUAL_MODEL
        found.append(OwnJudge(slug(name), name, usual))
        config.kept(model, f"judge {found[0].name} in {OWN_MODELS}", f"{STUDY_FILE} has a simulated one in its place")
    if len({judge.name for judge in found}) != len(found):
        raise config.error(f"{EVALUATION}.judges", "two judges have the same name", fix="rename one of them")
    why = "every judge is measured separately, and then their votes; measure OUTPUTS adds the vote to the harness's"
    if len(found) < LEAST:
        why = f"a jury needs {LEAST} judges, so every judge is measured separately; measure OUTPUTS adds the vote"
    said = "umpirical jury . --rule majority" if len(found) >= LEAST else "no jury"
    config.changed(f"{EVALUATION}.aggregation_method", said, why)
    return found


def simulated_judges(judges: Sequence[OwnJudge], profile: str) -> list[dict[str, Any]]:
    """Returns judges for a dry run: one, or as many as there are to vote."""
    names = [judge.name for judge in judges] if len(judges) > 1 else ["rehearsal"]
    return [{"name": name, "model": {"adapter": "simulated", "name": profile}} for name in names]


_PLACEHOLDER = re.compile(r"\{([A-Za-z_][A-Za-z0-9_.]*)\}")
"""What the harness fills in in a template."""


@dataclass(frozen=True, slots=True)
class Fillings:
    """What the placeholders of a template stand for."""

    roles: Mapping[str, str]
    """Maps a placeholder to a field of a judge's question, or to `row.COLUMN`."""
    texts: Mapping[str, str]
    """Maps others to a text."""
    study: frozenset[str] = frozenset()
    """Those that the study's own texts fill in."""
    hidden: frozenset[str] = frozenset()
    """Those that tell the judge the label."""

    def check(self, named: Iterable[str]) -> tuple[str, str]:
        """Returns what is wrong with a template's placeholders, and what to do; nothing if nothing is."""
        for name in named:
            if name in self.hidden:
                return f"{{{name}}}, which tells the judge the label", "remove it from the template"
            if name not in {*self.roles, *self.texts, *self.study}:
                fix = f"add {name} to default_params, or remove it: the harness sends it unfilled"
                return f"{{{name}}}, which is not a column of the data and has no text", fix
        return "", ""


@dataclass(frozen=True, slots=True)
class Prompt:
    """A judge's prompt, unchanged from the harness's template."""

    file: str
    text: str
    inputs: dict[str, str]
    values: dict[str, str]

    def entry(self, answer: Mapping[str, Any]) -> dict[str, Any]:
        """Returns what a judge's entry says about it."""
        said = {"prompts": {"baseline": self.file}, "inputs": self.inputs, "values": self.values, "answer": {**answer}}
        return {key: value for key, value in said.items() if value}


def judge_entries(
    config: HarnessConfig, judges: Sequence[OwnJudge], fillings: Fillings, answer: Mapping[str, Any]
) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """Returns the judges as a study names them, and the files of their prompts. `answer` is how they answer."""
    prompts = _prompts(config, judges, fillings)
    entries = [
        judge.entry | (prompt.entry(answer) if prompt else {}) for judge, prompt in zip(judges, prompts, strict=True)
    ]
    return entries, {prompt.file: prompt.text for prompt in prompts if prompt is not None}


def _prompts(config: HarnessConfig, judges: Sequence[OwnJudge], fillings: Fillings) -> list[Prompt | None]:
    """Returns the prompt of each judge, and tells which; None for the built-in one."""
    found = [_prompt(config, judge.template, fillings) for judge in judges]
    names = list(dict.fromkeys(judge.template for judge in judges))
    files = list(dict.fromkeys(prompt.file for prompt in found if prompt is not None))
    key, places = f"{EVALUATION}.template", [f"{EVALUATION}.judges[{number}].template" for number in range(len(judges))]
    for place in (key, *places):
        if len(files) == len(names):
            config.kept(place, f"prompts: {listed(files)} in {OWN_MODELS}", "the file as it is")
        else:
            config.changed(place, "the built-in prompt", f"prompts/templates/judge has no file {names[0]}.md here")
    return found


def _prompt(config: HarnessConfig, name: str, fillings: Fillings) -> Prompt | None:
    key, fragment = f"{EVALUATION}.template", Path(name if name.endswith(".md") else f"{name}.md")
    folder = config.root / "prompts" / "templates" / "judge"
    if not (folder / fragment).resolve().is_relative_to(folder.resolve()):
        raise config.error(key, f"{name} is outside {folder}", fix="copy it into the folder")
    if not (folder / fragment).is_file():
        return None
    text = read_named_text(folder / fragment, name=str(fragment), most=LONGEST_TEXT)
    if text.startswith("---\n") and text.count("---\n") > 1:
        text = text.split("---\n", 2)[2].strip()
    named = dict.fromkeys(_PLACEHOLDER.findall(text))
    wrong, fix = fillings.check(named)
    if wrong:
        raise config.error(key, f"{fragment} has {wrong}", fix=fix)
    inputs = {fillings.roles[each]: each for each in named if each in fillings.roles}
    values = {each: fillings.texts[each] for each in named if each not in {*fillings.roles, *fillings.study}}
    return Prompt(
        "-".join(fragment.parts), text + "\n", {role: each for role, each in inputs.items() if role != each}, values
    )


def tell_texts(config: HarnessConfig, texts: Mapping[str, str], files: Iterable[str], *, used: Iterable[str]) -> None:
    """Says what became of the texts that prompts are filled with."""
    files, used = set(files), set(used)
    for name in {
        *texts,
        *config.mapping(f"{DATASET}.default_params"),
        *config.mapping(f"{DATASET}.default_params_path"),
    }:
        for key in (f"{DATASET}.default_params.{name}", f"{DATASET}.default_params_path.{name}"):
            if f"{name}.txt" in files:
                config.kept(key, f"{name}: {name}.txt", "a copy")
            elif name in used:
                config.kept(
                    key, "scale, and values of the prompt" if name.endswith("_score") else "values of the prompt"
                )
            else:
                config.dropped(key, "no prompt of a judge names it")
