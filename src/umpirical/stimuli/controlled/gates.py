"""The gates of a stimulus set: whether its contents, crossing, design and surface are sound enough to measure with."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, groupby

import numpy as np

from umpirical.domain.errors import GateError
from umpirical.domain.stimuli import Family, GateResult, GivenWinner, Stimulus
from umpirical.domain.trials import Order, Presentation
from umpirical.stats.seeds import generator
from umpirical.stimuli.controlled.family_files import ASKED
from umpirical.stimuli.controlled.fine import REQUIREMENTS, Worked
from umpirical.stimuli.controlled.ladder.requests import MATCHERS
from umpirical.stimuli.controlled.ladder.transforms import canonical, length_gap
from umpirical.stimuli.controlled.materials import Materials
from umpirical.stimuli.controlled.tasks import LIST_NUMBER, PROSE, Task, check_tasks, check_twins, member, statements
from umpirical.stimuli.controlled.trivial import REPORTED, TRIVIAL, TrivialJudge, words_of
from umpirical.text.words import Triples, shared_triples, word_triples

# Gates on what the candidates state.


_OTHER_BLANK = re.compile(r"[^\S \n]")
"""A blank that no transform makes."""


def sound_tasks(materials: Materials) -> GateResult:
    """Every sentence states what it should and nothing else, fillers state nothing, requests give nothing away."""
    problems = [*check_tasks(materials.tasks), *check_twins(materials.twins + materials.figures)]
    looked_at = f"{len(materials.of_each())} tasks"
    return result("sound-tasks", problems, looked_at, "no problem in any task")


def checkers_agree(tasks: Mapping[str, Task], stimuli: Sequence[Stimulus]) -> GateResult:
    """The programmatic checkers find in every candidate the level it was made to have."""
    problems = []
    for stimulus in stimuli:
        found = tuple(tasks[stimulus.task_id].level(text) for text in stimulus.candidates)
        if found != stimulus.levels:
            problems.append(f"stimulus {stimulus.id}: made for levels {stimulus.levels}, found {found}")
    return result("checkers-agree", problems, f"{2 * len(stimuli)} candidates", "every candidate at its planned level")


def superset(tasks: Mapping[str, Task], stimuli: Sequence[Stimulus]) -> GateResult:
    """The better candidate states all that the lesser one states, and more."""
    problems, pairs = [], 0
    for stimulus in stimuli:
        if stimulus.family in ("graded", "figures", "conflict"):
            pairs += 1
            one, other = map(tasks[stimulus.task_id].stated, stimulus.candidates)
            if not (one < other or other < one):
                problems.append(f"stimulus {stimulus.id}: neither candidate states all that the other states")
    return result("superset", problems, f"{pairs} pairs with a better candidate", "it states all the other states")


def no_leak(tasks: Mapping[str, Task], stimuli: Sequence[Stimulus]) -> GateResult:
    """Nothing in a candidate but the sentences of its task: no winner, no level, no mark of where it comes from."""
    own = {task.id: _own_sentences(task) for task in tasks.values()}
    problems = []
    for stimulus in stimuli:
        known = own[stimulus.task_id]
        for text in filter(str.strip, stimulus.candidates):
            parts = statements(text, tasks[stimulus.task_id].layout)
            if foreign := [part for part in parts if canonical(part) not in known]:
                problems.append(f"stimulus {stimulus.id}: {foreign[0]!r} is not from its task")
            elif text != text.strip() or _OTHER_BLANK.search(text):
                problems.append(f"stimulus {stimulus.id}: blanks that no transform makes")
        if stimulus.task != tasks[stimulus.task_id].prompt:
            problems.append(f"stimulus {stimulus.id}: the task shown is not that of {stimulus.task_id}")
    return result("no-leak", problems, f"{len(stimuli)} stimuli", "nothing shown but the task and its own sentences")


def _own_sentences(task: Task) -> set[str]:
    texts = [text for fact in task.facts for text in (*fact.forms, *fact.fillers)]
    return {canonical(text if task.layout == PROSE else member(text)) for text in texts}


def result(name: str, problems: Sequence[str], looked_at: str, allowed: str) -> GateResult:
    """Passed if there is no problem; else the first one, and how many there are."""
    if not problems:
        return GateResult(name, passed=True, found=f"{looked_at}, no problem", allowed=allowed)
    more = f", and {len(problems) - 1} more" if len(problems) > 1 else ""
    return GateResult(name, passed=False, found=f"{problems[0]}{more} ({looked_at})", allowed=allowed)


# Gates on crossed ladders: whatever does not read the task is right exactly as often as a coin.

COIN = 0.05
"""How far from one half a judge that matches words with the request may score."""

ENOUGH_CROSSED = 60
"""With fewer stimuli at a step, what it scores there is printed and blocks nothing."""

REQUEST_GAP = 0.15
"""By what share of its words one request may be longer than the other."""

BLIND = {name: judge for name, judge in (TRIVIAL | REPORTED).items() if name != "prompt-overlap"}
"""Trivial judges that see the candidates alone."""

LADDERS = (Family.GRADED, Family.FIGURES)


@dataclass(frozen=True)
class Quad:
    """The two stimuli that show the same texts under the two versions of a task."""

    first: Stimulus
    second: Stimulus

    @property
    def stimuli(self) -> tuple[Stimulus, Stimulus]:
        return self.first, self.second


def quads_of(stimuli: Sequence[Stimulus]) -> Iterator[tuple[str, list[Stimulus]]]:
    """Stimuli by the name of their quad, in order."""
    found: defaultdict[str, list[Stimulus]] = defaultdict(list)
    for stimulus in stimuli:
        if stimulus.crossed_pair:
            found[f"{stimulus.family} {stimulus.crossed_pair}"].append(stimulus)
    yield from found.items()


def crossed(tasks: Mapping[str, Task], stimuli: Sequence[Stimulus]) -> GateResult:
    """Texts are the same under both versions, the winner flips, the step is the same, and what is asked is as long."""
    problems = [f"test case {s.id} has no crossed pair" for s in stimuli if s.family in LADDERS and not s.crossed_pair]
    pairs = []
    for name, members in quads_of(stimuli):
        if problem := _problem(tasks, members):
            problems.append(f"crossed pair {name}: {problem}")
        else:
            pairs.append(Quad(*members))
    scores = {name: _score(pairs, lambda s, judge=judge: judge(s.task, *s.candidates)) for name, judge in BLIND.items()}  # type: ignore[misc]
    problems += [f"{name} is right in {score:.4f}" for name, score in scores.items() if score != 1 / 2]
    looked_at = f"{len(pairs)} crossed pairs; each of {len(BLIND)} judges that do not see the task is right in 50%"
    return result(
        "crossed", problems, looked_at, "the same texts, the other winner, an equal difference, an equally long request"
    )


def _problem(tasks: Mapping[str, Task], members: Sequence[Stimulus]) -> str:
    if len(members) != 2:
        return f"{len(members)} stimuli, not two"
    one, other = members
    versions = tasks[one.task_id], tasks[other.task_id]
    gains = [_gain(task, stimulus) for task, stimulus in zip(versions, members, strict=True)]
    kinds = {(stimulus.task_family, stimulus.delta, stimulus.stratum) for stimulus in members}
    asked = _request_problem(*versions) if one.family == Family.GRADED else _figures_problem(*versions)
    found = {
        "the texts differ between the versions": one.candidates != other.candidates,
        "the two versions are not of one kind": len(kinds) > 1,
        "the winner does not change with the version": {_winner(one), _winner(other)} != {0, 1},
        "the better text does not state more by an equal step": None in gains or gains[0] != gains[1],
        asked: bool(asked),
    }
    return next((problem for problem, there in found.items() if there), "")


def _request_problem(first: Task, second: Task) -> str:
    if first.prompt.removesuffix(first.request) != second.prompt.removesuffix(second.request):
        return "the prompts differ in more than the request"
    lengths = sorted(len(task.request.split()) for task in (first, second))
    if lengths[1] - lengths[0] > REQUEST_GAP * lengths[1]:
        return f"the requests have {lengths[0]} and {lengths[1]} words"
    return ""


def _figures_problem(first: Task, second: Task) -> str:
    return "" if first.request == second.request else "the request changes with the figures"


def _gain(task: Task, stimulus: Stimulus) -> int | None:
    """How many facts the better text states beyond all that the lesser one states. None if it lacks one of those."""
    winner = _winner(stimulus)
    better, lesser = task.stated(stimulus.candidates[winner]), task.stated(stimulus.candidates[1 - winner])
    return len(better - lesser) if lesser < better else None


def request_overlap(tasks: Mapping[str, Task], stimuli: Sequence[Stimulus]) -> GateResult:
    """Matching words, stems or letters with the request does not tell the better text, overall or at a step."""
    found, outside = [], False
    for family in LADDERS:
        steps: defaultdict[float, list[Stimulus]] = defaultdict(list)
        for stimulus in stimuli:
            if stimulus.family == family:
                steps[stimulus.delta or 0.0].append(stimulus)
        count = sum(map(len, steps.values()))
        for name, cue in MATCHERS.items():
            points = {step: _points(tasks, shown, cue) for step, shown in sorted(steps.items())}
            by_step = {step: told / len(steps[step]) for step, told in points.items()}
            score = sum(points.values()) / count if count else 1 / 2
            if family == Family.GRADED:
                outside |= count >= ENOUGH_CROSSED and abs(score - 1 / 2) > COIN
                outside |= any(
                    len(steps[s]) >= ENOUGH_CROSSED and abs(told - 1 / 2) > COIN for s, told in by_step.items()
                )
            if count:
                listed = ", ".join(f"{step:g}: {told:.3f} of {len(steps[step])}" for step, told in by_step.items())
                found.append(f"{name} {score:.3f} on {family} ({listed})")
    allowed = f"{1 / 2 - COIN:.2f} to {1 / 2 + COIN:.2f} on graded, at each step with {ENOUGH_CROSSED} stimuli"
    return GateResult("request-overlap", not outside, "; ".join(found), allowed)


MOST_MATCHED = 0.60
"""How often matching words with the task may tell the better of two answers with fine differences."""


def fine_differences(families: Sequence[Worked], stimuli: Sequence[Stimulus]) -> GateResult:
    """Each answer has as many details right as it was made to have, by its prompt alone; blind judges are coins."""
    known, problems, pairs = {family.id: family for family in families}, [], []
    for stimulus in stimuli:
        family = known[stimulus.task_family]
        details = int(stimulus.stratum.split("/")[1])
        try:
            right = [family.right_in(stimulus.task, text) for text in stimulus.candidates]
        except ValueError as error:
            problems.append(f"test case {stimulus.id}: {error}")
            continue
        if [round(level * details / REQUIREMENTS) for level in stimulus.levels] != right:
            problems.append(f"test case {stimulus.id}: of {details} details, {right} are right")
    for name, members in quads_of(stimuli):
        if len(members) != 2 or members[0].candidates != members[1].candidates:
            problems.append(f"crossed pair {name}: the texts differ between the versions")
        elif {_winner(stimulus) for stimulus in members} != {0, 1}:
            problems.append(f"crossed pair {name}: the winner does not change with the version")
        else:
            pairs.append(Quad(*members))
    blind = {name: _score(pairs, lambda s, judge=judge: judge(s.task, *s.candidates)) for name, judge in BLIND.items()}  # type: ignore[misc]
    problems += [f"{name} is right in {score:.4f}" for name, score in blind.items() if score != 1 / 2]
    tasks = {s.task_id: Task(s.task_id, s.task_family, "", s.task, (), request=s.task) for s in stimuli}
    matched = {name: _points(tasks, stimuli, cue) / len(stimuli) for name, cue in MATCHERS.items()}
    if len(stimuli) >= ENOUGH_CROSSED:
        problems += [f"{name} is right in {score:.3f}" for name, score in matched.items() if score > MOST_MATCHED]
    most = max(matched, key=matched.__getitem__)
    looked_at = (
        f"{len(pairs)} crossed pairs; of all that match words, {most} is right most often, in {matched[most]:.3f}"
    )
    allowed = f"every detail as made, blind judges at one half, matching words at most {MOST_MATCHED:.2f}"
    return result("fine-differences", problems, looked_at, allowed)


LETTERS = 4
"""By how many of its first letters a word of a clause is looked for."""

_JOINT = re.compile(rf" (?:{'|'.join(ASKED.values())}) ")


def clause_overlap(tasks: Mapping[str, Task], stimuli: Sequence[Stimulus]) -> GateResult:
    """How often matching single statements with single clauses of the request tells the better text. It is printed.

    Such a matcher beats a coin where texts differ in every requirement. No judge that goes by it follows the task often
    enough to pass, but part of a judge's accuracy at that step may be matching.
    """
    steps: defaultdict[float, list[Stimulus]] = defaultdict(list)
    for stimulus in stimuli:
        if stimulus.family == Family.GRADED:
            steps[stimulus.delta or 0.0].append(stimulus)
    scores = {step: _points(tasks, shown, _matched) / len(shown) for step, shown in sorted(steps.items())}
    found = ", ".join(f"{step:g}: {score:.3f} of {len(steps[step])}" for step, score in scores.items())
    return GateResult("clause-overlap", passed=True, found=f"{found} on graded", allowed="reported", blocks=False)


def _matched(task: Task, first: str, second: str) -> int:
    """Which text matches the clauses of the request better: 1 for the first, -1 for the second, 0 for neither."""
    items = [item.partition(": ")[2] for item in LIST_NUMBER.split(task.request)[1:]]
    clauses = [_beginnings(clause) for item in items for clause in _JOINT.split(item)]
    one, other = (
        sum(max(len(clause & part) / len(clause) for part in parts) for clause in clauses)
        for parts in ([_beginnings(part) for part in statements(text, task.layout)] for text in (first, second))
    )
    return (one > other) - (one < other)


def _beginnings(text: str) -> set[str]:
    return {word[:LETTERS] for word in words_of(text)}


def _points(tasks: Mapping[str, Task], stimuli: Sequence[Stimulus], judge: Callable[[Task, str, str], int]) -> float:
    """One for each stimulus whose better text a matcher names, half a point where it names none."""
    points = 0.0
    for stimulus in stimuli:
        told = judge(tasks[stimulus.task_id], *stimulus.candidates)
        points += (1 + (told if _winner(stimulus) == 0 else -told)) / 2
    return points


def _score(quads: Sequence[Quad], verdict: Callable[[Stimulus], str]) -> float:
    """The share of stimuli in which a judge names the better text, a tie being half right."""
    points = {"1": 0, "2": 1}
    right = 0.0
    for quad in quads:
        for stimulus in quad.stimuli:
            said = verdict(stimulus)
            right += 1 / 2 if said == "tie" else points[said] == _winner(stimulus)
    return right / (2 * len(quads)) if quads else 1 / 2


def _winner(stimulus: Stimulus) -> int:
    return stimulus.expectation.candidate if isinstance(stimulus.expectation, GivenWinner) else -1


# Gates on the set as a whole: nothing twice, nothing missing, and the same again from the same seed.

SIMILAR = 0.8
"""Two answers that share this much of their word triples, or more, count as one answer."""

HASHES, BAND = 64, 4
"""Two answers with 80 % of triples in common share a band of four hashes with a chance of 1 - 2·10⁻⁴."""


def near_duplicates(stimuli: Sequence[Stimulus]) -> GateResult:
    """No answer comes, word for word or nearly so, under two tasks, and no pair comes twice."""
    problems = [
        f"stimuli {one.id} and {other.id} show the same pair"
        for one, other in _same([(s, (s.task, *s.candidates)) for s in stimuli])
    ]
    texts: dict[str, Stimulus] = {}
    problems += [
        f"stimuli {texts[text].id} and {stimulus.id} show the same answer under two tasks"
        for stimulus in stimuli
        for text in filter(str.strip, stimulus.candidates)
        if texts.setdefault(text, stimulus).twin != stimulus.twin
    ]
    triples = {text: word_triples(text) for text in texts}
    for one, other in _look_alike(triples):
        first, second = texts[one], texts[other]
        if first.twin != second.twin and shared_triples(triples[one], triples[other]) >= SIMILAR:
            problems.append(f"stimuli {first.id} and {second.id} show nearly the same answer under two tasks")
    allowed = f"no two tasks share an answer by {SIMILAR:.0%} of word triples"
    return result("near-duplicates", problems, f"{len(texts)} answers", allowed)


def controls(stimuli: Sequence[Stimulus]) -> GateResult:
    """The largest step, which every judge should see, and vacuum, which none should, are both there."""
    missing = [family for family in ("blank", "equal", "graded") if not any(s.family == family for s in stimuli)]
    problems = [f"no stimulus of family {family}" for family in missing]
    if not any(s.family == "graded" and s.base == 0 and (s.delta or 0) >= 2 for s in stimuli):
        problems.append("no pair that differs by several requirements")
    return result("controls", problems, f"{len(stimuli)} stimuli", "a positive and a negative control")


def rebuilds(stimuli: Sequence[Stimulus], again: Iterable[Stimulus]) -> GateResult:
    """The same tasks, recipe and seed give the same stimuli, byte for byte."""
    other = [stimulus.id for stimulus in again]
    same = other == [stimulus.id for stimulus in stimuli]
    found = f"{len(other)} stimuli built again, {'all' if same else 'not all'} of them the same"
    return GateResult("rebuilds", same, found, "byte-identical")


def both_orders(shown: Iterable[tuple[Stimulus, Presentation]]) -> GateResult:
    """Every pair is asked in both orders, in every variant and repeat, one stimulus after another."""
    pairs, problems = 0, list[str]()
    for name, ways in groupby(shown, key=lambda each: each[0].id):
        orders: defaultdict[tuple[str, int], set[Order]] = defaultdict(set)
        for stimulus, way in ways:
            if len(set(stimulus.candidates)) > 1:
                orders[way.variant, way.repeat].add(way.order)
        pairs += len(orders)
        problems += [f"stimulus {name} is asked in one order only" for seen in orders.values() if len(seen) < 2]
    return result("both-orders", problems, f"{pairs} pairs", "each in both orders")


def _same(keyed: Sequence[tuple[Stimulus, object]]) -> Iterable[tuple[Stimulus, Stimulus]]:
    seen: dict[object, Stimulus] = {}
    for stimulus, key in keyed:
        if key in seen:
            yield seen[key], stimulus
        seen.setdefault(key, stimulus)


def _look_alike(triples: dict[str, Triples]) -> set[tuple[str, str]]:
    """Pairs worth comparing, found by bands of min-hashes: comparing all with all would take minutes."""
    rng = generator(0, "near-duplicates")
    prime = (1 << 31) - 1
    a, b = rng.integers(1, prime, (2, HASHES, 1), dtype=np.int64)
    numbers: dict[tuple[str, ...], int] = {}
    bands: defaultdict[tuple[int, bytes], list[str]] = defaultdict(list)
    for text, own in triples.items():
        codes = np.array([numbers.setdefault(triple, len(numbers) + 1) for triple in own] or [0], dtype=np.int64)
        signature = ((a * codes + b) % prime).min(axis=1)
        for band in range(HASHES // BAND):
            bands[band, signature[band * BAND : (band + 1) * BAND].tobytes()].append(text)
    return {pair for texts in bands.values() for pair in combinations(sorted(texts), 2)}


# Gates on what the surface tells: length, and whatever a judge could go by without reading.

ENOUGH = 40
"""With fewer pairs, a coin itself strays further, and is allowed to."""

CORRELATION = 0.05

QUAD_GAP = 4
"""How many tokens beyond the rule the texts of a quad may differ by."""

MATCHED = ("equal", "graded", "figures", "equal-subset")
"""Families whose candidates are equally long; in the others length is what is varied."""


def lengths_match(tasks: Mapping[str, Task], stimuli: Sequence[Stimulus]) -> GateResult:
    """The candidates of a pair are equally long, by both ways to count tokens.

    In a quad a longer text is the better one under one version and the lesser one under the other, so what is left of a
    gap tells nothing, and some is allowed.
    """
    pairs = [stimulus for stimulus in stimuli if stimulus.family in MATCHED]
    problems = [
        f"stimulus {stimulus.id}: the candidates differ in length"
        for stimulus in pairs
        if _gap(tasks, stimulus) > (QUAD_GAP if stimulus.crossed_pair else 0)
    ]
    return result(
        "lengths-match",
        problems,
        f"{len(pairs)} pairs",
        "within 2 tokens or 2%, 10% in JSON, in two tokenizers",
    )


def _gap(tasks: Mapping[str, Task], stimulus: Stimulus) -> int:
    u, v = stimulus.candidates
    return length_gap(u, v, tasks[stimulus.task_id].layout)


def length_tells_nothing(stimuli: Sequence[Stimulus]) -> GateResult:
    """By how much the better candidate is longer does not grow with the step."""
    ladder = _directed(stimuli, "graded")
    steps = np.array([delta for _, _, _, delta in ladder])
    gaps = np.array([len(better) - len(lesser) for _, better, lesser, _ in ladder], dtype=float)
    told = 0.0 if len(ladder) < 3 or not (steps.std() and gaps.std()) else float(np.corrcoef(steps, gaps)[0, 1])
    # A correlation that so few pairs may show by chance is not a leak.
    limit = max(CORRELATION, 2 / math.sqrt(max(1, len(ladder))))
    return GateResult(
        "length-tells-nothing",
        passed=abs(told) <= limit,
        found=f"correlation of step and length gap {told:+.3f} over {len(ladder)} pairs",
        allowed=f"within ±{limit:.3f}",
    )


def trivial_judges(stimuli: Sequence[Stimulus]) -> GateResult:
    """No judge that reads nothing does better, or worse, than a coin."""
    scores, allowed, outside = [], [], False
    for family in ("graded", "equal"):
        pairs = _directed(stimuli, family)
        limit = COIN if len(pairs) >= ENOUGH else 1 / math.sqrt(max(4, len(pairs)))
        allowed.append(f"{0.5 - limit:.2f} to {0.5 + limit:.2f} each on {family}")
        for name, judge in TRIVIAL.items():
            score = trivial_score(judge, pairs)
            outside |= abs(score - 0.5) > limit + 1e-9
            scores.append(f"{name} {score:.3f} on {family}")
    return GateResult("trivial-judges", not outside, ", ".join(scores), ", ".join(allowed))


def reported_judges(stimuli: Sequence[Stimulus]) -> GateResult:
    """Scores of cues that a good answer may well carry: printed, and no reason to stop."""
    ladder = _directed(stimuli, "graded")
    found = ", ".join(f"{name} {trivial_score(judge, ladder):.3f}" for name, judge in REPORTED.items())
    return GateResult("reported-judges", passed=True, found=f"{found} on graded", allowed="reported", blocks=False)


def bag_of_words(stimuli: Sequence[Stimulus]) -> GateResult:
    """How often words alone, learnt on other task families, tell the better candidate. It is printed.

    Naive Bayes on word counts, trained on every family but the one it is tried on.
    """
    ladder = [(s.cluster, s) for s in stimuli if s.family == "graded"]
    counts: dict[str, list[Counter[str]]] = {}
    directed = [(family, *_better_first(stimulus)) for family, stimulus in ladder]
    for family, better, lesser in directed:
        sides = counts.setdefault(family, [Counter(), Counter()])
        sides[0].update(words_of(better))
        sides[1].update(words_of(lesser))
    if len(counts) < 2:  # nothing left to learn on
        return GateResult("bag-of-words", passed=True, found="one task family", allowed="reported", blocks=False)
    totals = [Counter[str](), Counter[str]()]
    for sides in counts.values():
        for total, side in zip(totals, sides, strict=True):
            total.update(side)
    learnt = {family: _LogOdds(totals, own) for family, own in counts.items()}
    right = 0.0
    for family, better, lesser in directed:
        weights = learnt[family]
        lead = sum(map(weights.__getitem__, words_of(better))) - sum(map(weights.__getitem__, words_of(lesser)))
        right += 1.0 if lead > 0 else 0.5 if lead == 0 else 0.0
    found = f"{right / len(directed):.3f} on graded, trained on the other {len(counts) - 1} families"
    return GateResult("bag-of-words", passed=True, found=found, allowed="reported", blocks=False)


Directed = tuple[str, str, str, float]
"""Task, the better candidate, the lesser one, and the step; content a and b where none is better."""


def trivial_score(judge: TrivialJudge, pairs: Sequence[Directed]) -> float:
    """Share of calls that name the better candidate, both orders of every pair, a tie being half right."""
    points = {"1": 1.0, "2": 0.0, "tie": 0.5}
    total = sum(points[judge(task, one, two)] + 1 - points[judge(task, two, one)] for task, one, two, _ in pairs)
    return total / (2 * len(pairs)) if pairs else 0.5


def _directed(stimuli: Sequence[Stimulus], family: str) -> list[Directed]:
    return [(s.task, *_better_first(s), s.delta or 0.0) for s in stimuli if s.family == family]


def _better_first(stimulus: Stimulus) -> tuple[str, str]:
    u, v = stimulus.candidates
    worse_first = isinstance(stimulus.expectation, GivenWinner) and stimulus.expectation.candidate == 1
    return (v, u) if worse_first else (u, v)


class _LogOdds(dict[str, float]):
    """The weight of a word in all families but one, worked out when it is looked up; 0 for a word of that one alone."""

    def __init__(self, totals: Sequence[Counter[str]], own: Sequence[Counter[str]]) -> None:
        super().__init__()
        self._totals, self._own = totals, own
        self._sizes = [total.total() - mine.total() for total, mine in zip(totals, own, strict=True)]

    def __missing__(self, word: str) -> float:
        better, lesser = (total[word] - mine[word] for total, mine in zip(self._totals, self._own, strict=True))
        n, m = self._sizes
        self[word] = math.log((better + 1) / (n + 1) * (m + 1) / (lesser + 1)) if better or lesser else 0.0
        return self[word]


# All gates on one stimulus set.


def try_gates(materials: Materials, stimuli: Sequence[Stimulus], again: Iterable[Stimulus]) -> Iterator[GateResult]:
    """Every gate, in the order of what they look at. `again` builds the set a second time."""
    by_id, whole = {task.id: task for task in materials.all_tasks}, stimuli
    fine = [stimulus for stimulus in whole if stimulus.family == Family.FINE]
    stimuli = [stimulus for stimulus in whole if stimulus.family != Family.FINE]
    yield sound_tasks(materials)
    yield checkers_agree(by_id, stimuli)
    yield superset(by_id, stimuli)
    yield no_leak(by_id, stimuli)
    yield lengths_match(by_id, stimuli)
    yield length_tells_nothing(stimuli)
    yield trivial_judges(stimuli)
    yield reported_judges(stimuli)
    yield bag_of_words(stimuli)
    if materials.twins:
        yield crossed(by_id, stimuli)
        yield request_overlap(by_id, stimuli)
        yield clause_overlap(by_id, stimuli)
    yield near_duplicates(stimuli)
    yield controls(stimuli)
    if fine:
        yield fine_differences(materials.worked, fine)
    yield rebuilds(whole, again)


def refuse_unsound(gates: Iterable[GateResult]) -> None:
    """Raises if a gate that blocks has not passed, and names it."""
    failed = [gate for gate in gates if gate.blocks and not gate.passed]
    if failed:
        lines = "\n".join(f"  gate {gate.name}: {gate.found}\n    allowed: {gate.allowed}" for gate in failed)
        fix = "correct what the gate names; umpirical check"
        raise GateError(f"the stimuli are not fit to measure with\n{lines}", fix=fix)
