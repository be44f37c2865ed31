"""ScoringMethods of one run, end to end: a judge locked onto position 1 whose log-probabilities know better."""

import json
import shutil
from collections import Counter
from dataclasses import replace

import pytest

from tests.protocols.datasheet.end_to_end.conftest import Silent
from tests.runs.loopback import judgments, responses
from tests.servers.chat_server import ChatServer
from tests.stimuli.built import built, lend_stimuli
from umpirical.domain.errors import UsageError
from umpirical.domain.scoring_methods import calibration_tasks, tie_band
from umpirical.judges.simulated.profiles import GRADER_PROFILES
from umpirical.protocols.datasheet.record import Datasheet
from umpirical.protocols.datasheet.scoring_method_rules import ScoringMethods, measure_in
from umpirical.protocols.datasheet.scoring_methods import (
    BY_CONSTRUCTION,
    render_scoring_methods_html,
    render_scoring_methods_markdown,
    write_scoring_methods,
)
from umpirical.stimuli.controlled.datasheet_set import RECIPES
from umpirical.store.parquet import read_rows
from umpirical.store.runs import RunStore
from umpirical.study.file import parse_study, read_study
from umpirical.study.prepare import prepare_run
from umpirical.study.run import complete_run

from .locked_judge import locked_answer, planted_odds, write_locked_study

TASKS = {stimulus.cluster for stimulus in built("screen")}
CHOSEN_ON = calibration_tasks(TASKS)


def ask(folder, **settings):
    with ChatServer(locked_answer) as server:
        study = read_study(write_locked_study(folder, server.base_url, **settings))
        run = prepare_run(study, study.spec.judges[0])
        complete_run(run, 16, lambda *_: Silent())
    return run.store.folder, server


@pytest.fixture(scope="module")
def locked(tmp_path_factory):
    """A finished run, the server that was asked, and its scoring methods."""
    run, server = ask(tmp_path_factory.mktemp("locked"))
    before = judgments(run)
    measured = write_scoring_methods(run)
    return run, server, measured, before


def sheet(run, name):
    return Datasheet.model_validate_json((run / "scoring-methods" / name / "datasheet.json").read_text())


def values(datasheet):
    return {(m.name, m.stratum): m.result.value for m in datasheet.measures if m.result.kind == "estimate"}


def true_value(tasks, family):
    return [s for s in built("screen") if s.cluster in tasks and s.family == family and len(set(s.candidates)) == 2]


def expected_band(tasks):
    found = ([abs(planted_odds(s)) for s in true_value(tasks, family)] for family in ("equal", "blank"))
    return max(tie_band(sizes, target=0.10) for sizes in found)


def test_the_text_is_locked_onto_slot_1(locked):
    run, *_ = locked
    for name in ("text", "logprob"):
        found = values(sheet(run, name))
        assert found["positional-false-preference", ""] == found["dark-current", ""] == 1
        assert found["target-sensitivity", "5"] == found["target-sensitivity", "1"] == 0.5


def test_both_orders_of_a_locked_text_see_nothing(locked):
    found = values(sheet(locked[0], "both-orders"))
    assert found["raw-false-preference", ""] == found["target-sensitivity", "5"] == 0
    assert found["tie-rate", "5"] == 1


def test_the_average_finds_what_was_true_value(locked):
    """Every verdict of the scoring method is that of the true log-odds, beyond the band that they lead to."""
    run, _, measured, _ = locked
    row = measured.scoring_methods.rows[3]
    assert row.band == pytest.approx(expected_band(CHOSEN_ON), abs=1e-6)
    known = {s.id: planted_odds(s) for s in built("screen")}
    rows = list(read_rows(run / "scoring-methods" / "order-averaged" / "judgments.parquet"))
    assert {row["cluster"] for row in rows} == TASKS - CHOSEN_ON
    said = Counter()
    for one in rows:
        odds = known[one["stimulus_id"]] if one["stratum"] not in {"empty", "identical"} else 0.0
        content = "tie" if abs(odds) <= row.band else "a" if odds > 0 else "b"
        slot = {"a": "12", "b": "21"}.get(content, "")
        assert one["choice"] == (slot[one["order"] == "ba"] if slot else "tie")
        said[content] += 1
    assert min(said["a"], said["b"], said["tie"]) >= 10


def test_the_average_is_recommended_and_described_by_tasks_that_did_not_choose_it(locked):
    run, _, measured, _ = locked
    scoring_methods = measured.scoring_methods
    assert scoring_methods.recommendation.scoring_method == "order-averaged"
    assert set(scoring_methods.calibration_tasks) == CHOSEN_ON
    assert set(scoring_methods.reporting_tasks) == TASKS - CHOSEN_ON
    row = scoring_methods.rows[3]
    reported = {(m.name, m.stratum): m.result for m in row.reported_on}
    equal, band = true_value(TASKS - CHOSEN_ON, "equal"), row.band
    expected = sum(abs(planted_odds(s)) > band for s in equal) / len(equal)
    assert reported["raw-false-preference", ""].value == pytest.approx(expected)
    assert reported["raw-false-preference", ""].denominator == len(equal)
    assert reported["target-sensitivity", "1"].value == reported["target-sensitivity", "5"].value == 1
    assert "accuracy at a 1-requirement difference 100%" in scoring_methods.recommendation.sentences[1]
    chosen = {(m.name, m.stratum): m.result for m in row.chosen_on}
    assert chosen["raw-false-preference", ""].value <= 0.10
    assert values(sheet(run, "order-averaged"))["raw-false-preference", ""] == pytest.approx(expected)


def test_the_difference_from_the_text_has_an_interval(locked):
    against = {(m.name, m.stratum): m for m in locked[2].scoring_methods.rows[3].against_text}
    gain, cost = against["target-sensitivity", "1"], against["raw-false-preference", ""]
    assert gain.result.value == pytest.approx(0.5)
    assert gain.result.interval.low > 0
    assert cost.result.interval.high < 0
    assert gain.scale == "difference"


def test_nothing_was_asked_again_and_the_run_reads_as_before(locked):
    run, server, _, before = locked
    assert max(server.asked.values()) == 1
    assert judgments(run) == before
    text = (run / "scoring-methods" / "text" / "datasheet.json").read_bytes()
    assert text == (run / "datasheet.json").read_bytes()


def test_every_scoring_method_accounts_for_every_trial(locked):
    run, *_ = locked
    for name in ("text", "logprob", "both-orders"):
        datasheet = sheet(run, name)
        assert sum(row.planned for row in datasheet.audit) == datasheet.run.trials == RECIPES["screen"].calls


@pytest.mark.parametrize("name", ["both-orders", "order-averaged"])
def test_what_is_so_by_construction_is_said_and_not_praised(locked, name):
    datasheet = sheet(locked[0], name)
    results = {(m.name, m.stratum): m.result for m in datasheet.measures}
    assert all(results[taken, ""].reason == why for taken, why in BY_CONSTRUCTION.items())
    assert not any(check.measure in BY_CONSTRUCTION for check in datasheet.checks)
    assert {stratum for measure, stratum in results if measure == "dark-current"} == {"", "whitespace"}
    assert any("by construction" in claim for claim in datasheet.non_claims)
    words = " ".join([*datasheet.findings, *datasheet.decision.sentences, *datasheet.decision.use_like_this])
    assert "position" not in words
    assert "Count a preference only if both" not in words
    assert datasheet.profile is None


def test_each_scoring_method_is_a_configuration_of_its_own(locked):
    sheets = [sheet(locked[0], name) for name in ("text", "logprob", "both-orders", "order-averaged")]
    assert len({one.judge.fingerprint for one in sheets}) == 4
    assert [one.judge.name for one in sheets][1:] == [
        "locked (logprob)",
        "locked (both-orders)",
        "locked (order-averaged)",
    ]
    assert f"tie band {expected_band(CHOSEN_ON):.2f} nats" in sheets[3].judge.model
    assert f"set on {len(CHOSEN_ON)} tasks" in sheets[3].findings[1]
    assert sheets[3].run.command.endswith(f" && umpirical rescore runs/{locked[0].name}")


def test_page_and_card_follow_from_the_record(locked):
    documents = locked[2].documents
    scoring_methods = ScoringMethods.model_validate_json(documents.json.read_text())
    assert render_scoring_methods_html(scoring_methods) == documents.html.read_text()
    assert render_scoring_methods_markdown(scoring_methods) == documents.markdown.read_text()
    assert "Recommended: order-averaged" in documents.html.read_text()


def rewritten(run, folder, change):
    """A copy of a run with other responses."""
    place = folder / "runs" / run.name
    shutil.copytree(run, place)
    shutil.copytree(run.parent.parent / "stimuli", folder / "stimuli")
    store = RunStore(place)
    tasks = {s.id: s.cluster for s in built("screen")}
    trials = {trial.id: (trial, tasks[trial.stimulus_id]) for trial, _ in store.plan_shard(0)}
    old = responses(run)
    shutil.rmtree(place / "responses")
    store.seal(0, 0, [change(response, *trials[response.trial_id]) for response in old])
    return place


def turned(response):
    """The same answer with the log-odds of its label turned round."""
    logprobs = json.loads(response.logprobs)
    _, second, *_ = logprobs["content"][5]["top_logprobs"]
    second["logprob"] -= 7.0
    return replace(response, logprobs=json.dumps(logprobs))


def test_the_other_half_cannot_change_the_band(locked, tmp_path):
    run, _, measured, _ = locked
    band = measured.scoring_methods.rows[3].band

    def changed(in_choice):
        return lambda response, trial, task: turned(response) if (
            (task in CHOSEN_ON) == in_choice and trial.presentation.order == "ab"
        ) else response  # fmt: skip

    reporting = write_scoring_methods(rewritten(run, tmp_path / "reporting", changed(in_choice=False))).scoring_methods
    assert reporting.rows[3].band == band
    assert reporting.rows[3].chosen_on == measured.scoring_methods.rows[3].chosen_on
    assert reporting.recommendation.scoring_method == measured.scoring_methods.recommendation.scoring_method
    assert reporting.rows[3].reported_on != measured.scoring_methods.rows[3].reported_on
    choosing = write_scoring_methods(rewritten(run, tmp_path / "choosing", changed(in_choice=True))).scoring_methods
    assert choosing.rows[3].band > band + 1


def test_a_trial_without_tokens_takes_its_pair_out_and_is_counted(locked, tmp_path):
    run, *_ = locked
    lost = next(s for s in true_value(TASKS - CHOSEN_ON, "equal"))

    def change(response, trial, _task):
        gone = trial.stimulus_id == lost.id and trial.presentation.order == "ba"
        return replace(response, logprobs="") if gone else response

    place = rewritten(run, tmp_path, change)
    write_scoring_methods(place)
    datasheet = sheet(place, "order-averaged")
    trouble = {kind.why: kind.count for kind in datasheet.trouble}
    assert trouble == {"no log-probabilities were recorded": 1, "the other order has no verdict": 1}
    equal = next(m.result for m in datasheet.measures if m.name == "raw-false-preference")
    assert equal.excluded == {"without an answer in both orders": 1}
    assert values(sheet(place, "text"))["unparsed-rate", ""] == 0


def test_without_log_probabilities_it_says_how_to_record_them(tmp_path, umpirical):
    run, _ = ask(tmp_path, decoding="{temperature: 0}")
    code, out, _ = umpirical("rescore", run)
    assert code == 0
    assert "top_logprobs: 20" in out
    assert "not available: order-averaged (no log-probabilities were recorded)" in out
    made = {path.parent.name for path in (run / "scoring-methods").glob("*/datasheet.json")}
    assert made == {"text", "both-orders"}
    scoring_methods = ScoringMethods.model_validate_json((run / "scoring-methods" / "scoring-methods.json").read_text())
    assert scoring_methods.recommendation.scoring_method is None
    assert "No scoring method is acceptable" in out


def test_the_command_prints_the_record_and_takes_a_target(locked, tmp_path, umpirical):
    code, out, _ = umpirical("rescore", locked[0], "--target", "0.5", "--out", tmp_path / "r", "--json")
    scoring_methods = ScoringMethods.model_validate_json(out)
    assert code == 0
    assert scoring_methods.target == 0.5
    assert scoring_methods.rows[3].band < locked[2].scoring_methods.rows[3].band
    assert (tmp_path / "r" / "scoring-methods.html").is_file()
    code, out, _ = umpirical("rescore", locked[0], "--out", tmp_path / "r")
    assert code == 0
    assert "Use the scoring method order-averaged" in out


def test_a_judge_that_grades_has_no_scoring_methods(tmp_path):
    model = f"{{adapter: simulated, name: {next(iter(GRADER_PROFILES))}}}"
    judge = f"{{name: g, kind: grade, scale: {{kind: ordinal, labels: [a, b]}}, model: {model}}}"
    lend_stimuli(tmp_path)
    study = parse_study(f"study: s\ndesign: {{size: screen}}\njudges: [{judge}]\n", tmp_path)
    run = prepare_run(study, study.spec.judges[0])
    with pytest.raises(UsageError, match="has no scoring methods"):
        write_scoring_methods(run.store.folder)


def test_a_judge_whose_order_cannot_be_set_has_no_scoring_method_of_both_orders(tmp_path):
    lend_stimuli(tmp_path)
    judge = "{name: j, model: {adapter: simulated, name: careful}, capabilities: {order_controllable: false}}"
    study = parse_study(f"study: s\ndesign: {{size: screen}}\njudges: [{judge}]\n", tmp_path)
    run = prepare_run(study, study.spec.judges[0])
    complete_run(run, 4, lambda *_: Silent())
    rows = {row.name: row.why_not for row in write_scoring_methods(run.store.folder).scoring_methods.rows}
    assert rows["text"] == ""
    assert "does not let you set the order" in rows["both-orders"]


def test_both_orders_keep_the_stable_part_of_every_variant_and_repeat(tmp_path):
    """What both orders agree on is what the text's own decomposition calls stable, counted by another path."""
    lend_stimuli(tmp_path)
    judge = "{name: j, model: {adapter: simulated, name: surface-swayed}}"
    design = "{size: screen, repeats: 2, variants: [baseline, strict]}"
    study = parse_study(f"study: s\ndesign: {design}\njudges: [{judge}]\n", tmp_path)
    run = prepare_run(study, study.spec.judges[0])
    complete_run(run, 4, lambda *_: Silent())
    write_scoring_methods(run.store.folder)
    results = [
        {(m.variant, m.name, m.stratum): m.result for m in sheet(run.store.folder, name).measures}
        for name in ("text", "both-orders")
    ]
    for variant in ("baseline", "strict"):
        text, both = (result[variant, "stable-cross-sensitivity", ""] for result in results)
        assert (both.numerator, both.denominator) == (text.numerator, text.denominator)
        assert both.denominator == len(true_value(TASKS, "equal"))  # repeats of a pair are averaged
        raw, ties = results[1][variant, "raw-false-preference", ""], results[1][variant, "no-preference", ""]
        assert raw.numerator == both.numerator
        assert ties.numerator == both.denominator - both.numerator


def test_a_simulated_judge_locked_onto_slot_1_can_be_read_too(tmp_path):
    lend_stimuli(tmp_path)
    judge = "{name: j, model: {adapter: simulated, name: slot-locked}, decoding: {top_logprobs: 20}}"
    study = parse_study(f"study: s\ndesign: {{size: screen}}\njudges: [{judge}]\n", tmp_path)
    run = prepare_run(study, study.spec.judges[0])
    complete_run(run, 4, lambda *_: Silent())
    scoring_methods = write_scoring_methods(run.store.folder).scoring_methods
    assert scoring_methods.recommendation.scoring_method == "order-averaged"
    text, averaged = (measure_in(scoring_methods.rows[i].reported_on, "wrong-choice-rate", "1").result for i in (0, 3))
    assert text.value >= 0.25
    assert averaged.value < text.value
    # What is built in is about the text, and is not held against another scoring method.
    assert all(m.true_value is None for m in sheet(run.store.folder, "order-averaged").measures)
    assert any(m.true_value is not None for m in sheet(run.store.folder, "text").measures)


def test_a_run_that_was_not_asked_has_no_figure_at_all(tmp_path):
    lend_stimuli(tmp_path)
    judge = "{name: j, model: {adapter: simulated, name: careful}}"
    study = parse_study(f"study: s\ndesign: {{size: screen}}\njudges: [{judge}]\n", tmp_path)
    measured = write_scoring_methods(prepare_run(study, study.spec.judges[0]).store.folder)
    assert not measured.scoring_methods.complete
    assert measured.scoring_methods.recommendation.scoring_method is None
    assert len(measured.scoring_methods.recommendation.sentences) == 1
    reported = [m.result for row in measured.scoring_methods.rows for m in row.reported_on + row.chosen_on]
    assert {result.kind for result in reported} == {"undefined"}
    assert "Incomplete run" in measured.documents.html.read_text()
    assert "Incomplete run" in measured.documents.markdown.read_text()
