"""Reply formats as people name them on the command line, and as guessed from a judge's replies."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from umpirical.domain.errors import UsageError
from umpirical.domain.judgments import Abstained, Verdict
from umpirical.judges.answers import AnswerReader
from umpirical.judges.shapes import AnswerSpec, shape_of

WORDS: tuple[Mapping[str, str], ...] = (
    {},
    {"A": "1", "B": "2", "C": "tie", "tie": "tie"},
    {"first": "1", "second": "2", "tie": "tie"},
    {"model_a": "1", "model_b": "2", "tie": "tie"},
    {"response_a": "1", "response_b": "2", "tie": "tie"},
    {"true": "1", "false": "2"},
)
"""Words that judges use for the first answer, the second and a tie."""

FIELDS = ("winner", "verdict", "choice", "preference", "preferred", "answer", "better", "result", "decision", "label")

SHAPES: tuple[Mapping[str, Any], ...] = (
    {},
    {"brackets": True},
    *({"field": name} for name in FIELDS),
    {"tag": "verdict"},
    {"tag": "answer"},
    {"last_line": True},
)
"""Where judges put their verdict."""


def guessed_format(replies: Sequence[str]) -> AnswerSpec | None:
    """Returns the first common format in which all of these replies of a judge that compares can be parsed."""
    formats = (AnswerSpec(**shape, labels=dict(words)) for shape in SHAPES for words in WORDS)
    return next((each for each in formats if replies and all(_parses(each, reply) for reply in replies)), None)


def _parses(answer: AnswerSpec, reply: str) -> bool:
    reader = AnswerReader(None, labels=answer.labels, shape=shape_of(answer))
    return isinstance(reader.read(reply), Verdict | Abstained)


def format_words(answer: AnswerSpec) -> str:
    """Returns a format as options of the command line: the inverse of `parsed_format`."""
    return " ".join(f"--answer {word}" for word in _format_words(answer))


def _format_words(answer: AnswerSpec) -> Iterator[str]:
    shape = answer.shape
    if shape:
        value = getattr(answer, shape)
        yield shape.replace("_", "-") if value is True else f"{shape}={value}"
    if answer.labels:
        yield ",".join(f"{word}={label}" for word, label in answer.labels.items())


def parsed_format(words: Sequence[str]) -> dict[str, Any]:
    """Returns the entry of a judge's `answer` that these options name.

    >>> parsed_format(["field=winner", "A=1,B=2,C=tie"])
    {'field': 'winner', 'labels': {'A': '1', 'B': '2', 'C': 'tie'}}
    """
    found: dict[str, Any] = {}
    for word in words:
        key, _, value = word.partition("=")
        if word in {"brackets", "last-line"}:
            found[word.replace("-", "_")] = True
        elif key in {"field", "tag", "pattern"} and value:
            found[key] = value
        else:
            pairs = [part.partition("=") for part in word.split(",")]
            if not all(mark and said and label for said, mark, label in pairs):
                fix = "write A=1,B=2,C=tie, field=NAME, tag=NAME, brackets or last-line"
                raise UsageError(f"cannot read --answer {word!r}", fix=fix)
            found.setdefault("labels", {}).update((said, label) for said, _, label in pairs)
    return found
