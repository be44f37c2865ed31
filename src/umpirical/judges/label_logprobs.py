"""The tokens of an answer with their log-probabilities, from the JSON that providers send."""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from math import exp, inf, isfinite, log
from typing import Any, Literal

from umpirical.domain.judgments import Abstained, Outcome, Verdict
from umpirical.domain.responses import Response
from umpirical.domain.scales import Choice
from umpirical.domain.scoring_methods import Span
from umpirical.domain.trials import Layout
from umpirical.judges.answers import ABSTAIN
from umpirical.judges.layout import layout_words
from umpirical.judges.spec import JudgeSpec

LEAST_REST = 1e-6
"""Providers round: a remaining probability below this cannot be distinguished from 0."""


@dataclass(frozen=True, slots=True)
class Token:
    """One token of the answer, and the alternatives listed with it."""

    text: str
    logprob: float
    others: tuple[tuple[str, float], ...]
    """Other tokens listed at this place, each with its log-probability."""
    listed: int
    """How many tokens the server listed by rank; the token itself need not be among them."""
    least: float
    """The lowest log-probability in that list; meaningless if the list is empty."""

    @property
    def unlisted(self) -> float:
        """The highest log-probability that a token not listed here can have."""
        rest = 1.0 - exp(self.logprob) - sum(exp(logprob) for _, logprob in self.others)
        bound = log(max(rest, LEAST_REST))
        return min(bound, self.least) if self.listed else bound


def read_tokens(logprobs: str) -> tuple[Token, ...] | None:
    """Returns the tokens in order; None if the JSON is not in the form of the chat API."""
    try:
        content = json.loads(logprobs)["content"]
        return tuple(_token(entry) for entry in content) or None
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None


def _token(entry: Any) -> Token:  # noqa: ANN401  # foreign JSON
    text, logprob = _pair(entry)
    # A log-probability that is not a number says nothing about its token.
    pairs = [_pair(top) for top in entry.get("top_logprobs") or () if _is_finite(top["logprob"])]
    others = dict(pairs)
    others.pop(text, None)
    least = min((value for _, value in pairs), default=0.0)
    return Token(text, logprob, tuple(others.items()), len(pairs), least)


def _pair(entry: Any) -> tuple[str, float]:  # noqa: ANN401  # foreign JSON
    text, logprob = entry["token"], entry["logprob"]
    if not (isinstance(text, str) and _is_finite(logprob)):
        raise ValueError("a token needs a text and a log-probability")
    # For a certain token, some servers round the log-probability to slightly above 0.
    return text, min(0.0, float(logprob))


def _is_finite(value: Any) -> bool:  # noqa: ANN401  # foreign JSON
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)


# Log-probabilities of a judge's labels, at the place where its answer is decided.


NO_LOGPROBS = "no log-probabilities were recorded"

QUOTED = re.compile(r'"verdict"\s*:\s*"')
BLANKS_AND_QUOTES = " \t\r\n\"'"

Frame = Literal["json", "bare", "pattern"]
"""What surrounds the label: a JSON field, nothing, or what the judge's own pattern requires."""


@dataclass(frozen=True, slots=True)
class Undecided:
    """Says why the tokens do not show how likely the labels were."""

    why: str


@dataclass(frozen=True, slots=True)
class Place:
    """Where the label begins in the answer."""

    start: int
    frame: Frame


@dataclass(slots=True)
class Mass:
    """The probability found for one word."""

    exact: list[float] = field(default_factory=list)
    upper: list[float] = field(default_factory=list)
    """Bounds for tokens that may or may not be the word."""

    def span(self) -> Span:
        return Span(_sum(self.exact), _sum([*self.exact, *self.upper]))


class LabelReader:
    """Reads how likely each label of a `compare` judge was. Pure: the same response gives the same spans."""

    def __init__(self, spec: JudgeSpec) -> None:
        words = spec.answer.labels or {str(choice): str(choice) for choice in Choice}
        self._labels = {ABSTAIN: ABSTAIN} | dict(words)
        self._pattern = re.compile(spec.answer.pattern) if spec.answer.pattern else None
        self._closed = spec.answer.sends_schema
        self._known = spec.answer.shape in ("", "pattern")

    def read(
        self, response: Response, outcome: Outcome, layout: Layout | None = None
    ) -> Mapping[str, Span] | Undecided:
        """Returns the log-probability of every choice; `outcome` is how the parser read the text."""
        if not isinstance(outcome, Verdict | Abstained):
            return Undecided("the answer was not read")
        if not response.logprobs:
            return Undecided(NO_LOGPROBS)
        if not self._known:
            return Undecided(
                "this answer format does not support log-probabilities; use the default format or a pattern"
            )
        tokens = read_tokens(response.logprobs)
        if tokens is None:
            return Undecided("the recorded log-probabilities are not a list of tokens")
        place = self._place("".join(token.text for token in tokens))
        if place is None:
            return Undecided("the answer was not found in the tokens")
        words = self._labels if layout is None else {ABSTAIN: ABSTAIN} | dict(layout_words(layout))
        return self._at(place, tokens, words, str(outcome.value) if isinstance(outcome, Verdict) else ABSTAIN)

    def _at(
        self, place: Place, tokens: tuple[Token, ...], labels: Mapping[str, str], said: str
    ) -> dict[str, Span] | Undecided:
        fold = _fold(place.frame, labels)
        words = {fold(word): label for word, label in labels.items()}
        found = _spread(tokens, place, set(words), fold, closed=self._closed)
        if isinstance(found, Undecided):
            return found
        spelled, masses = found
        if words[spelled] != said:
            return Undecided("the tokens do not match the recorded answer")
        merged = {label: Mass() for label in words.values()}
        for word, label in words.items():
            merged[label].exact += masses[word].exact
            merged[label].upper += masses[word].upper
        return {label: mass.span() for label, mass in merged.items()}

    def _place(self, text: str) -> Place | None:
        if self._pattern is not None:
            found = [match.start("answer") for match in self._pattern.finditer(text) if match["answer"] is not None]
            return Place(found[0], "pattern") if len(found) == 1 else None
        fields = list(QUOTED.finditer(text))
        if fields:
            return Place(fields[0].end(), "json") if len(fields) == 1 else None
        start = len(text) - len(text.lstrip(BLANKS_AND_QUOTES))
        return Place(start, "bare") if start < len(text) else None


def _fold(frame: Frame, words: Iterable[str]) -> Callable[[str], str]:
    """Returns how words are compared: case does not matter in a bare answer, unless it tells A from abstain."""
    if frame != "bare":
        return str
    folded = [word.casefold() for word in words]
    alike = any(one != other and other.startswith(one) for one in folded for other in folded)
    return str if alike else str.casefold


def _spread(
    tokens: tuple[Token, ...], place: Place, words: set[str], fold: Callable[[str], str], *, closed: bool
) -> tuple[str, dict[str, Mass]] | Undecided:
    """Returns the word that the path spells, and the probability of every word."""
    masses = {word: Mass() for word in words}
    left, said, path, offset = words, "", 0.0, 0
    for token in tokens:
        lead = place.start - offset
        offset += len(token.text)
        if offset <= place.start:
            continue
        for text, logprob in token.others:
            beginning = _after_lead(text, place.frame, lead) if not said else text
            if beginning:
                _credit(masses, left, fold(said + beginning), path + logprob, closed=closed)
        said += fold(token.text[max(0, lead) :])
        still = {word for word in left if _begins(word, said)}
        for word in left - still:
            if not masses[word].exact:
                masses[word].upper.append(path + token.unlisted)
        left, path = still, path + token.logprob
        if not left:
            return Undecided("there is no label at the position of the answer")
        if len(left) == 1 and (closed or _is_whole(min(left), said)):
            masses[min(left)].exact.append(path)
            return min(left), masses
    return Undecided("the answer ends before its label does")


def _credit(masses: Mapping[str, Mass], left: set[str], beginning: str, logprob: float, *, closed: bool) -> None:
    """Credits another token to the words that it begins."""
    begun = [word for word in left if _begins(word, beginning)]
    sure = len(begun) == 1 and (closed or _is_whole(begun[0], beginning))
    for word in begun:
        (masses[word].exact if sure else masses[word].upper).append(logprob)


def _begins(word: str, text: str) -> bool:
    return word.startswith(text) or _is_whole(word, text)


def _is_whole(word: str, text: str) -> bool:
    return text.startswith(word) and not text[len(word) : len(word) + 1].isalnum()


def _after_lead(text: str, frame: Frame, lead: int) -> str:
    """Returns another first token without what precedes the label, in the same form as the token of the path."""
    match frame:
        case "bare":
            return text.lstrip(BLANKS_AND_QUOTES)
        case "json":
            # Inside the quotes a space is part of the answer, and no label has one.
            return text.partition('"')[2] if lead > 0 else text
        case "pattern":
            return text[lead:] if lead > 0 else text


def _sum(logprobs: list[float]) -> float:
    if not logprobs:
        return -inf
    top = max(logprobs)
    return top + log(sum(exp(logprob - top) for logprob in logprobs))
