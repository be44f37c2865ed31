"""The stimulus set of labelled pairs: every pair as it is, and with one of its answers edited.

The chosen answer is content a in about half of the pairs, drawn by the seed: both orders are asked of every pair, and a
server that sees them one after the other must not learn from which comes first.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from umpirical.datasets.pairs import LONGER, LabelledPair, ReadPairs, Side, read_pairs
from umpirical.domain.digests import Json, digest
from umpirical.domain.errors import UsageError
from umpirical.domain.stimuli import GivenWinner, Stimulus
from umpirical.judges.simulated.examiner import PAIR_AUDITOR_PROFILES
from umpirical.judges.spec import JudgeSpec
from umpirical.measures.natural import NATURAL
from umpirical.protocols.pairs.spec import PairsStudy, PairsStudySpec
from umpirical.stats.seeds import generator, uniform
from umpirical.stimuli.perturbations.catalogue import ProvedPerturbation
from umpirical.stimuli.perturbations.proof import prove
from umpirical.store.stimulus_sets import StimulusSet, write_stimuli

MAKER = "labelled-pairs/1"

SIDE = "side"
"""The stratum of an edited pair that says which answer was edited."""

LEAST = 2
"""Fewest clusters: an interval needs at least two."""


@dataclass(frozen=True, slots=True)
class MadePairs:
    """The stimuli of a study, and what could not be made."""

    read: ReadPairs
    stimuli: tuple[Stimulus, ...]
    made: Mapping[str, int] = field(default_factory=dict)
    """Edited pairs, by edit."""
    unchanged: Mapping[str, int] = field(default_factory=dict)
    """Answers that an edit leaves as they are, by edit."""


def make_pairs(study: PairsStudy) -> MadePairs:
    """Reads the dataset of a study, and makes every stimulus. Raises UsageError if there are too few pairs."""
    spec = study.spec
    read = read_pairs(spec.dataset, study.folder, seed=spec.seed)
    if len({pair.cluster for pair in read.pairs}) < LEAST:
        why = "".join(f"; {count:,} rows: {reason}" for reason, count in read.excluded.items())
        raise UsageError(
            f"{spec.dataset.path}: {len(read.pairs):,} pairs with different prompts are too few{why}",
            fix=f"provide pairs from at least {LEAST} prompts, or set columns.cluster",
        )
    whole = [_stimulus(pair, seed=spec.seed) for pair in read.pairs]
    made, unchanged = Counter[str](), Counter[str]()
    edited = list(_edited(whole, spec, made, unchanged))
    return MadePairs(read, (*whole, *edited), dict(made), dict(unchanged))


def write_pairs_set(study: PairsStudy) -> StimulusSet:
    """Returns the study's stimuli, written once."""
    made = make_pairs(study)
    about: dict[str, Json] = {
        "rows": made.read.rows,
        "taken": made.read.taken,
        "pairs": len(made.read.pairs),
        "excluded": dict(made.read.excluded),
        "columns": dict(made.read.columns),
        LONGER: dict(Counter(pair.longer for pair in made.read.pairs)),
        "made": dict(made.made),
        "unchanged": dict(made.unchanged),
    }
    ids: list[Json] = [stimulus.id for stimulus in made.stimuli]
    folder = study.folder / "stimuli" / digest("pairs set", [ids, about])[:12]
    if (folder / "manifest.json").exists():
        return StimulusSet(folder)
    return write_stimuli(folder, made.stimuli, about=about)


def _stimulus(pair: LabelledPair, *, seed: int) -> Stimulus:
    place = int(uniform(seed, "place of the chosen", pair.task, *sorted((pair.chosen, pair.rejected))) < 0.5)
    texts = (pair.rejected, pair.chosen) if place else (pair.chosen, pair.rejected)
    return Stimulus(
        task_id=pair.cluster,
        task=pair.task,
        candidates=texts,
        expectation=GivenWinner(place),
        maker=MAKER,
        family=NATURAL,
        gold_from="label",
        evidence={"pair": pair.name},
        strata={**pair.strata, LONGER: pair.longer},
    )


def _edited(
    whole: Iterable[Stimulus], spec: PairsStudySpec, made: Counter[str], unchanged: Counter[str]
) -> Iterator[Stimulus]:
    """Yields every pair with one answer edited; none that a judge would be asked about already."""
    whole = list(whole)
    asked = {_question(stimulus) for stimulus in whole}
    for perturbation in spec.perturbations:
        for stimulus in whole:
            for side in spec.sides:
                edited = _with_edit(stimulus, perturbation, side, seed=spec.seed)
                if edited is None or _question(edited) in asked:
                    unchanged[perturbation.name] += 1
                    continue
                asked.add(_question(edited))
                made[perturbation.name] += 1
                yield edited


def _with_edit(stimulus: Stimulus, perturbation: ProvedPerturbation, side: Side, *, seed: int) -> Stimulus | None:
    """Returns the pair with one answer edited; None if there is nothing to edit in it, or both would be the same."""
    better = stimulus.expectation
    if not isinstance(better, GivenWinner):
        raise TypeError(f"pair {stimulus.id} has no chosen answer")
    place = better.candidate if side == "chosen" else 1 - better.candidate
    text = stimulus.candidates[place]
    changed = perturbation.change(text, generator(seed, stimulus.content, perturbation.name, side))
    texts = (changed, stimulus.candidates[1]) if place == 0 else (stimulus.candidates[0], changed)
    if changed == text or len({each.strip() for each in texts}) == 1:
        return None
    return replace(
        stimulus,
        candidates=texts,
        maker=perturbation.maker,
        family=perturbation.name,
        stratum=f"{SIDE}={side}",
        parent=stimulus.id,
        evidence={**stimulus.evidence, **prove(perturbation, text, changed)},
    )


def _question(stimulus: Stimulus) -> tuple[str, frozenset[str]]:
    return stimulus.task, frozenset(stimulus.candidates)


# The answer key of labelled pairs: how good each answer is under its prompt. Only a simulated judge is given it.


def answer_key(judge: JudgeSpec, stimuli: Iterable[Stimulus]) -> Callable[[str, str], float]:
    """Returns a function from what a prompt says before its candidates, and a candidate, to its quality."""
    if judge.model is not None and judge.model.name in PAIR_AUDITOR_PROFILES:
        message = "this simulated judge compares agent runs, not labeled pairs"
        raise UsageError(message, fix="use it in a study with transcripts")
    by_text: dict[str, dict[str, float]] = {}
    for (task, text), level in qualities(stimuli).items():
        by_text.setdefault(text, {})[task] = level

    def quality(said: str, text: str) -> float:
        known = by_text[text]
        if len(set(known.values())) == 1:
            return next(iter(known.values()))
        # The longest prompt that was said: another may be a part of it.
        return known[max((task for task in known if task in said), key=len)]

    return quality


def qualities(stimuli: Iterable[Stimulus]) -> dict[tuple[str, str], float]:
    """Returns the quality of each answer to a prompt: a chosen one has at least 1 more than the rejected one.

    Choices of one prompt may go round in a circle. Then no numbers fit them, and as many rounds as there are pairs end
    the search.
    """
    over: dict[str, list[tuple[str, str]]] = {}
    for stimulus in stimuli:
        if isinstance(stimulus.expectation, GivenWinner):
            place = stimulus.expectation.candidate
            over.setdefault(stimulus.task, []).append((stimulus.candidates[place], stimulus.candidates[1 - place]))
    found: dict[tuple[str, str], float] = {}
    for task, pairs in over.items():
        levels = {text: 0.0 for pair in pairs for text in pair}
        for _ in pairs:
            before = dict(levels)
            for chosen, rejected in pairs:
                levels[chosen] = max(levels[chosen], levels[rejected] + 1)
            if levels == before:
                break
        found |= {(task, text): level for text, level in levels.items()}
    return found
