"""Describes a review of generated texts in words, for the page, the card and the command line."""

from umpirical.protocols.review.record import ReviewRecord
from umpirical.reports import numbers
from umpirical.reports.record import EstimateRecord, UndefinedRecord
from umpirical.store.stimulus_sets import StimulusSet


def review_words(review: ReviewRecord) -> str:
    """Says how many texts were reviewed, by how many people, and with what outcome, in one line."""
    texts = f"{numbers.count(review.reviewed)} of {numbers.count(review.generated)} generated texts were reviewed"
    if review.reviewed:
        texts += f", by {numbers.count(review.people)} {'person' if review.people == 1 else 'people'}"
    said = [
        f"{numbers.count(count)} {what}"
        for what, count in (
            ("rejected", review.rejected),
            ("edited", review.edited),
            ("relabelled", review.relabelled),
            ("settled by an adjudicator", review.adjudicated),
        )
        if count
    ]
    return "; ".join([f"{texts}: {', '.join(said)}" if said else texts, _undecided(review)])


def review_line(stimuli: StimulusSet) -> str:
    """Says how a set of stimuli was reviewed, or how many texts await review; empty if neither applies."""
    manifest = stimuli.manifest
    if "review" in manifest:
        return f"review: {review_words(ReviewRecord.model_validate(manifest['review']))}"
    waiting = sum(made.get("left_out", 0) for made in manifest.get("made", {}).values())
    return never_opened(waiting) if waiting else ""


def never_opened(left_out: int) -> str:
    """Says that a study waits for a review that was never opened."""
    return f"review: never opened, so {left_out:,} generated texts are left out"


def agreement_words(review: ReviewRecord) -> str:
    """Says how far people agree, in one line."""
    if isinstance(review.agreement, UndefinedRecord) and isinstance(review.alpha, UndefinedRecord):
        return f"Agreement of people: undefined, {review.agreement.reason}"
    raw, alpha = rate_words(review.agreement), coefficient_words(review.alpha)
    return f"Agreement of people: {raw}; Krippendorff's alpha {alpha}"


def rate_words(found: EstimateRecord | UndefinedRecord) -> str:
    """A share with its interval and counts, or why there is none."""
    if isinstance(found, UndefinedRecord):
        return f"undefined, {found.reason}"
    return f"{numbers.rate(found.value)} {_interval(found)} ({numbers.fraction(found.numerator, found.denominator)})"


def coefficient_words(found: EstimateRecord | UndefinedRecord) -> str:
    """A coefficient with its interval and the number of units behind it, or why there is none."""
    if isinstance(found, UndefinedRecord):
        return f"undefined, {found.reason}"
    units = numbers.units(found.unit, found.denominator)
    return f"{numbers.rate(found.value)} {_interval(found)} ({numbers.count(found.denominator)} {units})"


def _interval(found: EstimateRecord) -> str:
    return (
        "without an interval" if found.interval is None else numbers.interval(found.interval.low, found.interval.high)
    )


def _undecided(review: ReviewRecord) -> str:
    if not review.undecided:
        return "none is undecided"
    policy = "are left out" if review.policy == "leave-out" else "count all the same"
    return f"{numbers.count(review.undecided)} undecided {policy}"
