"""The functions of the Python API that make something of what was measured. None of them makes a call."""

from collections.abc import Iterable, Mapping
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from umpirical.api.comparisons import ComparedJudges, compare_targets
from umpirical.api.options import in_dollars, of_file
from umpirical.api.results import JuryReport, Report
from umpirical.api.twins import twin_of
from umpirical.claims.correction import CorrectionOptions, correct_file
from umpirical.reports.gate import GateDecision
from umpirical.reports.regressions import MARGIN
from umpirical.study.results import gate_run

if TYPE_CHECKING:
    from umpirical.claims.record import Claim, Correction


def gate(
    run: str | Path,
    *,
    policy: str | Mapping[str, Any] = "",
    baseline: str | Path | None = None,
    margin: float = MARGIN,
) -> GateDecision:
    """Holds a measured judge to a policy, and to an earlier run of it, as `umpirical gate` does. Makes no calls.

    `run` is the folder of a run, the name of a run or a judge, a study's folder with one run, or a JSON file with
    a record. The responses of a run are read again. `policy` is a shipped one by its name, a .yaml file, or
    a mapping with the keys of such a file; by default, the one that the run was made for. `baseline` is an earlier run
    or record on the same stimuli: a measure that the policy limits, and that is shown to be worse by more than
    `margin`, is a regression. The decision has a `verdict`, an `exit_code`, every limit with its `effect`, and the rows
    of the baseline.
    """
    return gate_run(run, policy=policy, baseline=baseline, margin=margin)


def compare(
    *judges: str | Path | Report[Any],
    policy: str | Mapping[str, Any] | None = None,
    reference: str | None = None,
    margin: float | None = None,
) -> ComparedJudges[Any]:
    """Compares judges that were measured on the same stimuli, each with each. Makes no calls.

    `judges` are reports that `datasheet` or `run` returned, folders or names of runs, names of judges, or studies, of
    which all runs are compared. `policy` is the one to hold them to, by default the one that the runs were made for.
    `reference` is the name of a judge that stands as a ceiling: it is never picked, and it is no truth. `margin` is the
    difference between two shares that does not matter, by default 0.05, and 0.02 for lost answers.

    Runs on different controlled stimuli are refused, and so is a run whose files are not what was written. Runs of
    stress tests may be of several studies, which stand side by side; they take neither a policy nor a reference.
    """
    return compare_targets(judges, policy=policy, reference=reference, margin=margin)


def jury(
    runs: Iterable[str | Path],
    *,
    rule: str | None = None,
    choose: bool = False,
    budget: Decimal | float | str | None = None,
    folder: str | Path | None = None,
) -> JuryReport:
    """Makes one judge of several that were measured on the same stimuli, and measures it. Makes no calls.

    `runs` are folders of runs, as in `Report.folder`; a study's folder stands for all of its runs. `rule` is majority,
    weighted or dawid-skene. With `choose`, the best three to seven judges are chosen, by the best rule if none is
    given, and `budget` is the most dollars that 1,000 verdicts may cost. What is learned or chosen is settled on one
    half of the task families, and every figure is then about the other half. The datasheet and the jury's record are
    written below `folder`: by default `juries` in the study or, if the runs are of several, in the working directory.
    """
    from umpirical.protocols.datasheet.jury import seat_jury
    from umpirical.protocols.datasheet.protocol import DATASHEET
    from umpirical.study.results import find_runs, shared_study

    found = [run for target in runs for run in find_runs(target).runs]
    place = shared_study(found) / "juries" if folder is None else Path(folder)
    seated = seat_jury(found, place, rule=rule, choose=choose, budget=in_dollars("budget", budget))
    return JuryReport(DATASHEET, seated.datasheet, seated.documents.json.parent, seated.jury)


@of_file(CorrectionOptions)
def correct(file: str | Path, options: CorrectionOptions) -> "Correction":
    """Corrects a win rate, a pass rate or a mean score for the errors of the judge that it rests on. Makes no calls.

    `file` is a CSV, JSON Lines or Parquet table of verdicts. `estimate` is win-rate, pass-rate or mean-score; a mean
    score needs the ends of its `scale`, such as "1..5". `columns` are those of the table by role: verdict, label, item,
    cluster, system. `labels` says how the labelled rows were chosen: "random", for PPI++, or "by-label", for Rogan and
    Gladen's estimator. Where there are no labels, `record` is the judge's datasheet, for bounds of a win rate, or its
    stress report, for a pass rate; or `sensitivity` and `specificity` are counts such as "45/50". `step` is the least
    difference that counts, in requirements, for bounds.

    The result has a record for each system, what is assumed, and undefined estimates with their reason.
    """
    return correct_file(Path(file), options)


def claim(result: "Correction | str | Path", *, datasheet: str | Path) -> "Claim":
    """Joins a corrected estimate and the datasheet of its judge into one statement to publish. Makes no calls.

    `result` is what `correct` returned, or the JSON that `umpirical correct` wrote. `datasheet` is the judge's run, to
    whose responses the record is held, or the JSON of the record alone. The claim has sentences, assumptions, digests.
    """
    from umpirical.claims.documents import read_correction
    from umpirical.claims.record import Correction
    from umpirical.claims.statement import make_claim, read_judge

    correction = result if isinstance(result, Correction) else read_correction(Path(result))
    return make_claim(correction, read_judge(datasheet))


claim_async = twin_of(claim)
compare_async = twin_of(compare)
correct_async = twin_of(correct)
gate_async = twin_of(gate)
jury_async = twin_of(jury)
