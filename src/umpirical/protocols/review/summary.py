"""A review in numbers: how many texts, by how many people, how far they agree, and what they rejected."""

from collections.abc import Collection

from umpirical.domain.reviews import ReviewDecision, ReviewItem, ReviewOutcome
from umpirical.protocols.review.outcomes import Review
from umpirical.protocols.review.record import ReviewedGenerator, ReviewedTest, ReviewRecord
from umpirical.protocols.review.spec import ReviewTerms
from umpirical.reports.record import result_record
from umpirical.review.agreement import LabelMetric, agreement
from umpirical.review.outcomes import adjudication, current


def review_record(terms: ReviewTerms, review: Review, wanted: Collection[str]) -> ReviewRecord:
    """Summarizes the review of the items `wanted`. Those that have not reached the review yet are undecided.

    Decisions on other items, written for an earlier state of the study, are left out.
    """
    asked_for = frozenset(wanted)
    items = [item for item in review.items if item.id in asked_for]
    outcomes = [review.outcomes[item.id] for item in items if item.id in review.outcomes]
    kept = [outcome for outcome in outcomes if outcome.state == "accepted"]
    rejected = sum(outcome.state == "rejected" for outcome in outcomes)
    undecided = len(wanted) - len(kept) - rejected
    standing = _standing(review.decisions, items)
    metric: LabelMetric = "ordinal" if terms.ordered_labels else "nominal"
    found = agreement(review.decisions, items, overlap=review.overlap, metric=metric)
    policy, overall = terms.spec.undecided, found.overall
    return ReviewRecord(
        generated=len(wanted),
        reviewed=sum(review.looked_at(item.id) for item in items),
        people=found.reviewers,
        decisions=len(standing),
        adjudicated=sum(bool(outcome.adjudicator) for outcome in outcomes),
        edited=sum(outcome.edited for outcome in kept),
        relabelled=_relabelled(kept, items),
        rejected=rejected,
        undecided=undecided,
        left_out=undecided if policy == "leave-out" else 0,
        policy=policy,
        overlap=review.overlap,
        modes={mode: found.modes[mode] for mode in sorted(found.modes)},
        guidelines=sorted({decision.guideline for decision in standing}),
        agreement=result_record(overall.raw),
        alpha=result_record(overall.alpha),
        label_alpha=result_record(overall.label_alpha),
        tests=[
            ReviewedTest(
                test=test,
                agreement=result_record(accord.raw),
                alpha=result_record(accord.alpha),
                rejection=result_record(found.rejection_by_test[test]),
            )
            for test, accord in found.tests.items()
        ],
        generators=[
            ReviewedGenerator(generator=generator, rejection=result_record(rate))
            for generator, rate in found.rejection_by_generator.items()
        ],
    )


def _relabelled(kept: list[ReviewOutcome], items: list[ReviewItem]) -> int:
    target = {item.id: item.target for item in items}
    return sum(bool(outcome.label) and outcome.label != target[outcome.item] for outcome in kept)


def _standing(decisions: Collection[ReviewDecision], items: list[ReviewItem]) -> list[ReviewDecision]:
    """Returns each person's current decisions on these items, and what adjudicators settled."""
    said: dict[str, list[ReviewDecision]] = {item.id: [] for item in items}
    for decision in decisions:
        if decision.item in said:
            said[decision.item].append(decision)
    found = [(*current(each), adjudication(each)) for each in said.values()]
    return [decision for each in found for decision in each if decision is not None]
