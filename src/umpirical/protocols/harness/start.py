"""Writes the study that a configuration describes, and says key by key what became of it."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from umpirical.domain.errors import ConfigError, UmpiricalError, UsageError
from umpirical.protocols.harness.agents import agent_study
from umpirical.protocols.harness.configuration import HarnessConfig, Told
from umpirical.protocols.harness.responses import responses_study
from umpirical.protocols.harness.shared import AGENT_TESTS, OWN_MODELS, REPORT, Moved, chosen_tests
from umpirical.protocols.protocol import STUDY_FILE, NewStudy
from umpirical.protocols.start import new_study_file
from umpirical.store.files import write_text
from umpirical.store.yaml_files import dump_yaml
from umpirical.text.inert import one_line, table_cell
from umpirical.text.problems import first_problem

FIRST_LINES = """\
# From {name} of the Judge Reliability Harness. {report} lists what became of each key.
# {models}
# umpirical schema config  lists every key.
"""
SIMULATED = f"The models here are simulated: no key, no network. {OWN_MODELS} is the same study with your models."
OWN = "The models are those of the configuration. They need keys, and the extra: pip install 'umpirical[inspect]'"


def start_from_harness(folder: Path, data: Path) -> NewStudy:
    """Writes the study that a configuration describes, and what became of each key. Overwrites no file."""
    file = new_study_file(folder)
    config = HarnessConfig(data)
    tests = chosen_tests(config)
    moved = (
        agent_study(config, folder, tests)
        if AGENT_TESTS.keys() & set(tests)
        else responses_study(config, folder, tests)
    )
    report = list(config.report())
    head = {"name": one_line(data.name), "report": REPORT}
    files = {
        **moved.texts,
        REPORT: _report_text(data.name, report),
        OWN_MODELS: FIRST_LINES.format(**head, models=OWN) + dump_yaml(moved.study | moved.own),
        STUDY_FILE: FIRST_LINES.format(**head, models=SIMULATED) + dump_yaml(moved.study),
    }
    if existing := [name for name in files if (folder / name).exists()]:
        raise UsageError(f"{folder / existing[0]} already exists", fix="choose another folder")
    folder.mkdir(parents=True, exist_ok=True)
    try:
        for name, text in files.items():
            write_text(folder / name, text)
        _check(moved, folder, data.name)
    except UmpiricalError:
        # A study that cannot run is no study: what is wrong is in the configuration or its files.
        for name in files:
            (folder / name).unlink(missing_ok=True)
        raise
    outside = not moved.data.resolve().is_relative_to(folder.resolve())
    notes = [
        f"{len(report)} keys of {data.name}, also in {folder / REPORT}:",
        *(f"  {told.fate:8} {key}   {told.words}" for key, told in report),
        *moved.notes,
        f"{folder / OWN_MODELS} is the same study with your own models",
    ]
    written = tuple(folder / name for name in files)
    return NewStudy(file, written, tuple(notes), "--outside" if outside else "", generates=_generates(moved.study))


def _check(moved: Moved, folder: Path, name: str) -> None:
    """Raises if a study that was written is not fit to run, with simulated models or with the user's own."""
    # A placeholder takes the place of each model, so that the extra which asks it need not be installed.
    own = json.loads(json.dumps(moved.study | moved.own))
    for node in _mappings(own):
        if node.get("adapter") == "inspect":
            node |= {"adapter": "openai-compatible", "base_url": "http://127.0.0.1:1/v1"}
    try:
        _, study = (
            moved.protocol.open(moved.protocol.spec.model_validate(data), folder, outside=True)
            for data in (own, moved.study)
        )
    except ValidationError as error:
        raise ConfigError(first_problem(error), where=name) from None
    if problems := moved.protocol.check(study).problems:
        raise ConfigError(problems[0], where=name)


def _mappings(node: object) -> Iterator[dict[str, Any]]:
    if isinstance(node, dict):
        yield node
    for inner in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        yield from _mappings(inner)


def _generates(study: Mapping[str, Any]) -> bool:
    return "rewriting" in study or "generator" in study.get("stress", {})


def _report_text(name: str, report: Sequence[tuple[str, Told]]) -> str:
    counts = {fate: sum(told.fate == fate for _, told in report) for fate in ("kept", "changed", "dropped")}
    rows = ([f"`{table_cell(key)}`", told.fate, table_cell(told.here), table_cell(told.why)] for key, told in report)
    lines = [
        f"# What became of {table_cell(name)}",
        "",
        f"{len(report)} keys: " + ", ".join(f"{count} {fate}" for fate, count in counts.items()) + ".",
        "",
        "| key | | in this study | why |",
        "| --- | --- | --- | --- |",
        *(f"| {' | '.join(row)} |" for row in rows),
    ]
    return "\n".join(lines) + "\n"
