"""What an agent study asks about: texts for judges that grade, and pairs for judges that compare."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from itertools import chain

from umpirical.datasets.items import Drawn, sample_places
from umpirical.datasets.transcripts.files import read_transcripts
from umpirical.datasets.transcripts.sources import TranscriptLimits
from umpirical.domain.digests import Json, digest
from umpirical.domain.errors import UsageError
from umpirical.domain.policies import Policy
from umpirical.domain.stimuli import ORIGINAL, GateResult, GivenLabel, GivenWinner, Stimulus
from umpirical.domain.transcripts import Transcript
from umpirical.protocols.agent.rewriting import commissions_of, rewritten_stimuli
from umpirical.protocols.agent.spec import AgentStudy
from umpirical.stimuli.transcripts.cases import Case, cases_of, derived_rules
from umpirical.store.stimulus_sets import StimulusSet, write_stimuli

TEXT_MAKER = "transcript-cases/1"

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
        maker=TEXT_MAKER,
        family=case.edit if edited else ORIGINAL,
        gold=gold,
        gold_from="construction",
        evidence=evidence_of(case, version) if edited else {},
        strata=strata_of(case, shown),
        crossed_pair=digest("text under two policies", [shown.name, shown.text, case.policy.text])[:12],
        version=version,
    )


def strata_of(case: Case, shown: Transcript) -> dict[str, str]:
    """Returns the user's strata and those built in. An edit has a place and a size; an original has none."""
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


# Pairs of runs for judges that compare: a transcript and its edited version, under a policy and under its opposite.


PAIR_MAKER = "transcript-pairs/1"

ORIGINAL_RUN, EDITED = 0, 1
"""The places of the two runs in a pair, whatever position they are shown in."""

UNCROSSED = "no pair, because the edited run violates the reversed policy"


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
        maker=PAIR_MAKER,
        family=case.edit,
        gold_from="construction",
        evidence=evidence_of(case, version),
        strata=strata_of(case, case.edited),
        crossed_pair=digest("pair under two policies", [case.original.name, *texts, case.policy.text])[:12],
        version=version,
    )


# The stimulus set of an agent study: texts for judges that grade, and pairs for judges that compare.


@dataclass(slots=True)
class CaseCounts:
    """What was made of a study's transcripts, and what could not be."""

    cases: Counter[str] = field(default_factory=Counter)
    """Cases by edit."""
    skipped: Counter[str] = field(default_factory=Counter)
    """Rules that gave none, by reason."""
    pairs: Counter[str] = field(default_factory=Counter)
    """Pairs by edit; none unless a judge of the study compares."""
    unpaired: Counter[str] = field(default_factory=Counter)
    """Cases that are no pair, by reason."""


@dataclass(frozen=True, slots=True)
class MadeCases:
    """The stimuli of a study, made once."""

    digest: str
    """Over the ids of all stimuli, in order."""
    clusters: int
    """Transcripts that gave a case; the fewer of texts and of pairs, if both are asked about."""
    counts: CaseCounts
    gate: GateResult


class AgentStimuli:
    """The stimuli of a study, made anew whenever they are iterated over: a thousand transcripts give more than fits."""

    def __init__(self, study: AgentStudy) -> None:
        spec, rewriting = study.spec.transcripts, study.spec.rewriting
        columns = (rewriting.column,) if rewriting and rewriting.column else ()
        read = read_transcripts(
            study.folder / spec.path,
            format=spec.format,
            preprocess=spec.preprocess,
            strata=spec.strata,
            columns=columns,
            limits=TranscriptLimits(**spec.limits.model_dump()),
        )
        # A run that repeats another is the same question to a judge: asking it again would cost more and add nothing.
        distinct = {transcript.text: transcript for transcript in reversed(read.transcripts)}
        once = [each for each in read.transcripts if distinct[each.text] is each]
        drawn = [_drawn(each, spec.sample.by) for each in once]
        chosen = sample_places(drawn, spec.sample, seed=study.spec.seed, what="transcript")
        self.transcripts = [once[place] for place in chosen][: spec.most]
        self.notes = list(read.notes)
        if len(chosen) < len(once):
            each = f", {spec.sample.per} of each {' and '.join(spec.sample.by)}" if spec.sample.per else ""
            self.notes.append(f"{len(chosen):,} of {len(once):,} transcripts are in the sample{each}")
        if repeated := len(read.transcripts) - len(distinct):
            self.notes.append(f"{repeated:,} transcripts repeat another and are excluded")
        self._given = [rule.given() for rule in study.spec.rules]
        self._spec = study.spec
        self.kinds = {judge.kind for judge in study.spec.judges}

    def __iter__(self) -> Iterator[Stimulus]:
        return self._made(CaseCounts())

    def counted(self) -> MadeCases:
        """Makes every stimulus once, and counts."""
        counts, state = CaseCounts(), sha256()
        clusters: dict[str, set[str]] = {kind: set() for kind in self.kinds}

        def seen() -> Iterator[Stimulus]:
            for stimulus in self._made(counts):
                state.update(stimulus.id.encode())
                clusters["compare" if len(stimulus.candidates) > 1 else "grade"].add(stimulus.cluster)
                yield stimulus

        gate = check_crossing(seen())
        counts.skipped = +counts.skipped
        return MadeCases(state.hexdigest(), min(map(len, clusters.values()), default=0), counts, gate)

    def _made(self, counts: CaseCounts) -> Iterator[Stimulus]:
        shown = set[str]()
        for transcript in self.transcripts:
            rules = self._given or derived_rules(transcript, self.transcripts)
            made: dict[str, Stimulus] = {}
            for case in cases_of(transcript, rules, edits=self._spec.edits, skipped=counts.skipped):
                counts.cases[case.edit] += 1
                if "grade" in self.kinds:
                    made |= {stimulus.id: stimulus for stimulus in texts_of(case, self._spec.labels)}
                if "compare" in self.kinds:
                    made |= {stimulus.id: stimulus for stimulus in _new_pairs(case, shown, counts)}
            yield from made.values()


def _drawn(transcript: Transcript, by: Sequence[str]) -> Drawn:
    cell = tuple(transcript.strata.get(name, "") for name in by)
    return Drawn(transcript.name, cell, digest("sampled transcript", transcript.text))


def _new_pairs(case: Case, shown: set[str], counts: CaseCounts) -> list[Stimulus]:
    """Returns the pair of a case under both policies, unless a judge has been shown the same two runs before."""
    pairs = list(pairs_of(case))
    if not pairs:
        counts.unpaired[f"{case.edit}: {UNCROSSED}"] += 1
    elif pairs[0].content in shown:
        return []
    else:
        counts.pairs[case.edit] += 1
    shown.update(pair.content for pair in pairs)
    return pairs


def write_agent_set(study: AgentStudy) -> StimulusSet:
    """Returns the study's stimuli, written once."""
    stimuli = AgentStimuli(study)
    made = stimuli.counted()
    rewritten, dropped = rewritten_stimuli(study, commissions_of(study, stimuli.transcripts))
    # What models rewrote is for judges that grade: of its two versions, programs know neither to be the better.
    if made.clusters < 2 and (not rewritten or "compare" in stimuli.kinds):
        reasons = {**made.counts.skipped, **made.counts.unpaired}
        why = "; ".join(f"{reason} ({count})" for reason, count in reasons.items())
        raise UsageError(
            f"{len(stimuli.transcripts)} transcripts give too few test cases{': ' + why if why else ''}",
            fix="provide at least two runs with tool calls, or rules that the runs follow",
        )
    about: dict[str, Json] = {
        "transcripts": len(stimuli.transcripts),
        "notes": list(stimuli.notes),
        "skipped": dict(made.counts.skipped),
        "cases": dict(made.counts.cases) | dict(Counter(stimulus.family for stimulus in rewritten)),
        "dropped": {test: dict(reasons) for test, reasons in dropped.items()},
    }
    if "compare" in stimuli.kinds:
        about |= {"pairs": dict(made.counts.pairs), "unpaired": dict(made.counts.unpaired)}
    ids = [made.digest, *(stimulus.id for stimulus in rewritten)]
    folder = study.folder / "stimuli" / digest("agent set", [ids, about])[:12]
    if (folder / "manifest.json").exists():
        return StimulusSet(folder)
    return write_stimuli(folder, chain(stimuli, rewritten), about=about)


def check_crossing(stimuli: Iterable[Stimulus]) -> GateResult:
    """Checks that truth turns with the policy: then a judge that does not read the policy is at chance."""
    texts: dict[str, dict[str, str]] = {}
    for stimulus in stimuli:
        if stimulus.crossed_pair:
            texts.setdefault(stimulus.crossed_pair, {})[stimulus.version] = _truth(stimulus)
    twins = [found for found in texts.values() if len(found) > 1]
    wrong = sum(found[WRITTEN] == found[OPPOSITE] for found in twins)
    found = f"{wrong} of {len(twins)} texts under two policies have the same truth under both"
    return GateResult("crossed-policies", passed=wrong == 0, found=found, allowed="0")


def _truth(stimulus: Stimulus) -> str:
    """Returns the right label of a text, or the place of the better run of a pair."""
    better = stimulus.expectation
    return str(better.candidate) if isinstance(better, GivenWinner) else stimulus.gold
