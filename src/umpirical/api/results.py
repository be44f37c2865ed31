"""What the Python API returns: measures by name, the report on a measured judge, and judges compared."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from umpirical.api.frames import DIFFERENCES, MEASURES, judgments_frame, pandas_frame, polars_frame, stimuli_frame
from umpirical.domain.errors import StoreError, UsageError
from umpirical.domain.measures import Estimate, result_columns
from umpirical.domain.trials import BASELINE
from umpirical.protocols.datasheet.comparison import Comparison, compare_runs
from umpirical.protocols.datasheet.comparison_pages import (
    render_comparison_html,
    render_comparison_markdown,
    write_comparison,
)
from umpirical.protocols.pairs.comparison import (
    PairsComparison,
    compare_pairs_runs,
    render_pairs_comparison_html,
    render_pairs_comparison_markdown,
    write_pairs_comparison,
)
from umpirical.protocols.pairs.protocol import PAIRS
from umpirical.protocols.protocol import DecidesByPolicy, Documents, Protocol
from umpirical.protocols.stress.comparison import (
    StressComparison,
    compare_stress_runs,
    render_stress_comparison_html,
    render_stress_comparison_markdown,
    write_stress_comparison,
)
from umpirical.protocols.stress.protocol import STRESS
from umpirical.reports import numbers
from umpirical.reports.comparison import DifferenceRecord, comparison_folder
from umpirical.reports.record import MeasureRecord, Record, record_json
from umpirical.runs.run import open_run
from umpirical.study.results import find_runs, measured_runs
from umpirical.study.verification import Check, verify_files
from umpirical.text.inert import inert

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

    from umpirical.protocols.jury_record import Jury


RecordT_co = TypeVar("RecordT_co", bound=Record, covariant=True)

FRAME_HEIGHT = 640
"""Height in pixels of a page in a notebook; the page scrolls."""


class Measures(Sequence[MeasureRecord]):
    """Measures of a judge, in the order of its record. A notebook shows them as a table."""

    def __init__(self, measures: Iterable[MeasureRecord]) -> None:
        self._measures = tuple(measures)

    @overload
    def __getitem__(self, place: int) -> MeasureRecord: ...

    @overload
    def __getitem__(self, place: slice) -> tuple[MeasureRecord, ...]: ...

    def __getitem__(self, place: int | slice) -> MeasureRecord | tuple[MeasureRecord, ...]:
        return self._measures[place]

    def __len__(self) -> int:
        return len(self._measures)

    def get(self, name: str, *, stratum: str = "", variant: str = BASELINE, group: str = "") -> MeasureRecord:
        """Returns one measure: `get("target-sensitivity", stratum="1")`. If there is none, the error lists what exists.

        `stratum` is a part of the design, `variant` one of the judge's prompts, and `group` a stratum of your own data.
        The defaults select the whole design, the baseline prompt and all of the data.
        """
        wanted = (name, stratum, variant, group)
        for measure in self._measures:
            if (measure.name, measure.stratum, measure.variant, getattr(measure, "group", "")) == wanted:
                return measure
        alike = [measure for measure in self._measures if measure.name == name]
        if alike:
            strata = ", ".join(dict.fromkeys(repr(measure.stratum) for measure in alike))
            variants = ", ".join(dict.fromkeys(repr(measure.variant) for measure in alike))
            raise UsageError(
                f"no {name} at stratum {stratum!r} for prompt variant {variant!r}",
                fix=f"strata: {strata}; prompt variants: {variants}",
            )
        known = ", ".join(dict.fromkeys(measure.name for measure in self._measures))
        raise UsageError(f"unknown measure {name!r}", fix=f"choose one of: {known or 'none'}")

    def to_pandas(self) -> "pd.DataFrame":
        """Returns a row for each measure; needs pandas. A measure without a value states the reason instead."""
        return pandas_frame(self._rows(), MEASURES)

    def to_polars(self) -> "pl.DataFrame":
        """Like `to_pandas`, for Polars."""
        return polars_frame(self._rows(), MEASURES)

    def _rows(self) -> Iterator[dict[str, Any]]:
        for measure in self._measures:
            yield {
                "measure": measure.name,
                "variant": measure.variant,
                "stratum": measure.stratum,
                "group": getattr(measure, "group", ""),
                "censoring": measure.result.censoring if isinstance(measure.result, Estimate) else None,
                **result_columns(measure.result),
            }

    def __repr__(self) -> str:
        return "\n".join(f"{measure_name(measure)}: {measure_words(measure)}" for measure in self._measures)

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{escape(inert(measure_name(one)))}</td><td>{escape(inert(measure_words(one)))}</td></tr>"
            for one in self._measures
        )
        return f"<table><thead><tr><th>Measure</th><th>Value</th></tr></thead><tbody>{rows}</tbody></table>"


class Report(Generic[RecordT_co]):
    """A measured judge: its record, and the documents made from it. A notebook shows the page."""

    def __init__(self, protocol: Protocol[Any, Any], record: RecordT_co, folder: Path | None = None) -> None:
        self._protocol = protocol
        self.record: RecordT_co = record
        """Everything that was found, as in the JSON file."""
        self.folder: Path | None = folder
        """Where the run is kept; None for a record that was read from a file."""

    @property
    def judge(self) -> str:
        """The judge's name."""
        return self.record.judge.name

    @property
    def measures(self) -> Measures:
        """Every measure, in the order of the record."""
        return Measures(self.record.measures)

    @property
    def findings(self) -> list[str]:
        """The record's findings, in plain sentences."""
        return self._protocol.findings(self.record)

    @property
    def decision(self) -> str | None:
        """What to do with the judge, such as `use-with-restrictions`; None if the protocol makes no decision."""
        found = getattr(self.record, "decision", None)
        return None if found is None else str(found.verdict)

    def hold(self, policy: str | Mapping[str, Any]) -> "Report[RecordT_co]":
        """Returns the same measures with the decision by another policy. Makes no calls.

        `policy` is a shipped one by its name, a .yaml file, or a mapping with the keys of such a file.
        """
        if not isinstance(self._protocol, DecidesByPolicy):
            raise DecidesByPolicy.missing(self._protocol)
        return Report(self._protocol, self._protocol.hold(self.record, policy), self.folder)

    def measure(self, name: str, *, stratum: str = "", variant: str = BASELINE, group: str = "") -> MeasureRecord:
        """Returns one measure by name; see `Measures.get`."""
        return self.measures.get(name, stratum=stratum, variant=variant, group=group)

    def to_pandas(self) -> "pd.DataFrame":
        """Every measure as a row; needs pandas."""
        return self.measures.to_pandas()

    def to_polars(self) -> "pl.DataFrame":
        """Every measure as a row; needs Polars."""
        return self.measures.to_polars()

    def judgments(self) -> "pd.DataFrame":
        """Every call as a row, with its texts and whether the verdict is right; needs pandas."""
        return judgments_frame(self.own_folder())

    def stimuli(self) -> "pd.DataFrame":
        """Every test case as a row; needs pandas."""
        return stimuli_frame(self.own_folder())

    def own_folder(self) -> Path:
        """The run's folder. An error if the report was read from a file."""
        if self.folder is None:
            raise UsageError(
                f"the report on {self.judge} was read from a file, which has no calls", fix="use the run's folder"
            )
        return self.folder

    def html(self) -> str:
        """The page, as one HTML document."""
        return self._protocol.page(self.record)

    def markdown(self) -> str:
        """The card: one screen of Markdown."""
        return self._protocol.card(self.record)

    def json(self) -> str:
        """The record, as in its JSON file."""
        return self._protocol.render(self.record)

    def save(self, folder: str | Path) -> Documents:
        """Writes the record, page and card to a folder, and returns their paths."""
        return self._protocol.write(self.record, Path(folder))

    def __repr__(self) -> str:
        decision = f", {self.decision}" if self.decision else ""
        return f"<{self._protocol.name} of {self.judge}{decision}: {len(self.record.measures)} measures>"

    def _repr_html_(self) -> str:
        return framed(self.html(), repr(self))


class Verification:
    """The checks of `verify`, part by part."""

    def __init__(self, checks: Mapping[str, tuple[Check, ...]], not_checked: Mapping[str, str]) -> None:
        self.checks: Mapping[str, tuple[Check, ...]] = checks
        """By run, claim or package: each part, whether it `holds`, and what was `found`."""
        self.not_checked: Mapping[str, str] = not_checked
        """Parts that could not be checked, and why."""

    @property
    def holds(self) -> bool:
        """Whether something was checked, and all of it holds."""
        return bool(self.checks) and all(check.holds for checks in self.checks.values() for check in checks)

    def __repr__(self) -> str:
        rows = [(name, check) for name, checks in self.checks.items() for check in checks]
        lines = [f"{name}: {'ok' if each.holds else 'DAMAGED'}  {each.part}: {each.found}" for name, each in rows]
        return "\n".join([*lines, *(f"not checked  {name}: {why}" for name, why in self.not_checked.items())])


def framed(page: str, title: str) -> str:
    """Returns a page in a frame of its own: page and notebook cannot restyle each other, and scripts are off."""
    style = f"width:100%;height:{FRAME_HEIGHT}px;border:1px solid #8884"
    inside, name = (escape(text, quote=True) for text in (page, title))
    return f'<iframe sandbox srcdoc="{inside}" style="{style}" title="{name}"></iframe>'


class JuryReport(Report[Record]):
    """A measured jury: the report on it, as on a judge, and what is to be said of a jury alone."""

    def __init__(self, protocol: Protocol[Any, Any], record: Record, folder: Path, jury: "Jury") -> None:
        super().__init__(protocol, record, folder)
        self.jury: Jury = jury
        """Its members, their accuracy and its own, how far they err together, and what it costs."""

    @property
    def findings(self) -> list[str]:
        """Findings about the jury, and about it as a judge, in plain sentences."""
        return [*self.jury.findings, *super().findings]


def measure_name(measure: MeasureRecord) -> str:
    """Returns a measure's title, and which part, group and prompt variant it is of."""
    parts = [measure.title, numbers.part(measure.stratum) if measure.stratum else "", getattr(measure, "group", "")]
    return " ".join(filter(None, (*parts, "" if measure.variant == BASELINE else f"prompt variant {measure.variant}")))


def measure_words(measure: MeasureRecord) -> str:
    """Returns a measure's value with its interval and counts, or why it has none."""
    result = measure.result
    if not isinstance(result, Estimate):
        return f"undefined: {result.reason}"
    counts = numbers.measured_counts(measure, result)
    return f"{numbers.measured_value(measure, result)} {numbers.measured_interval(measure, result.interval)} ({counts})"


# Judges compared, from what a person names: runs, judges, whole studies, or reports that the API returned.


RecordT = TypeVar("RecordT", Comparison, StressComparison, PairsComparison)


class ComparedJudges(ABC, Generic[RecordT]):
    """Judges that were compared: the record, and the documents made from it. A notebook shows the page."""

    _page: Callable[[RecordT], str]
    _card: Callable[[RecordT], str]
    _write: Callable[[RecordT, Path], Documents]

    def __init__(self, record: RecordT, folder: Path, excluded: Sequence[str] = ()) -> None:
        self.record: RecordT = record
        """Everything that was found, as in the JSON file."""
        self.folder: Path = folder
        """Where it is kept, unless another folder is named."""
        self.excluded: tuple[str, ...] = tuple(excluded)
        """Runs of a study that are planned, and of which nothing has been asked."""

    @property
    @abstractmethod
    def judges(self) -> list[str]:
        """The judges' names; a difference names them by their place, from 0."""

    @property
    def picks(self) -> dict[str, list[str]]:
        """By policy, the judges to take: none, one, or several that nothing tells apart. Stress tests have none."""
        return {}

    @property
    @abstractmethod
    def differences(self) -> Iterable[tuple[str, DifferenceRecord]]:
        """Every difference between two judges, the second less the first, with the name of your data."""

    def to_pandas(self) -> "pd.DataFrame":
        """Every difference as a row, with corrected p-values; needs pandas."""
        return pandas_frame((_difference_row(*each, self.judges) for each in self.differences), DIFFERENCES)

    @property
    def findings(self) -> list[str]:
        """The record's findings, in plain sentences."""
        return self.record.findings

    @property
    def lines(self) -> list[str]:
        """The sentences to read first."""
        return self.findings

    def html(self) -> str:
        """The page, as one HTML document."""
        return self._page(self.record)

    def markdown(self) -> str:
        """The card: one screen of Markdown."""
        return self._card(self.record)

    def json(self) -> str:
        """The record, as in its JSON file."""
        return record_json(self.record)

    def save(self, folder: str | Path | None = None) -> Documents:
        """Writes the record, page and card, and returns their paths."""
        return self._write(self.record, self.folder if folder is None else Path(folder))

    def __repr__(self) -> str:
        return f"<comparison of {', '.join(self.judges)}>"

    def _repr_html_(self) -> str:
        return framed(self.html(), repr(self))


def _difference_row(data: str, one: DifferenceRecord, judges: Sequence[str]) -> dict[str, Any]:
    names = ("measure", "variant", "stratum", "margin", "p_value", "adjusted_p")
    columns = result_columns(one.difference)
    return {
        "data": data or None,
        "first": judges[one.first],
        "second": judges[one.second],
        "difference": columns.pop("value"),
        "role": one.family,
        "conclusion": one.words,
        **{name: getattr(one, name) for name in names},
        **columns,
    }


class ComparedOnStimuli(ComparedJudges[Comparison]):
    """Judges that were compared on controlled stimuli, with which of them to take for each use."""

    _page = staticmethod(render_comparison_html)
    _card = staticmethod(render_comparison_markdown)
    _write = staticmethod(write_comparison)

    @property
    def judges(self) -> list[str]:
        return [side.judge.name for side in self.record.judges]

    @property
    def differences(self) -> Iterable[tuple[str, DifferenceRecord]]:
        return [("", one) for one in self.record.differences]

    @property
    def picks(self) -> dict[str, list[str]]:
        return {pick.policy: [self.judges[place] for place in pick.picked] for pick in self.record.picks}

    @property
    def lines(self) -> list[str]:
        picks = [f"{pick.policy}: {pick.title}. {' '.join(pick.sentences)}" for pick in self.record.picks]
        return [*picks, *self.findings, *(self.record.costs.findings if self.record.costs else ())]


class ComparedUnderStress(ComparedJudges[StressComparison]):
    """Judges that were compared under the stress tests of one study, or of several."""

    _page = staticmethod(render_stress_comparison_html)
    _card = staticmethod(render_stress_comparison_markdown)
    _write = staticmethod(write_stress_comparison)

    @property
    def judges(self) -> list[str]:
        return [judge.name for judge in self.record.judges]

    @property
    def differences(self) -> Iterable[tuple[str, DifferenceRecord]]:
        return [(study.dataset.name, one) for study in self.record.studies for one in study.differences]


class ComparedOnPairs(ComparedJudges[PairsComparison]):
    """Judges that were compared on the same labeled pairs."""

    _page = staticmethod(render_pairs_comparison_html)
    _card = staticmethod(render_pairs_comparison_markdown)
    _write = staticmethod(write_pairs_comparison)

    @property
    def judges(self) -> list[str]:
        return self.record.names

    @property
    def differences(self) -> Iterable[tuple[str, DifferenceRecord]]:
        return [(self.record.data.source, one) for one in self.record.differences]


def compare_targets(
    targets: Iterable[str | Path | Report[Any]],
    *,
    policy: str | Mapping[str, Any] | None = None,
    reference: str | None = None,
    margin: float | None = None,
) -> ComparedJudges[Any]:
    """Compares the runs that are meant, after holding the files of each to their digests and to its plan."""
    found = [_meant_runs(target) for target in targets]
    runs = [run for taken, _ in found for run in taken]
    for run in runs:
        _refuse_edited(run)
    excluded = [run.name for _, absent in found for run in absent]
    study = find_runs(runs[0]).study if runs else Path()
    names, folder = [run.name for run in runs], study / "comparisons"
    protocols = {str(open_run(run).manifest["protocol"]) for run in runs}
    if protocols in ({STRESS.version}, {PAIRS.version}):
        _refuse_options(policy=policy, reference=reference)
        place = folder / comparison_folder(names, noun="runs")
        if protocols == {PAIRS.version}:
            return ComparedOnPairs(compare_pairs_runs(runs, margin=margin), place, excluded)
        return ComparedUnderStress(compare_stress_runs(runs, margin=margin), place, excluded)
    record = compare_runs(runs, policy=policy, reference=reference, margin=margin)
    return ComparedOnStimuli(record, folder / comparison_folder(names), excluded)


def _refuse_options(**given: object) -> None:
    for name, value in given.items():
        if value is not None:
            raise UsageError(
                f"--{name} applies to judges tested on controlled test cases, not on your own data",
                fix=f"omit --{name}: these runs have thresholds of their own",
            )


def _meant_runs(target: str | Path | Report[Any]) -> tuple[Sequence[Path], Sequence[Path]]:
    """Returns the runs that a target means, and those of them that have not begun, if it is a whole study."""
    if isinstance(target, Report):
        return [target.own_folder()], []
    found = find_runs(target)
    if not found.whole:
        return found.runs, []
    begun = measured_runs(found.study)
    return begun, [run for run in found.runs if run not in begun]


def _refuse_edited(run: Path) -> None:
    """Raises StoreError if anything that the comparison rests on is not what was written."""
    checks = list(verify_files(run))
    wrong = [check for check in checks if not check.holds]
    if wrong:
        raise StoreError(
            f"run {run.name} has been changed: {wrong[0].part}: {wrong[0].found}",
            fix=f"umpirical verify {run}  lists every difference; restore the run, or run the study again",
        )
