"""The study of the Dark Current paper, asked of simulated judges like its three: the printed counts, over many draws.

The prompts are those of `design: paper`, rendered and parsed as in a run. The draws differ in the judge's seed.
"""

import asyncio
import json
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest

from tests.stimuli.built import built
from umpirical.api.options import DatasheetKeywords
from umpirical.api.studies import datasheet_study
from umpirical.domain.errors import UsageError
from umpirical.domain.measures import Estimate
from umpirical.domain.tallies import Tallies
from umpirical.domain.trials import Trial
from umpirical.judges.factory import build_renderer
from umpirical.judges.judge import Judge
from umpirical.judges.simulated.comparer import true_values
from umpirical.judges.simulated.model import SimulatedModel
from umpirical.judges.simulated.profiles import PAPER_PROFILES
from umpirical.measures.catalogue import MEASURES
from umpirical.protocols.datasheet.counting import FACTS, tally_judgments
from umpirical.protocols.datasheet.stimuli import quality_of
from umpirical.runs.judgments import judgment_row
from umpirical.runs.plan import request_for
from umpirical.store.parquet import row_writer
from umpirical.store.schemas import judgment_schema
from umpirical.study.file import parse_study

GOLDEN = json.loads(Path(__file__).with_name("dark_current.json").read_text(encoding="utf-8"))

ROWS = {
    "Llama8B": ("llama-8b", "baseline"),
    "Qwen14B": ("qwen-14b", "baseline"),
    "Qwen32B": ("qwen-32b", "baseline"),
    "Qwen32B_strict": ("qwen-32b", "strict"),
}
METRICS = {
    "dark_current": ("dark-current", ""),
    "raw_delta0_false_preference": ("raw-false-preference", ""),
    "delta0_tie_rate": ("tie-rate", "0"),
    "target_sensitivity_delta1": ("target-sensitivity", "1"),
    "delta1_tie_rate": ("tie-rate", "1"),
    "target_sensitivity_delta5": ("target-sensitivity", "5"),
    "delta5_tie_rate": ("tie-rate", "5"),
}
PARTS = {
    "SCS": "stable-cross-sensitivity",
    "PFP": "positional-false-preference",
    "OSC": "one-sided-commit",
    "NP": "no-preference",
}


def printed(row: str) -> dict[tuple[str, str], tuple[int, int]]:
    """Measure and part to the paper's count, and of how many."""
    counts = {
        METRICS[each["metric"]]: (each["numerator"], each["denominator"])
        for each in GOLDEN["wilson_rows"]
        if each["judge"] == row
    }
    shares = GOLDEN["decomposition"][row]
    return counts | {(name, ""): (shares[part], shares["denominator_pairs"]) for part, name in PARTS.items()}


@cache
def questions(name: str) -> tuple[Judge, list]:
    """The judge, and each of its trials with its test case and its request."""
    with TemporaryDirectory() as folder:
        text = f"study: s\ndesign: paper\njudges: [{{name: {name}, model: {{adapter: simulated, name: {name}}}}}]\n"
        study = parse_study(text, Path(folder))
    [spec], stimuli = study.spec.judges, built("paper", 1, "filler")
    judge = build_renderer(spec)
    design = study.protocol.design(study, spec).over(stimuli)
    asked = []
    for stimulus in stimuli:
        for way in design.presentations(stimulus, judge.capabilities):
            request = request_for(judge, stimulus, way)
            prompt = request.messages[-1].content
            asked.append((Trial(prompt, prompt, stimulus.id, way), stimulus, request))
    return judge, asked


def draw(name: str, seed: int, key) -> Tallies:
    judge, asked = questions(name)
    model = SimulatedModel(PAPER_PROFILES[name], answer_key=key, seed=seed)

    async def rows():
        for trial, stimulus, request in asked:
            response = await model.generate(request, trial_id=trial.id)
            yield judgment_row(trial, stimulus, judge.read(response, trial.presentation), None, FACTS)

    async def every():
        return [row async for row in rows()]

    with TemporaryDirectory() as folder:
        path = Path(folder) / "judgments.parquet"
        with row_writer(path, judgment_schema(FACTS.columns)) as write:
            write(asyncio.run(every()))
        return tally_judgments(path)


def counts_of(tallies: Tallies, variant: str, wanted) -> dict[tuple[str, str], tuple[float, int]]:
    """The counts of a draw as the paper has them: two calls of a pair, where it counts calls."""
    found = {}
    for name in {name for name, _ in wanted}:
        for measure in MEASURES.get(name).compute(tallies, variant):
            key = (name, measure.stratum)
            if key in wanted and not measure.group:
                assert isinstance(measure.result, Estimate)
                by = wanted[key][1] / measure.result.denominator
                assert by in (1, 2)
                found[key] = by * measure.result.numerator, int(by * measure.result.denominator)
    return found


def reproduce(name: str, draws: int) -> None:
    """The mean is within three Monte Carlo errors of each printed count, and 95 in 100 draws are around it."""
    key = quality_of(built("paper", 1, "filler"))
    drawn = [draw(name, seed, key) for seed in range(draws)]
    wrong = {}
    for row, (judge, variant) in ROWS.items():
        if judge != name:
            continue
        expected = printed(row)
        found = [counts_of(tallies, variant, expected) for tallies in drawn]
        assert all(each.keys() == expected.keys() for each in found)
        for metric, (count, of) in expected.items():
            assert {each[metric][1] for each in found} == {of}
            values = np.array([each[metric][0] for each in found])
            off, error = abs(values.mean() - count), values.std(ddof=1) / np.sqrt(draws)
            low, high = np.percentile(values, [2.5, 97.5])
            if off > 3 * error or not low <= count <= high:
                wrong[row, metric] = (count, values.mean(), error, low, high)
    assert wrong == {}


@pytest.mark.heavy
def test_a_few_draws_are_about_the_printed_counts():
    reproduce("qwen-32b", 6)


@pytest.mark.slow
@pytest.mark.parametrize("name", dict.fromkeys(name for name, _ in ROWS.values()))
def test_every_printed_count_is_reproduced_over_200_draws(name):
    reproduce(name, 200)


def test_the_design_is_the_papers():
    _, asked = questions("qwen-32b")
    by = {}
    for trial, stimulus, _ in asked:
        part = trial.presentation.variant, str(stimulus.family), stimulus.delta
        by[part] = by.get(part, 0) + 1
        assert trial.presentation.layout is None
    assert [by["baseline", "graded", float(step)] for step in range(1, 6)] == [100, 80, 60, 40, 20]
    assert by["baseline", "equal", 0.0] == 120
    assert {key: count for key, count in by.items() if key[0] == "strict"} == {
        ("strict", "equal", 0.0): 120,
        ("strict", "graded", 1.0): 100,
        ("strict", "graded", 5.0): 20,
    }
    assert sum(by.values()) == 620 + 240


def test_a_design_has_one_name_in_a_study_file_and_in_python(tmp_path):
    judge = "{name: any, model: {adapter: simulated, name: careful}}"
    written = parse_study(f"study: s\ndesign: paper\njudges: [{judge}]\n", tmp_path)
    said = datasheet_study(["simulated:careful"], DatasheetKeywords(design="paper", folder=tmp_path))
    assert said.spec.design == written.spec.design
    assert said.spec.design.prompts == {"baseline": "baseline", "strict": "strict"}
    with pytest.raises(UsageError, match="unknown design 'papers'"):
        parse_study(f"study: s\ndesign: papers\njudges: [{judge}]\n", tmp_path)


@pytest.mark.parametrize("row", ROWS)
def test_the_true_rates_of_the_profiles_are_the_printed_ones(row):
    """To a tenth of a call."""
    name, variant = ROWS[row]
    truth = true_values(PAPER_PROFILES[name], [1.0, 2.0, 3.0, 4.0, 5.0], variant)
    for metric, (count, of) in printed(row).items():
        assert truth[metric] * of == pytest.approx(count, abs=0.1), metric
