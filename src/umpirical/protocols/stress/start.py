"""Writes a stress study to start from, on the user's own data, with what could be guessed about the data."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import cast

from umpirical.datasets.guess import ColumnRole, Guess, guess_dataset
from umpirical.protocols.protocol import NewStudy
from umpirical.protocols.start import new_study_file, path_from, quoted, quoted_list, scalar, study_name
from umpirical.store.files import write_text

STRESS_STUDY = """\
# A stress test of judges on responses of your own.  umpirical schema config  lists every key.
study: {name}
seed: 1

# Guessed from {data} ({rows:,} rows). Correct what is wrong.
dataset:
  path: {path}
{columns}
{scale}
{sample}

instruction: instruction.txt   # what the judges are told to do
{rubric}

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

ONE_RUBRIC = "rubric: rubric.txt             # what they go by: your own belongs in there"
BY_ROW = "# What they go by is in the data, row by row: see columns.rubric."

RUBRIC_PLACEHOLDER = "Replace this text by your rubric: what an answer has to be like to deserve each grade."
"""The text of a rubric file until the user replaces it."""

TEXTS = {
    "instruction.txt": "Grade the answer by the rubric: give it the one grade of the scale that it deserves.\n",
    "rubric.txt": f"{RUBRIC_PLACEHOLDER}\n",
}
"""Files that are written beside a study of the user's own data, unless they exist."""

ENOUGH = 80
"""Number of items with which a judge that never changes a verdict passes at the default margin."""

SAMPLE = 120
"""Number of items: enough for a judge to pass that changes one verdict, and few enough to be cheap."""


def start_stress_study(folder: Path, data: Path, *, told: Mapping[str, str]) -> NewStudy:
    """Writes a study of the responses in `data` that runs as is, with an instruction and a placeholder for the rubric.

    `told` are the columns that a person has named; the others are guessed, and the file says on what basis. No existing
    file is overwritten, and nothing is written until all of the data has been understood.
    """
    file = new_study_file(folder)
    guess = guess_dataset(data, told=cast("Mapping[ColumnRole, str]", told))
    outside = not data.resolve().is_relative_to(folder.resolve())
    text = STRESS_STUDY.format(
        name=scalar(study_name(folder)),
        data=quoted(data.name),
        rows=guess.rows,
        path=scalar(path_from(folder, data)),
        columns=_indented(_columns(guess)),
        scale=_indented(_scale(guess)),
        sample=_indented(_sample(guess)),
        rubric=BY_ROW if "rubric" in guess.columns else ONE_RUBRIC,
    )
    folder.mkdir(parents=True, exist_ok=True)
    unused = {"rubric.txt"} if "rubric" in guess.columns else set()
    texts = {folder / name: text for name, text in TEXTS.items() if name not in unused and not (folder / name).exists()}
    for path, content in {**texts, file: text}.items():
        write_text(path, content)
    return NewStudy(file, (*texts, file), tuple(_notes(guess)), "--outside" if outside else "")


def _columns(guess: Guess) -> Iterable[str]:
    yield "columns:"
    for role, column in guess.columns.items():
        yield f"  {role}: {scalar(column)}   # {guess.because[role]}"
    if "task" not in guess.columns:
        yield "  # task: COLUMN   # no column looks like the task; if all rows share one, put  task_text  beside path"
    if guess.strata:
        yield f"  # strata: {quoted_list(guess.strata)}   # have few different values: results are split by them"
    yield "  # cluster: COLUMN   # rows that share its value are not independent, such as those of one author"


def _scale(guess: Guess) -> Iterable[str]:
    scale, column = guess.scale.scale, quoted(guess.columns["label"])
    yield f"# From what is in {column}: {guess.scale.because}."
    if scale.kind == "interval":
        yield "# Replace these by the true limits of the scale."
        yield f"scale: {{kind: interval, low: {scale.low!r}, high: {scale.high!r}}}"
        return
    if scale.kind == "nominal":
        yield "# The labels do not show whether they have an order: if so, list them in order, lowest first,"
        yield "# and write  kind: ordinal."
    elif not guess.scale.ordered:
        yield "# The labels do not show which of the two is higher: put the lower one first."
    yield "# A label that no row has is missing here: add it if it is on the scale."
    yield f"scale: {{kind: {scale.kind}, labels: {quoted_list(scale.labels)}}}"
    which = "which of the two is" if scale.kind == "binary" else "which of them are"
    positive = quoted_list(scale.labels[-1:])
    yield f"# positive: {positive}   # {which} positive? Needed for false positives and negatives."


def _sample(guess: Guess) -> Iterable[str]:
    if guess.rows <= SAMPLE:
        yield f"# sample: {{size: {SAMPLE}, by: [label]}}   # there are few rows, so all of them are used"
    elif guess.scale.scale.kind == "interval":
        yield f"sample: {{size: {SAMPLE}}}"
    else:
        yield "# Each label in proportion to its share of the file; for equal numbers of each, write  allocation: even."
        yield f"sample: {{size: {SAMPLE}, by: [label]}}"


def _indented(lines: Iterable[str]) -> str:
    return "\n".join(f"  {line}" for line in lines)


def _notes(guess: Guess) -> Iterator[str]:
    """Yields what was guessed, so that the user can correct it."""
    yield f"guessed from {guess.rows:,} rows:"
    for role, column in guess.columns.items():
        yield f"  {role:9} {column}   ({guess.because[role]})"
    scale = guess.scale.scale
    labels = ", ".join(scale.labels) or f"{scale.low:g} to {scale.high:g}"
    yield f"  {'scale':9} {scale.kind}: {labels}   ({guess.scale.because})"
    if not guess.scale.ordered:
        yield "  the labels do not show their order: see the study file"
    if guess.rows < ENOUGH:
        yield f"{guess.rows:,} rows are few: a pass takes {ENOUGH} items, so tests that nothing fails are INCONCLUSIVE"
    if "rubric" not in guess.columns:
        yield "your rubric belongs in rubric.txt"
