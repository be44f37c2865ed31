"""Pairs of runs for judges that compare: a transcript and its edited version, under a policy and under its opposite."""

from collections.abc import Iterator

from umpirical.domain.digests import digest
from umpirical.domain.policies import Policy
from umpirical.domain.stimuli import GivenWinner, Stimulus
from umpirical.protocols.agent.texts import OPPOSITE, WRITTEN, evidence_of, strata_of
from umpirical.stimuli.transcripts.cases import Case

MAKER = "transcript-pairs/1"

ORIGINAL_RUN, EDITED = 0, 1
"""The places of the two runs in a pair, whatever slot they are shown in."""

UNCROSSED = "no pair, since the edited run does not keep the opposite policy"


def pairs_of(case: Case) -> Iterator[Stimulus]:
    """Yields the pair under both policies; nothing if the better run is not the other one under the opposite.

    A pair under one policy only would give a judge that does not read it more than one half, or less.
    """
    if case.crossed:
        yield _pair(case, case.policy, WRITTEN)
        yield _pair(case, case.opposite, OPPOSITE)


def _pair(case: Case, policy: Policy, version: str) -> Stimulus:
    texts = (case.original.text, case.edited.text)
    return Stimulus(
        task_id=case.original.name,
        task=policy.text,
        candidates=texts,
        expectation=GivenWinner(ORIGINAL_RUN if policy.holds(case.original) else EDITED),
        maker=MAKER,
        family=case.edit,
        gold_from="construction",
        evidence=evidence_of(case, version),
        strata=strata_of(case, case.edited),
        quad=digest("pair under two policies", [case.original.name, *texts, case.policy.text])[:12],
        version=version,
    )
