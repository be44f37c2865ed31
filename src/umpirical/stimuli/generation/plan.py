"""Which texts are commissioned: buckets of new ones, and one for each original that can be changed."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from umpirical.domain.errors import UsageError
from umpirical.domain.scales import GradeScale
from umpirical.domain.stimuli import Attempt, Stimulus
from umpirical.stats import seeds
from umpirical.stimuli.generation.attempt import FALLBACK, REFUSED, UNREAD
from umpirical.stimuli.generation.commissions import Commission, GenerationTerms
from umpirical.stimuli.perturbations.catalogue import GeneratedPerturbation

# An even spread of new responses over the levels of a scale: how many are wanted of each, and what came of it.


EXAMPLES = 2
"""Responses shown to the generator for each commission, unless the study says otherwise."""

LOOKED_AT = 64
"""How many responses of a level are searched for examples that answer another task."""


@dataclass(frozen=True, slots=True)
class Bucket:
    """One level of the scale for one test."""

    test: str
    level: str
    wanted: int
    filled: int
    given_up: int
    """Commissions whose attempts are used up."""
    untried: int
    """Commissions for which nothing was asked yet."""
    tried: int
    """Attempts made, the ones that were taken included."""
    reasons: Mapping[str, int]
    """Why commissions are not filled: rejected attempts at them, by reason. An attempt may have several."""
    examples_from: tuple[str, ...]
    """Labels of the examples shown, which are not the level if no original has that; empty if there were none."""


@dataclass(frozen=True, slots=True)
class Counts:
    """How many new responses to write, and from how many examples."""

    per_level: int
    """For each level of the scale."""
    per_source: int | None = None
    """For each level and original, in place of `per_level`."""
    shown: int = EXAMPLES
    """Examples that the generator is shown: of the commission's level and, if possible, of another task."""


def plan_buckets(
    test: GeneratedPerturbation, originals: Sequence[Stimulus], terms: GenerationTerms, counts: Counts, *, seed: int
) -> list[Commission] | str:
    """As many commissions as are wanted for every level, lowest first; or why there can be none.

    Tasks take turns over all commissions, so that they are used evenly, and differ within a level if there are enough
    of them.
    """
    per_level, per_source = counts.per_level, counts.per_source
    if min(per_level, 1 if per_source is None else per_source) < 1:
        asked = per_level if per_source is None else per_source
        raise UsageError(f"invalid number of texts for each level: {asked}", fix="ask for at least 1")
    if terms.scale.kind not in ("ordinal", "binary"):
        return f"{_article(terms.scale.kind)} scale has no ordered levels to write texts for"
    sources = _in_turn([original for original in originals if original.task.strip()], test.name, seed)
    if not sources:
        return "no original has a task to respond to"
    by_label = _by_label(originals, terms.scale.labels, seed)
    commissions: list[Commission] = []
    for level in terms.scale.labels:
        label = _nearest_label(level, terms.scale.labels, by_label)
        turns = [sources[(len(commissions) + number) % len(sources)] for number in range(per_level)]
        if per_source is not None:
            turns = list({source.content: source for source in sources}.values()) * per_source
        for number, source in enumerate(turns):
            examples = _examples(by_label.get(label, []), source, seed, (test.name, level, str(number)))[: counts.shown]
            commissions.append(Commission(test, terms, source, level, examples, number, label if examples else ""))
    return commissions


def source_report(commissions: Iterable[Commission], attempts: Iterable[Attempt]) -> dict[str, str]:
    """Says for every test that writes new responses how many originals have a text of every level."""
    taken = {attempt.commission for attempt in attempts if attempt.stimulus is not None}
    held: dict[str, dict[str, dict[str, bool]]] = defaultdict(lambda: defaultdict(dict))
    for commission in commissions:
        if commission.perturbation.expectation == "given-label":
            levels = held[commission.perturbation.name][commission.source.content]
            levels[commission.target] = levels.get(commission.target, False) or commission.id in taken
    return {test: _sources(list(sources.values())) for test, sources in held.items()}


def _sources(held: Sequence[Mapping[str, bool]]) -> str:
    whole, none = sum(all(levels.values()) for levels in held), sum(not any(levels.values()) for levels in held)
    return f"of {len(held)} originals, {whole} have a text for every level, and {none} have none"


def bucket_report(commissions: Iterable[Commission], attempts: Iterable[Attempt]) -> tuple[Bucket, ...]:
    """Every level of every test that writes new responses, in the order of the commissions. Others are left out."""
    by_commission: dict[str, list[Attempt]] = defaultdict(list)
    for attempt in attempts:
        by_commission[attempt.commission].append(attempt)
    levels: dict[tuple[str, str], list[Commission]] = defaultdict(list)
    for commission in commissions:
        if commission.perturbation.expectation == "given-label":
            levels[commission.perturbation.name, commission.target].append(commission)
    return tuple(_bucket(test, level, held, by_commission) for (test, level), held in levels.items())


def rejection_reasons(attempt: Attempt) -> tuple[str, ...]:
    """Why an attempt was rejected, with the same words for the same cause; empty if it was not."""
    if not attempt.rejected:
        return ()
    if failed := tuple(f"check: {result.check}" for result in attempt.checks if not result.passed):
        return failed
    said = {opinion.removeprefix(FALLBACK) for opinion in attempt.opinions}
    if UNREAD in said and said <= {UNREAD, REFUSED}:
        return ("validator replies could not be read",)
    if said == {REFUSED} and REFUSED not in attempt.opinions:
        return ("validators and fallback refused",)
    return ("validators did not agree",) if attempt.opinions else (attempt.rejected.partition(":")[0],)


def _bucket(
    test: str, level: str, commissions: Sequence[Commission], by_commission: Mapping[str, Sequence[Attempt]]
) -> Bucket:
    tried = [by_commission.get(commission.id, ()) for commission in commissions]
    filled = [any(attempt.stimulus is not None for attempt in attempts) for attempts in tried]
    rejected = [attempt for attempts, full in zip(tried, filled, strict=True) if not full for attempt in attempts]
    used_up = [
        len(attempts) >= commission.terms.attempts and not full
        for commission, attempts, full in zip(commissions, tried, filled, strict=True)
    ]
    return Bucket(
        test=test,
        level=level,
        wanted=len(commissions),
        filled=sum(filled),
        given_up=sum(used_up),
        untried=sum(not attempts for attempts in tried),
        tried=sum(map(len, tried)),
        reasons=dict(Counter(reason for attempt in rejected for reason in rejection_reasons(attempt)).most_common()),
        examples_from=tuple(sorted({commission.example_label for commission in commissions} - {""})),
    )


def _in_turn(originals: Sequence[Stimulus], test: str, seed: int) -> list[Stimulus]:
    """All originals, in an order in which tasks take turns: no task comes again before every other one has come."""
    by_task: dict[str, list[Stimulus]] = defaultdict(list)
    for original in sorted(originals, key=lambda original: seeds.uniform(seed, test, original.content, "source")):
        by_task[original.task].append(original)
    tasks = sorted(by_task, key=lambda task: seeds.uniform(seed, test, task, "task"))
    most = max((len(held) for held in by_task.values()), default=0)
    # A task with few originals uses the same ones again when its turn comes.
    return [by_task[task][turn % len(by_task[task])] for turn in range(most) for task in tasks]


def _by_label(originals: Sequence[Stimulus], labels: Sequence[str], seed: int) -> dict[str, list[Stimulus]]:
    """Originals by their label, in an order that does not depend on that of the file."""
    found: dict[str, list[Stimulus]] = defaultdict(list)
    for original in sorted(originals, key=lambda original: seeds.uniform(seed, original.content, "example")):
        if original.gold in labels and original.candidates[0].strip():
            found[original.gold].append(original)
    return found


def _nearest_label(level: str, labels: Sequence[str], by_label: Mapping[str, Sequence[Stimulus]]) -> str:
    """The level itself if an original has it, else the nearest one that an original has, the lower of two; or empty."""
    place = labels.index(level)
    held = [label for label in labels if by_label.get(label)]
    return min(held, key=lambda label: abs(labels.index(label) - place), default="")


def _examples(
    labelled: Sequence[Stimulus], source: Stimulus, seed: int, names: tuple[str, str, str]
) -> tuple[str, ...]:
    """Drawn for each commission anew, so that a level is not shown by the same two responses throughout."""
    start = int(seeds.uniform(seed, *names, "examples") * len(labelled))
    drawn = [labelled[(start + step) % len(labelled)] for step in range(min(LOOKED_AT, len(labelled)))]
    # A response to the same task would be copied rather than learnt from.
    drawn.sort(key=lambda original: original.task == source.task)
    return tuple(dict.fromkeys(original.candidates[0] for original in drawn))


def _article(kind: str) -> str:
    return f"{'an' if kind[0] in 'aeio' else 'a'} {kind}"


# Which stimuli a generator is to write: the commissions, and what cannot be asked for and why.


@dataclass(frozen=True, slots=True)
class Skipped:
    """A stimulus that was wanted and is not tried."""

    test: str
    source: str
    """Id of the original; empty if the whole test is skipped."""
    reason: str
    """The same words for the same cause, so that they can be counted."""


def plan_commissions(
    originals: Sequence[Stimulus],
    tests: Sequence[GeneratedPerturbation],
    terms: GenerationTerms,
    counts: Counts,
    *,
    seed: int,
) -> tuple[list[Commission], list[Skipped]]:
    """The commissions of every test, in the order of the tests and of the originals.

    A test that changes a response has one commission for each original. One that writes new responses has `counts`.
    """
    commissions: list[Commission] = []
    skipped: list[Skipped] = []
    for test in tests:
        if test.expectation == "given-label":
            sources = [original for original in originals if not _without_rubric(original, terms)]
            planned = plan_buckets(test, sources, terms, counts, seed=seed)
            if isinstance(planned, str):
                skipped.append(Skipped(test.name, "", planned))
            else:
                commissions += planned
            continue
        for original in originals:
            target = _target(test, original, terms, seed)
            if reason := _without_rubric(original, terms) or _unfit(test, original) or target.reason:
                skipped.append(Skipped(test.name, original.id, reason))
            else:
                commissions.append(Commission(test, terms, original, target.label))
    return _distinct(commissions, skipped)


@dataclass(frozen=True, slots=True)
class _Target:
    label: str = ""
    reason: str = ""


def _target(test: GeneratedPerturbation, original: Stimulus, terms: GenerationTerms, seed: int) -> _Target:
    """The label that the changed text is to deserve, or why there is none; neither if the verdict is to stay."""
    if test.expectation == "same-verdict":
        return _Target()
    if terms.scale.kind == "interval":
        return _Target(reason="an interval scale has no label to flip to")
    if not original.gold:
        return _Target(reason="the original has no label")
    if original.gold not in terms.scale.labels:
        return _Target(reason="the label of the original is not on the scale")
    return _flipped(original.gold, terms.scale, seeds.uniform(seed, test.name, original.content, "target"))


def _flipped(label: str, scale: GradeScale, draw: float) -> _Target:
    """The other label of two, the level mirrored over the middle of the scale, or any other label by a draw."""
    if scale.kind != "nominal":
        return _mirrored(scale.labels, scale.labels.index(label))
    others = [other for other in scale.labels if other != label]
    return _Target(others[int(draw * len(others))])


def _mirrored(labels: Sequence[str], place: int) -> _Target:
    """The level equally far from the other end of the scale, so that labels are flipped in both directions."""
    mirrored = len(labels) - 1 - place
    if mirrored == place:
        return _Target(reason="the original is in the middle of the scale, which has no opposite")
    return _Target(labels[mirrored])


def _without_rubric(original: Stimulus, terms: GenerationTerms) -> str:
    held = not terms.rubric_column or original.columns[terms.rubric_column].strip()
    return "" if held else "the row has no rubric"


def _unfit(test: GeneratedPerturbation, original: Stimulus) -> str:
    text = original.candidates[0]
    return "the response is empty" if not text.strip() else test.unfit(text)


def _distinct(commissions: Sequence[Commission], skipped: list[Skipped]) -> tuple[list[Commission], list[Skipped]]:
    """Each commission once: an original that is there twice adds nothing."""
    kept: dict[str, Commission] = {}
    for commission in commissions:
        if commission.id in kept:
            skipped.append(Skipped(commission.perturbation.name, commission.source.id, "the original appears twice"))
        else:
            kept[commission.id] = commission
    return list(kept.values()), skipped
