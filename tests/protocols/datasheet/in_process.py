"""From a judge, as a function of what it is shown, to its decision under every policy, without a run on disk.

The judgments are written, counted, measured and decided on as those of a run are. What is left out is asking: prompts,
parsing and storage have tests of their own.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from umpirical.domain.judgments import Abstained, Outcome, Unparsed, Verdict
from umpirical.domain.scales import Choice
from umpirical.domain.stimuli import Stimulus
from umpirical.domain.tallies import Tallies
from umpirical.domain.trials import Trial
from umpirical.judges.judge import Capabilities
from umpirical.measures.catalogue import measure_all
from umpirical.protocols.datasheet.counting import FACTS, tally_judgments
from umpirical.protocols.datasheet.spec import PRESETS, preset
from umpirical.reports.checks import hold_checks
from umpirical.reports.decision import DecisionRecord, decide
from umpirical.reports.policy import Policy
from umpirical.reports.record import CheckRecord, measure_record, part_record
from umpirical.runs.judgments import judgment_row
from umpirical.runs.plan import Design, shown
from umpirical.store.parquet import row_writer
from umpirical.store.schemas import judgment_schema

Judge = Callable[[str, str, str], str]
"""From a task and two answers to `1`, `2`, `tie`, `abstain`, or words that are no verdict."""

_CHOICES = {"1": Choice.POSITION_1, "2": Choice.POSITION_2, "tie": Choice.TIE}


def count(judge: Judge, stimuli: Iterable[Stimulus], *, repeats: int = 1) -> Tallies:
    """Asks a judge about every stimulus in both orders, and counts its answers."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "judgments.parquet"
        with row_writer(path, judgment_schema(FACTS.columns)) as write:
            write(list(_rows(judge, stimuli, Design(repeats=repeats))))
        return tally_judgments(path)


def _rows(judge: Judge, stimuli: Iterable[Stimulus], design: Design) -> Iterator[dict]:
    for stimulus in stimuli:
        for way in design.presentations(stimulus, Capabilities()):
            seen = shown(stimulus, way.order)
            prompt = f"{stimulus.id} {way.order}"
            trial = Trial(f"{prompt} {way.repeat}", prompt, stimulus.id, way)
            yield judgment_row(trial, stimulus, _outcome(judge(seen.task, seen.first, seen.second or "")), None, FACTS)


def _outcome(said: str) -> Outcome:
    if said in _CHOICES:
        return Verdict(_CHOICES[said])
    return Abstained() if said == "abstain" else Unparsed(said, "not on its scale")


def policies() -> list[Policy]:
    return [preset(name) for name in PRESETS]


def checks_of(tallies: Tallies, policies: Sequence[Policy]) -> dict[str, list[CheckRecord]]:
    """The checks of each policy, by its name, from the measures that they need."""
    asked = [check for policy in policies for check in policy.compare]
    needs = [need.measure for check in asked for cure in check.cures for need in cure.needs]
    names = {*(check.measure for check in asked), *needs}
    found = measure_all(tallies, kind="compare", protocol="datasheet", only=names)
    measures = [(part_record if measure.group else measure_record)(spec, measure) for spec, measure in found]
    return {one.policy: hold_checks(one, "compare", measures, ["baseline"]) for one in policies}


def decisions(judge: Judge, stimuli: Iterable[Stimulus]) -> dict[str, DecisionRecord]:
    """What each shipped policy makes of a judge, by the policy's name."""
    chosen = policies()
    checks = checks_of(count(judge, stimuli), chosen)
    return {policy.policy: decide(policy, checks[policy.policy]) for policy in chosen}
