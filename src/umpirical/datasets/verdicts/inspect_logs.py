"""Logs of Inspect AI, `.eval` and `.json`: the scores of every scorer on every sample."""

import math
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from umpirical.datasets.archives import read_archive
from umpirical.datasets.verdicts.documents import entries, parse_document, read_document, text_of
from umpirical.datasets.verdicts.past_verdict import Asking, Given, PastVerdict, VerdictFile
from umpirical.datasets.verdicts.words import grade_of
from umpirical.domain.errors import ConfigError, UsageError
from umpirical.domain.judgments import Failed, Unparsed


def read_inspect(path: Path, asking: Asking) -> VerdictFile:
    """A sample is an item, and its epochs are repeats. `label` is a key of a sample's metadata with the gold label."""
    if path.suffix == ".eval":
        header, samples = _from_archive(path)
    else:
        found = read_document(path)
        header, samples = found, list(entries(found, "samples", where=path.name))
    if _is_ours(header.get("eval")):
        raise UsageError(
            f"{path.name} is a log of our own task: its samples are trials, and their run has been measured",
            fix="umpirical report RUN, with the run that the log's metadata names",
        )
    verdicts = tuple(_verdicts(samples, asking.columns.get("label", "")))
    notes = ("What an epoch repeats is the answer and its grade: a change of grade may come from a change of answer.",)
    return VerdictFile("inspect", "grade", verdicts, notes=notes if _has_epochs(samples) else ())


def _is_ours(spec: object) -> bool:
    """Whether a log is of a task of this package, whose scores are words for outcomes, and no grades."""
    about = spec if isinstance(spec, Mapping) else {}
    names = (text_of(about.get(name)) for name in ("task", "task_registry_name"))
    return any(name.startswith("umpirical/") for name in names)


def _from_archive(path: Path) -> tuple[Mapping[str, Any], list[Mapping[str, Any]]]:
    header: Mapping[str, Any] = {}
    samples: list[Mapping[str, Any]] = []
    for name, text in read_archive(path, wanted=_is_wanted):
        found = parse_document(text, f"{path.name}: {name}")
        if not isinstance(found, Mapping):
            raise ConfigError("not an object", where=f"{path.name}: {name}", fix="is it a log of Inspect?")
        if name.startswith("samples/"):
            samples.append(found)
        elif not header or name == "header.json":
            header = found
    return header, samples


def _is_wanted(name: str) -> bool:
    return name in ("header.json", "_journal/start.json") or (name.startswith("samples/") and name.endswith(".json"))


def _verdicts(samples: Iterable[Mapping[str, Any]], label: str) -> Iterator[PastVerdict]:
    said = [(sample, _scores(sample)) for sample in samples]
    judges = dict.fromkeys(judge for _, scores in said for judge in scores)
    for sample, scores in said:
        failed = Failed("judge-error", "the sample ended with an error" if sample.get("error") else "there is no score")
        for judge in judges:
            metadata = sample.get("metadata")
            gold = grade_of(metadata.get(label)) if label and isinstance(metadata, Mapping) else ""
            yield PastVerdict(
                judge,
                text_of(sample.get("id")),
                scores.get(judge, failed),
                repeat=text_of(sample.get("epoch")),
                gold=gold if isinstance(gold, str) else "",
            )


def _scores(sample: Mapping[str, Any]) -> dict[str, Given]:
    """Returns what each scorer said; one that scores several things is a judge for each."""
    found: dict[str, Given] = {}
    scores = sample.get("scores")
    for name, score in (scores if isinstance(scores, Mapping) else {}).items():
        value = score.get("value") if isinstance(score, Mapping) else None
        if isinstance(value, Mapping):
            found |= {f"{name}.{key}": _given(part, score) for key, part in value.items()}
        else:
            found[name] = _given(value, score if isinstance(score, Mapping) else {})
    return found


def _given(value: object, score: Mapping[str, Any]) -> Given:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return Unparsed(text_of(score.get("answer"))[:400], text_of(score.get("reason")) or "the score is no number")
    return grade_of(value)


def _has_epochs(samples: Iterable[Mapping[str, Any]]) -> bool:
    return any(isinstance(epoch := sample.get("epoch"), int) and epoch > 1 for sample in samples)
