"""Reads answers: by schema, by a bare label, or by the shape that a judge was told to answer in.

An answer that fits none of them is Unparsed, with its raw text.
"""

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from umpirical.domain.digests import canonical_json
from umpirical.domain.judgments import Abstained, Failed, Outcome, Unparsed, Verdict
from umpirical.domain.responses import Response
from umpirical.domain.scales import Choice, GradeScale
from umpirical.domain.trials import Presentation
from umpirical.judges.layout import layout_words
from umpirical.judges.shapes import NOTHING, FoundAnswer, Shape, object_in
from umpirical.text.json_texts import object_schema

ABSTAIN = "abstain"

REASONS = ("reasoning", "reason")
"""Fields that the default shape allows beside an answer, whether they were asked for or not."""

EXPLANATIONS = (*REASONS, "explanation", "rationale", "justification", "analysis", "critique", "feedback", "thoughts")
"""Fields in which production judges explain themselves. They are looked for if none is named."""

_NUMBER = r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)"


class AnswerReader:
    """Reads answers onto one scale. Pure: the same text gives the same outcome."""

    version = 6
    """Incremented with every change that could read an answer differently."""

    def __init__(
        self,
        scale: GradeScale | None,
        *,
        labels: Mapping[str, str] | None = None,
        shape: Shape | None = None,
        reasoning: str = "",
        confidence: bool = False,
    ) -> None:
        """`scale` is None for a `compare` judge. `labels` maps the judge's own words to the scale's labels.

        `shape` is what an answer looks like, if a text is not the answer itself. `reasoning` is the field of the JSON
        that the judge explains itself in.
        """
        self.field = (shape.field if shape else "") or ("verdict" if scale is None else "grade")
        self.scale = scale
        self.words = _words(scale, labels or {})
        self._abstaining = {word: label for word, label in (labels or {}).items() if label == ABSTAIN}
        self._shape = shape
        self._reasoning = reasoning
        self._confidence = confidence
        self._read = lru_cache(maxsize=1024)(self._read_text)
        self._schema = self._make_schema()
        self._under: dict[Presentation, AnswerReader] = {}

    def under(self, presentation: Presentation) -> "AnswerReader":
        """Returns the reader of answers to a question as it was presented.

        A layout has other words for the positions. Levels are another scale, which has no words but its own.
        """
        if presentation.layout is None and not presentation.levels:
            return self
        key = Presentation(layout=presentation.layout, levels=presentation.levels)
        if key not in self._under:
            self._under[key] = AnswerReader(
                presentation.scale(None),
                labels=self._abstaining if presentation.layout is None else layout_words(presentation.layout),
                shape=self._shape if presentation.layout is None else None,
                reasoning=self._reasoning,
                confidence=self._confidence,
            )
        return self._under[key]

    def schema(self) -> str:
        """The JSON Schema of an answer, which constrains the model and validates its answer."""
        return self._schema

    def _make_schema(self) -> str:
        # Servers that enforce a schema strictly refuse one without a type.
        answer: dict[str, Any] = {"type": "string", "enum": list(self.words)}
        if self.scale is not None and self._is_interval:
            number = {"type": "number", "minimum": self.scale.low, "maximum": self.scale.high}
            answer = {"anyOf": [number, {"type": "string", "enum": list(self.words)}]}
        elif self._shape is not None and {*self.words} - {ABSTAIN} == {"true", "false"}:
            answer = {"type": "boolean"}
        *outer, last = self.field.split(".")
        fields: dict[str, Any] = {last: answer}
        for name in reversed(outer):
            fields = {name: object_schema(fields)}
        if self._confidence:
            fields["confidence"] = {"type": "number", "minimum": 0, "maximum": 1}
        if not self._reasoning:
            return canonical_json(object_schema(fields))
        # A model writes the fields in the order of the schema, and reasons only if that comes before the verdict.
        whole = object_schema({self._reasoning: {"type": "string"}, **fields})
        return json.dumps(whole, separators=(",", ":"), ensure_ascii=False)

    @property
    def _is_interval(self) -> bool:
        return self.scale is not None and self.scale.kind == "interval"

    def read(self, text: str, *, cut: bool = False) -> Outcome:
        """Returns what a text says. Answers come in few spellings, so results are cached by text.

        A text that was `cut` off is an answer only if it shows that nothing is missing: 9 may begin 95, and 1. a list.
        """
        outcome = self._read(text)
        if cut and isinstance(outcome, Verdict | Abstained) and not self._is_closed(text):
            return Unparsed(text, "the answer was cut off at max_tokens and may be incomplete")
        return outcome

    def reasoning(self, text: str) -> str:
        """Returns what a text that was read says before its answer, or in a field beside it; empty if nothing."""
        if self._shape is None:
            fields = object_in(text.strip())
            return "" if fields is None else self._explained(fields)
        found = self._chosen(text)
        if isinstance(found, str):
            return ""
        return "\n".join(filter(None, [text[: found.start].strip(), self._explained(found.fields or {})]))

    def _explained(self, fields: Mapping[str, Any]) -> str:
        names = (self._reasoning,) if self._reasoning else EXPLANATIONS if self._shape else REASONS
        return "\n".join(said for name in names if isinstance(said := fields.get(name), str))

    def _is_closed(self, text: str) -> bool:
        """Whether a text that was read shows that more of it would change nothing.

        A JSON object ends where it closes. Of several answers, the first is known once it has its end mark.
        """
        if (self._shape is None or self._shape.field) and object_in(text.strip()) is not None:
            return True
        return self._shape is not None and self._shape.closed and self._shape.occurrence == "first"

    def _read_text(self, text: str) -> Outcome:
        if self._shape is not None:
            return self._read_shape(text)
        stripped = text.strip()
        found = object_in(stripped)
        return self._read_bare(text, stripped) if found is None else self._read_object(text, found)

    def _read_object(self, text: str, found: Mapping[str, Any]) -> Outcome:
        allowed = {self.field, "confidence", *REASONS, self._reasoning}
        if self.field not in found:
            return Unparsed(text, f"the JSON has no field {self.field!r}")
        if extra := set(found) - allowed:
            return Unparsed(text, f"the JSON has unknown fields: {', '.join(sorted(extra))[:80]}")
        return self._with_confidence(text, found[self.field], found)

    def _with_confidence(self, text: str, answer: Any, fields: Mapping[str, Any]) -> Outcome:  # noqa: ANN401
        confidence = fields.get("confidence")
        if not (confidence is None or (_is_number(confidence) and 0 <= confidence <= 1)):
            return Unparsed(text, "the confidence is not a number from 0 to 1")
        return self._outcome(text, answer, None if confidence is None else float(confidence))

    def _read_bare(self, text: str, stripped: str) -> Outcome:
        """Reads an answer that is only a label or a number, perhaps in quotes or with a full stop."""
        bare = stripped.removesuffix(".").strip("\"'")
        found = self._spelled(bare)
        if found is not None:
            return self._outcome(text, found, None)
        return Unparsed(
            text,
            "the answer is neither JSON in the required form nor a bare label" if stripped else "the answer is empty",
        )

    def _read_shape(self, text: str) -> Outcome:
        found = self._chosen(text)
        if isinstance(found, str):
            return Unparsed(text, found)
        return self._found(text, found)

    def _chosen(self, text: str) -> FoundAnswer | str:
        """Returns the answer that counts of those in a text; why there is none, in words."""
        shape = self._shape
        assert shape is not None  # noqa: S101  # it is asked only then
        if shape.longest is not None and len(text) > shape.longest:
            return f"the answer has more than {shape.longest:,} characters and was not searched for the pattern"
        first: FoundAnswer | None = None
        last: FoundAnswer | None = None
        for found in shape.find(text):
            if first is not None and shape.occurrence == "only" and not self._alike(first, found):
                return f"{shape.name} appears more than once, with different answers"
            first, last = first or found, found
            if shape.occurrence == "first":
                break
        return last or f"{shape.name} is missing"

    def _alike(self, one: FoundAnswer, other: FoundAnswer) -> bool:
        """Whether two answers in one text mean the same; what means nothing is like nothing else."""
        first, second = self._found("", one), self._found("", other)
        return first == second and isinstance(first, Verdict | Abstained)

    def _found(self, text: str, found: FoundAnswer) -> Outcome:
        answer = found.answer
        if answer is NOTHING:
            return Unparsed(text, "the answer pattern matched, but its group `answer` did not")
        if isinstance(answer, str):
            spelled = self._spelled(answer.strip())
            answer = answer if spelled is None else spelled
        elif _is_number(answer) and not self._is_interval:
            answer = self._numeral(answer)
        # A confidence of the judge's own may be of any kind; it is read only where it was asked for.
        return self._with_confidence(text, answer, (found.fields or {}) if self._confidence else {})

    def _spelled(self, word: str) -> str | float | None:
        """Returns the label or number that a word spells. Case matters only where it tells two labels apart."""
        if self._is_interval and re.fullmatch(_NUMBER, word):
            return float(word)
        alike = [label for label in self.words if word.casefold() == label.casefold()]
        if word in alike:
            return word
        if len(alike) == 1:
            return alike[0]
        whole = re.fullmatch(r"([-+]?\d+)\.0+", word)
        return whole[1] if whole and whole[1] in self.words else None

    def _numeral(self, number: float) -> str:
        """Returns a number as the label that it may be: 7.0 is 7, 7.5 is not, and infinity is no label."""
        text = str(number)
        if isinstance(number, float) and number.is_integer() and text not in self.words:
            return str(int(number))
        return text if text[-1].isdigit() else ""

    def _outcome(self, text: str, answer: Any, confidence: float | None) -> Outcome:  # noqa: ANN401  # foreign JSON
        if self._is_interval and _is_number(answer):
            if self.scale is not None and self.scale.holds(answer):
                return Verdict(float(answer), confidence)
            return Unparsed(text, "the number is outside the scale")
        if self.scale is not None and _is_number(answer):
            # Labels are text, but models write a label of digits as a number.
            answer = self._numeral(answer)
        if isinstance(answer, bool):
            answer = "true" if answer else "false"
        label = self.words.get(answer) if isinstance(answer, str) else None
        if label is None:
            return Unparsed(text, f"the answer is not one of {', '.join(self.words)}")
        if label == ABSTAIN:
            return Abstained()
        return Verdict(Choice(label) if self.scale is None else label, confidence)


def _words(scale: GradeScale | None, labels: Mapping[str, str]) -> dict[str, str]:
    """Maps every word that may be answered to a label of the scale, or to abstain."""
    own = {str(label): str(label) for label in (Choice if scale is None else scale.labels)}
    named = dict(labels) if set(labels.values()) - {ABSTAIN} else {**own, **labels}
    return named | ({} if ABSTAIN in named else {ABSTAIN: ABSTAIN})


def read_response(  # noqa: PLR0911  # one for each ending
    reader: AnswerReader,
    response: Response,
    presentation: Presentation,
) -> Outcome:
    """Returns what a response says. A response without a text has failed, however the reader reads an empty one."""
    if response.failure is not None:
        return Failed(response.failure, response.failure_detail)
    text, reading = response.text or "", reader.under(presentation)
    match response.ending:
        case "whole":
            return reading.read(text)
        case "cut":
            return reading.read(text, cut=True)
        case "refused":
            return Failed("refused", f"stopped by a filter: {response.finish_reason}")
        case "broken":
            return Failed("server-error", f"the server stopped the answer: {response.finish_reason}")
        case "unread":
            # Not even a pattern is tried: the text is an error message, which may quote what was to be answered.
            return Unparsed(text, "the judge could not read its model's answer")
        case "unknown":
            # The reason itself is the server's, and may be another one each time: it is in the response.
            return Unparsed(text, "the server does not report whether the answer is complete")


def _is_number(value: Any) -> bool:  # noqa: ANN401  # foreign JSON
    """Whether a value is a JSON number; true and false are not, although Python treats them as 1 and 0."""
    return isinstance(value, int | float) and not isinstance(value, bool) and value == value  # noqa: PLR0124  # not NaN
