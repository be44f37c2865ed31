"""A stress study to start from: on data of the user's own, with what could be guessed about it."""

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import cast

from umpirical.datasets.guess import ColumnRole, Guess, guess_dataset
from umpirical.protocols.protocol import Started
from umpirical.protocols.start import new_study_file, quoted, quoted_list, scalar, study_name
from umpirical.store.files import write_text

__all__ = ["RUBRIC_PLACEHOLDER", "start_stress_study"]

STRESS_STUDY = """\
# A stress test of judges on responses of your own.  umpirical schema config  lists every key.
study: {name}
seed: 1

# Guessed from {data} ({rows:,} rows). Put right what is wrong.
dataset:
  path: {path}
{columns}
{scale}
{sample}

instruction: instruction.txt   # what the judges are told to do
rubric: rubric.txt             # what they go by: your own belongs in there

stress:
  # Changes of form that a program makes and proves to be nothing more, and the same request again.
  tests: [vertical-spacing, inline-spacing, indentation, stability]
  repeats: 3

judges:
  # A simulated judge: needs no key and no network, and says nothing about yours.
  - name: rehearsal
    model: {{adapter: simulated, name: sound-examiner}}

  # A model behind any OpenAI-compatible server, with the built-in prompt:
  # - name: my-model
  #   model:
  #     adapter: openai-compatible
  #     name: the-name-on-the-server
  #     base_url: http://127.0.0.1:8000/v1
  #     api_key_env: MY_API_KEY        # the name of a variable, never the key
  #   decoding: {{temperature: 0, max_tokens: 256}}

concurrency: 16
"""

RUBRIC_PLACEHOLDER = "Replace this text by your rubric: what an answer has to be like to deserve each grade."
"""What stands in a rubric that nobody has written yet."""

TEXTS = {
    "instruction.txt": "Grade the answer by the rubric: give it the one grade of the scale that it deserves.\n",
    "rubric.txt": f"{RUBRIC_PLACEHOLDER}\n",
}
"""What is written beside a study of the user's own data, where no such file is there."""

SAMPLE = 60
"""Items: enough for a first look, and few enough to pay for."""


def start_stress_study(folder: Path, data: Path, *, told: Mapping[str, str]) -> Started:
    """Writes a study of the responses in `data` that runs as it is, with an instruction and a place for the rubric.

    `told` are the columns that a person has named; what they leave open is guessed, and the file says from what. No
    file that is there already is written over, and none is written before all has been understood.
    """
    file = new_study_file(folder)
    guess = guess_dataset(data, told=cast("Mapping[ColumnRole, str]", told))
    outside = not data.resolve().is_relative_to(folder.resolve())
    text = STRESS_STUDY.format(
        name=scalar(study_name(folder)),
        data=quoted(data.name),
        rows=guess.rows,
        path=scalar(_path(folder, data)),
        columns=_indented(_columns(guess)),
        scale=_indented(_scale(guess)),
        sample=_indented(_sample(guess)),
    )
    folder.mkdir(parents=True, exist_ok=True)
    texts = {folder / name: text for name, text in TEXTS.items() if not (folder / name).exists()}
    for path, content in {**texts, file: text}.items():
        write_text(path, content)
    return Started(file, (*texts, file), tuple(_notes(guess)), "--outside" if outside else "")


def _path(folder: Path, data: Path) -> str:
    """From the study file where the two lie close together, so that they can be moved together; else in full."""
    data, folder = data.resolve(), folder.resolve()
    return os.path.relpath(data, folder) if data.is_relative_to(folder.parent) else str(data)


def _columns(guess: Guess) -> Iterable[str]:
    yield "columns:"
    for role, column in guess.columns.items():
        yield f"  {role}: {scalar(column)}   # {guess.because[role]}"
    if "task" not in guess.columns:
        yield "  # task: COLUMN   # none looks like what was asked; if it is the same for all:  task_text  beside path"
    if guess.strata:
        yield f"  # strata: {quoted_list(guess.strata)}   # have few different values: results are split by them"
    yield "  # cluster: COLUMN   # rows that share its value are not independent, such as those of one author"


def _scale(guess: Guess) -> Iterable[str]:
    scale, column = guess.scale.scale, quoted(guess.columns["label"])
    yield f"# From what is in {column}: {guess.scale.because}."
    if scale.kind == "interval":
        yield "# Put the limits that the scale really has."
        yield f"scale: {{kind: interval, low: {scale.low!r}, high: {scale.high!r}}}"
        return
    if scale.kind == "nominal":
        yield "# Whether they have an order cannot be known from them: if so, put them in it, lowest first,"
        yield "# and write  kind: ordinal."
    elif not guess.scale.ordered:
        yield "# Which of the two is the higher cannot be known from them: put the lower one first."
    yield "# A label that no row has is not here: add it if the scale has it."
    yield f"scale: {{kind: {scale.kind}, labels: {quoted_list(scale.labels)}}}"
    which = "which of the two is" if scale.kind == "binary" else "which of them are"
    positive = quoted_list(scale.labels[-1:])
    yield f"# positive: {positive}   # {which} positive? Needed for false positives and negatives."


def _sample(guess: Guess) -> Iterable[str]:
    if guess.rows <= SAMPLE:
        yield f"# sample: {{size: {SAMPLE}, by: [label]}}   # all rows are taken, as they are few"
    elif guess.scale.scale.kind == "interval":
        yield f"sample: {{size: {SAMPLE}}}"
    else:
        yield "# Each label in proportion to its share of the file; for as many of each write  allocation: even."
        yield f"sample: {{size: {SAMPLE}, by: [label]}}"


def _indented(lines: Iterable[str]) -> str:
    return "\n".join(f"  {line}" for line in lines)


def _notes(guess: Guess) -> Iterator[str]:
    """What was guessed, for the person who has to put right what is wrong."""
    yield f"guessed from {guess.rows:,} rows:"
    for role, column in guess.columns.items():
        yield f"  {role:9} {column}   ({guess.because[role]})"
    scale = guess.scale.scale
    labels = ", ".join(scale.labels) or f"{scale.low:g} to {scale.high:g}"
    yield f"  {'scale':9} {scale.kind}: {labels}   ({guess.scale.because})"
    if not guess.scale.ordered:
        yield "  the order of the labels cannot be known from them: see the study file"
    yield "your rubric belongs into rubric.txt"
