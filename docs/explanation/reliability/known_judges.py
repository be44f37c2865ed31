"""Judges whose true rates are known: how each answers, as shares of what it is asked, and the counts that follow.

A judge answers a crossed pair, a pair or a prompt in one of a few ways, and its shares of these ways are its true
rates. Task families differ: each draws shares of its own around the judge's, with a stated correlation within the
family.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from umpirical.domain.stimuli import Family, Stimulus
from umpirical.domain.tallies import CallTally, PairTally, PartTally, QuadTally, Tallies, VacuumTally

ARM = "baseline"

Shares = Mapping[str, float]

# Ways to answer a crossed pair, two versions in two orders each: which calls are right, wrong or ties.
QUAD_WAYS = {
    "follows": (2, 2),
    "blind": (2, -2),
    "one version": (2, 0),
    "slot": (0, 0),
    "reversed": (-2, -2),
    "tie": (None, None),
    "abstains": (None, None),
}
"""For each version: 2 if both orders are right, -2 if both are wrong, 0 if one of each, None if neither names any."""

FAR = ("+100%", "+200%")

EQUAL_WAYS = ("stable", "positional", "one-sided", "tie", "abstains")


@dataclass(frozen=True)
class KnownJudge:
    """How a judge answers."""

    dark: float = 0.0
    """Vacuum prompts for which it names a winner."""
    equal: Shares = field(default_factory=dict)
    """Ways to answer a pair of equal quality; the rest are ties."""
    quads: Mapping[float, Shares] = field(default_factory=dict)
    """Ways to answer a crossed pair by step; the rest follow the task. A step not named is answered as the next
    below."""
    figures: Mapping[float, Shares] | None = None
    """Ways to answer a crossed pair of figures by step; None if it answers them as the others."""
    conflict: float = 0.0
    """Share of pairs in which it names the longer, lesser answer in both orders."""
    far: float | None = None
    """The same where that answer is at least twice as long; None if that makes no difference."""
    unparsed: float = 0.0
    """Calls whose answer cannot be read, whatever it is."""
    hidden: float = 0.0
    """Share of its stable preferences between equal answers that cannot be read."""
    failed: float = 0.0
    sound: bool = False
    """Whether it meets every check, so that refusing it is an error."""

    def shares(self, family: Family, step: float) -> Shares:
        quads = self.quads if family == Family.GRADED or self.figures is None else self.figures
        below = [known for known in quads if known <= step] or list(quads)
        return quads[max(below)] if below else {}

    def longer(self, amount: str) -> float:
        return self.conflict if self.far is None or amount not in FAR else self.far


@dataclass(frozen=True)
class Plan:
    """What is asked of each task family."""

    vacuum: Counter
    equal: Counter
    quads: Counter
    """By kind of crossed pair, step and family."""
    conflict: Counter
    """By amount of extra length and family."""
    other: Counter
    """Calls about anything else."""
    parts: set
    """Each family with a part of the test cases that it belongs to."""

    @property
    def families(self) -> list[str]:
        return sorted({*self.vacuum, *self.equal, *(family for _, _, family in self.quads)})


def plan_of(stimuli: Iterable[Stimulus]) -> Plan:
    """Counts a stimulus set. A blank pair that differs in blanks is two prompts, one in each order."""
    plan = Plan(*(Counter() for _ in range(5)), set())
    for stimulus in stimuli:
        family = stimulus.cluster
        plan.parts.update((family, f"{kind}={name}") for kind, name in stimulus.parts.items())
        if stimulus.family == Family.BLANK:
            plan.vacuum[family] += len(set(stimulus.candidates))
        elif stimulus.family == Family.EQUAL:
            plan.equal[family] += 1
        elif stimulus.crossed_pair:
            plan.quads[stimulus.family, stimulus.delta, family] += 0.5
        elif stimulus.family == Family.CONFLICT:
            plan.conflict[stimulus.stratum, family] += 1
        else:
            plan.other[family] += 2
    return plan


def draw(
    judge: KnownJudge,
    plan: Plan,
    rng: np.random.Generator,
    *,
    correlation: float,
    families: np.random.Generator | None = None,
) -> Tallies:
    """Draws the counts of one run. Two runs with equal `families` have the same shares in each task family."""
    drawing = _Drawing(judge, plan.families, rng, correlation, families or rng)
    drawing.vacuum(plan.vacuum)
    drawing.equal(plan.equal)
    for kind, step in sorted({(kind, step) for kind, step, _ in plan.quads}):
        drawing.quads(kind, step, {family: plan.quads[kind, step, family] for family in plan.families})
    for amount in sorted({amount for amount, _ in plan.conflict}):
        drawing.conflict(amount, {family: plan.conflict[amount, family] for family in plan.families})
    drawing.other(plan.other)
    parts = tuple(PartTally(family, ARM, part) for family, part in sorted(plan.parts))
    return replace(drawing.tallies(), parts=parts)


class _Drawing:
    """Everything is drawn for all families at once: an entry of an array is that of a family."""

    def __init__(
        self,
        judge: KnownJudge,
        families: list[str],
        rng: np.random.Generator,
        correlation: float,
        family_rng: np.random.Generator,
    ) -> None:
        self.judge, self.families, self.rng, self.correlation = judge, families, rng, correlation
        self.family_rng = family_rng
        self.made: dict[str, list] = defaultdict(list)
        self.calls = {name: np.zeros(len(families), int) for name in ("planned", "abstained", "unparsed", "failed")}

    def vacuum(self, asked: Mapping[str, int]) -> None:
        prompts = self._units(asked)
        ways, lost = self._drawn({"hit": self.judge.dark}, ("hit", "tie"), prompts, calls=1)
        for family, hits, left, gone in zip(self.families, ways[:, 0], prompts - lost, lost, strict=True):
            self.made["vacuum"].append(VacuumTally(family, ARM, "empty", int(left), float(hits), int(gone)))

    def equal(self, asked: Mapping[str, int]) -> None:
        pairs = self._units(asked)
        ways, lost = self._drawn(self.judge.equal, EQUAL_WAYS, pairs, calls=2)
        hidden = self.rng.binomial(ways[:, 0], self.judge.hidden)
        self.calls["unparsed"] += 2 * hidden
        self.calls["abstained"] += 2 * ways[:, EQUAL_WAYS.index("abstains")]
        ways[:, 0] -= hidden
        for family, counts, gone in zip(self.families, ways.tolist(), (lost + hidden).tolist(), strict=True):
            stable, positional, one_sided, tie, abstains = counts
            self.made["pairs"].append(
                PairTally(
                    family, ARM, Family.EQUAL, 0.0, sum(counts), stable, positional, one_sided, tie + abstains,
                    tie_calls=2 * tie + one_sided, abstained_calls=2 * abstains, incomplete=gone,
                    position_1_calls=2 * positional + stable, position_2_calls=stable,
                )
            )  # fmt: skip

    def quads(self, kind: Family, step: float, asked: Mapping[str, float]) -> None:
        quads = self._units(asked)
        ways, lost = self._drawn(self.judge.shares(kind, step), tuple(QUAD_WAYS), quads, calls=4, rest="follows")
        self.calls["abstained"] += 4 * ways[:, tuple(QUAD_WAYS).index("abstains")]
        for family, counts, gone in zip(self.families, ways.tolist(), lost.tolist(), strict=True):
            if sum(counts) + gone:
                self._quad_tallies(kind, family, step, dict(zip(QUAD_WAYS, counts, strict=True)), gone)

    def _quad_tallies(self, kind: Family, family: str, step: float, count: Mapping[str, int], lost: int) -> None:
        answered = sum(count.values())
        versions = [(number, side) for way, number in count.items() for side in QUAD_WAYS[way]]
        both, wrong = (sum(n for n, side in versions if side == which) for which in (2, -2))
        split = sum(n for n, side in versions if side == 0)
        ties = sum(n for n, side in versions if side is None)
        self.made["pairs"].append(
            PairTally(
                family, ARM, kind, step, 2 * answered, both + wrong, split, 0, ties,
                correct_calls=2 * both + split, wrong_calls=2 * wrong + split, both_correct=both,
                tie_calls=2 * ties, incomplete=2 * lost,
            )
        )  # fmt: skip
        self.made["quads"].append(
            QuadTally(
                family, ARM, kind, "", step, answered, count["follows"], count["blind"], count["reversed"],
                count["one version"], count["slot"] + count["tie"] + count["abstains"], incomplete=lost,
            )
        )  # fmt: skip

    def conflict(self, amount: str, asked: Mapping[str, int]) -> None:
        pairs = self._units(asked)
        longer = {"longer": self.judge.longer(amount)}
        ways, lost = self._drawn(longer, ("longer", "right"), pairs, calls=2, rest="right")
        for family, (wrong, right), gone in zip(self.families, ways.tolist(), lost.tolist(), strict=True):
            if wrong + right + gone:
                self.made["pairs"].append(
                    PairTally(
                        family, ARM, Family.CONFLICT, 1.0, wrong + right, wrong + right,
                        correct_calls=2 * right, wrong_calls=2 * wrong, both_correct=right, incomplete=gone,
                        stratum=amount,
                    )
                )  # fmt: skip

    def other(self, asked: Mapping[str, int]) -> None:
        calls = self._units(asked)
        unparsed = self.rng.binomial(calls, self.judge.unparsed)
        self.calls["planned"] += calls
        self.calls["unparsed"] += unparsed
        self.calls["failed"] += self.rng.binomial(calls - unparsed, self.judge.failed)

    def tallies(self) -> Tallies:
        rows = zip(self.families, *(counts.tolist() for counts in self.calls.values()), strict=True)
        calls = [
            CallTally(
                family, ARM, Family.GRADED, "", None, planned=planned, abstained=abstained, unparsed=unparsed,
                failed=failed, tie=max(0, planned - abstained - unparsed - failed),
            )
            for family, planned, abstained, unparsed, failed in rows
        ]  # fmt: skip
        return Tallies(
            vacuum=tuple(self.made["vacuum"]),
            pairs=tuple(self.made["pairs"]),
            quads=tuple(self.made["quads"]),
            calls=tuple(calls),
        )

    def _units(self, asked: Mapping[str, float]) -> np.ndarray:
        return np.array([int(asked.get(family, 0)) for family in self.families])

    def _drawn(
        self, shares: Shares, ways: tuple[str, ...], units: np.ndarray, *, calls: int, rest: str = "tie"
    ) -> tuple[np.ndarray, np.ndarray]:
        """Draws how many units of each family are answered in each way, and how many are lost because a call is."""
        lost_share = 1 - (1 - self.judge.unparsed) * (1 - self.judge.failed)
        lost = self.rng.binomial(units, 1 - (1 - lost_share) ** calls)
        self.calls["planned"] += calls * units
        if lost_share:
            # A lost unit has at least one lost call; the mean number given that is spread over the two reasons.
            mean = calls * lost_share / (1 - (1 - lost_share) ** calls)
            gone = np.rint(lost * mean).astype(int)
            unparsed = self.rng.binomial(gone, min(1.0, self.judge.unparsed / lost_share))
            self.calls["unparsed"] += unparsed
            self.calls["failed"] += gone - unparsed
        whole = dict(shares)
        whole[rest] = whole.get(rest, 0.0) + max(0.0, 1 - sum(whole.values()))
        return self.rng.multinomial(units - lost, self._by_family([whole.get(way, 0.0) for way in ways])), lost

    def _by_family(self, chances: Sequence[float]) -> np.ndarray:
        of_judge = np.array(chances) / sum(chances)
        possible = of_judge > 0
        own = np.tile(of_judge, (len(self.families), 1))
        if self.correlation and possible.sum() > 1:
            own[:, possible] = self.family_rng.dirichlet(
                of_judge[possible] * (1 / self.correlation - 1), size=len(self.families)
            )
        return own


PERFECT = KnownJudge(sound=True)

HALF = KnownJudge(
    dark=0.025,
    equal={"stable": 0.02, "positional": 0.02, "one-sided": 0.02},
    quads={0.0: {"blind": 0.06, "one version": 0.06, "slot": 0.02}, 5.0: {"blind": 0.03, "one version": 0.04}},
    conflict=0.08,
    unparsed=0.005,
    sound=True,
)

LIMIT_QUADS = {0.0: {"blind": 0.15, "one version": 0.20, "slot": 0.15}, 5.0: {"blind": 0.15, "one version": 0.10}}

AT_EVERY_LIMIT = KnownJudge(
    dark=0.05, equal={"stable": 0.0, "positional": 0.10}, quads=LIMIT_QUADS, conflict=0.10 + 0.20, unparsed=0.02
)
"""Both false preferences .10; target sensitivity .775 at one requirement and .90 at five; following .75, blind .15."""


def _lapsing(share: float, *, blanks: bool = True) -> KnownJudge:
    return KnownJudge(
        dark=0.7 * share if blanks else 0.0,
        equal={"one-sided": share},
        quads={0.0: {"one version": 2 * share}},
        conflict=share / 2,
        sound=True,
    )


JUDGES: dict[str, KnownJudge] = {
    "perfect": PERFECT,
    "1 % lapses, DC .7 %": _lapsing(0.01),
    "2 % lapses, DC 1.4 %": _lapsing(0.02),
    "2 % lapses, none on blanks": _lapsing(0.02, blanks=False),
    "half of the limits": HALF,
    "misses small differences": KnownJudge(quads={0.0: {"tie": 0.69}, 5.0: {}}, sound=True),
    "at every limit": AT_EVERY_LIMIT,
    "dark current .10": replace(PERFECT, dark=0.10, sound=False),
    "dark current .20": replace(PERFECT, dark=0.20, sound=False),
    "stable preference .20": replace(PERFECT, equal={"stable": 0.20}, sound=False),
    "slot decides in .30 of equal pairs": replace(PERFECT, equal={"positional": 0.30}, sound=False),
    "random": KnownJudge(
        dark=0.67,
        equal={"stable": 0.22, "positional": 0.22, "one-sided": 0.45},
        quads={0.0: {"follows": 0.05, "blind": 0.10, "reversed": 0.05, "one version": 0.20, "slot": 0.30, "tie": 0.30}},
        conflict=0.33,
    ),
    "always a tie": KnownJudge(quads={0.0: {"tie": 1.0}}),
    "always slot 1": KnownJudge(dark=1.0, equal={"positional": 1.0}, quads={0.0: {"slot": 1.0}}),
    "always abstains": KnownJudge(equal={"abstains": 1.0}, quads={0.0: {"abstains": 1.0}}),
    "reversed": KnownJudge(quads={0.0: {"reversed": 1.0}}, conflict=1.0),
    "task-blind": KnownJudge(quads={0.0: {"blind": 1.0}}),
    "task-blind in half of the quads": KnownJudge(quads={0.0: {"blind": 0.5}}),
    "longer is better, else sound": replace(PERFECT, conflict=1.0, sound=False),
    "longer is better from twice the length on, else sound": replace(PERFECT, far=1.0, sound=False),
    "never checks a figure, else sound": replace(PERFECT, figures={0.0: {"tie": 1.0}}, sound=False),
    "prefers larger figures, else sound": replace(PERFECT, figures={0.0: {"blind": 1.0}}, sound=False),
    "always unparsed": KnownJudge(unparsed=1.0),
    "half unparsed, else perfect": KnownJudge(unparsed=0.5),
    "5 % unparsed, else perfect": KnownJudge(unparsed=0.05),
    "hides a stable preference of .60": KnownJudge(equal={"stable": 0.60}, hidden=0.95),
    "20 % failed calls, else perfect": KnownJudge(failed=0.20),
}


def at_limits() -> dict[str, KnownJudge]:
    """Judges that are perfect but for one check of the policy `ranking`, which they are exactly at."""
    return {
        "dark-current .05": replace(PERFECT, dark=0.05),
        "target-sensitivity at Δ5 .90": replace(PERFECT, quads={0.0: {}, 5.0: {"tie": 0.10}}),
        "task-following at Δ5 .75": replace(PERFECT, quads={0.0: {}, 5.0: {"one version": 0.25}}),
        "task-blind-preference .15": replace(PERFECT, quads={0.0: {"blind": 0.15}, 5.0: {"blind": 0.15}}),
        "conflict-excess .10": replace(PERFECT, conflict=0.10),
        "abstention-rate .30": replace(PERFECT, equal={"abstains": 0.30}, quads={0.0: {"abstains": 0.30}}),
        "unparsed-rate .10": replace(PERFECT, unparsed=0.10),
    }


def at_curable_limits() -> dict[str, KnownJudge]:
    """The same, for checks that a way of use makes up for, and for those that are not essential."""
    return {
        "raw-false-preference .10": replace(PERFECT, equal={"one-sided": 0.20}),
        "positional-false-preference .10": replace(PERFECT, equal={"positional": 0.10}),
        "stable-cross-sensitivity .10": replace(PERFECT, equal={"stable": 0.10}),
        "target-sensitivity at Δ1 .80": replace(PERFECT, quads={0.0: {"tie": 0.20}, 2.0: {}}),
        "abstention-rate .10": replace(PERFECT, equal={"abstains": 0.10}, quads={0.0: {"abstains": 0.10}}),
        "unparsed-rate .02": replace(PERFECT, unparsed=0.02),
        "failure-rate .02": replace(PERFECT, failed=0.02),
    }
