"""Items of a rubric that are graded in levels, each measured on its own.

Their measures are those of an ordinal scale on the user's own data. They are pooled neither with one another, since a
level of one item is none of another, nor with verdicts on a policy, nor with what programs proved.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

from umpirical.domain.scales import GradeScale
from umpirical.domain.tallies import Tallies
from umpirical.domain.trials import BASELINE
from umpirical.measures.catalogue import MEASURES
from umpirical.protocols.agent.counting import AgentCounts, WorstLevel
from umpirical.protocols.agent.record import AgentMeasure, GradedAs, LevelItem, WrongText
from umpirical.reports import numbers
from umpirical.reports.record import EstimateRecord, measure_record

LEVEL_MEASURES = (
    "accuracy", "within-one", "mean-absolute-error", "grade-bias", "weighted-kappa", "flip-detection", "right-on-both",
)  # fmt: skip
"""How exact the level is and how far off, and the last two: a rewritten text beside the verdict on its original."""


def level_items(
    about: Mapping[str, Sequence[str]], counts: AgentCounts, wrong: Callable[[Sequence[WorstLevel]], list[WrongText]]
) -> Iterator[LevelItem]:
    """Yields what was measured for each item. `about` has its text and its levels, by name; `wrong` joins the texts."""
    for name, (text, *labels) in about.items():
        tallies = counts.level_tallies(name, GradeScale("ordinal", tuple(labels)))
        yield LevelItem(
            name=name,
            text=text,
            labels=labels,
            measures=list(_measures(tallies)),
            graded=_graded(tallies, labels),
            wrong=wrong(counts.worst_levels(name)),
        )


def level_findings(items: Sequence[LevelItem]) -> list[str]:
    """Returns what was found, in a sentence for each item."""
    said = []
    for item in items:
        whole = {one.name: one for one in item.measures if not one.stratum}
        exact, off = (whole[name].result if name in whole else None for name in ("accuracy", "mean-absolute-error"))
        if isinstance(exact, EstimateRecord) and isinstance(off, EstimateRecord):
            interval = numbers.measured_interval(whole["accuracy"], exact.interval)
            far = numbers.measured_value(whole["mean-absolute-error"], off)
            said.append(
                f"By {item.name}, it gives {numbers.rate(exact.value)} {interval} of the texts the level that "
                f"verifiers agreed on, and is {far} off on average."
            )
    return said


def _measures(tallies: Tallies) -> Iterator[AgentMeasure]:
    if not tallies.golds:
        return
    for spec in (MEASURES.get(name) for name in LEVEL_MEASURES):
        for measure in spec.compute(tallies, BASELINE):
            yield AgentMeasure(group=measure.group, **dict(measure_record(spec, measure)))


def _graded(tallies: Tallies, labels: Sequence[str]) -> list[GradedAs]:
    texts: Counter[tuple[str, str]] = Counter()
    for tally in tallies.golds:
        if not tally.test:
            texts[tally.gold, tally.given] += tally.items  # type: ignore[assignment]  # shares of verdicts
    places = {label: place for place, label in enumerate([*labels, ""])}
    found = sorted(texts.items(), key=lambda one: (places[one[0][0]], places[one[0][1]]))
    return [GradedAs(gold=gold, given=given, texts=count) for (gold, given), count in found]
