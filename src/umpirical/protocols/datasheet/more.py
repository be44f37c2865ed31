"""Extends an inconclusive run with the extra calls it needs, and no more.

A follow-up has the stimuli of the run first, in their order, so that their answers are found again, and after them only
stimuli of the families and steps that the open checks are about.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from math import ceil, inf
from typing import cast

from umpirical.domain.digests import digest
from umpirical.domain.errors import UsageError
from umpirical.domain.measures import Estimate
from umpirical.domain.stimuli import TIER_2, Family, Stimulus
from umpirical.measures.catalogue import MEASURES
from umpirical.protocols.datasheet.record import Datasheet
from umpirical.protocols.datasheet.report import held_to
from umpirical.protocols.datasheet.spec import DatasheetStudy, is_shown, preset
from umpirical.protocols.datasheet.stimuli import build_stimuli
from umpirical.protocols.protocol import FollowUp
from umpirical.reports.checks import meets, settling
from umpirical.reports.gate import of_own_prompt
from umpirical.reports.numbers import about, units
from umpirical.reports.policy import Policy, at
from umpirical.reports.record import CheckRecord, ConditionRecord, MeasureRecord, why_unfinished
from umpirical.runs.rounds import Place, next_round
from umpirical.runs.run import Run
from umpirical.stimuli.controlled.datasheet_set import LARGEST
from umpirical.stimuli.controlled.gates import refuse_unsound
from umpirical.store.stimulus_sets import write_stimuli

FLOOR, FINE_FLOOR = 4, 8
"""Pairs of every step, and of every fine one, that are asked at least, unless the judge fails before."""

SEES_ONE = 0.75
"""Of judges that see one requirement less often, no fine differences are asked: they would see none."""

FIRST_UNITS = 8.0
"""Units that a round asks of what was never measured."""

HOLDS_UP = 0.5
"""How far the threshold of one of two rates may reach, against that of the other, before it is asked about too."""

REACH = 2
"""A check that takes more than so many times what the set has is out of reach. Estimates are rough."""

MOST_SETS = 2
"""How many sets of the largest size are made to choose from, each by another seed."""

ASKED_OF = {
    "dark-current": Family.BLANK,
    "raw-false-preference": Family.EQUAL,
    "positional-false-preference": Family.EQUAL,
    "stable-cross-sensitivity": Family.EQUAL,
    "grade-spread": Family.EQUAL,
    "grade-concordance": Family.GRADED,
    "target-sensitivity": Family.GRADED,
    "both-orders-sensitivity": Family.GRADED,
    "task-following": Family.GRADED,
    "task-blind-preference": Family.GRADED,
    "conflict-excess": Family.CONFLICT,
    "fine-sensitivity": Family.FINE,
    "figure-sensitivity": Family.FIGURES,
    "figure-following": Family.FIGURES,
}
"""The family of stimuli that a measure is about. Any stimulus tells more about a measure that is not here."""


@dataclass(slots=True)
class Want:
    """How much more is wanted of one part of the design."""

    measure: str
    family: str
    """Empty for any."""
    step: float | None
    unit: str
    left: float
    """Units; without end if how many would do is not known."""
    stratum: str = ""
    """A part of the family that is no step; empty for all of it."""
    ends: bool = False
    """Whether it looks as if the judge failed here, which ends a run that is asked in rounds."""

    def gets(self, group: Sequence[Stimulus]) -> float:
        """Returns how many units a group of stimuli adds: a crossed pair, or a single stimulus."""
        first = group[0]
        if self.family not in {"", first.family} or self.step not in {None, first.delta}:
            return 0
        if self.stratum not in {"", first.stratum}:
            return 0
        if first.family == Family.BLANK:
            return len(set(first.candidates)) if self.family or self.unit == "call" else 0
        return {"crossed-pair": 1, "call": 2 * len(group)}.get(self.unit, len(group))


def wanted(sheet: Datasheet) -> list[Want]:
    """Returns what would settle the open checks of the judge's own prompt."""
    variant = sheet.checks[0].variant if sheet.checks else ""
    open_ = [check for check in sheet.checks if check.variant == variant and check.essential and check.state == "open"]
    asked = {(need.measure, need.stratum): need for check in open_ for need in settling(check)}
    found = [need for need in asked.values() if need.more_needed is not None or need.verdict == "N/A"]
    return [*map(_want, found), *(want for need in found for want in _other_side(need, sheet.measures, variant))]


def _other_side(need: ConditionRecord, measures: Sequence[MeasureRecord], variant: str) -> Iterator[Want]:
    """Yields the step-1 pairs that a conflict excess is measured against, where their errors hold its bound up."""
    if need.measure != "conflict-excess" or not need.more_needed:
        return
    known = {(one.name, one.stratum): one.result for one in measures if one.variant == variant}
    one, other = known.get(("conflict-loss", need.stratum)), known.get(("wrong-choice-rate", "1"))
    if not isinstance(one, Estimate) or not isinstance(other, Estimate):
        return
    if one.interval is None or one.interval.high is None or other.interval is None or other.interval.low is None:
        return
    if other.value - other.interval.low >= HOLDS_UP * (one.interval.high - one.value):
        left = need.more_needed * other.denominator / one.denominator
        yield Want("wrong-choice-rate", Family.GRADED, 1.0, "pair", ceil(left))


def names_of(policy: Policy) -> set[str]:
    """Returns the measures that a policy holds a judge to, with what its ways of use need."""
    checks = [*policy.compare, *policy.grade]
    needs = [need for one in checks for cure in one.cures for need in cure.needs]
    return {each.measure for each in [*checks, *needs]}


def undecided(run: Run, sheet: Datasheet, *, most: float = inf) -> Collection[str]:
    """Returns the stimuli of the next round of a run; none if its verdict is reached, or there is no more to ask."""
    left, rounds = most - run.trials, run.shards
    if rounds >= run.manifest["looks"] or sheet.decision is None or sheet.decision.verdict == "do-not-use":
        return ()
    return round_after(
        of_own_prompt(sheet.checks),
        sheet.measures,
        [stimulus for stimulus in run.stimuli if is_shown(stimulus, run.judge.kind)],
        run.asked(),
        Place(run.manifest["seed"], rounds, left / (run.manifest["repeats"] * len(run.manifest["variants"]))),
    )


BEYOND = 10_000
"""More units than any set has: a number beyond it tells nobody how long to wait."""


def how_far(sheet: Datasheet) -> str:
    """Returns how many checks of a run that is asked in rounds are decided, and which of them is furthest from it."""
    checks = of_own_prompt(sheet.checks)
    decided = sum(check.verdict in {"PASS", "FAIL"} for check in checks)
    said = f"{sheet.run.trials:,} calls: {decided} of {len(checks)} checks decided"
    missing = {check.more_needed / check.needed: check for check in checks if check.more_needed and check.needed}
    if not missing:
        return said
    last = missing[max(missing)]
    of, have = cast("int", last.needed), cast("int", last.needed) - cast("int", last.more_needed)
    name = f"{last.title[:1].lower()}{last.title[1:]}{at(last.stratum)}"
    if of > BEYOND:
        return f"{said}; {name} is close to its threshold"
    return f"{said}; {name} has {have} of about {about(of)} {units(last.unit or 'pair', of)}"


def round_after(
    checks: Sequence[CheckRecord],
    measures: Sequence[MeasureRecord],
    stimuli: Sequence[Stimulus],
    asked: Collection[str],
    place: Place,
) -> list[str]:
    """Returns what would settle the open checks of one prompt, as far as a round goes; none if none is open.

    A judge that fails is decided at once. One that does not is decided when no check is open: then nothing that is
    still asked could change what the page says it is good for.
    """
    wants = list(_open(checks, measures))
    if not wants or _out_of_reach(checks, measures, stimuli):
        return []
    return next_round(stimuli, place, asked=asked, wanted=_Wants([*wants, *_floor(stimuli, asked, measures)]))


def _out_of_reach(
    checks: Sequence[CheckRecord], measures: Sequence[MeasureRecord], stimuli: Sequence[Stimulus]
) -> bool:
    """Whether an essential check takes far more than the set has, so that all of it would end in the same verdict.

    Half of what the set has of it is asked first: an early estimate says little.
    """
    results = {(one.variant, one.name, one.stratum): one.result for one in measures}
    for check in checks:
        result = results.get((check.variant, check.measure, check.stratum))
        if not check.essential or check.verdict != "INCONCLUSIVE" or not isinstance(result, Estimate):
            continue
        want = _want(check)
        has = sum(want.gets(tuple(group)) for _, group in groupby(stimuli, key=lambda one: one.crossed_pair or one.id))
        far = check.needed is None or check.needed > REACH * has
        if want.family and far and 2 * result.denominator >= has:
            return True
    return False


@dataclass(frozen=True, slots=True)
class _Wants:
    """What is wanted of a round."""

    wants: Sequence[Want]

    def worth(self, group: Sequence[Stimulus]) -> float:
        """Returns how many wants a group serves; what may end the run comes first.

        A want that anything serves counts only where nothing else is wanted.
        """
        served = [want for want in self.wants if want.left > 0 and want.gets(group)]
        first, particular = sum(want.ends for want in served), sum(bool(want.family) for want in served)
        return first * len(self.wants) + particular + len(served) / (1 + len(self.wants)) * (not self._particular)

    def take(self, group: Sequence[Stimulus]) -> None:
        for want in self.wants:
            want.left -= want.gets(group)

    @property
    def _particular(self) -> bool:
        return any(want.family and want.left > 0 for want in self.wants)


def _floor(stimuli: Sequence[Stimulus], asked: Collection[str], measures: Sequence[MeasureRecord]) -> Iterator[Want]:
    """Yields what every step is asked of at least, so that the detection curve can be drawn as far as it matters."""
    seen = [one.result for one in measures if (one.name, one.stratum) == ("target-sensitivity", "1")]
    fine = any(isinstance(result, Estimate) and result.value >= SEES_ONE for result in seen)
    for family, least in ((Family.GRADED, FLOOR), (Family.FINE, FINE_FLOOR if fine else 0)):
        chosen = [stimulus for stimulus in stimuli if stimulus.family == family]
        shown = Counter(stimulus.delta for stimulus in chosen if stimulus.id in asked)
        for step in sorted({stimulus.delta or 0.0 for stimulus in chosen}):
            yield Want("", family, step, "pair", least - shown[step])


def _open(checks: Sequence[CheckRecord], measures: Sequence[MeasureRecord]) -> Iterator[Want]:
    """Yields what is asked more of while checks are open."""
    results = {(one.variant, one.name, one.stratum): one.result for one in measures}
    for check in checks:
        needs = [need for cure in check.cures for need in cure.needs] if check.verdict == "FAIL" else []
        for condition in [check, *(needs if check.state == "open" else [])]:
            if condition.verdict in {"INCONCLUSIVE", "N/A"}:
                want, result = _want(condition), results.get((check.variant, condition.measure, condition.stratum))
                have = result.denominator if isinstance(result, Estimate) else 0
                fails = check.essential and isinstance(result, Estimate) and not meets(result.value, check)
                # Where nothing says how many it takes, as many again.
                left = max(FIRST_UNITS, have) if want.left == inf else want.left
                yield replace(want, left=left, ends=condition is check and fails)


def can_settle(sheet: Datasheet) -> bool:
    """Whether a follow-up may settle the decision, as far as the record tells."""
    gates = sheet.stimuli.gates if sheet.stimuli else ()
    unsound = any(gate.blocks and not gate.passed for gate in gates)
    unfinished = why_unfinished(complete=sheet.complete, audit=sheet.audit)
    if unsound or unfinished or sheet.decision is None or sheet.decision.verdict != "not-enough-data":
        return False
    policy = sheet.policy or preset()
    return bool(wanted(held_to(sheet, policy.at_look(policy.look + 1))))


def _want(need: ConditionRecord) -> Want:
    step = float(need.stratum) if need.stratum.replace(".", "", 1).isdecimal() else None
    family, stratum = ASKED_OF.get(need.measure, ""), need.stratum if step is None else ""
    left = inf if need.more_needed is None else need.more_needed
    return Want(need.measure, family, step, need.unit or "pair", left, stratum)


def chosen_stimuli(wants: Sequence[Want], candidates: Sequence[Stimulus], known: set[str]) -> Iterator[Stimulus]:
    """Yields the stimuli that wants still need, and counts them off; what was shown before is not shown again."""
    for _, group in groupby(candidates, key=lambda stimulus: stimulus.crossed_pair or stimulus.id):
        whole = list(group)
        contents = {stimulus.content for stimulus in whole}
        if contents & known or not any(want.left > 0 and want.gets(whole) for want in wants):
            continue
        known |= contents
        _Wants(wants).take(whole)
        yield from whole


def follow_up(run: Run, sheet: Datasheet, study: DatasheetStudy) -> FollowUp:
    """Returns the stimuli of a run and those that would settle what it leaves open; `study` is of the largest size."""
    if not sheet.complete:
        raise UsageError("the run is not complete", fix="run it again to resume it")
    policy = sheet.policy or preset()
    policy = policy.at_look(policy.look + 1)
    # What the next look is held to is stricter: what passes now may need more then.
    wants = wanted(held_to(sheet, policy))
    if not wants or sheet.decision is None or sheet.decision.verdict != "not-enough-data":
        verdict = sheet.decision.title if sheet.decision else "none"
        raise UsageError(
            f"the verdict is {verdict!r}, and more calls would not change it",
            fix="see “What would change the verdict” in `umpirical report RUN`",
        )
    words = tuple(map(_words, wants))
    first = list(run.stimuli)
    extra = list(_extra(wants, study, {stimulus.content for stimulus in first if stimulus.family not in TIER_2}))
    if not extra:
        raise UsageError("no more built-in test cases would help", fix="add tasks of your own to the study")
    name = digest("follow-up", [run.stimuli.digest, [stimulus.id for stimulus in extra]])[:12]
    kept = {key: value for key, value in run.stimuli.manifest.items() if key not in {"digest", "stimuli", "parts"}}
    stimuli = write_stimuli(
        study.folder / "stimuli" / name, [*first, *extra], about={**kept, "follows": run.stimuli.folder.name}
    )
    return FollowUp(study, stimuli, words, {"policy": policy.model_dump(mode="json"), "follows": run.name})


def _extra(wants: Sequence[Want], study: DatasheetStudy, known: set[str]) -> Iterator[Stimulus]:
    for turn in range(MOST_SETS):
        if all(want.left <= 0 for want in wants):
            return
        candidates, gates = build_stimuli(study, LARGEST, seed=study.spec.seed + turn)
        refuse_unsound(gates)
        yield from chosen_stimuli(wants, candidates, known)
        for want in wants:
            # Of what was never measured, one set is enough to begin with.
            want.left = 0 if want.left == inf else want.left


def _words(want: Want) -> str:
    where = want.stratum if want.step is None else f"{want.step:g}"
    title = MEASURES.get(want.measure).title if want.measure in MEASURES.names() else want.measure
    name = f"{title[:1].lower()}{title[1:]}{at(where)}"
    number = "" if want.left == inf else f"about {about(int(want.left))} more {units(want.unit, want.left)}"
    return f"{name}: {number or 'not measured yet'}"
