"""The outcome of an item: a pure function of the decisions on it, which alone are the record."""

from collections.abc import Iterable, Iterator, Sequence

from umpirical.domain.reviews import OutcomeState, ReviewDecision, ReviewItem, ReviewOutcome
from umpirical.review.records import Revision


def outcome_of(
    item: ReviewItem, revisions: Iterable[Revision], decisions: Iterable[ReviewDecision], *, overlap: int
) -> ReviewOutcome:
    """The outcome of an item from all decisions on it.

    The newest adjudication that is not undone settles it. Without one, each reviewer's newest decision that is not
    undone counts, unless it is a skip: with fewer than `overlap` of them the item is undecided; if they all say the
    same it is accepted or rejected; otherwise it is disputed.
    """
    said = sorted(decisions, key=lambda decision: decision.number)
    standing, settled = current(said), adjudication(said)
    state = state_of(said, overlap=overlap)
    reviewers = tuple(decision.reviewer for decision in standing)
    adjudicator = settled.reviewer if settled else ""
    if state != "accepted":
        return ReviewOutcome(item.id, state, reviewers=reviewers, adjudicator=adjudicator)
    by = settled or standing[0]
    texts = {revision.number: revision.text for revision in revisions} | {0: item.after}
    return ReviewOutcome(
        item.id,
        state,
        text=texts[by.revision],
        edited=by.revision != 0,
        label=by.label,
        reviewers=reviewers,
        adjudicator=adjudicator,
    )


def outcomes_of(
    items: Iterable[ReviewItem], revisions: Iterable[Revision], decisions: Iterable[ReviewDecision], *, overlap: int
) -> Iterator[ReviewOutcome]:
    """The outcome of every item, in the order of the items."""
    texts: dict[str, list[Revision]] = {}
    for revision in revisions:
        texts.setdefault(revision.item, []).append(revision)
    said: dict[str, list[ReviewDecision]] = {}
    for decision in decisions:
        said.setdefault(decision.item, []).append(decision)
    for item in items:
        yield outcome_of(item, texts.get(item.id, ()), said.get(item.id, ()), overlap=overlap)


def state_of(decisions: Iterable[ReviewDecision], *, overlap: int) -> OutcomeState:
    said = sorted(decisions, key=lambda decision: decision.number)
    settled = adjudication(said)
    deciding = [settled] if settled else current(said)
    if not settled and len(deciding) < overlap:
        return "undecided"
    if len({decision.says for decision in deciding}) > 1:
        return "disputed"
    return "rejected" if deciding[0].kind == "reject" else "accepted"


def current(decisions: Sequence[ReviewDecision]) -> list[ReviewDecision]:
    """Each reviewer's newest decision on one item that is not undone, unless it is a skip; in the order of making."""
    newest: dict[str, ReviewDecision] = {}
    for decision in decisions:
        if not decision.undone and not decision.adjudicates:
            newest.pop(decision.reviewer, None)
            newest[decision.reviewer] = decision
    return [decision for decision in newest.values() if decision.kind != "skip"]


def adjudication(decisions: Sequence[ReviewDecision]) -> ReviewDecision | None:
    """The decision that settles an item, if there is one."""
    settling = [decision for decision in decisions if decision.adjudicates and not decision.undone]
    return settling[-1] if settling else None
