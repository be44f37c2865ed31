"""Examples of the judge's failures, in its own words, collected while a run is read: the worst few of each kind."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from umpirical.domain.judgments import Outcome, Verdict
from umpirical.domain.responses import Response
from umpirical.domain.scales import Choice, GradeScale
from umpirical.domain.stimuli import TIER_2, GivenWinner, Stimulus
from umpirical.domain.trials import Order, Trial
from umpirical.protocols.datasheet.record import AnswerRecord, ExampleRecord

KEPT = 3
"""How many failures of each kind are kept."""

LONGEST = 1000
"""How many characters of an answer are kept."""


@dataclass(frozen=True, slots=True)
class Answered:
    """What came back for one presentation of a stimulus."""

    order: Order
    repeat: int
    said: str
    """The content that was named, `u` or `v`; `tie`; or a grade."""
    words: str


@dataclass(frozen=True, slots=True)
class Failure:
    """A stimulus on which the judge went wrong."""

    measure: str
    """The measure that counts it."""
    stimulus: Stimulus
    arm: str
    answers: tuple[Answered, ...]


@dataclass(slots=True)
class FailureKeeper:
    """Sees every answer in the order of the plan, in which the presentations of a stimulus are adjacent."""

    scale: GradeScale | None
    """The scale of a `grade` judge."""
    _kept: dict[str, list[Failure]] = field(default_factory=lambda: defaultdict(list))
    _stimulus: Stimulus | None = None
    _open: dict[tuple[str, int], list[Answered]] = field(default_factory=dict)

    def see(self, trial: Trial, stimulus: Stimulus, outcome: Outcome | None, response: Response | None) -> None:
        if self._stimulus is not None and stimulus.id != self._stimulus.id:
            self._close()
        self._stimulus = stimulus
        if isinstance(outcome, Verdict):
            way = trial.presentation
            words = (response.text or "")[:LONGEST] if response else ""
            answered = Answered(way.order, way.repeat, _said(outcome, way.order), words)
            self._open.setdefault((way.arm, way.repeat), []).append(answered)

    def failures(self) -> list[Failure]:
        """Returns the worst of each kind, with kinds in alphabetical order."""
        self._close()
        return [failure for name in sorted(self._kept) for failure in self._kept[name]]

    def _close(self) -> None:
        stimulus, asked = self._stimulus, self._open
        self._stimulus, self._open = None, {}
        for (arm, _), answers in asked.items():
            assert stimulus is not None  # noqa: S101  # something was asked about it
            if measure := self._failed(stimulus, answers):
                kept = self._kept[measure]
                kept.append(Failure(measure, stimulus, arm, tuple(answers)))
                # The larger the difference that was missed, the worse.
                kept.sort(key=lambda failure: -(failure.stimulus.delta or 0.0))
                del kept[KEPT:]

    def _failed(self, stimulus: Stimulus, answers: list[Answered]) -> str | None:
        if stimulus.family in TIER_2:
            # A datasheet must not disclose the user's own answers; once published, they could not be used again either.
            return None
        if self.scale is not None:
            return self._failed_to_grade(stimulus, answers, self.scale)
        named = [answer.said for answer in answers if answer.said in ("u", "v")]
        if stimulus.family == "vacuum":
            return "dark-current" if named else None
        if isinstance(stimulus.expectation, GivenWinner):
            lesser = "v" if stimulus.expectation.candidate == 0 else "u"
            measure = "conflict-loss" if stimulus.family == "conflict" else "target-sensitivity"
            return measure if lesser in named else None
        if stimulus.family != "delta0" or len(named) < 2:
            return None
        return "stable-cross-sensitivity" if len(set(named)) == 1 else "positional-false-preference"

    def _failed_to_grade(self, stimulus: Stimulus, answers: list[Answered], scale: GradeScale) -> str | None:
        scores = {answer.order: scale.score(answer.said) or 0.0 for answer in answers}
        if stimulus.family == "vacuum":
            return "dark-current" if any(score > 0 for score in scores.values()) else None
        # No measure counts how grades trade quality against length.
        if len(scores) < 2 or stimulus.family == "conflict" or not isinstance(stimulus.expectation, GivenWinner):
            return None
        lead = scores[Order.UV] - scores[Order.VU]
        return "target-sensitivity" if (lead < 0) == (stimulus.expectation.candidate == 0) and lead else None


def example_records(failures: Sequence[Failure]) -> list[ExampleRecord]:
    return [
        ExampleRecord(
            measure=failure.measure,
            arm=failure.arm,
            family=failure.stimulus.family,
            stratum=failure.stimulus.stratum,
            delta=failure.stimulus.delta,
            task_id=failure.stimulus.task_id,
            task=failure.stimulus.task,
            candidate_u=failure.stimulus.candidates[0],
            candidate_v=failure.stimulus.candidates[-1],
            expectation=_expected(failure.stimulus),
            answers=[
                AnswerRecord(order=answer.order.value, repeat=answer.repeat, said=answer.said, words=answer.words)
                for answer in failure.answers
            ],
        )
        for failure in failures
    ]


def _expected(stimulus: Stimulus) -> str:
    if isinstance(stimulus.expectation, GivenWinner):
        return f"{'uv'[stimulus.expectation.candidate]} is better"
    return "neither is better"


def _said(verdict: Verdict, order: Order) -> str:
    """Returns the content that was named, mapped back from its slot; or the grade."""
    # A grade may also be called 1 or 2: only the type distinguishes it from a slot.
    if not isinstance(verdict.value, Choice) or verdict.value is Choice.TIE:
        return str(verdict.value)
    return order.value[0 if verdict.value is Choice.SLOT_1 else 1]
