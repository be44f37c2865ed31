"""Settlement of an attempt at rewriting: a stimulus with its evidence, or a rejection for a reason that is counted."""

import json
from collections import Counter
from collections.abc import Generator, Iterable, Sequence
from typing import get_args

from umpirical.domain.responses import Response
from umpirical.domain.stimuli import Attempt, GivenLabel, Stimulus
from umpirical.stimuli.asks import Ask
from umpirical.stimuli.transcripts.rewriting.commissions import Rewriting
from umpirical.stimuli.transcripts.rewriting.rewriting import Dropped, Rewritten, Stage, rewrite
from umpirical.stimuli.transcripts.rewriting.verification import Vote, agreed

STATUS = "level of the original"
"""The evidence of what verifiers agreed that the original deserves, for an item with more than two labels."""


def attempt(commission: Rewriting, number: int) -> Generator[Ask, Response, Attempt]:
    """Attempt `number` at a commission, as it is recorded."""
    return settled(commission, number, (yield from rewrite(commission, number)))


def settled(commission: Rewriting, number: int, outcome: Rewritten | Dropped) -> Attempt:
    """Returns the record of an outcome."""
    stimulus = _stimulus(commission, number, outcome) if isinstance(outcome, Rewritten) else None
    return Attempt(
        commission=commission.id,
        test=commission.test,
        number=number,
        temperature=commission.terms.temperature(number),
        text="" if outcome.transcript is None else outcome.transcript.text,
        checks=outcome.checks,
        opinions=tuple(vote.word for vote in outcome.votes),
        rejected=f"{outcome.stage}: {outcome.words}" if isinstance(outcome, Dropped) else "",
        stimulus=stimulus,
    )


def stage_of(rejected: Attempt) -> Stage | None:
    """Returns the stage at which an attempt was dropped; None if it was not."""
    stages: tuple[Stage, ...] = get_args(Stage)
    return next((stage for stage in stages if rejected.rejected.startswith(f"{stage}: ")), None)


def is_final(rejected: Attempt) -> bool:
    """Whether another attempt would end in the same way: what is wrong with the original stays wrong."""
    return stage_of(rejected) == "original"


def drop_counts(attempts: Iterable[Attempt]) -> dict[str, int]:
    """Counts the reasons for which attempts were dropped, the commonest first."""
    reasons = (":".join(each.rejected.split(":")[:2]) for each in attempts if each.rejected)
    return dict(Counter(reasons).most_common())


def _stimulus(commission: Rewriting, number: int, made: Rewritten) -> Stimulus:
    source, terms = commission.source, commission.terms
    evidence = {f"check {result.check}": result.found for result in made.checks}
    evidence |= {
        "commission": commission.id,
        "planner": f"{terms.planner.model}, temperature {terms.temperature(number):g}, attempt {number + 1}",
        "editor": terms.editor.model,
        "steps": json.dumps([[step.message, step.change, step.repair] for step in made.steps], ensure_ascii=False),
        "share of characters changed": f"{made.share:.4f}",
        "verdicts on the original": _verdicts(commission, made.original),
        "verdicts": _verdicts(commission, made.votes),
        "item": commission.aimed_at,
    }
    # Of two labels, the one that is not the target is that of the original.
    if commission.item.scale.kind == "ordinal" and (status := agreed(made.original, agree=terms.agree)) is not None:
        evidence[STATUS] = status
    return Stimulus(
        task_id=source.task_id,
        task=source.task,
        candidates=(made.transcript.text,),
        expectation=GivenLabel(commission.target),
        maker=commission.maker,
        family=commission.test,
        stratum=commission.aimed_at,
        parent=source.id,
        gold=commission.target,
        gold_from="construction",
        evidence=evidence,
        strata=source.strata,
        columns=source.columns,
    )


def _verdicts(commission: Rewriting, votes: Sequence[Vote]) -> str:
    """Returns who said what, so that a reader sees whether a fallback decided."""
    writers = {role: commission.terms.writer(role).model for role in commission.terms.roles}
    return "; ".join(f"{writers[vote.by]}: {vote.word}" for vote in votes)
