"""Runs of agents of a configuration: a study of agent judges."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from umpirical.datasets.transcripts.files import read_transcripts
from umpirical.datasets.values import number_of
from umpirical.domain.errors import ConfigError
from umpirical.protocols.agent.protocol import AGENT
from umpirical.protocols.harness.configuration import (
    AGENTS,
    DATASET,
    EVALUATION,
    PERTURBATION,
    STABILITY,
    SYNTHETIC_DATA,
    HarnessConfig,
)
from umpirical.protocols.harness.shared import (
    AGENT_TESTS,
    SOURCE,
    USUAL_MODEL,
    Fillings,
    OwnJudge,
    filling_texts,
    judge_entries,
    listed,
    own_judges_of,
    shared_keys,
    simulated_judges,
    tell_texts,
    writer,
)
from umpirical.protocols.harness.texts import perturbation_files
from umpirical.protocols.imports.configuration import Moved
from umpirical.protocols.protocol import OWN_MODELS
from umpirical.protocols.start import path_from
from umpirical.protocols.stress.protocol import LONGEST_TEXT
from umpirical.store.files import read_named_text


def agent_study(config: HarnessConfig, folder: Path, tests: Sequence[str]) -> Moved:
    """Returns a study of agent judges."""
    texts, judges = filling_texts(config), own_judges_of(config)
    data = _transcripts(config)
    items = _items(config, judges[0].template, texts)
    preprocess = _preprocess(config)
    most = config.count(key := f"{AGENTS}.sample_num_from_orig", config.count(SAMPLED, 10))
    transcripts: dict[str, Any] = {"path": path_from(folder, data), "preprocess": preprocess}
    if 0 < most < (count := len(read_transcripts(data).transcripts)):
        transcripts["most"] = most
        config.changed(key, f"transcripts.most: {most}", f"the first {most} of {count}, not a random choice")
        config.changed(SAMPLED, f"transcripts.most: {most}", f"the first {most} of {count}, not a random choice")
    config.kept(key, "all transcripts")
    config.kept(SAMPLED, "all transcripts")
    steps = min(max(config.count(rounds := f"{AGENTS}.max_edit_rounds", 3), 1), MOST_STEPS)
    config.kept(rounds, f"rewriting.most_steps: {steps}")
    objectives = [AGENT_TESTS[test] for test in tests]
    if config.text(f"{AGENTS}.objective") == "pass" and objectives == ["violate"]:
        objectives = ["satisfy"]
    config.kept(f"{AGENTS}.objective", f"rewriting.objectives: {listed(objectives)}")
    simulated, own = _rewriters(config)
    rewriting = {"objectives": objectives, "items": items, "most_steps": steps}
    study = {
        **shared_keys(config),
        "transcripts": transcripts,
        "rewriting": rewriting | simulated,
        "judges": simulated_judges(judges, "sound-auditor"),
    }
    own_judges, prompts = _agent_judges(config, judges, items, texts)
    graded = any(not isinstance(item, str) for item in items.values())
    used = ["lowest_score", "highest_score"] if graded else []
    tell_texts(config, texts, (), used=[*used, *(name for judge in own_judges for name in judge.get("values", ()))])
    config.dropped(f"{PERTURBATION}.preprocess_columns_map", "a log has no columns")
    config.dropped(f"{DATASET}.use_original_data_as_expected", "verifiers decide what each original deserves")
    config.dropped(SYNTHETIC_DATA, "rewriting of transcripts does not read it, as in the harness")
    config.dropped(STABILITY, "an agent study has no such test; design.repeats asks every question again")
    return Moved(
        AGENT, SOURCE, study, {"rewriting": rewriting | own, "judges": own_judges}, data, prompts, _notes(config)
    )


def _notes(config: HarnessConfig) -> list[str]:
    """Returns what is said about files beside the configuration that are of no use."""
    why = "a transcript as text has no calls that a check could read; umpirical generate rewrites the log again"
    return [f"{path.name} is not used: {why}" for path in perturbation_files(config.path.resolve().parent)]


SAMPLED = f"{SYNTHETIC_DATA}.sample_num_from_orig"

MOST_STEPS = 50


def _transcripts(config: HarnessConfig) -> Path:
    """Returns the log of the agent's runs."""
    key = f"{AGENTS}.input_log_path"
    named = config.text(key)
    other = f"{DATASET}.dataset_name"
    data = config.file(key, named, config.root) if named else config.file(other, config.text(other), config.data)
    config.kept(key, f"transcripts.path: {data.name}")
    if named and data.name != config.text(other):
        config.dropped(other, f"{AGENTS}.input_log_path takes its place")
    config.kept(other, f"transcripts.path: {data.name}")
    return data


OURS = {
    "drop_reasoning_traces": "drop-reasoning",
    "strip_tool_call_outputs": "drop-tool-output",
    "drop_tool_messages": "drop-tool-output",
}
"""The harness's steps before transcripts are read, and the one here that does the same."""


def _preprocess(config: HarnessConfig) -> list[str]:
    """Returns the steps here in place of the harness's, which are names of Python code: none of it is imported."""
    found: list[str] = []
    for key in (f"{AGENTS}.transcript_preprocessors", f"{AGENTS}.transcript_preprocessor"):
        named = config.names(key)
        ours = [OURS[name] for each in named if (name := each.rpartition(".")[2]) in OURS]
        found += [step for step in ours if step not in found]
        if left := [each for each in named if each.rpartition(".")[2] not in OURS]:
            config.changed(key, f"transcripts.preprocess: {listed(ours)}", f"not run here: {', '.join(left)}")
        config.kept(key, f"transcripts.preprocess: {listed(ours)}")
    return found


def _items(config: HarnessConfig, template: str, texts: Mapping[str, str]) -> dict[str, Any]:
    """Returns the items of the rubric."""
    key, wanted = f"{AGENTS}.rubric_path", f"{AGENTS}.target_rubric_ids"
    chosen = config.names(wanted)
    other, named = f"{DATASET}.default_params_path.rubric", config.text(key)
    name = named or config.text(other)
    file = config.file(key, name, config.root) if named else config.file(other, name, config.data)
    known = {item.name: item for item in _rubric(file)}
    if absent := [each for each in chosen if each not in known]:
        raise config.error(wanted, f"{file.name} has no item {absent[0]!r}; items: {', '.join(known)}")
    graded = template == "agent_autograder"
    ends = [number_of(texts.get(end, "")) for end in ("lowest_score", "highest_score")]
    found = {each: known[each].entry(ends if graded else None) for each in chosen or known}
    for place in (key, other):
        config.kept(place, f"rewriting.items: {listed(found)}", "copied; graded in levels" if graded else "copied")
    config.kept(wanted, f"rewriting.items: {listed(found)}")
    targets = f"{AGENTS}.score_targets"
    config.changed(targets, "the worst level for violate, the best for satisfy", "lower_to and raise_to name others")
    return found


@dataclass(frozen=True, slots=True)
class RubricEntry:
    """One item of a rubric file."""

    name: str
    text: str
    levels: Mapping[str, str]

    def entry(self, ends: Sequence[float | None] | None) -> object:
        """Returns the item as a study has it: a text or, if it is graded, a text with levels."""
        if ends is None:
            return self.text
        levels = dict(self.levels)
        low, high = ends
        if not levels and low is not None and high is not None and high - low <= 100:
            levels = {str(score): "" for score in range(int(low), int(high) + 1)}
        if len(levels) > 2:
            return {"text": self.text, "levels": levels}
        return "\n".join([self.text, *(f"{level}: {words}" for level, words in levels.items())])


def _rubric(file: Path) -> list[RubricEntry]:
    """Returns the items of a rubric file: JSON, a list of objects with id and instructions."""
    text = read_named_text(file, name=file.name, most=LONGEST_TEXT)
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        raise ConfigError("not valid JSON", where=file.name, fix=RUBRIC_FORM) from None
    entries = found if isinstance(found, list) else [found]
    made = [_rubric_entry(entry, file.name) for entry in entries]
    if not made or len({entry.name for entry in made}) != len(made):
        raise ConfigError("it has no items, or two with the same id", where=file.name, fix=RUBRIC_FORM)
    return made


RUBRIC_FORM = 'write a list of objects:  [{"id": "...", "instructions": "..."}]'


def _rubric_entry(entry: object, name: str) -> RubricEntry:
    found = entry if isinstance(entry, Mapping) else {}
    levels = found.get("score_levels") or []
    whole = isinstance(levels, list) and all(isinstance(level, Mapping) and "score" in level for level in levels)
    if not (found.get("id") and isinstance(found.get("instructions"), str) and whole):
        raise ConfigError("an item needs id and instructions", where=name, fix=RUBRIC_FORM)
    scores = {str(level["score"]): str(level.get("label") or "") for level in levels}
    ordered = dict(sorted(scores.items(), key=lambda level: number_of(level[0]) or 0.0))
    return RubricEntry(str(found["id"]), found["instructions"], ordered)


WRITERS = {"planner": "planner", "editor": "editor", "summary": "summariser", "verifier": "verifier"}
"""The harness's models that rewrite transcripts, and what they are here."""


def _rewriters(config: HarnessConfig) -> tuple[dict[str, Any], dict[str, Any]]:
    """Returns simulated models that rewrite, and those of the configuration."""
    usual = config.text(f"{SYNTHETIC_DATA}.generation_model_name") or USUAL_MODEL
    validating = config.text(f"{SYNTHETIC_DATA}.validation_model_name") or usual
    config.kept(f"{SYNTHETIC_DATA}.generation_model_name", f"rewriting.planner: {usual} in {OWN_MODELS}")
    config.changed(
        f"{SYNTHETIC_DATA}.validation_model_name",
        f"rewriting.verifier: {validating} in {OWN_MODELS}",
        "transcripts are always verified; choose another model than the planner",
    )
    simulated: dict[str, Any] = {}
    own: dict[str, Any] = {}
    for theirs, ours in WRITERS.items():
        place = f"{AGENTS}.{theirs}"
        config.mapping(place)
        model = config.text(f"{place}.model") or (validating if ours == "verifier" else usual)
        simulated[ours], own[ours] = writer("simulated-rewriter", ours), writer("inspect", model)
        config.kept(f"{place}.model", f"rewriting.{ours}: {model} in {OWN_MODELS}")
        config.dropped(f"{place}.prompt_path", "the prompts of those who rewrite are built in")
        config.dropped(f"{place}.system_prompt", "the prompts of those who rewrite are built in")
        config.dropped(f"{place}.temperature", "rewriting.temperatures: a list, tried in order")
    return simulated, own


def _agent_judges(
    config: HarnessConfig, judges: Sequence[OwnJudge], items: Mapping[str, Any], texts: Mapping[str, str]
) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """Returns the judges of the configuration, and the files of their prompts."""
    if any(not isinstance(item, str) for item in items.values()):
        config.changed(f"{EVALUATION}.template", "the built-in prompts", "they give the levels of each item")
        return [judge.entry for judge in judges], {}
    roles = {"rubric": "task", "request": "task", "transcript": "first", "response": "first"}
    own = {name: text for name, text in texts.items() if name not in roles}
    # The template asks for no JSON: the harness has the server enforce its form, and so does this.
    answer = {"field": "score", "labels": {"1": "violated", "0": "satisfied"}, "constrained": True}
    return judge_entries(config, judges, Fillings(roles, {**own, "rubric_id": ", ".join(items)}), answer)
