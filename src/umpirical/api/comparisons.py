"""Judges compared, from what a person names: runs, judges, whole studies, or reports that the API returned."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Generic, TypeVar

from umpirical.api.results import Report, framed
from umpirical.domain.errors import StoreError, UsageError
from umpirical.protocols.datasheet.comparison.card import render_comparison_markdown
from umpirical.protocols.datasheet.comparison.pages import render_comparison_html
from umpirical.protocols.datasheet.comparison.record import Comparison, render_comparison_json
from umpirical.protocols.datasheet.comparison.runs import compare_runs, comparison_folder, write_comparison
from umpirical.protocols.protocol import Documents
from umpirical.protocols.stress.comparison.card import render_stress_comparison_markdown
from umpirical.protocols.stress.comparison.pages import render_stress_comparison_html
from umpirical.protocols.stress.comparison.record import StressComparison, render_stress_comparison_json
from umpirical.protocols.stress.comparison.runs import compare_stress_runs, write_stress_comparison
from umpirical.protocols.stress.protocol import STRESS
from umpirical.runs.run import open_run
from umpirical.study.results import find_runs, measured_runs
from umpirical.study.verification import verify_files

RecordT = TypeVar("RecordT", Comparison, StressComparison)


class ComparedJudges(ABC, Generic[RecordT]):
    """Judges that were compared: the record, and the documents made from it. A notebook shows the page."""

    def __init__(self, record: RecordT, folder: Path, left_out: Sequence[str] = ()) -> None:
        self.record: RecordT = record
        """Everything that was found, as in the JSON file."""
        self.folder: Path = folder
        """Where it is kept, unless another folder is named."""
        self.left_out: tuple[str, ...] = tuple(left_out)
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
    def findings(self) -> list[str]:
        """The record's findings, in plain sentences."""
        return self.record.findings

    @property
    def lines(self) -> list[str]:
        """What a person reads first."""
        return self.findings

    @abstractmethod
    def html(self) -> str:
        """The page, as one HTML document."""

    @abstractmethod
    def markdown(self) -> str:
        """The card: one screen of Markdown."""

    @abstractmethod
    def json(self) -> str:
        """The record, as in its JSON file."""

    @abstractmethod
    def save(self, folder: str | Path | None = None) -> Documents:
        """Writes the record, page and card, and returns their paths."""

    def __repr__(self) -> str:
        return f"<comparison of {', '.join(self.judges)}>"

    def _repr_html_(self) -> str:
        return framed(self.html(), repr(self))


class ComparedOnStimuli(ComparedJudges[Comparison]):
    """Judges that were compared on controlled stimuli, with which of them to take for each use."""

    @property
    def judges(self) -> list[str]:
        return [side.judge.name for side in self.record.judges]

    @property
    def picks(self) -> dict[str, list[str]]:
        return {pick.policy: [self.judges[place] for place in pick.picked] for pick in self.record.picks}

    @property
    def lines(self) -> list[str]:
        picks = [f"{pick.policy}: {pick.title}. {' '.join(pick.sentences)}" for pick in self.record.picks]
        return [*picks, *self.findings, *(self.record.costs.findings if self.record.costs else ())]

    def html(self) -> str:
        return render_comparison_html(self.record)

    def markdown(self) -> str:
        return render_comparison_markdown(self.record)

    def json(self) -> str:
        return render_comparison_json(self.record)

    def save(self, folder: str | Path | None = None) -> Documents:
        return write_comparison(self.record, self.folder if folder is None else Path(folder))


class ComparedUnderStress(ComparedJudges[StressComparison]):
    """Judges that were compared under the stress tests of one study, or of several."""

    @property
    def judges(self) -> list[str]:
        return [judge.name for judge in self.record.judges]

    def html(self) -> str:
        return render_stress_comparison_html(self.record)

    def markdown(self) -> str:
        return render_stress_comparison_markdown(self.record)

    def json(self) -> str:
        return render_stress_comparison_json(self.record)

    def save(self, folder: str | Path | None = None) -> Documents:
        return write_stress_comparison(self.record, self.folder if folder is None else Path(folder))


def compare_targets(
    targets: Iterable[str | Path | Report[Any]],
    *,
    policy: str | Mapping[str, Any] | None = None,
    reference: str | None = None,
    margin: float | None = None,
) -> ComparedJudges[Any]:
    """Compares the runs that are meant, after holding the files of each to their digests and to its plan."""
    found = [_runs(target) for target in targets]
    runs = [run for taken, _ in found for run in taken]
    for run in runs:
        _refuse_edited(run)
    left_out = [run.name for _, absent in found for run in absent]
    study = find_runs(runs[0]).study if runs else Path()
    names, folder = [run.name for run in runs], study / "comparisons"
    if runs and all(open_run(run).manifest["protocol"] == STRESS.version for run in runs):
        _refuse_options(policy=policy, reference=reference)
        compared = compare_stress_runs(runs, margin=margin)
        return ComparedUnderStress(compared, folder / comparison_folder(names, noun="runs"), left_out)
    record = compare_runs(runs, policy=policy, reference=reference, margin=margin)
    return ComparedOnStimuli(record, folder / comparison_folder(names), left_out)


def _refuse_options(**given: object) -> None:
    for name, value in given.items():
        if value is not None:
            raise UsageError(
                f"--{name} is for judges on controlled stimuli, and these are runs of stress tests",
                fix=f"leave --{name} out: a stress test has limits of its own",
            )


def _runs(target: str | Path | Report[Any]) -> tuple[Sequence[Path], Sequence[Path]]:
    """Returns the runs that a target means, and those of them that have not begun, if it is a whole study."""
    if isinstance(target, Report):
        if target.folder is None:
            raise UsageError(f"the report on {target.judge} has no run", fix="name the folder of its run")
        return [target.folder], []
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
            f"run {run.name} is not what was written: {wrong[0].part}: {wrong[0].found}",
            fix=f"umpirical verify {run}  shows all of it; restore the run, or measure again",
        )
