"""Essays, answers and other texts of a configuration: a stress study."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from umpirical.datasets.guess import ColumnProfile, profile_columns
from umpirical.datasets.readers import missing_column
from umpirical.datasets.values import number_of
from umpirical.protocols.harness.configuration import DATASET, PERTURBATION, STABILITY, SYNTHETIC_DATA, HarnessConfig
from umpirical.protocols.harness.shared import (
    SOURCE,
    USUAL_MODEL,
    Fillings,
    filling_texts,
    judge_entries,
    own_judges_of,
    own_tests,
    shared_keys,
    simulated_judges,
    tell_texts,
    writer,
)
from umpirical.protocols.harness.texts import ORIGINALS, TEXTS, MovedTexts, moved_texts, perturbation_files
from umpirical.protocols.imports.configuration import Moved
from umpirical.protocols.protocol import OWN_MODELS
from umpirical.protocols.start import path_from
from umpirical.protocols.stress.protocol import STRESS
from umpirical.protocols.stress.spec import ENOUGH, SYNTHETIC, WITHOUT_GENERATOR
from umpirical.stimuli.perturbations.catalogue import PERTURBATIONS, GeneratedPerturbation


@dataclass(frozen=True, slots=True)
class Graded:
    """A scale, and what judges call its labels."""

    scale: dict[str, Any]
    words: dict[str, str] = field(default_factory=dict)
    """Maps a judge's words to labels; empty if they are the labels."""
    positive: tuple[str, ...] = ()
    why: str = ""


BINARY = {"single_judge": ("false", "true"), "single_judge_str": ("N", "Y")}
"""What judges with these templates answer, the lower first."""

PAIRS = (("0", "1"), ("0.0", "1.0"), ("false", "true"), ("n", "y"), ("no", "yes"))
"""What files call these answers."""


def _graded(config: HarnessConfig, template: str, labels: ColumnProfile | None, texts: Mapping[str, str]) -> Graded:
    """Returns the scale of a template's answers in the spelling of the file: `3.0` is what some programs make of 3."""
    key = f"{PERTURBATION}.preprocess_columns_map.expected"
    found = list(labels.values) if labels else []
    if labels is not None and (not labels.readable or not found):
        raise config.error(key, f"column {labels.name!r} has no labels, or more than a scale can have")
    if template in BINARY:
        return _yes_or_no(config, key, BINARY[template], found)
    ends = [number_of(texts.get(name, "")) for name in ("lowest_score", "highest_score")]
    if None in ends and template == "single_autograder":
        ends = [number_of(texts.get(name, "")) for name in ("min_score", "max_score")]
    numbers = {label: number_of(label) for label in found}
    if None not in numbers.values() and None in ends and found:
        known = [number for number in numbers.values() if number is not None]
        ends = [min(known), max(known)]
    low, high = ends
    if low is not None and high is not None and low.is_integer() and high.is_integer() and low < high <= low + 100:
        return _numbered(config, key, range(int(low), int(high) + 1), numbers)
    if template == "single_autograder" or len(found) < 2:
        fix = f"set {DATASET}.default_params: {{lowest_score: ..., highest_score: ...}}"
        raise config.error(key, "the scale is unknown", fix=fix)
    return Graded({"kind": "binary" if len(found) == 2 else "nominal", "labels": sorted(found)})


def _yes_or_no(config: HarnessConfig, key: str, words: tuple[str, str], found: Sequence[str]) -> Graded:
    if not found:
        return Graded({"kind": "binary", "labels": list(words)}, positive=(words[1],))
    folded = {label.casefold(): label for label in found}
    pair = next((pair for pair in PAIRS if set(folded) <= set(pair)), None)
    if pair is None or len(folded) != len(found):
        raise config.error(
            key,
            f"its labels are {', '.join(found)[:80]}, but a judge with this template answers {words[0]} or {words[1]}",
            fix="leave cells without a label empty, and spell the others 0 and 1",
        )
    low, high = (folded.get(label, label) for label in pair)
    same = (low, high) == words
    return Graded(
        {"kind": "binary", "labels": [low, high]}, {} if same else {words[1]: high, words[0]: low}, positive=(high,)
    )


def _numbered(config: HarnessConfig, key: str, grades: range, numbers: Mapping[str, float | None]) -> Graded:
    spelled: dict[int, str] = {}
    for label, number in numbers.items():
        if number is None or not number.is_integer() or int(number) not in grades:
            fix = "leave cells without a label empty, or correct lowest_score and highest_score"
            raise config.error(key, f"the label {label!r} is not one of {grades[0]} to {grades[-1]}", fix=fix)
        if spelled.setdefault(int(number), label) != label:
            raise config.error(
                key, f"{label!r} and {spelled[int(number)]!r} are the same grade", fix="spell it one way"
            )
    labels = [spelled.get(grade, str(grade)) for grade in grades]
    kind = "binary" if len(labels) == 2 else "ordinal"
    words = {str(grade): label for grade, label in zip(grades, labels, strict=True)}
    same = all(word == label for word, label in words.items())
    return Graded({"kind": kind, "labels": labels}, {} if same else words)


def responses_study(config: HarnessConfig, folder: Path, tests: Sequence[str]) -> Moved:
    """Returns a study of single responses."""
    written = moved_texts(perturbation_files(config.path.resolve().parent))
    tests = [*tests, *(test for test in written.tests if test not in tests)]
    data, profiles = _dataset(config, folder, written)
    texts, judges = filling_texts(config), own_judges_of(config)
    columns = _columns(config, profiles, data.name, texts, moved=bool(written.texts))
    graded = _graded(config, judges[0].template, profiles.get(columns.get("label", "")), texts)
    rows = next(iter(profiles.values())).rows
    chosen = own_tests(tests) or list(WITHOUT_GENERATOR)
    dataset: dict[str, Any] = {"path": path_from(folder, data), "columns": columns, "scale": graded.scale}
    if graded.positive and "label" in columns:
        dataset["positive"] = list(graded.positive)
    if not written.texts:
        dataset["sample"] = {"size": _size(config, tests, rows)}
    if "label" in columns and not written.texts:
        dataset["sample"]["by"] = ["label"]
    files: dict[str, str] = {f"{text}.txt": texts[text] + "\n" for text in ("instruction", "rubric") if text in texts}
    stress, own_writers = _stress_tests(config, tests, chosen)
    stress |= {"texts": TEXTS} if written.texts else {}
    study = shared_keys(config) | {
        "dataset": dataset,
        "stress": stress,
        "judges": simulated_judges(judges, "sound-examiner"),
    }
    study |= {text: f"{text}.txt" for text in ("instruction", "rubric") if text in texts}
    shown = {column: f"row.{column}" for column in profiles if column not in columns.values()}
    fillings = Fillings(
        {**shown, "request": "task", "response": "first"},
        texts,
        frozenset({"instruction", "rubric"} & {*texts, *columns}),
        frozenset({"expected", columns.get("label", "expected")}),
    )
    answer: dict[str, Any] = {"field": "score"} | ({"labels": graded.words} if graded.words else {})
    own_judges, prompts = judge_entries(config, judges, fillings, answer)
    ends = [name for name in texts if name.endswith("_score") and judges[0].template == "single_autograder"]
    tell_texts(config, texts, files, used=[*ends, *(name for judge in own_judges for name in judge.get("values", ()))])
    own = {"stress": stress | own_writers, "judges": own_judges}
    used = rows if written.texts else dataset["sample"]["size"]
    notes = [f"{used} rows are used, as in the harness: a pass needs {ENOUGH} or more", *_text_notes(written, folder)]
    if written.texts:
        spelled = partial(_spelled, graded)
        files |= {ORIGINALS: written.originals_table(labelled="label" in columns), TEXTS: written.texts_table(spelled)}
    return Moved(STRESS, SOURCE, study, own, data, files | prompts, notes)


def _spelled(graded: Graded, label: str) -> str:
    """Returns a label of the harness's as the scale spells it: True may be 1, and 3.0 be 3."""
    labels = graded.scale["labels"]
    if label in labels:
        return label
    by_word = {word.casefold(): meant for word, meant in graded.words.items()}
    number = number_of(label)
    same = [other for other in labels if number is not None and number_of(other) == number]
    return by_word.get(label.casefold()) or (same[0] if same else label)


def _dataset(config: HarnessConfig, folder: Path, written: MovedTexts) -> tuple[Path, dict[str, ColumnProfile]]:
    """Returns the data of a study and its columns: the configuration's, or the originals of texts that it has made."""
    key = f"{DATASET}.dataset_name"
    if not written.texts:
        data = config.file(key, config.text(key), config.data)
        config.kept(key, f"dataset.path: {path_from(folder, data)}")
        return data, {profile.name: profile for profile in profile_columns(data)}
    config.changed(key, f"dataset.path: {ORIGINALS}", "the originals of the texts in the perturbation files")
    for name in ("sample_num_from_orig", "target_num_per_bucket"):
        config.changed(f"{SYNTHETIC_DATA}.{name}", f"all rows of {ORIGINALS}", "their texts are already written")
    with TemporaryDirectory() as aside:
        # The study's folder gets its files only once all of them are known.
        copy = Path(aside) / ORIGINALS
        own = str(config.get(f"{DATASET}.use_original_data_as_expected")).lower() == "true"
        copy.write_text(written.originals_table(labelled=not own), encoding="utf-8", newline="")
        return folder / ORIGINALS, {profile.name: profile for profile in profile_columns(copy)}


def _text_notes(written: MovedTexts, folder: Path) -> Iterator[str]:
    """Yields what was found in perturbation files, and how the decisions of people come in."""
    if written.tests:
        counts = ", ".join(f"{count} of {test}" for test, count in written.tests.items())
        yield f"texts in {TEXTS}: {counts}; umpirical generate checks them like texts that are written here"
    yield from (f"  {count} rows are not used: {reason}" for reason, count in written.lost.items())
    for path, count in written.reviewed:
        command = f"umpirical review import {shlex.quote(str(path))} {shlex.quote(str(folder))} --format harness"
        yield f"people kept {count} texts in {path.name}; after umpirical generate:  {command}"


def _columns(
    config: HarnessConfig, profiles: Mapping[str, ColumnProfile], name: str, texts: Mapping[str, str], *, moved: bool
) -> dict[str, str]:
    """Returns the columns by role. `moved` says that they have the harness's own names, as in its files."""
    mapped = f"{PERTURBATION}.preprocess_columns_map"
    roles = {"response": "response", "request": "task", "expected": "label", "original_idx": "id"}
    unlabelled = f"{DATASET}.use_original_data_as_expected"
    found: dict[str, str] = {}
    for theirs, ours in roles.items():
        key = f"{mapped}.{theirs}"
        column = config.text(key) if not moved else ""
        column = column or (theirs if theirs in profiles and profiles[theirs].filled else "")
        if column and column not in profiles:
            if ours != "label":
                raise missing_column(column, profiles, where=f"{name}, as {key} names it")
            config.dropped(key, f"the data has no column {column}: consistency is measured, and agreement is not")
        elif column:
            found[ours] = column
            config.kept(key, f"dataset.columns.{ours}: {column}")
        else:
            config.dropped(key, "the data has no such column")
    if "response" not in found:
        raise config.error(mapped, "names no column for the response", fix="add  response: COLUMN")
    if "id" in found and not profiles[found["id"]].distinct:
        config.dropped(f"{mapped}.original_idx", f"values of {found.pop('id')} repeat or are missing")
    if "rubric" not in texts and "rubric" in profiles:
        found["rubric"] = "rubric"
    if "label" in found:
        config.kept(unlabelled, f"labels are those of column {found['label']}")
    else:
        config.changed(
            unlabelled, "no labels", "a judge's own grades are never taken for the truth: consistency alone is measured"
        )
    return found


def _size(config: HarnessConfig, tests: Sequence[str], rows: int) -> int:
    """Returns how many rows are sampled: as many as the test with most of them."""
    sources, bucket = f"{SYNTHETIC_DATA}.sample_num_from_orig", f"{SYNTHETIC_DATA}.target_num_per_bucket"
    repeated = f"{STABILITY}.sample_num_from_orig"
    sizes = {
        sources: config.count(sources, 10) if "synthetic_ordinal" in tests else 0,
        bucket: config.count(bucket, 5) if set(tests) - {"synthetic_ordinal", "stochastic_stability"} else 0,
        repeated: config.count(repeated, 10) if "stochastic_stability" in tests else 0,
    }
    # The harness takes all rows where it is told none.
    wanted = rows if 0 in [config.count(key, 1) for key in sizes if sizes[key]] else max(sizes.values())
    size = min(max(wanted, 2), max(rows, 2))
    for key, number in sizes.items():
        if not number:
            config.dropped(key, "none of the tests reads it, as in the harness")
        elif number == size:
            config.kept(key, f"dataset.sample.size: {size}", "drawn by label")
        else:
            config.changed(key, f"dataset.sample.size: {size}", "all tests are made from one sample of 2 rows or more")
    return size


def _stress_tests(
    config: HarnessConfig, tests: Sequence[str], own: Sequence[str]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Returns the tests with simulated writers, and the writers of the configuration."""
    stress: dict[str, Any] = {"tests": list(own), "repeats": _repeats(config, tests)}
    generated = [name for name in own if isinstance(_perturbation(name), GeneratedPerturbation)]
    writers: dict[str, Any] = {}
    for role, what in (("generator", "generation"), ("validator", "validation")):
        key, tokens = f"{SYNTHETIC_DATA}.{what}_model_name", f"{SYNTHETIC_DATA}.max_tokens_{what}"
        if not generated:
            config.dropped(key, "no model writes any of the tests")
            config.dropped(tokens, "no model writes any of the tests")
            continue
        model, most = config.text(key) or USUAL_MODEL, config.count(tokens, 1200)
        writers[role] = writer("inspect", model, most)
        stress[role] = writer("simulated-writer", role, most)
        same = model == config.text(f"{SYNTHETIC_DATA}.generation_model_name") and role == "validator"
        why = "choose another model than the generator: it agrees with itself" if same else ""
        config.kept(key, f"stress.{role}: {model} in {OWN_MODELS}", why)
        config.kept(tokens, f"stress.{role}.max_tokens: {most}")
    stress |= _temperatures(config) if generated else {}
    stress |= _synthetic(config) if SYNTHETIC in own else {}
    for name in ("initial_temp", "temp_increment", "max_temp_cap", "max_consecutive_failures"):
        config.dropped(f"{SYNTHETIC_DATA}.{name}", "no model writes any of the tests")
    for name in ("num_seed_examples_per_generation", "similarity_threshold", "use_similarity_filter"):
        config.dropped(f"{SYNTHETIC_DATA}.{name}", "it is about synthetic_ordinal, which is not among the tests")
    return stress, writers


def _perturbation(name: str) -> object:
    return PERTURBATIONS.get(name) if name in PERTURBATIONS.names() else None


def _repeats(config: HarnessConfig, tests: Sequence[str]) -> int:
    """Returns how often an original is asked."""
    seeds, repetitions = f"{STABILITY}.number_of_seeds", f"{STABILITY}.repetitions"
    if "stochastic_stability" not in tests:
        for key in (seeds, repetitions, f"{STABILITY}.sample_num_from_orig"):
            config.dropped(key, "stochastic_stability is not among the tests")
        return 3
    asked = config.count(seeds, 1) * config.count(repetitions, 1)
    for key in (seeds, repetitions):
        if asked >= 2:
            config.kept(key, f"stress.repeats: {asked}", "the harness repeats a call, and sends no seed")
        else:
            config.changed(key, "stress.repeats: 2", "1 seed and 1 repetition repeat nothing")
    return max(2, asked)


def _temperatures(config: HarnessConfig) -> dict[str, Any]:
    """Returns the generator's temperatures as a list, and how often each is tried."""
    first, step, most = (
        config.number(f"{SYNTHETIC_DATA}.{name}", usual)
        for name, usual in (("initial_temp", 1.0), ("temp_increment", 0.1), ("max_temp_cap", 1.3))
    )
    steps = (most - first) / step + 1e-6 if step > 0 else 0.0
    if not steps <= 100:
        raise config.error(f"{SYNTHETIC_DATA}.temp_increment", "more than 100 temperatures are too many")
    temperatures = [round(first + step * number, 4) for number in range(max(int(steps), 0) + 1)]
    tries = max(1, config.count(f"{SYNTHETIC_DATA}.max_consecutive_failures", 3))
    for name in ("initial_temp", "temp_increment", "max_temp_cap"):
        config.kept(
            f"{SYNTHETIC_DATA}.{name}", f"stress.temperatures: {temperatures}", "they are sent; the harness sends none"
        )
    config.kept(f"{SYNTHETIC_DATA}.max_consecutive_failures", f"stress.tries: {tries}")
    return {"temperatures": temperatures, "tries": tries}


def _synthetic(config: HarnessConfig) -> dict[str, Any]:
    """Returns the settings of new texts for every level."""
    names = ("num_seed_examples_per_generation", "use_similarity_filter", "similarity_threshold")
    examples, filtered, threshold = (f"{SYNTHETIC_DATA}.{name}" for name in names)
    number = config.count(examples, 1)
    config.kept(examples, f"stress.examples: {number}")
    config.changed(
        f"{SYNTHETIC_DATA}.target_num_per_bucket", "stress.per_source: 1", "the harness does not read it for this test"
    )
    found: dict[str, Any] = {"per_source": 1, "examples": number}
    if str(config.get(filtered)).lower() in ("false", "no", "off"):
        config.kept(filtered, "stress.most_similar: 1", "only the same text twice is rejected")
        config.dropped(threshold, "the filter is off")
        return found | {"most_similar": 1}
    config.changed(filtered, "stress.unlike_originals and unlike_generated: all", "texts are compared by their words")
    config.changed(
        threshold,
        "stress.most_similar: 0.75 by words",
        f"for {config.number(threshold, 0.9)} by embedding set similarity: embedding and most_similar, with "
        "pip install 'umpirical[embeddings]'",
    )
    return found | {"unlike_originals": "all", "unlike_generated": "all"}
