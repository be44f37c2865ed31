"""Single texts for judges that grade: a transcript and its edited version, under a policy and under its opposite."""

from collections.abc import Iterator
from dataclasses import replace

from umpirical.domain.digests import digest
from umpirical.domain.policies import Policy
from umpirical.domain.stimuli import ORIGINAL, GivenLabel, Stimulus
from umpirical.domain.transcripts import Transcript
from umpirical.stimuli.transcripts.cases import Case

MAKER = "transcript-cases/1"

WRITTEN, OPPOSITE = "as-written", "opposite"
"""The two versions of a policy."""

MOST_SIZE = 3


def texts_of(case: Case, labels: tuple[str, str]) -> Iterator[Stimulus]:
    """Yields the texts of a case, each before what was made from it."""
    before = _text(case, case.original, case.policy, WRITTEN, labels)
    yield before
    yield replace(_text(case, case.edited, case.policy, WRITTEN, labels), parent=before.id)
    if case.crossed:
        turned = _text(case, case.original, case.opposite, OPPOSITE, labels)
        yield turned
        yield replace(_text(case, case.edited, case.opposite, OPPOSITE, labels), parent=turned.id)


def _text(case: Case, shown: Transcript, policy: Policy, version: str, labels: tuple[str, str]) -> Stimulus:
    gold = labels[policy.holds(shown)]
    edited = shown is case.edited
    return Stimulus(
        task_id=shown.name,
        task=policy.text,
        candidates=(shown.text,),
        expectation=GivenLabel(gold),
        maker=MAKER,
        family=case.edit if edited else ORIGINAL,
        gold=gold,
        gold_from="construction",
        evidence=evidence_of(case, version) if edited else {},
        strata=strata_of(case, shown),
        quad=digest("text under two policies", [shown.name, shown.text, case.policy.text])[:12],
        version=version,
    )


def strata_of(case: Case, shown: Transcript) -> dict[str, str]:
    """Returns the user's strata and the planted ones. An edit has a place and a size; an original has none."""
    strata = {"rule": case.tested.kind, "length": case.length, "messages": _length(case.original)}
    if shown is case.edited:
        strata |= {"place": case.place, "size": str(case.size) if case.size <= MOST_SIZE else f"over {MOST_SIZE}"}
    return {**shown.strata, **strata}


def evidence_of(case: Case, version: str) -> dict[str, str]:
    """Returns what a program has found about a case."""
    kept = "kept" if version == WRITTEN else "broken"
    broken = "broken" if version == WRITTEN else "kept"
    rule = case.tested if version == WRITTEN else case.tested.opposite
    return {
        "program": f"{rule.words} It is {kept} by the transcript as it was, and {broken} after the edit; every other "
        f"rule is kept by both."
    }


def _length(transcript: Transcript) -> str:
    """Returns the size class of a transcript, by its messages."""
    number = len(transcript.messages)
    return "up to 10" if number <= 10 else "11 to 30" if number <= 30 else "over 30"
