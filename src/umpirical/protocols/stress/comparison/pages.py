"""A comparison under stress as one HTML file, a pure function of its record."""

from collections.abc import Sequence
from dataclasses import dataclass

from umpirical.protocols.stress.comparison.record import ComparedStudy, StressComparison, StressSide, study_titles
from umpirical.protocols.stress.heat_map import SIGNS, PassRates, Spread, pass_rates, shade
from umpirical.protocols.stress.policy import interval_words, value_words
from umpirical.reports import numbers
from umpirical.reports.comparisons.matrices import Matrix, Overview, matrices, overview
from umpirical.reports.comparisons.words import letter
from umpirical.reports.pages import environment
from umpirical.reports.record import EstimateRecord, LimitVerdict

STYLES = 12
"""Ways of drawing a judge: six colours, each with an unbroken and with a dashed line. The letter is what tells."""


@dataclass(frozen=True, slots=True)
class JudgeSign:
    """One judge, wherever the page names it."""

    sign: str
    style: int
    name: str
    model: str


@dataclass(frozen=True, slots=True)
class Standing:
    """One judge in one study: how its tests ended, and its rates of expected labels."""

    verdicts: tuple[tuple[str, LimitVerdict, int], ...]
    """Sign, verdict and number of tests, of the verdicts that there are."""
    spread: Spread | None
    worst: str
    """The test with the least rate; empty without any."""
    complete: bool


@dataclass(frozen=True, slots=True)
class StudyView:
    """One study on the page."""

    title: str
    study: ComparedStudy
    judges: tuple[JudgeSign, ...]
    standings: tuple[Standing | None, ...]
    """By place of the judge in the whole comparison; None for one that is not in the study."""
    rates: PassRates
    matrices: list[Matrix]
    overview: Overview


def render_stress_comparison_html(comparison: StressComparison) -> str:
    """Renders the page. The same record gives the same text, which can always be encoded as UTF-8."""
    return (
        environment("umpirical.protocols.stress")
        .get_template("comparison.html")
        .render(
            comparison=comparison,
            judges=_signs(comparison),
            views=study_views(comparison),
            margins=list(dict.fromkeys(one.margin for study in comparison.studies for one in study.differences)),
            shade=shade,
            value_words=value_words,
            interval_words=interval_words,
        )
    )


def study_views(comparison: StressComparison) -> list[StudyView]:
    """Returns the studies as the page shows them; those of one dataset are told apart by their stimuli."""
    signs = _signs(comparison)
    return [
        _view(study, title, [signs[side.place] for side in study.sides], len(signs))
        for study, title in zip(comparison.studies, study_titles(comparison.studies), strict=True)
    ]


def _signs(comparison: StressComparison) -> list[JudgeSign]:
    return [
        JudgeSign(letter(place), place % STYLES, judge.name, judge.model)
        for place, judge in enumerate(comparison.judges)
    ]


def _view(study: ComparedStudy, title: str, judges: Sequence[JudgeSign], everyone: int) -> StudyView:
    rates = pass_rates(study.sides, [f"{judge.sign} {judge.name}" for judge in judges])
    places = [side.place for side in study.sides]
    standings: list[Standing | None] = [None] * everyone
    for number, side in enumerate(study.sides):
        standings[side.place] = _standing(side, rates, number)
    # The matrices are among the judges of the study: each is told by its row.
    own = [
        one.model_copy(update={"first": places.index(one.first), "second": places.index(one.second)})
        for one in study.differences
        if one.family == "primary"
    ]
    tests = {test.name: test.title for side in study.sides for test in side.tests}
    found = [one.model_copy(update={"stratum": tests.get(one.stratum, one.stratum)}) for one in own]
    return StudyView(
        title=title,
        study=study,
        judges=tuple(judges),
        standings=tuple(standings),
        rates=rates,
        matrices=matrices(found, len(places)),
        overview=overview(own, len(places)),
    )


def _standing(side: StressSide, rates: PassRates, number: int) -> Standing:
    counted = [(verdict, sum(cell.verdict == verdict for cell in side.verdicts)) for verdict in SIGNS]
    spread = rates.by_judge[number]
    cells = [(cells[number], test.title) for test, cells, _ in rates.rows]
    known = [(m.result.value, title) for m, title in cells if m and isinstance(m.result, EstimateRecord)]
    return Standing(
        verdicts=tuple((SIGNS[verdict], verdict, times) for verdict, times in counted if times),
        spread=spread,
        worst=min(known)[1] if known else "",
        complete=side.complete,
    )


def spread_words(spread: Spread) -> str:
    """Says what a judge's rates are like, in one line.

    >>> spread_words(Spread(4, 0.8, 0.1, 0.7, 0.95))
    'mean 0.800 of 4 tests, least 0.700'
    """
    tests = f"{numbers.count(spread.count)} {numbers.units('test', spread.count)}"
    return f"mean {numbers.rate(spread.mean)} of {tests}, least {numbers.rate(spread.least)}"
