"""Juries on the user's own data and on agents: measured like a judge, and told from one by nothing but its members."""

import csv
import json
from dataclasses import replace
from decimal import Decimal
from statistics import mean, median_low

import numpy as np
import pytest

import umpirical
from tests.protocols.agent.agent_studies import write_study as agent_study
from tests.protocols.datasheet.cost_samples import priced
from tests.protocols.pairs.pair_studies import write_study as pairs_study
from umpirical.cli import main
from umpirical.domain.errors import UmpiricalError, UsageError
from umpirical.domain.measures import Estimate, Interval
from umpirical.protocols.costs import cost_curve, point_price
from umpirical.protocols.jury import read_members
from umpirical.protocols.jury_record import Jury
from umpirical.protocols.stress.comparison import StressComparison, render_stress_comparison_html
from umpirical.protocols.stress.protocol import STRESS
from umpirical.reports.decision import EXIT_CODES
from umpirical.reports.record import record_json
from umpirical.stats.juries import NO_VOTE
from umpirical.study.jury import seat_jury

ITEMS = 24

SCALES = {
    "binary": ("kind: binary, labels: [bad, good]", ["bad", "good"]),
    "ordinal": ("kind: ordinal, labels: ['1', '2', '3', '4', '5']", ["1", "2", "3", "4", "5"]),
    "interval": ("kind: interval, low: 0, high: 10", [2.0, 4.0, 6.0, 8.0]),
}

JUDGE = """\
import hashlib

GRADES = {grades!r}
NUMBERS = GRADES[0] == 2.0


def drawn(*parts):
    return int(hashlib.sha256(repr(parts).encode()).hexdigest()[:8], 16) / 16**8


def grade(name, wrong, silent, response):
    place = int(response.split()[2]) % len(GRADES)
    if drawn(name, "silent", response) < silent:
        return "no idea"
    if drawn(name, response) < wrong:
        step = 1 if place == 0 or (place + 1 < len(GRADES) and drawn(name, "up", response) < 0.5) else -1
        return str(GRADES[place] + step) if NUMBERS else GRADES[place + step]
    return str(GRADES[place])


"""


def graded_study(folder, scale, judges):
    """A study of functions that are wrong on a share of the items, by one step, and silent on another."""
    folder.mkdir(parents=True, exist_ok=True)
    words, grades = SCALES[scale]
    with (folder / "data.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["id", "task", "response", "label"])
        for number in range(ITEMS):
            label = grades[number % len(grades)]
            rows.writerow([number, f"Task {number}", f"This is {number} of many answers.", label])
    code = JUDGE.format(grades=grades)
    for name, (wrong, silent) in judges.items():
        code += f"def {name}(task, response):\n    return grade({name!r}, {wrong}, {silent}, response)\n\n\n"
    (folder / "judge.py").write_text(code)
    listed = "".join(
        f"  - {{name: {name}, kind: grade, callable: 'judge.py:{name}', scale: {{{words}}}}}\n" for name in judges
    )
    (folder / "umpirical.yaml").write_text(
        f"study: s\ndataset:\n  path: data.csv\n  columns: {{task: task, response: response, id: id, label: label}}\n"
        f"  scale: {{{words}}}\nstress: {{tests: [inline-spacing]}}\njudges:\n{listed}"
    )
    return folder


def measured(study):
    return [report.folder for report in umpirical.run(study, progress=False, trust=True)]


JUDGES = {"a": (0.3, 0), "b": (0.3, 0), "c": (0.25, 0), "d": (0.3, 0.2)}
"""How often each is wrong, and how often it says nothing."""


def expected(scale, verdict_of):
    """What a jury of these functions comes to, worked out from what they say: how right it is, and its ties."""
    words, labels = {}, SCALES[scale][1]
    exec(JUDGE.format(grades=labels), words)  # noqa: S102  # the code above
    right, none = 0.0, 0
    for number in range(ITEMS):
        said = [words["grade"](name, *how, f"This is {number} of many answers.") for name, how in JUDGES.items()]
        verdict, gold = verdict_of([each for each in said if each != "no idea"]), labels[number % len(labels)]
        if verdict is None:
            none += 1
        elif scale == "ordinal":
            right += 1 - abs(int(verdict) - int(gold)) / 4
        else:
            right += 1 - abs(verdict - gold) / 10 if scale == "interval" else verdict == gold
    return right / ITEMS, none


def most_frequent(said):
    counts = sorted(((said.count(each), each) for each in set(said)), reverse=True)
    return None if len(counts) > 1 and counts[0][0] == counts[1][0] else counts[0][1]


VOTES = {
    "binary": ("majority", "accuracy", most_frequent),
    "ordinal": ("median", "closeness", median_low),
    "interval": ("mean", "closeness", lambda said: mean(map(float, said))),
}
"""The usual rule of a scale, what is measured, and the vote in other words."""


RULES_OF = {
    "binary": {"majority", "weighted", "dawid-skene"},
    "ordinal": {"median", "majority", "weighted", "dawid-skene"},
    "interval": {"mean"},
}


@pytest.fixture(scope="module", params=SCALES)
def graded(request, tmp_path_factory):
    study = graded_study(tmp_path_factory.mktemp(request.param) / "study", request.param, JUDGES)
    return request.param, measured(study)


def result_of(report, name, stratum="", group=""):
    [found] = [m for m in report.measures if (m.name, m.stratum, m.group) == (name, stratum, group)]
    return found.result


def test_judges_that_grade_vote_as_their_scale_allows_and_the_report_is_about_the_vote(graded, tmp_path):
    scale, runs = graded
    rule, measure, vote = VOTES[scale]
    found = seat_jury(runs, tmp_path)
    right, none = expected(scale, vote)
    assert (found.jury.rule, found.jury.measure) == (rule, measure)
    assert found.jury.accuracy.value == pytest.approx(right)
    assert len(found.jury.reported_on) == ITEMS
    # Each item is asked as often as its noise takes; a function says the same each time.
    assert found.jury.without_verdict / found.jury.accuracy.denominator == pytest.approx(none / ITEMS)
    assert sum(row.unparsed for row in found.report.audit if row.family == "original") == found.jury.without_verdict
    if scale == "binary":
        assert none
        assert {one.why for one in found.report.trouble} == {"the votes of the jury are tied"}
        agreed = result_of(found.report, "accuracy", "original")
        assert agreed.numerator == pytest.approx(right * ITEMS)
        assert agreed.denominator == ITEMS - none
    assert result_of(found.report, "change-rate", "inline-spacing").denominator > 0
    assert found.report.judge.model == f"jury, {rule}: a, b, c, d"
    assert found.report.judge.scale == found.report.dataset.scale.replace("interval: ", "")
    assert not any(one.true_value for one in found.report.measures)
    assert found.decision.exit_code == EXIT_CODES[found.report.decision.verdict]
    assert "jury-a-b-c-d" in found.documents.html.read_text()
    assert Jury.model_validate_json(found.record.read_text()) == found.jury


def test_a_chosen_jury_is_reported_on_other_items_by_rules_of_its_scale(graded, tmp_path):
    scale, runs = graded
    jury = seat_jury(runs, tmp_path, choose=True)
    assert not set(jury.jury.learned_on) & set(jury.jury.reported_on)
    assert set(jury.report.run.tasks) == set(jury.jury.reported_on)
    assert jury.jury.rule in RULES_OF[scale]
    assert f"on {len(jury.jury.learned_on)} items" in jury.jury.findings[1]


def test_a_rule_that_makes_no_sense_for_the_scale_is_refused(graded, tmp_path):
    scale, runs = graded
    wrong = {"interval": "majority"}.get(scale, "mean")
    with pytest.raises(UsageError, match=f"cannot vote by {wrong}"):
        seat_jury(runs, tmp_path, rule=wrong)


def test_most_members_must_vote_and_calls_without_a_right_answer_choose_nothing(graded, tmp_path, monkeypatch):
    scale, runs = graded
    if scale != "ordinal":
        return
    read = read_members(runs, STRESS)
    assert (read.ballots.votes[:, 3] == NO_VOTE).any()
    votes = read.ballots.votes.copy()
    votes[: len(votes) // 2, :2] = NO_VOTE
    silent = replace(read, ballots=replace(read.ballots, votes=votes))
    monkeypatch.setattr("umpirical.study.jury.read_members", lambda *_: silent)
    found = seat_jury(runs, tmp_path)
    [trouble] = found.report.trouble
    assert trouble.why == "no more than half of the jury gave a verdict"
    assert trouble.count >= len(votes) // 2
    unknown = replace(read, ballots=replace(read.ballots, truth=np.full(len(votes), NO_VOTE)))
    monkeypatch.setattr("umpirical.study.jury.read_members", lambda *_: unknown)
    with pytest.raises(UsageError, match="share only 0 items with a known right answer"):
        seat_jury(runs, tmp_path)


def test_judges_of_labeled_pairs_are_a_jury_with_a_report_on_pairs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    study = pairs_study(tmp_path / "study", profiles=("careful", "surface-swayed", "slot-locked"), more="seed: 2\n")
    runs = measured(study)
    found = seat_jury(runs, tmp_path / "juries")
    agreed = result_of(found.report, "both-orders-accuracy")
    assert found.jury.measure == "accuracy"
    # Of pairs as they are, each in two orders: edited ones are measured too, and say nothing more of the labels.
    assert found.jury.accuracy.denominator == 80
    assert agreed.denominator == 40
    assert result_of(found.report, "change-rate").denominator > 0
    assert found.report.run.command == "umpirical jury " + " ".join(f"runs/{r.name}" for r in runs) + " --rule majority"
    with pytest.raises(SystemExit) as stop:
        main(["jury", str(study), "--rule", "weighted"])
    assert stop.value.code in {0, 3, 4}
    said = capsys.readouterr().out
    assert "Accuracy of 3 judges by weighted: " in said
    assert "The rule was trained on 20 prompts" in said
    assert len(list(study.glob("juries/weighted-*/pairs.html"))) == 1


AUDITORS = ("sound-auditor", "no-calls", "last-message")


def test_agent_judges_are_a_jury_whether_they_grade_or_compare_but_not_both(tmp_path):
    runs = measured(agent_study(tmp_path / "study", *AUDITORS, compare=AUDITORS, count=8))
    graders, comparers = runs[:3], runs[3:]
    for each, named in ((graders, "policy-agreement"), (comparers, "policy-sensitivity")):
        found = seat_jury(each, tmp_path)
        report = json.loads(found.documents.json.read_text())
        assert report["format"] == "judge-agent/2"
        assert found.jury.measure == "accuracy"
        assert len(found.jury.reported_on) == 8
        assert found.report.checks
        assert result_of(found.report, named).denominator > 0
        alone = {member.name: member.accuracy.value for member in found.jury.members}
        # Two of three overlook the same, so a majority of them is no better than they are.
        assert found.jury.accuracy.value < max(alone.values())
        assert "held-out transcripts" in found.jury.findings[1]
    with pytest.raises(UsageError, match="the judge grades, and others compare"):
        seat_jury([*graders, comparers[0]], tmp_path)


def test_runs_of_two_protocols_are_refused_and_python_returns_the_report_of_one(graded, tmp_path):
    scale, runs = graded
    if scale != "ordinal":
        return
    other = measured(pairs_study(tmp_path / "study", profiles=("careful",)))
    with pytest.raises(UsageError, match=r"is of protocol pairs, and .* of stress"):
        seat_jury([*runs, *other], tmp_path)
    report = umpirical.jury(runs, folder=tmp_path)
    assert report.record.format == "judge-stress/2"
    assert report.findings[0] == report.jury.findings[0]


def test_a_comparison_says_what_the_same_jury_costs_for_how_right_it_is(graded):
    """The cost section hears the same calls as a jury, so both come to the same accuracy."""
    scale, runs = graded
    found = umpirical.compare(*runs).record
    [study] = found.studies
    options = {one.sign: one for one in study.costs.options}
    assert [one.kind for one in study.costs.options].count("jury") == 5
    jury = umpirical.jury(runs).jury
    assert options["jury of 4"].accuracy == jury.accuracy
    assert options["a"].accuracy == jury.members[0].accuracy
    assert options["a"].standing == "apart"
    assert study.costs.findings == [f"{n} is not ranked: {options[n].price.why_not}" + "." for n in "abcd"]
    grades = [SCALES[scale][1][number % len(SCALES[scale][1])] for number in range(ITEMS)]
    constant = {"binary": 0.5, "ordinal": 1 - mean(abs(int(g) - 3) for g in grades) / 4 if scale == "ordinal" else 0}
    assert study.costs.baseline == pytest.approx(constant.get(scale, 0.8))
    page = render_stress_comparison_html(found)
    assert "Cost and accuracy" in page
    assert StressComparison.model_validate_json(record_json(found)) == found


def test_an_interval_of_half_the_width_takes_four_times_the_items_and_dollars():
    limits = Interval(0.8, 0.9, method="test")
    accuracy = Estimate(0.85, 85.0, 100, "call", limits, 50)
    price = priced("2", calls=300)
    steps, why = cost_curve(price, accuracy, 300, is_rate=False)
    found = {step.half_width: (step.families, step.calls, step.dollars[1]) for step in steps}
    assert why == ""
    assert found[0.05] == (50, 300, Decimal("0.6"))
    assert found[0.1][0] == 13
    assert found[0.01] == (1250, 7500, Decimal(15))
    assert point_price(price, accuracy, 0.75).most == Decimal("0.2")


def with_jury(study, jury):
    file = study / "umpirical.yaml"
    file.write_text(file.read_text() + f"juries:\n  - {jury}\n")
    return study


PANEL = "{name: panel, members: [a, b, c]}"


def test_a_jury_in_a_study_is_asked_by_asking_its_members_once(tmp_path, capsys):
    judges = {name: JUDGES[name] for name in "abcd"}
    study = with_jury(graded_study(tmp_path / "study", "ordinal", judges), PANEL)
    [*members, panel] = umpirical.run(study, judges=["panel"], progress=False, trust=True)
    assert [each.judge for each in members] == ["a", "b", "c"]
    assert panel.judge == "panel"
    assert panel.folder == study / "juries" / "panel"
    assert panel.record.spend.calls == sum(member.record.spend.calls for member in members)
    jury = Jury.model_validate_json((panel.folder / "jury.json").read_text())
    assert (jury.rule, [member.name for member in jury.members]) == ("median", ["a", "b", "c"])
    assert {member.run for member in jury.members} == {member.folder.name for member in members}
    alone = seat_jury([member.folder for member in members], tmp_path)
    assert alone.report.judge.fingerprint == panel.record.judge.fingerprint
    assert alone.report.measures == panel.record.measures
    # All judges: only the one that was not a member is asked now.
    with pytest.raises(SystemExit) as stop:
        main(["run", str(study), "--yes", "--json"])
    said = json.loads(capsys.readouterr().out)
    assert [each["judge"] for each in said] == ["a", "b", "c", "d", "panel"]
    assert said[-1]["findings"][0].startswith("Closeness to the labels of 3 judges by median: ")
    assert stop.value.code in {0, 3, 4}
    assert len(list((study / "runs").iterdir())) == 4
    with pytest.raises(SystemExit) as stop:
        main(["gate", str(panel.folder / "stress.json")])
    assert stop.value.code == EXIT_CODES[panel.record.decision.verdict]


@pytest.mark.parametrize(
    ("jury", "said"),
    [
        ("{name: panel, members: [a, b]}", "at least 3"),
        ("{name: panel, members: [a, b, x]}", "'x' is not a judge of this study"),
        ("{name: panel, members: [a, b, b]}", "a member is listed twice"),
        ("{name: a, members: [a, b, c]}", "two judges are named a"),
        ("{name: panel, members: [a, b, c], rule: mean}", "cannot vote by mean"),
        ("{name: panel, members: [a, b, c], rule: vote}", "rule"),
        ("{name: ../panel, members: [a, b, c]}", "name"),
    ],
)
def test_a_jury_that_could_not_vote_is_refused_before_anything_is_asked(jury, said, tmp_path):
    study = with_jury(graded_study(tmp_path / "study", "ordinal", {name: JUDGES[name] for name in "abc"}), jury)
    with pytest.raises(UmpiricalError, match=said):
        umpirical.run(study, progress=False, trust=True)
    assert not (study / "runs").exists()


def test_a_jury_waits_for_its_members(tmp_path, capsys):
    judges = {"a": (0, 0), "b": (0, 0), "c": (0, 1)}
    study = with_jury(graded_study(tmp_path / "study", "ordinal", judges), PANEL)
    with pytest.raises(SystemExit) as stop:
        main(["run", str(study), "--yes", "--trust"])
    found = capsys.readouterr()
    # The preflight stops a judge that cannot be read. The others are measured, and there is no jury of them.
    assert "jury panel is not tested: c must be complete first" in found.err
    assert stop.value.code not in {0, 3, 4}
    assert not (study / "juries").exists()
