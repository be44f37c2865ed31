"""A study to start from: on built-in stimuli, or on data of the user's own."""

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from umpirical.datasets.guess import ColumnRole, Guess, guess_dataset
from umpirical.domain.errors import UsageError
from umpirical.store.files import write_text
from umpirical.study.files import STUDY_FILE

__all__ = ["RUBRIC_PLACEHOLDER", "StartedStress", "start_stress_study", "start_study"]

STUDY = """\
# A study: which judges are measured, and how.  umpirical schema config  lists every key.
study: {name}
seed: 1

judges:
  # A simulated judge with a planted defect: needs no key and no network.
  - name: rehearsal
    model: {{adapter: simulated, name: slot-locked}}

  # A model behind any OpenAI-compatible server, with the built-in prompt:
  # - name: my-model
  #   model:
  #     adapter: openai-compatible
  #     name: the-name-on-the-server
  #     base_url: http://127.0.0.1:8000/v1
  #     api_key_env: MY_API_KEY        # the name of a variable, never the key
  #   prompts: {{baseline: my-prompt.md}}   # needs {{{{task}}}}, {{{{first}}}} and {{{{second}}}}
  #   decoding: {{temperature: 0, max_tokens: 256}}

  # Your own judge, as a Python function: judge(task, first, second) -> "1", "2", "tie" or "abstain"
  # - name: mine
  #   callable: my_judge:judge

# Answers of your own, with claims in them that you verified, are measured apart:
# carriers: answers.yaml    # answers: [{{id: a, task: ..., answer: ..., claims: [a passage of the answer]}}]

design:
  repeats: 1

concurrency: 16
"""

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

_PLAIN = re.compile(r"[A-Za-z_/][\w./-]*", re.ASCII)
_NO_TEXT = frozenset({"true", "false", "null"})


@dataclass(frozen=True, slots=True)
class StartedStress:
    """A study that was started from data of the user's own."""

    file: Path
    """The study file."""
    written: tuple[Path, ...]
    """Every file that was written, the study file last."""
    outside: bool
    """Whether the data lies outside the study's folder, which every command has to be told."""
    guess: Guess


def start_study(folder: Path) -> Path:
    """Writes a study file that runs as it is. Never overwrites one."""
    file = _new_file(folder)
    folder.mkdir(parents=True, exist_ok=True)
    write_text(file, STUDY.format(name=_scalar(_name(folder))))
    return file


def start_stress_study(folder: Path, data: Path, *, told: Mapping[ColumnRole, str]) -> StartedStress:
    """Writes a study of the responses in `data` that runs as it is, with an instruction and a place for the rubric.

    `told` are the columns that a person has named; what they leave open is guessed, and the file says from what. No
    file that is there already is written over, and none is written before all has been understood.
    """
    file = _new_file(folder)
    guess = guess_dataset(data, told=told)
    outside = not data.resolve().is_relative_to(folder.resolve())
    text = STRESS_STUDY.format(
        name=_scalar(_name(folder)),
        data=_quoted(data.name),
        rows=guess.rows,
        path=_scalar(_path(folder, data)),
        columns=_indented(_columns(guess)),
        scale=_indented(_scale(guess)),
        sample=_indented(_sample(guess)),
    )
    folder.mkdir(parents=True, exist_ok=True)
    texts = {folder / name: text for name, text in TEXTS.items() if not (folder / name).exists()}
    for path, content in {**texts, file: text}.items():
        write_text(path, content)
    return StartedStress(file, (*texts, file), outside, guess)


def _new_file(folder: Path) -> Path:
    file = folder / STUDY_FILE
    if file.exists():
        raise UsageError(f"{file} exists already", fix="choose another folder, or edit that file")
    return file


def _name(folder: Path) -> str:
    name = "".join(letter if letter.isalnum() or letter in "-_" else "-" for letter in folder.resolve().name)
    return name or "my-study"


def _path(folder: Path, data: Path) -> str:
    """From the study file where the two lie close together, so that they can be moved together; else in full."""
    data, folder = data.resolve(), folder.resolve()
    return os.path.relpath(data, folder) if data.is_relative_to(folder.parent) else str(data)


def _columns(guess: Guess) -> Iterable[str]:
    yield "columns:"
    for role, column in guess.columns.items():
        yield f"  {role}: {_scalar(column)}   # {guess.because[role]}"
    if "task" not in guess.columns:
        yield "  # task: COLUMN   # none looks like what was asked; if it is the same for all:  task_text  beside path"
    if guess.strata:
        yield f"  # strata: {_list(guess.strata)}   # have few different values: results are split by them"
    yield "  # cluster: COLUMN   # rows that share its value are not independent, such as those of one author"


def _scale(guess: Guess) -> Iterable[str]:
    scale, column = guess.scale.scale, _quoted(guess.columns["label"])
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
    yield f"scale: {{kind: {scale.kind}, labels: {_list(scale.labels)}}}"
    which = "which of the two is" if scale.kind == "binary" else "which of them are"
    yield f"# positive: {_list(scale.labels[-1:])}   # {which} positive? Needed for false positives and negatives."


def _sample(guess: Guess) -> Iterable[str]:
    if guess.rows <= SAMPLE:
        yield f"# sample: {{size: {SAMPLE}, by: [label]}}   # all rows are taken, as they are few"
    elif guess.scale.scale.kind == "interval":
        yield f"sample: {{size: {SAMPLE}}}"
    else:
        yield "# Of each label its share; of all as many with  allocation: even."
        yield f"sample: {{size: {SAMPLE}, by: [label]}}"


def _indented(lines: Iterable[str]) -> str:
    return "\n".join(f"  {line}" for line in lines)


def _list(texts: Iterable[str]) -> str:
    return f"[{', '.join(map(_quoted, texts))}]"


def _scalar(text: str) -> str:
    """As it is where YAML reads it as that text and nothing else, or else in quotes."""
    return text if _PLAIN.fullmatch(text) and text.lower() not in _NO_TEXT else _quoted(text)


def _quoted(text: str) -> str:
    """In double quotes on one line, whatever is in it: what cannot be printed is escaped as YAML does it."""
    escaped = (
        f"\\{letter}" if letter in '"\\' else letter if letter.isprintable() else f"\\U{ord(letter):08x}"
        for letter in text
    )
    return f'"{"".join(escaped)}"'
