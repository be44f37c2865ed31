"""The stimulus set of labelled pairs: every pair as it is, and with one of its answers edited.

The chosen answer is content u in about half of the pairs, drawn by the seed: both orders are asked of every pair, and a
server that sees them one after the other must not learn from which comes first.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from umpirical.datasets.pairs import LONGER, LabelledPair, ReadPairs, Side, read_pairs
from umpirical.domain.digests import Json, digest
from umpirical.domain.errors import UsageError
from umpirical.domain.stimuli import GivenWinner, Stimulus
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
        why = "".join(f"; {count:,} rows: {reason}" for reason, count in read.left_out.items())
        raise UsageError(
            f"{spec.dataset.path}: {len(read.pairs):,} pairs with different prompts are too few to measure with{why}",
            fix=f"give pairs of at least {LEAST} prompts, or name in columns.cluster what tells independent rows apart",
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
        "left_out": dict(made.read.left_out),
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
