"""Applies people's decisions to generated stimuli: some are dropped, some are edited, some get another label."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from umpirical.domain.attempts import CheckResult
from umpirical.domain.reviews import ReviewDecision, ReviewItem, ReviewOutcome
from umpirical.domain.stimuli import Expectation, FlippedVerdict, GivenLabel, SameVerdict, Stimulus
from umpirical.stimuli.generation.commissions import Commission
from umpirical.stimuli.perturbations.catalogue import Made

Fate = Literal["kept", "rejected", "undecided"]
"""What happens to a stimulus: judges are asked about it, they are not, or the study's policy decides."""


@dataclass(frozen=True, slots=True)
class Review:
    """Everything that people have decided about a study's generated texts so far."""

    outcomes: Mapping[str, ReviewOutcome]
    """Outcomes by item. An item that nobody has been shown yet may be missing."""
    revisions: Mapping[tuple[str, str], int] = field(default_factory=dict)
    """Maps item and text to the number of the revision with that text."""
    items: tuple[ReviewItem, ...] = ()
    decisions: tuple[ReviewDecision, ...] = ()
    overlap: int = 1

    def looked_at(self, item: str) -> bool:
        """Whether anybody has decided on the item; a skip is not a decision."""
        return item in self.outcomes and bool(self.outcomes[item].reviewers or self.outcomes[item].adjudicator)

    def fate(self, item: str) -> Fate:
        """Returns the fate of a stimulus, by its id as an item."""
        match self.outcomes[item].state if item in self.outcomes else "undecided":
            case "accepted":
                return "kept"
            case "rejected":
                return "rejected"
            case "undecided" | "disputed":
                return "undecided"


def applied(review: Review, item: str, commission: Commission, stimulus: Stimulus) -> Stimulus:
    """Returns a stimulus that people kept, with their changes. `item` is its id as the generator wrote it."""
    outcome = review.outcomes[item]
    label = outcome.label if outcome.label and outcome.label != stimulus.gold else ""
    evidence = dict(stimulus.evidence)
    if outcome.edited:
        evidence = _checked_evidence(evidence, checked_again(commission, outcome.text))
    said = _words(outcome, revision=review.revisions.get((item, outcome.text)), label=label, instead_of=stimulus.gold)
    changed = replace(
        stimulus,
        candidates=(outcome.text,) if outcome.edited else stimulus.candidates,
        evidence={**evidence, "review": said},
    )
    if not label:
        return changed
    expectation = _expectation(stimulus.expectation, label, original=commission.source.gold)
    return replace(changed, gold=label, gold_from="review", expectation=expectation)


def checked_again(commission: Commission, text: str) -> tuple[CheckResult, ...]:
    """Runs the perturbation's own checks on a person's text. A person may know better, so nothing is dropped."""
    source, anew = commission.source, commission.perturbation.expectation == "given-label"
    shown = (source.candidates[0], *commission.examples) if anew else ()
    made = Made("" if anew else source.candidates[0], text, source.task, commission.target, shown)
    return tuple(
        CheckResult(check.name, check.passed(made), check.found(made), check.allowed)
        for check in commission.perturbation.checks
    )


def _checked_evidence(evidence: Mapping[str, str], results: Sequence[CheckResult]) -> dict[str, str]:
    """Returns the evidence for the generator's text, updated with what is known about the edited text."""
    kept = {kind: found for kind, found in evidence.items() if not kind.startswith("check ")}
    if "validators" in kept:
        kept["validators"] = f"asked about the text before a person edited it: {kept['validators']}"
    checks = {
        f"check {result.check}": result.found if result.passed else f"NOT PASSED: {result.found}; {result.allowed}"
        for result in results
    }
    return {**checks, **kept}


def _words(outcome: ReviewOutcome, *, revision: int | None, label: str, instead_of: str) -> str:
    people = len(outcome.reviewers)
    said = f"kept by {people} {'person' if people == 1 else 'people'}"
    if outcome.adjudicator:
        said = f"settled by an adjudicator, after {people} had decided" if people else "settled by an adjudicator"
    if outcome.edited:
        said = f"edited by a person{'' if revision is None else f' (revision {revision})'}, {said}"
    if label:
        said += f"; label {label} instead of {instead_of}" if instead_of else f"; label {label}"
    return said


def _expectation(made_for: Expectation, label: str, *, original: str) -> Expectation:
    """Returns what a judge should do with a text whose label people changed."""
    if isinstance(made_for, GivenLabel):
        return GivenLabel(label)
    return SameVerdict() if label == original else FlippedVerdict()
