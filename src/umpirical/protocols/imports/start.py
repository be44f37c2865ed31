"""Writes the study that a file from another tool describes, and says key by key what became of it."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from umpirical.domain.errors import ConfigError, UmpiricalError, UsageError
from umpirical.protocols.imports.configuration import REPORT, Configuration, Moved, Told
from umpirical.protocols.imports.openai_graders import grader_study
from umpirical.protocols.imports.promptfoo import promptfoo_study
from umpirical.protocols.protocol import OWN_MODELS, STUDY_FILE, NewStudy
from umpirical.protocols.start import new_study_file
from umpirical.store.files import write_text
from umpirical.store.yaml_files import MAX_BYTES, YamlDocument, dump_yaml, load_json, load_yaml
from umpirical.text.inert import one_line, table_cell
from umpirical.text.problems import first_problem

FIRST_LINES = """\
# From {name} of {source}. {report} lists what became of each key.
# {models}
# umpirical schema config  lists every key.
"""
SIMULATED = f"The models here are simulated: no key, no network. {OWN_MODELS} is the same study with your models."
OWN = "The models are those of the configuration. They need keys, and the extra: pip install 'umpirical[inspect]'"
BROUGHT = "The judges here are your own, and so are the keys that they need."
ASSERTED = {"defaultTest", "tests"}
"""Where a config of promptfoo has assertions."""
FIX = "name a config of promptfoo, of the Judge Reliability Harness, or one OpenAI grader; a study file needs no init"


def start_from_configuration(folder: Path, path: Path) -> NewStudy | None:
    """Writes the study that a file describes, and what became of each key. Overwrites no file.

    Returns None if the file is JSON that holds data.
    """
    file = new_study_file(folder)
    if (document := _document(path)) is None:
        return None
    config, moved = _moved(path, document, folder)
    report = list(config.report())
    head = {"name": one_line(path.name), "source": moved.source, "report": REPORT}
    study = FIRST_LINES.format(**head, models=SIMULATED if moved.own else BROUGHT) + dump_yaml(moved.study)
    own = FIRST_LINES.format(**head, models=OWN) + dump_yaml(moved.study | moved.own)
    files = moved.texts | {REPORT: _report_text(path.name, report)}
    files |= ({OWN_MODELS: own} if moved.own else {}) | {STUDY_FILE: study}
    if existing := [name for name in files if (folder / name).exists()]:
        raise UsageError(f"{folder / existing[0]} already exists", fix="choose another folder")
    folder.mkdir(parents=True, exist_ok=True)
    try:
        for name, text in files.items():
            write_text(folder / name, text)
        _check(moved, folder, path.name)
    except UmpiricalError:
        # A study that cannot run is no study: what is wrong is in the configuration or its files.
        for name in files:
            (folder / name).unlink(missing_ok=True)
        raise
    outside = moved.data is not None and not moved.data.resolve().is_relative_to(folder.resolve())
    notes = [
        f"{len(report)} keys of {path.name}, also in {folder / REPORT}:",
        *(f"  {told.fate:8} {key}   {told.words}" for key, told in report),
        *moved.notes,
        *([f"{folder / OWN_MODELS} is the same study with your own models"] if moved.own else []),
    ]
    return NewStudy(
        file,
        tuple(folder / name for name in files),
        tuple(notes),
        "--outside" if outside else "",
        generates=_generates(moved.study),
        runs_code=moved.runs_code,
    )


def _document(path: Path) -> YamlDocument | None:
    """Returns what a file says; None for JSON that describes no judge and may hold transcripts."""
    if path.suffix.lower() != ".json":
        return load_yaml(path)
    from umpirical.protocols.agent.protocol import are_transcripts

    try:
        document = load_json(path)
    except ConfigError:
        with path.open("rb") as file:
            broken = path.stat().st_size <= MAX_BYTES and file.readline(3).strip() in (b"{", b"[")
        # Logs of agents may be lines of JSON, or too large to be read here.
        if broken or not are_transcripts(path):
            raise
        return None
    return None if not _describes(document.data) and are_transcripts(path) else document


def _describes(data: Mapping[str, Any]) -> bool:
    return isinstance(data.get("type"), str) or bool(ASSERTED & set(data))


def _moved(path: Path, document: YamlDocument, folder: Path) -> tuple[Configuration, Moved]:
    """Reads a file by the tool that it is of. Raises ConfigError if it is of none."""
    if "admin" in document.data:
        # Imported here: it knows several protocols, which no other configuration needs.
        from umpirical.protocols.harness.agents import agent_study
        from umpirical.protocols.harness.configuration import HarnessConfig
        from umpirical.protocols.harness.responses import responses_study
        from umpirical.protocols.harness.shared import AGENT_TESTS, chosen_tests

        harness = HarnessConfig(path, document)
        tests = chosen_tests(harness)
        study = agent_study if AGENT_TESTS.keys() & set(tests) else responses_study
        return harness, study(harness, folder, tests)
    config = Configuration(path, document)
    if isinstance(document.data.get("type"), str):
        return config, grader_study(config)
    if ASSERTED & set(document.data):
        return config, promptfoo_study(config, folder)
    raise ConfigError("it describes no judge that can be imported", where=path.name, fix=FIX)


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
        raise ConfigError(first_problem(error), where=name, fix="correct the key that this comes from") from None
    # Without data, the test cases are the built-in ones, which have been checked.
    if moved.data is not None and (problems := moved.protocol.check(study).problems):
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
