"""Judges that compare two runs of an agent: in both orders, under a policy and under its opposite."""

from collections import Counter, defaultdict
from dataclasses import replace

import pytest

from tests.protocols.agent.agent_studies import write_study
from umpirical import run
from umpirical.domain.policies import policy_from_text
from umpirical.domain.stimuli import GivenWinner
from umpirical.domain.transcripts import transcript_from_text
from umpirical.judges.simulated.examiner import PAIR_AUDITOR_PROFILES, choice_shares
from umpirical.protocols.agent.record import AgentReport
from umpirical.protocols.agent.stimuli import OPPOSITE, WRITTEN, check_crossing
from umpirical.store.stimulus_sets import StimulusSet
from umpirical.study.file import read_study
from umpirical.study.prepare import PlanOptions, prepare_run

STACKS = [
    [
        "right-in-both-orders", "wrong-in-both-orders", "positional-preference", "one-order-preference",
        "neither-order-preference",
    ],
    [
        "policy-following", "policy-blind-preference", "policy-reversal", "one-policy-preference",
        "neither-policy-preference",
    ],
]  # fmt: skip
"""Measures that sum to 1."""

FIXED = """\
from zlib import crc32

def always_1(task, first, second):
    return "1"

def tasteful(task, first, second):
    return "1" if crc32(first.encode()) > crc32(second.encode()) else "2"

def mumbling(task, first, second):
    drawn = crc32((task + first).encode()) % 8
    if drawn == 0:
        raise TimeoutError("late")
    return "who knows" if drawn == 1 else "tie"
"""


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    return write_study(tmp_path_factory.mktemp("pairs"), "sound-auditor", compare=PAIR_AUDITOR_PROFILES)


@pytest.fixture(scope="module")
def reports(study):
    return {report.judge: report.record for report in run(study, trust=True)}


@pytest.fixture(scope="module")
def stimuli(reports, study):  # noqa: ARG001  # which makes them
    [folder] = study.glob("stimuli/*")
    return StimulusSet(folder)


@pytest.fixture(scope="module")
def fixed(tmp_path_factory):
    """Reports of judges whose answers are known without any noise."""
    folder = write_study(tmp_path_factory.mktemp("fixed"), count=8)
    (folder / "judge.py").write_text(FIXED)
    with (folder / "umpirical.yaml").open("a") as file:
        for name in ("always_1", "tasteful", "mumbling"):
            file.write(f"  - {{name: {name}, kind: compare, callable: 'judge.py:{name}'}}\n")
    return {report.judge: report.record for report in run(folder, trust=True)}


def measure(report, name, edit="", group=""):
    [found] = [m for m in report.measures if (m.name, m.stratum, m.group) == (name, edit, group)]
    return found


def value(report, name, edit="", group=""):
    return measure(report, name, edit, group).result.value


def test_each_decision(reports):
    assert {name: report.decision.verdict for name, report in reports.items()} == {
        "sound-auditor": "use",
        "compare-sound-auditor": "use",
        **{f"compare-{name}": "do-not-use" for name in PAIR_AUDITOR_PROFILES if name != "sound-auditor"},
    }


def test_one_study_has_judges_of_both_kinds_and_each_is_asked_about_its_own(reports):
    graded, compared = reports["sound-auditor"], reports["compare-sound-auditor"]
    assert not any(row.position_1 + row.position_2 + row.tie for row in graded.audit)
    assert not any(row.graded for row in compared.audit)
    assert graded.labels == ("violated", "satisfied")
    assert compared.labels is None
    assert {m.name for m in compared.measures} >= {name for names in STACKS for name in names}


def test_a_judge_of_the_last_message_is_right_about_cut_endings_alone(reports):
    report = reports["compare-last-message"]
    assert value(report, "policy-sensitivity", "cut-ending") > 0.9
    assert value(report, "neither-order-preference", "missing-call") > 0.9
    assert value(report, "neither-order-preference", "forbidden-call") > 0.9


def test_a_judge_of_the_beginning_sees_what_is_early_and_only_where_it_is_forbidden(reports):
    """That a required call is missing cannot be seen before the end: it ties, except on runs that it reads whole."""
    report = reports["compare-beginning"]
    early, late = (
        value(report, "policy-sensitivity", "forbidden-call", f"place={place}") for place in ("early", "late")
    )
    assert late + 0.1 < early < 0.8
    assert value(report, "neither-order-preference", "forbidden-call", "length=lengthened") > 0.9


def test_a_judge_that_ignores_the_policy_is_right_half_of_the_time_and_follows_it_never(reports):
    report = reports["compare-policy-blind"]
    assert value(report, "policy-blind-preference") > 0.9
    assert value(report, "policy-following") < 0.02
    assert value(report, "positional-preference") < 0.05
    assert value(report, "policy-sensitivity") == pytest.approx(0.5, abs=0.03)


def test_a_judge_of_slots_is_found_by_its_slots_and_not_taken_for_blind_to_the_policy(reports):
    report = reports["compare-slot-1"]
    assert value(report, "positional-preference") > 0.7
    assert value(report, "policy-blind-preference") < 0.1
    broken = [check.measure for check in report.checks if check.state == "broken"]
    assert broken == ["policy-sensitivity", "policy-agreement", "positional-preference"]


def test_who_reads_no_policy_or_no_run_is_right_in_exactly_one_half(fixed):
    """The run that it likes is right under one policy and wrong under the other, and so is whatever is in position
    1."""
    for name in ("tasteful", "always_1"):
        assert value(fixed[name], "policy-sensitivity") == 0.5
        found = [each.result for each in fixed[name].measures if each.name == "policy-sensitivity"]
        assert {each.value for each in found if each.kind == "estimate"} == {0.5}
    assert value(fixed["tasteful"], "policy-blind-preference") == 1
    assert value(fixed["tasteful"], "wrong-in-both-orders") == 0.5
    assert value(fixed["always_1"], "positional-preference") == 1
    assert value(fixed["always_1"], "neither-policy-preference") == 1


def test_the_parts_of_pairs_add_up_to_1_everywhere(reports, fixed):
    for report in [*reports.values(), fixed["always_1"], fixed["tasteful"]]:
        for names in STACKS:
            sums = defaultdict(float)
            for found in report.measures:
                if report.labels is None and found.name in names and found.result.kind == "estimate":
                    sums[found.stratum, found.group] += found.result.value
            assert all(total == pytest.approx(1) for total in sums.values())
            assert (len(sums) > 10) == (report.labels is None)


def test_what_has_no_verdict_is_excluded_counted_and_never_a_number(fixed):
    report = fixed["mumbling"]
    asked = sum(row.planned for row in report.audit)
    assert sum(row.unparsed + row.failed + row.tie for row in report.audit) == asked
    found = measure(report, "policy-sensitivity").result
    assert found.value == 0
    assert found.denominator + sum(found.excluded.values()) == asked / 2
    assert found.bounds[1] > 0
    assert {each.outcome for each in report.trouble} == {"unparsed", "failed"}
    assert report.decision.verdict == "not-enough-data"


def test_every_planted_value_lies_in_its_interval(reports, stimuli):
    """The expected value of each measure, from what each judge reads, by a count of its own."""
    missed, held = [], 0
    for name, profile in PAIR_AUDITOR_PROFILES.items():
        expected = true_value(profile, stimuli)
        for found in reports[f"compare-{name}"].measures:
            if (found.name, found.stratum, found.group) not in expected or found.result.kind == "undefined":
                continue
            hits, pairs = expected[found.name, found.stratum, found.group]
            if pairs < 12:
                continue
            held += 1
            low, high = found.result.interval.low, found.result.interval.high
            if not low - 1e-9 <= hits / pairs <= high + 1e-9:
                missed.append((name, found.name, found.stratum, found.group, hits / pairs, low, high))
    assert held > 500
    assert len(missed) / held < 0.05, missed


def test_intervals_are_clustered_by_transcript(reports):
    found = measure(reports["compare-sound-auditor"], "policy-sensitivity").result
    assert found.clusters == 16
    assert found.denominator > 100


def test_every_pair_is_true_by_program_and_turns_with_the_policy(stimuli):
    pairs = [each for each in stimuli if len(each.candidates) == 2]
    quads = defaultdict(dict)
    for pair in pairs:
        policy = policy_from_text(pair.task)
        keeps = [policy.holds(transcript_from_text(text)) for text in pair.candidates]
        assert sorted(keeps) == [False, True]
        assert pair.expectation == GivenWinner(keeps.index(True))
        quads[pair.crossed_pair][pair.version] = pair
    assert len(quads) > 80
    for versions in quads.values():
        assert set(versions) == {WRITTEN, OPPOSITE}
        assert versions[WRITTEN].candidates == versions[OPPOSITE].candidates
        assert versions[WRITTEN].expectation == GivenWinner(0)
        assert versions[OPPOSITE].expectation == GivenWinner(1)
    assert len({pair.content for pair in pairs}) == len(pairs)


def test_the_gate_finds_a_pair_whose_better_run_does_not_turn(stimuli):
    pairs = [each for each in stimuli if len(each.candidates) == 2]
    assert check_crossing(pairs).passed
    place = next(number for number, each in enumerate(pairs) if each.version == OPPOSITE)
    pairs[place] = replace(pairs[place], expectation=GivenWinner(0))
    assert not check_crossing(pairs).passed


def test_a_pair_stays_in_one_shard_in_both_orders(tmp_path):
    folder = write_study(tmp_path / "s", compare=["sound-auditor"], more="design: {repeats: 7}\n", count=12)
    study = read_study(folder)
    store = prepare_run(study, study.spec.judges[0]).store
    _, number = store.plan_size()
    shards = defaultdict(Counter)
    for shard in range(number):
        for trial, _ in store.plan_shard(shard):
            shards[trial.stimulus_id, trial.presentation.pair][shard] += 1
    assert number > 1
    assert all(list(found.values()) == [2] for found in shards.values())


def test_a_judge_that_grades_is_asked_the_same_with_and_without_others_that_compare(study, tmp_path):
    alone = write_study(tmp_path / "s", "sound-auditor")
    asked = []
    for number, folder in enumerate((alone, study)):
        each = read_study(folder)
        store = prepare_run(each, each.spec.judges[0], options=PlanOptions(folder=tmp_path / str(number))).store
        asked.append([trial.id for trial, _ in store.plan_shard(0)])
    assert asked[0] == asked[1]


def test_a_judge_that_can_be_shown_one_order_only_is_refused(tmp_path, umpirical):
    folder = write_study(tmp_path / "s", count=4)
    with (folder / "umpirical.yaml").open("a") as file:
        model = "model: {adapter: simulated, name: sound-auditor}, capabilities: {order_controllable: false}"
        file.write(f"  - {{name: one, kind: compare, {model}}}\n")
    code, _, err = umpirical("run", folder, "--yes")
    assert code == 2
    assert "both orders" in err


@pytest.mark.parametrize(("kind", "name"), [("compare", "careful"), ("compare", "alarmist"), ("grade", "slot-1")])
def test_a_simulated_judge_of_other_things_is_refused_with_those_that_there_are(tmp_path, umpirical, kind, name):
    folder = write_study(tmp_path / "s", count=4)
    with (folder / "umpirical.yaml").open("a") as file:
        file.write(f"  - {{name: one, kind: {kind}, model: {{adapter: simulated, name: {name}}}}}\n")
    code, _, err = umpirical("run", folder, "--yes")
    assert code == 2
    assert "sound-auditor" in err


@pytest.mark.usefixtures("reports")
def test_the_page_and_the_card_are_made_of_the_record(study, umpirical):
    [page] = study.glob("runs/compare-slot-1-*/agent.html")
    text = page.read_text()
    assert "Do not use" in text
    assert "Choices by edit" in text
    assert "Same position in both orders" in text
    assert "Error rates" not in text
    assert "<script" not in text
    card = page.with_suffix(".md").read_text()
    assert "| pairs | Policy accuracy |" in card
    before = {path: path.read_bytes() for path in page.parent.glob("agent.*")}
    code, _, _ = umpirical("report", page.parent)
    assert code == 3
    assert {path: path.read_bytes() for path in before} == before
    report = AgentReport.model_validate_json(page.with_suffix(".json").read_text())
    assert report.wrong_pairs
    assert not report.wrong
    assert all(pair.changes and pair.right < 1 for pair in report.wrong_pairs)


def true_value(profile, stimuli):
    """Hits and pairs of every measure, by name, edit and group."""
    counted, quads = defaultdict(lambda: [0.0, 0]), defaultdict(dict)

    def add(name, stimulus, hit):
        groups = ["", *(f"{key}={each}" for key, each in stimulus.strata.items())]
        for edit in ("", stimulus.family):
            for group in groups:
                counted[name, edit, group][0] += hit
                counted[name, edit, group][1] += 1

    for each in stimuli:
        if len(each.candidates) != 2:
            continue
        u, v = each.candidates
        uv, vu = choice_shares(profile, each.task, u, v, 1), choice_shares(profile, each.task, v, u, 1)
        won = [uv.position_1 * vu.position_2, uv.position_2 * vu.position_1]
        named = [uv.position_1 + vu.position_2, uv.position_2 + vu.position_1]
        better = each.expectation.candidate
        add("policy-sensitivity", each, named[better] / 2)
        add("right-in-both-orders", each, won[better])
        add("wrong-in-both-orders", each, won[1 - better])
        add("positional-preference", each, uv.position_1 * vu.position_1 + uv.position_2 * vu.position_2)
        add("neither-order-preference", each, uv.tie * vu.tie)
        add("one-order-preference", each, uv.tie * (1 - vu.tie) + (1 - uv.tie) * vu.tie)
        quads[each.crossed_pair][each.version] = (each, won)
    for versions in quads.values():
        (first, one), (_, two) = versions[WRITTEN], versions[OPPOSITE]
        add("policy-following", first, one[0] * two[1])
        add("policy-blind-preference", first, one[0] * two[0] + one[1] * two[1])
        add("policy-reversal", first, one[1] * two[0])
        add("neither-policy-preference", first, (1 - sum(one)) * (1 - sum(two)))
        add("one-policy-preference", first, sum(one) * (1 - sum(two)) + (1 - sum(one)) * sum(two))
    return counted
