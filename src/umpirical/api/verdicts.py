"""Measures without a run: of counts from elsewhere, such as a paper's, and of verdicts given in the past."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, asdict, dataclass, fields, is_dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, get_args, get_type_hints

from pydantic import TypeAdapter, ValidationError

from umpirical.api.results import Measures, measure_name, measure_words
from umpirical.datasets.verdicts.past_verdicts import PassRate, PastVerdict, VerdictFile, on_scale, scale_of
from umpirical.domain.digests import digest
from umpirical.domain.errors import UsageError
from umpirical.domain.judgments import Abstained, Failed, Outcome, Unparsed, Verdict
from umpirical.domain.measures import Estimate, Measure, Undefined
from umpirical.domain.scales import Choice, GradeScale, JudgeKind
from umpirical.domain.stimuli import ORIGINAL, GivenLabel, NoPreference, Stimulus
from umpirical.domain.tallies import Tallies
from umpirical.domain.trials import BASELINE, Order, Presentation, Trial
from umpirical.measures.catalogue import MEASURES, MeasureSpec, measure_all
from umpirical.measures.natural import NATURAL, SWAPPED
from umpirical.protocols.datasheet.counting import FACTS as PAIR_FACTS
from umpirical.protocols.datasheet.counting import tally_judgments
from umpirical.protocols.pairs.spec import PairsPolicy
from umpirical.protocols.stress.counting import stress_counts
from umpirical.protocols.stress.policy import NO_LABELS, SHELF
from umpirical.protocols.stress.report import FACTS as ITEM_FACTS
from umpirical.reports import numbers
from umpirical.reports.checks import hold_intervals
from umpirical.reports.policy import Check
from umpirical.reports.record import CheckRecord, MeasureRecord, measure_record, part_record
from umpirical.runs.judgments import Facts, judgment_row
from umpirical.store.parquet import write_rows
from umpirical.store.schemas import judgment_schema
from umpirical.text.inert import table_cell
from umpirical.text.problems import first_problem

Found = list[tuple[MeasureSpec, Measure]]
Key = tuple[str, str, str, str]

BESIDE = frozenset({"incomplete", "lost", "abstained_pairs"})
"""Counts of what is left out: they are in no value, and most papers give none."""


def measure_counts(counts: Mapping[str, Any], *, kind: JudgeKind, protocol: str) -> Found:
    """Measures counts that were written down; a measure that depends on one which was not is undefined.

    What a measure depends on is found by counting one more of it: a measure that changes has used it.
    """
    tallies = _tallies(counts)
    found = measure_all(tallies, kind=kind, protocol=protocol)
    needed: dict[Key, list[str]] = {}
    for part, name in _absent(counts):
        changed = _figures(measure_all(_one_more(tallies, counts, part, name), kind=kind, protocol=protocol))
        for key, figures in _figures(found).items():
            if changed.get(key) != figures:
                needed.setdefault(key, []).append(name)
    return [(spec, _without(measure, needed.get(_key(measure), ()))) for spec, measure in found]


def _one_more(tallies: Tallies, counts: Mapping[str, Any], part: str, name: str) -> Tallies:
    """The tallies with one more of a count, in the rows that were not given it."""
    rows = zip(counts[part], getattr(tallies, part), strict=True)
    more: Any = tuple(
        replace(row, **{name: getattr(row, name) + 1}) if _lacks(given, name) else row for given, row in rows
    )
    return replace(tallies, **{part: more})


def _without(measure: Measure, missing: Sequence[str]) -> Measure:
    if not missing:
        return measure
    return replace(measure, result=Undefined(f"it depends on counts that are not given: {', '.join(missing)}"))


def _key(measure: Measure) -> Key:
    return measure.name, measure.variant, measure.stratum, measure.group


def _figures(found: Found) -> dict[Key, object]:
    """What each measure says, apart from what was left out of it."""
    results = ((_key(measure), measure.result) for _, measure in found)
    return {
        key: (result.value, result.numerator, result.denominator) if isinstance(result, Estimate) else None
        for key, result in results
    }


def _absent(counts: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yields the counts that a row of some part does not have, though it could: (part, name)."""
    for part, rows in counts.items():
        kind = _tally_type(part)
        if kind is None:
            continue
        for count in fields(kind):
            optional = count.default is not MISSING and isinstance(count.default, int | float)
            if optional and count.name not in BESIDE and any(_lacks(row, count.name) for row in rows):
                yield part, count.name


def _lacks(row: object, name: str) -> bool:
    """Whether a row leaves a count open. A tally that was made in Python has them all."""
    return isinstance(row, Mapping) and name not in row


def _tally_type(part: str) -> Any:  # noqa: ANN401  # one of the tallies
    """Returns the tally that the rows of a part are, or None if it has no rows."""
    kind = next(iter(get_args(get_type_hints(Tallies)[part])), None)
    return kind if is_dataclass(kind) else None


def _tallies(counts: Mapping[str, Any]) -> Tallies:
    """Raises UsageError for an unknown count: if it were ignored, the count that was meant would silently be 0."""
    _refuse_unknown(counts, [field.name for field in fields(Tallies)], "counts")
    for name, rows in counts.items():
        kind = _tally_type(name)
        if kind is not None and isinstance(rows, Sequence):
            for row in (each for each in rows if isinstance(each, Mapping)):
                _refuse_unknown(row, [field.name for field in fields(kind)], name)
    try:
        return TypeAdapter(Tallies).validate_python(dict(counts))
    except ValidationError as error:
        raise UsageError(first_problem(error), fix="see umpirical.domain.tallies for the names of the counts") from None


def _refuse_unknown(given: Iterable[str], known: Collection[str], where: str) -> None:
    unknown = [name for name in given if name not in known]
    if unknown:
        raise UsageError(f"{where}: unknown count {unknown[0]!r}", fix=f"choose one of: {', '.join(known)}")


# Verdicts that were given in the past: measured without asking again, with what such data can and cannot tell.


CONTENTS = GradeScale("nominal", ("a", "b", "tie"))
"""The better content as a label, for whatever is measured of a pair's winner against gold and between repeats."""

SLOTS = GradeScale("nominal", ("1", "2", "tie"))
"""The better position as a label, for agreement beyond chance: which content is called a is no chance of the
judge's."""

CALLS = ("abstention-rate", "unparsed-rate", "failure-rate")
REPEATS = ("flip-rate", "verdict-entropy", "modal-share", "repeat-icc")
GOLD = (
    *("accuracy", "within-one", "mean-absolute-error", "grade-bias", "weighted-kappa", "krippendorff-alpha"),
    *("spearman", "balanced-accuracy", "mcc"),
)
NOMINAL = ("accuracy", "balanced-accuracy", "flip-rate", "verdict-entropy", "modal-share")
"""What can be said of labels without order."""

KAPPA, ALPHA = "weighted-kappa", "krippendorff-alpha"
"""Agreement with labels beyond chance: of grades in order, and of any others."""

UNORDERED = "unordered"
"""The family of calls whose order is not known."""

NEVER = (
    "Blank-input preference (dark current): the file has no verdicts on blank or equal answers.",
    "Accuracy by difference, detection threshold and criterion: the size of each difference is unknown.",
    "Length bias: the texts are not stored with the verdicts, so agreement beyond length is unknown.",
    "Whether these verdicts are a fair sample of how you use the judge.",
)

ONCE = "no item was judged twice under the same conditions"


@dataclass(frozen=True, slots=True)
class MeasuredVerdicts:
    """The past verdicts of one judge, measured."""

    judge: str
    """Empty if the file names none."""
    kind: JudgeKind
    format: str
    scale: GradeScale | None
    counts: dict[str, int]
    """What was found: verdicts, and whatever is none, by outcome; items; those with a gold label, and so on."""
    measures: Measures
    agreement: CheckRecord
    """Agreement with the labels beyond chance, held to the policy's threshold for such data. N/A without labels."""
    can_tell: tuple[str, ...]
    cannot_tell: tuple[str, ...]
    notes: tuple[str, ...]
    passes: tuple[PassRate, ...] = ()
    """What the tool that wrote the file counts as passed, by stratum."""

    def as_json(self) -> dict[str, Any]:
        """Returns everything, with every measure as in a record."""
        return {
            "judge": self.judge,
            "kind": self.kind,
            "format": self.format,
            "scale": None if self.scale is None else _described(self.scale),
            "counts": self.counts,
            "measures": [measure.model_dump(mode="json") for measure in self.measures],
            "agreement": self.agreement.model_dump(mode="json"),
            "can_tell": list(self.can_tell),
            "cannot_tell": list(self.cannot_tell),
            "notes": list(self.notes),
            **({"pass_rates": [asdict(each) for each in self.passes]} if self.passes else {}),
        }

    def beside_pass_rates(self) -> list[tuple[str, str, str]]:
        """Returns for each stratum the other tool's pass rate, and accuracy on the same items as measured here."""
        rows = []
        for each in self.passes:
            alike = [one for one in self.measures if one.name == "accuracy"]
            part = next((one for one in alike if getattr(one, "group", "").endswith(f"={each.stratum}")), None)
            # A single stratum is not measured separately.
            here = part or (alike[0] if len(self.passes) == 1 and alike else None)
            theirs = f"{numbers.rate(each.passed / each.total)} ({each.passed}/{each.total})"
            rows.append((each.stratum, theirs, "no label" if here is None else measure_words(here)))
        return rows


def verdicts_page(found: Sequence[MeasuredVerdicts], name: str) -> str:
    """Returns what was measured as Markdown: each judge, with another tool's pass rates beside accuracy."""
    lines = [f"# Verdicts in {table_cell(name)}", ""]
    for each in found:
        lines += [f"## {table_cell(each.judge or 'The judge')}", ""]
        if rates := each.beside_pass_rates():
            lines += ["| test | the harness's pass rate | accuracy on the same items |", "| --- | --- | --- |"]
            lines += [f"| {table_cell(test)} | {theirs} | {here} |" for test, theirs, here in rates]
            lines += ["", OTHERS_RATES, ""]
        lines += ["| measure | value |", "| --- | --- |"]
        lines += [f"| {table_cell(measure_name(one))} | {table_cell(measure_words(one))} |" for one in each.measures]
        lines += ["", f"Agreement with the labels: {each.agreement.verdict}, {table_cell(each.agreement.why)}", ""]
        for heading, said in (("Notes", each.notes), ("These verdicts cannot tell you", each.cannot_tell)):
            lines += [f"{heading}:", "", *(f"- {table_cell(line)}" for line in said), ""]
    return "\n".join(lines)


OTHERS_RATES = (
    "A pass rate counts a failed call as the score False, and has no interval. Accuracy counts verdicts only: failed "
    "calls are in a rate of their own."
)


def measure_file(found: VerdictFile, scale: GradeScale | None = None) -> list[MeasuredVerdicts]:
    """Measures every judge in a file by itself. `scale` is what a person says about the grades."""
    judges: dict[str, list[PastVerdict]] = {}
    for verdict in found.verdicts:
        judges.setdefault(verdict.judge, []).append(verdict)
    return [_measured(judge, verdicts, found, scale or found.scale) for judge, verdicts in judges.items()]


def _measured(
    judge: str, verdicts: Sequence[PastVerdict], found: VerdictFile, scale: GradeScale | None
) -> MeasuredVerdicts:
    if found.kind == "compare":
        scale = None
    elif scale is None:
        scale = scale_of([v.given for v in verdicts if isinstance(v.given, str)] + [v.gold for v in verdicts if v.gold])
    asked = _numbered(verdicts)
    counts = _counts(asked, scale)
    with TemporaryDirectory(prefix="umpirical-verdicts-") as folder:
        place = Path(folder) / "judgments.parquet"
        measures = _pair_measures(asked, place) if scale is None else _grade_measures(asked, scale, place)
    can, cannot = _statements(found.kind, counts)
    recorded = [(part_record if measure.group else measure_record)(spec, measure) for spec, measure in measures]
    whole = [one for one, (_, measure) in zip(recorded, measures, strict=True) if not measure.group]
    return MeasuredVerdicts(
        judge,
        found.kind,
        found.format,
        scale,
        counts,
        Measures(recorded),
        _agreement(scale, whole, labelled=bool(counts["with_gold"])),
        can,
        (*cannot, *NEVER),
        found.notes,
        tuple(each for each in found.passes if each.judge == judge),
    )


def _agreement(scale: GradeScale | None, measures: Sequence[MeasureRecord], *, labelled: bool) -> CheckRecord:
    """Holds agreement with the labels to the threshold for labelled pairs, or for stress tests."""
    if scale is None:
        check = Check(measure=ALPHA, at=ORIGINAL, at_least=PairsPolicy().agreement)
    else:
        name = KAPPA if scale.kind in {"binary", "ordinal"} else ALPHA
        least = next(one.at_least for one in SHELF.preset().checks if one.measure == KAPPA)
        check = Check(measure=name, at=ORIGINAL, at_least=least)
    [held] = hold_intervals([check], measures)
    return held if labelled else held.model_copy(update={"why": NO_LABELS})


# Judgments, in the form in which a run's are counted.

Asked = tuple[PastVerdict, int]
"""A verdict, and how often the same was asked before it."""


def _numbered(verdicts: Iterable[PastVerdict]) -> list[Asked]:
    """Numbers the repeats of each item in each order: as the file counts them, or as they stand in it."""
    times: Counter[tuple[str, Order | None]] = Counter()
    repeats: dict[str, int] = {}
    asked, seen = [], set[tuple[str, Order | None, int]]()
    for verdict in verdicts:
        key = verdict.item, verdict.order
        number = repeats.setdefault(verdict.repeat, len(repeats)) if verdict.repeat else times[key]
        times[key] += 1
        if (*key, number) in seen:
            raise UsageError(
                f"item {verdict.item!r:.80} has two verdicts in repeat {verdict.repeat!r:.40}",
                fix="check the columns; set others with --item, --order and --repeat",
            )
        seen.add((*key, number))
        asked.append((verdict, number))
    return asked


def _grade_measures(asked: Sequence[Asked], scale: GradeScale, place: Path) -> list[tuple[MeasureSpec, Measure]]:
    rows = [_row(each, ORIGINAL, _outcome(each[0], scale), scale, ITEM_FACTS) for each in asked]
    write_rows(place, rows, judgment_schema(ITEM_FACTS.columns))
    with stress_counts(place) as counts:
        tallies = counts.tallies(scale)
    return _by_name((*CALLS, *REPEATS, *GOLD), tallies)


def _pair_measures(asked: Sequence[Asked], place: Path) -> list[tuple[MeasureSpec, Measure]]:
    """Measures the orders of pairs; and, with the winning content as a label, the repeats and the gold labels.

    A row that does not say its order is counted as a call, and nothing else is known about it.
    """
    rows = [_row(e, NATURAL if e[0].order else UNORDERED, _outcome(e[0], None), None, PAIR_FACTS) for e in asked]
    write_rows(place, rows, judgment_schema(PAIR_FACTS.columns))
    pairs = tally_judgments(place, "compare")
    place.unlink()
    # Another order is another question: it is a repeat only of the same order.
    ordered = [each for each in asked if each[0].order]
    named = [_row(each, ORIGINAL, _content(each[0]), CONTENTS, ITEM_FACTS, by_order=True) for each in ordered]
    write_rows(place, named, judgment_schema(ITEM_FACTS.columns))
    with stress_counts(place) as counts:
        labels = counts.tallies(CONTENTS)
    place.unlink()
    by_slot = [(replace(verdict, gold=_slot(verdict)), repeat) for verdict, repeat in ordered]
    slots = [_row(each, ORIGINAL, _named_slot(each[0]), SLOTS, ITEM_FACTS, by_order=True) for each in by_slot]
    write_rows(place, slots, judgment_schema(ITEM_FACTS.columns))
    with stress_counts(place) as counts:
        agreed = counts.tallies(SLOTS)
    choices = [(spec, measure) for spec in SWAPPED for measure in spec.compute(pairs, BASELINE)]
    return [*choices, *_by_name(NOMINAL, labels), *_by_name((ALPHA,), agreed), *_by_name(CALLS, pairs)]


def _by_name(names: Iterable[str], tallies: Tallies) -> list[tuple[MeasureSpec, Measure]]:
    """Returns the named measures; one that nothing was counted for says so."""
    found = []
    for spec in map(MEASURES.get, names):
        measures = spec.compute(tallies, BASELINE) or [Measure(spec.name, Undefined(ONCE), BASELINE)]
        found += [(spec, measure) for measure in measures]
    return found


def _row(
    asked: Asked, family: str, outcome: Outcome, scale: GradeScale | None, facts: Facts, *, by_order: bool = False
) -> dict[str, Any]:
    verdict, repeat = asked
    gold = verdict.gold if scale is None else _gold(verdict.gold, scale)
    order = verdict.order or Order.AB
    stimulus = Stimulus(
        task_id=verdict.task or verdict.item,
        task=verdict.item,
        candidates=(f"u {order if by_order else ''}", "b"),
        expectation=GivenLabel(gold) if gold else NoPreference(),
        maker="past-verdicts/1",
        family=family,
        delta=0.0 if scale is None else None,
        gold="" if scale is None else gold,
        gold_from="label" if gold and scale is not None else None,
        strata=verdict.strata,
    )
    shown = Presentation(order=Order.AB if by_order else order, repeat=repeat)
    prompt = digest("past", [stimulus.id, str(order)])
    trial = Trial(digest("past", [prompt, repeat]), prompt, stimulus.id, shown)
    return judgment_row(trial, stimulus, outcome, scale, facts)


def _outcome(verdict: PastVerdict, scale: GradeScale | None) -> Outcome:
    given = verdict.given
    if isinstance(given, Abstained | Unparsed | Failed):
        return given
    if isinstance(given, Choice):
        return Verdict(given)
    value = None if scale is None else on_scale(given, scale)
    return Unparsed(given, "the grade is not on the scale") if value is None else Verdict(value)


def _content(verdict: PastVerdict) -> Outcome:
    given = verdict.given
    if not isinstance(given, Choice):
        return _outcome(verdict, CONTENTS)
    if given is Choice.TIE:
        return Verdict("tie")
    return Verdict("a" if (given is Choice.POSITION_1) == (verdict.order is Order.AB) else "b")


def _named_slot(verdict: PastVerdict) -> Outcome:
    named = {Choice.POSITION_1: "1", Choice.POSITION_2: "2", Choice.TIE: "tie"}
    return Verdict(named[verdict.given]) if isinstance(verdict.given, Choice) else _outcome(verdict, SLOTS)


def _slot(verdict: PastVerdict) -> str:
    """Returns the position of the better content; empty if it is not known."""
    if verdict.gold not in {"a", "b"}:
        return verdict.gold
    return "1" if (verdict.gold == "a") == (verdict.order is Order.AB) else "2"


def _gold(gold: str, scale: GradeScale) -> str:
    """Returns a gold label as the scale spells it; empty if it is not on it."""
    found = on_scale(gold, scale) if gold else None
    return "" if found is None else found if isinstance(found, str) else repr(found)


# What such data can tell.


def _counts(asked: Sequence[Asked], scale: GradeScale | None) -> dict[str, int]:
    outcomes = Counter(type(_outcome(verdict, scale)).__name__.casefold() for verdict, _ in asked)
    orders: dict[str, set[Order | None]] = {}
    for verdict, _ in asked:
        orders.setdefault(verdict.item, set()).add(verdict.order)
    counts = {"rows": len(asked), "items": len(orders)}
    counts |= {name: outcomes[name] for name in ("verdict", "abstained", "unparsed", "failed")}
    if scale is None:
        counts["both_orders"] = sum(len(found - {None}) == 2 for found in orders.values())
    counts["repeated"] = len({verdict.item for verdict, repeat in asked if repeat})
    counts["with_gold"] = len({verdict.item for verdict, _ in asked if verdict.gold})
    return counts


def _statements(kind: JudgeKind, counts: dict[str, int]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Returns what the verdicts can tell and what they cannot, each with the reason."""
    missing = counts["rows"] - counts["verdict"]
    can, cannot = [f"Missing verdicts: {missing:,} of {counts['rows']:,} rows."], []
    items = "pairs" if kind == "compare" else "items"
    if kind == "compare":
        if both := counts["both_orders"]:
            can.append(f"Order effects: {both:,} of {counts['items']:,} pairs were judged in both orders.")
        else:
            cannot.append("Order effects: no pair was judged in both orders, or the file does not record the order.")
    else:
        cannot.append("Order effects: not applicable, each answer was graded alone.")
    if counts["repeated"]:
        can.append(f"Noise: {counts['repeated']:,} of {counts['items']:,} {items} were judged more than once.")
    else:
        cannot.append(f"Noise: all {items} were judged once, so random variation cannot be measured.")
    if counts["with_gold"]:
        can.append(f"Accuracy: {counts['with_gold']:,} of {counts['items']:,} {items} have a gold label.")
    else:
        cannot.append("Accuracy: the file has no gold labels.")
    return tuple(can), tuple(cannot)


def _described(scale: GradeScale) -> dict[str, Any]:
    ends = {"low": scale.low, "high": scale.high} if scale.kind == "interval" else {"labels": list(scale.labels)}
    return {"kind": scale.kind, **ends}
