"""Reads answers: by schema, then by a strict pattern. An answer that fits neither is Unparsed, with its raw text."""

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from umpirical.domain.digests import canonical_json
from umpirical.domain.judgments import Abstained, Failed, Outcome, Unparsed, Verdict
from umpirical.domain.layouts import Layout
from umpirical.domain.responses import Response
from umpirical.domain.scales import Choice, GradeScale
from umpirical.domain.trials import Presentation
from umpirical.judges.layout import layout_words
from umpirical.judges.patterns import LONGEST_TEXT, AnswerPattern
from umpirical.text.json_texts import unfenced, without_doubles

__all__ = ["ABSTAIN", "AnswerReader", "read_response"]

ABSTAIN = "abstain"

_NUMBER = r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)"


class AnswerReader:
    """Reads answers onto one scale. Pure: the same text gives the same outcome."""

    version = 5
    """Incremented with every change that could read an answer differently."""

    def __init__(
        self,
        scale: GradeScale | None,
        *,
        labels: Mapping[str, str] | None = None,
        pattern: str | None = None,
        confidence: bool = False,
    ) -> None:
        """`scale` is None for a `compare` judge. `labels` maps the judge's own words to the scale's labels.

        `pattern` replaces the strict pattern; its group `answer` must be found exactly once in the text.
        """
        self.field = "verdict" if scale is None else "grade"
        self._scale = scale
        own = tuple(Choice) if scale is None else scale.labels
        self._labels: dict[str, str] = dict(labels) if labels else {str(label): str(label) for label in own}
        self._labels.setdefault(ABSTAIN, ABSTAIN)
        self._pattern = AnswerPattern(pattern) if pattern else None
        self._confidence = confidence
        self._read = lru_cache(maxsize=1024)(self._read_text)
        self._schema = self._make_schema()
        self._under: dict[Layout, AnswerReader] = {}

    def under(self, layout: Layout | None) -> "AnswerReader":
        """Returns the reader of answers to a question in a layout, whose labels are other words for the slots."""
        if layout is None:
            return self
        if layout not in self._under:
            self._under[layout] = AnswerReader(None, labels=layout_words(layout), confidence=self._confidence)
        return self._under[layout]

    def schema(self) -> str:
        """The JSON Schema of an answer, which constrains the model and validates its answer."""
        return self._schema

    def _make_schema(self) -> str:
        # Servers that enforce a schema strictly refuse one without a type.
        answer: dict[str, Any] = {"type": "string", "enum": list(self._labels)}
        if self._scale is not None and self._scale.kind == "interval":
            number = {"type": "number", "minimum": self._scale.low, "maximum": self._scale.high}
            answer = {"anyOf": [number, {"type": "string", "enum": [ABSTAIN]}]}
        fields: dict[str, Any] = {self.field: answer}
        if self._confidence:
            fields["confidence"] = {"type": "number", "minimum": 0, "maximum": 1}
        return canonical_json(
            {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}
        )

    def read(self, text: str, *, cut: bool = False) -> Outcome:
        """Returns what a text says. Answers come in few spellings, so results are cached by text.

        A text that was `cut` off is an answer only if it shows that nothing is missing: 9 may begin 95, and 1. a list.
        """
        outcome = self._read(text)
        if cut and isinstance(outcome, Verdict | Abstained) and not self._is_closed(text):
            return Unparsed(text, "the answer was cut at max_tokens, and may have gone on")
        return outcome

    def _is_closed(self, text: str) -> bool:
        """Whether a text that was read is a JSON object, which ends where it closes.

        What a pattern finds is never known to be all that it would have found.
        """
        return self._pattern is None and _object_in(text.strip()) is not None

    def _read_text(self, text: str) -> Outcome:
        if self._pattern is not None:
            return self._read_pattern(text)
        stripped = text.strip()
        found = _object_in(stripped)
        return self._read_bare(text, stripped) if found is None else self._read_object(text, found)

    def _read_object(self, text: str, found: Mapping[str, Any]) -> Outcome:
        allowed = {self.field, "confidence", "reason", "reasoning"}
        if self.field not in found:
            return Unparsed(text, f"the JSON has no field {self.field!r}")
        if extra := set(found) - allowed:
            return Unparsed(text, f"the JSON has unknown fields: {', '.join(sorted(extra))[:80]}")
        confidence = found.get("confidence")
        if not (confidence is None or (_is_number(confidence) and 0 <= confidence <= 1)):
            return Unparsed(text, "the confidence is not a number from 0 to 1")
        return self._outcome(text, found[self.field], None if confidence is None else float(confidence))

    def _read_bare(self, text: str, stripped: str) -> Outcome:
        """Reads an answer that is only a label or a number, perhaps in quotes or with a full stop."""
        bare = stripped.removesuffix(".").strip("\"'")
        if self._scale is not None and self._scale.kind == "interval" and re.fullmatch(_NUMBER, bare):
            return self._outcome(text, float(bare), None)
        alike = [label for label in self._labels if bare.casefold() == label.casefold()]
        if bare in alike or len(alike) == 1:
            return self._outcome(text, bare if bare in alike else alike[0], None)
        return Unparsed(text, "neither JSON of the schema nor a bare label" if stripped else "the answer is empty")

    def _read_pattern(self, text: str) -> Outcome:
        assert self._pattern is not None  # noqa: S101  # read() asks for it only then
        if len(text) > LONGEST_TEXT:
            return Unparsed(
                text, f"the answer has more than {LONGEST_TEXT:,} characters, and no pattern is tried on it"
            )
        found = self._pattern.found(text)
        if len(found) != 1:
            times = "more than once" if found else "0 times"
            return Unparsed(text, f"the answer pattern was found {times}, expected once")
        answer = found[0]
        if answer is None:
            return Unparsed(text, "the answer pattern was found, but its group answer takes no part in it")
        if self._scale is not None and self._scale.kind == "interval" and re.fullmatch(_NUMBER, answer):
            return self._outcome(text, float(answer), None)
        return self._outcome(text, answer, None)

    def _outcome(self, text: str, answer: Any, confidence: float | None) -> Outcome:  # noqa: ANN401  # foreign JSON
        if self._scale is not None and self._scale.kind == "interval" and _is_number(answer):
            if self._scale.holds(answer):
                return Verdict(float(answer), confidence)
            return Unparsed(text, "the number is outside the scale")
        if self._scale is not None and _is_number(answer) and str(answer)[-1].isdigit():
            # Labels are text, but models write a label of digits as a number. 3.0 is not "3", and infinity is no label.
            answer = str(answer)
        label = self._labels.get(answer) if isinstance(answer, str) else None
        if label is None:
            return Unparsed(text, f"the answer is not one of {', '.join(self._labels)}")
        if label == ABSTAIN:
            return Abstained()
        return Verdict(Choice(label) if self._scale is None else label, confidence)


def read_response(  # noqa: PLR0911  # one for each ending
    reader: AnswerReader,
    response: Response,
    presentation: Presentation,
) -> Outcome:
    """Returns what a response says. A response without a text has failed, however the reader reads an empty one."""
    if response.failure is not None:
        return Failed(response.failure, response.failure_detail)
    text, reading = response.text or "", reader.under(presentation.layout)
    match response.ending:
        case "whole":
            return reading.read(text)
        case "cut":
            return reading.read(text, cut=True)
        case "refused":
            return Failed("refused", f"stopped by a filter: {response.finish_reason}")
        case "broken":
            return Failed("server-error", f"the server gave the answer up: {response.finish_reason}")
        case "unread":
            # Not even a pattern is tried: the text is an error message, which may quote what was to be answered.
            return Unparsed(text, "the judge itself could not read what its model answered")
        case "unknown":
            # The reason itself is the server's, and may be another one each time: it is in the response.
            return Unparsed(text, "the server does not say that the answer is whole")


def _object_in(stripped: str) -> Mapping[str, Any] | None:
    """Returns the JSON object that a text is, perhaps in a code block; None if it is anything else."""
    try:
        found = json.loads(unfenced(stripped), object_pairs_hook=without_doubles)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _is_number(value: Any) -> bool:  # noqa: ANN401  # foreign JSON
    """Whether a value is a JSON number; true and false are not, although Python treats them as 1 and 0."""
    return isinstance(value, int | float) and not isinstance(value, bool) and value == value  # noqa: PLR0124  # not NaN
