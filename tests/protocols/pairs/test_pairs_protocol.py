"""Judges that compare, on labelled pairs: both orders, edits of one answer, length, and what they come to."""

import json
from collections import Counter, defaultdict

import pytest

import umpirical
from tests.protocols.pairs.pair_studies import labelled, measure, value, write_rows, write_study
from umpirical import run
from umpirical.domain.errors import ConfigError, UsageError
from umpirical.domain.stimuli import GivenWinner
from umpirical.measures.natural import NATURAL
from umpirical.protocols.pairs.page import STACK
from umpirical.protocols.pairs.protocol import PAIRS, pairs_needed
from umpirical.protocols.pairs.record import PairsReport
from umpirical.protocols.pairs.report import held_to
from umpirical.protocols.pairs.spec import PairsPolicy
from umpirical.protocols.pairs.stimuli import qualities
from umpirical.store.stimulus_sets import StimulusSet
from umpirical.study.file import read_study
from umpirical.study.prepare import prepare_run

CHEATS = """\
from zlib import crc32

def always_1(task, first, second):
    return "1"

def longer(task, first, second):
    return "1" if len(first) > len(second) else "2" if len(second) > len(first) else "tie"

def knowing(task, first, second):
    return "1" if known(task, first) else "2"

def shy(task, first, second):
    hard = int(task.split()[1]) % 10 == 1
    return "it depends" if hard else knowing(task, first, second)

def half_silent(task, first, second):
    if int(task.split()[1]) % 10 == 1 and known(task, first):
        raise TimeoutError("late")
    return knowing(task, first, second)

def unsure(task, first, second):
    return ("tie", "abstain")[int(task.split()[1]) % 2]

def spaced(task, first, second):
    gaps = [text.count("  ") for text in (first, second)]
    return "1" if gaps[0] > gaps[1] else "2" if gaps[1] > gaps[0] else knowing(task, first, second)

"""
KNOWING = """
import json
from pathlib import Path

ROWS = {row["prompt"]: row for row in map(json.loads, Path("__PATH__").read_text().splitlines())}

bare = lambda text: "".join(text.replace("*", "").split())
known = lambda task, text: bare(text) == bare(ROWS[task]["chosen"])
"""


def cheats(folder, rows, more=""):
    known = KNOWING.replace("__PATH__", str(folder / "pairs.jsonl"))
    return write_study(folder, rows=rows, functions=CHEATS + known, more=more)


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """The default size, with simulated judges."""
    folder = write_study(tmp_path_factory.mktemp("sound"), rows=labelled(200), profiles=["careful", "slot-locked"])
    return {report.judge: report for report in run(folder, trust=True)}


@pytest.fixture(scope="module")
def cheating(tmp_path_factory):
    """Judges whose answers are known without any noise, on pairs of which the longer is chosen in six of ten."""
    folder = cheats(tmp_path_factory.mktemp("cheats"), list(labelled(60)))
    return {report.judge: report.record for report in run(folder, trust=True)}


@pytest.fixture(scope="module")
def long_ones(tmp_path_factory):
    """The same judges where the longer answer is always the chosen one."""
    folder = cheats(tmp_path_factory.mktemp("long"), list(labelled(100, longer=1)), "edits: [inline-spacing]\n")
    return {report.judge: report.record for report in run(folder, judges=["longer", "knowing"], trust=True)}


def test_a_sound_judge_is_used_at_the_default_size_and_one_of_slots_is_not(sound):
    assert sound["careful"].record.decision.verdict == "use"
    assert sound["slot-locked"].record.decision.verdict == "do-not-use"
    assert 100 < pairs_needed(PairsPolicy()) <= 200


def test_who_always_names_slot_1_is_right_in_one_order_and_about_no_pair(cheating):
    report = cheating["always_1"]
    assert value(report, "both-orders-accuracy") == 0
    assert value(report, "same-slot-rate") == 1
    assert value(report, "single-order-accuracy") == 0.5
    assert value(report, "chosen-first-accuracy") == 1
    assert value(report, "chosen-second-accuracy") == 0
    assert value(report, "named-slot-1-rate") == 1
    assert value(report, "change-rate") == 0
    assert report.decision.verdict == "do-not-use"


def test_who_takes_the_longer_is_right_where_it_is_right_and_nowhere_else(cheating):
    report = cheating["longer"]
    assert value(report, "both-orders-accuracy") == 0.6 == report.data.longer_chosen.value
    assert value(report, "both-orders-accuracy", group="longer=chosen") == 1
    assert value(report, "both-orders-accuracy", group="longer=rejected") == 0
    assert value(report, "both-orders-error") == 0.4
    assert value(report, "length-gap") == 1
    assert report.data.longer == {"chosen": 36, "rejected": 24}
    assert report.decision.verdict == "do-not-use"


def test_where_the_longer_is_always_chosen_nobody_is_used(long_ones):
    """Both judges are right about every pair, and the data cannot tell one from the other."""
    for report in long_ones.values():
        assert value(report, "both-orders-accuracy") == 1
        assert measure(report, "length-gap").kind == "undefined"
        assert not [m for m in report.measures if m.group == "longer=rejected"]
        assert report.decision.verdict == "not-enough-data"
        assert "length cannot be separated" in " ".join(report.decision.sentences)


def test_who_is_unreadable_about_hard_pairs_gains_nothing(cheating):
    report = cheating["shy"]
    found = measure(report, "both-orders-accuracy")
    assert found.value == 1
    assert found.excluded == {"without an answer in both orders": 6}
    assert found.bounds == (0.9, 1)
    assert found.denominator == 54
    assert report.decision.verdict == "do-not-use"
    assert [check.measure for check in report.checks if check.state == "broken"] == ["unparsed-rate"]
    assert cheating["half_silent"].decision.verdict != "use"
    assert measure(cheating["half_silent"], "both-orders-accuracy").denominator == 54


def test_unreadable_answers_are_counted_the_worst_way_before_a_check_passes(cheating):
    lenient = PairsPolicy(accuracy=0.85, without_verdict=0.5)
    held = held_to(cheating["shy"], lenient)
    [check] = [check for check in held.checks if check.measure == "both-orders-accuracy"]
    assert measure(cheating["shy"], "both-orders-accuracy").interval.low > 0.85
    assert check.verdict == "INCONCLUSIVE"
    assert check.unanswered == 6
    assert held.decision.verdict == "not-enough-data"


def test_a_tie_is_no_winner_and_an_abstention_is_no_tie(cheating):
    report = cheating["unsure"]
    assert value(report, "no-winner-rate") == 1
    assert value(report, "both-orders-accuracy") == 0
    audit = Counter()
    for row in report.audit:
        audit.update(tie=row.tie, abstained=row.abstained, planned=row.planned)
    assert audit["tie"] == audit["abstained"] == audit["planned"] / 2
    found = measure(report, "change-rate")
    assert found.value == 0
    assert found.denominator == 30
    assert sum(found.excluded.values()) == 30


def test_who_likes_blanks_is_won_over_by_an_edit_of_either_answer(cheating):
    report = cheating["spaced"]
    chosen, rejected = "side=chosen", "side=rejected"
    assert value(report, "both-orders-accuracy") == 1
    assert value(report, "edit-favour", "inline-spacing", rejected) == 1
    assert value(report, "edit-overturn", "inline-spacing", rejected) == 1
    assert value(report, "edit-favour", "inline-spacing", chosen) == 0
    assert value(report, "edit-disfavour", "inline-spacing", rejected) == 0
    assert value(report, "change-rate", "inline-spacing", chosen) == 0
    assert value(report, "change-rate", "inline-spacing") == 0.5
    assert value(report, "change-rate", "markdown-or-plain") == 0
    assert value(report, "change-rate") == 0.25
    assert report.decision.verdict == "do-not-use"
    assert {wrong.edit for wrong in report.wrong} == {"inline-spacing"}
    assert all("  " in wrong.rejected and "  " not in wrong.chosen for wrong in report.wrong)


def test_the_parts_of_pairs_add_up_to_1_everywhere(cheating, sound):
    for report in [*cheating.values(), *(each.record for each in sound.values())]:
        sums = defaultdict(float)
        for found in report.measures:
            if found.name in STACK and found.result.kind == "estimate":
                sums[found.group] += found.result.value
        assert sums.keys() == {"", "longer=chosen", "longer=rejected", "subset=easy", "subset=hard"}
        assert all(total == pytest.approx(1) for total in sums.values())


def test_pairs_of_one_prompt_do_not_make_an_interval_narrower(tmp_path):
    """Ten prompts with six pairs each that a judge likes or not as a whole are ten facts and not sixty."""
    rows = [
        {"prompt": f"{number % 10}", "chosen": f"good {number}", "rejected": f"bad {number} different kind of judge"}
        for number in range(60)
    ]
    functions = "def moody(task, first, second):\n    return '12'[(int(task) < 5) == (first[0] == 'b')]\n"
    folder = write_study(tmp_path, rows=rows, functions=functions, more="edits: []\n")
    [report] = run(folder, trust=True)
    found = measure(report.record, "both-orders-accuracy")
    assert (found.value, found.clusters, found.denominator) == (0.5, 10, 60)
    assert found.interval.high - found.interval.low > 0.5


def test_repeats_show_the_noise_that_is_taken_off_what_edits_change(tmp_path):
    folder = write_study(tmp_path, rows=labelled(40), profiles=["coin"], more="design: {repeats: 3}\n")
    [report] = run(folder, trust=True)
    assert value(report.record, "change-rate") == pytest.approx(0.5, abs=0.1)
    assert value(report.record, "excess-change") == pytest.approx(0, abs=0.07)
    assert [check.measure for check in report.record.checks][4] == "excess-change"


def test_the_chosen_answer_is_first_in_half_of_the_pairs_and_both_orders_are_asked(sound):
    folder = sound["careful"].folder.parents[1]
    [stimuli] = folder.glob("stimuli/*")
    pairs = [each for each in StimulusSet(stimuli) if each.family == NATURAL]
    places = Counter(each.expectation.candidate for each in pairs)
    assert 70 < places[0] < 130
    study = read_study(folder)
    store = prepare_run(study, study.spec.judges[0]).store
    asked = Counter()
    for trial, _ in store.plan_shard(0):
        asked[trial.stimulus_id, trial.presentation.pair] += 1
    assert set(asked.values()) == {2}


def test_an_edit_changes_one_answer_and_is_proved(sound):
    [stimuli] = sound["careful"].folder.parents[1].glob("stimuli/*")
    found = list(StimulusSet(stimuli))
    whole = {each.id: each for each in found if each.family == NATURAL}
    edited = [each for each in found if each.family != NATURAL]
    assert len(edited) == 800
    for each in edited:
        parent = whole[each.parent]
        changed = [place for place in (0, 1) if each.candidates[place] != parent.candidates[place]]
        chosen = parent.expectation.candidate
        assert changed == [chosen if each.stratum == "side=chosen" else 1 - chosen]
        assert each.expectation == parent.expectation
        assert "normal form" in each.evidence["proof"]
    assert len({(each.task, frozenset(each.candidates)) for each in found}) == len(found)


def test_an_edit_that_makes_both_answers_the_same_is_not_asked(tmp_path):
    """The two answers differ in blanks alone, and what is left after the edit may be the other answer."""
    rows = [{"prompt": str(n), "chosen": f"one two {n}", "rejected": f"one two  {n} and"} for n in range(4)]
    rows += [{"prompt": "lines", "chosen": "a\n\nb", "rejected": "a\nb"}]
    folder = write_study(tmp_path, rows=rows, profiles=["careful"], more="edits: [blank-lines-removed]\n")
    [report] = run(folder, trust=True)
    [edit] = report.record.data.edits
    assert (edit.made, edit.unchanged) == (0, 10)
    assert report.record.decision.verdict == "not-enough-data"


def test_without_edits_a_judge_is_used_with_that_said(tmp_path):
    folder = write_study(tmp_path, rows=labelled(200), profiles=["careful"], more="edits: []\n")
    [report] = run(folder, trust=True)
    assert report.record.decision.verdict == "use-with-restrictions"
    assert report.record.decision.sentences[1:] == ["Not measured: whether harmless edits change its verdicts."]


def test_too_few_pairs_say_how_many_more(tmp_path):
    folder = write_study(tmp_path, rows=labelled(12), profiles=["careful"])
    [report] = run(folder, trust=True)
    assert report.record.decision.verdict == "not-enough-data"
    assert "more pairs would decide it" in " ".join(report.record.decision.sentences)


def test_another_policy_is_held_to_the_same_record(sound, tmp_path):
    report = sound["careful"]
    (tmp_path / "strict.yaml").write_text("policy: strict\naccuracy: 0.999\n")
    protocol, record = PAIRS, report.record
    held = protocol.hold(record, str(tmp_path / "strict.yaml"))
    assert held.decision.verdict == "not-enough-data"
    assert protocol.policy_name(held) == "strict"
    assert protocol.hold(held, "pairs") == record == protocol.as_published(held, record)
    for wrong in ("nothing.yaml", {"accuracy": 2}, {"precision": 0.5}):
        with pytest.raises(UsageError, match="policy"):
            protocol.hold(record, wrong)


def test_the_page_and_the_card_are_made_of_the_record(sound, umpirical):
    folder = sound["slot-locked"].folder
    text = (folder / "pairs.html").read_text()
    for words in ("Do not use", "Accuracy with both orders", "Edits of one answer", "subset=hard", "Length gap"):
        assert words in text
    assert "<script" not in text
    assert "| pairs | Right in both orders |" in (folder / "pairs.md").read_text()
    before = {path: path.read_bytes() for path in folder.glob("pairs.*")}
    code, _, _ = umpirical("report", folder)
    assert code == 3
    assert {path: path.read_bytes() for path in before} == before
    record = PairsReport.model_validate_json((folder / "pairs.json").read_text())
    assert record == sound["slot-locked"].record
    assert umpirical("gate", folder)[0] == 3
    assert umpirical("gate", sound["careful"].folder)[0] == 0


def test_a_study_says_by_its_columns_or_its_judges_that_it_is_of_pairs(tmp_path):
    simulated = "model: {adapter: simulated, name: careful}"
    for dataset, judge, protocol in (
        ("{path: p.csv, columns: {chosen: a, rejected: b}}", f"{{name: j, {simulated}}}", "pairs"),
        ("{path: p.csv}", f"{{name: j, kind: compare, {simulated}}}", "pairs"),
    ):
        (tmp_path / "umpirical.yaml").write_text(f"study: s\ndataset: {dataset}\njudges:\n  - {judge}\n")
        assert read_study(tmp_path).protocol.name == protocol


@pytest.mark.parametrize(
    ("dataset", "judge", "words"),
    [
        ("{path: p.csv, columns: {chosen: a, rejected: b}}", "kind: grade", "needs a comparing judge"),
        ("{path: p.csv, columns: {response: a}, scale: {kind: binary, labels: [a, b]}}", "kind: compare", "chosen and"),
        ("{path: p.csv, columns: {chosen: a}, scale: 1}", "kind: compare", "scale"),
        ("{path: p.csv}\nedits: [paraphrase]", "kind: compare", "unknown edit"),
        ("{path: p.csv}\nedits: [typo]", "kind: compare", "did you mean 'typos'"),
        ("{path: p.csv}\nsides: [chosen, chosen]", "kind: compare", "twice"),
        ("{path: p.csv}\npolicy: {accuracy: 80}", "kind: compare", "less than 1"),
        ("{path: p.csv}\nstress: {}", "kind: compare", "stress"),
    ],
)
def test_studies_that_cannot_be(tmp_path, dataset, judge, words):
    scale = ", scale: {kind: binary, labels: [a, b]}" if "grade" in judge else ""
    entry = f"{{name: j, {judge}{scale}, model: {{adapter: simulated, name: careful}}}}"
    (tmp_path / "umpirical.yaml").write_text(f"study: s\ndataset: {dataset}\njudges:\n  - {entry}\n")
    with pytest.raises(ConfigError, match=words):
        read_study(tmp_path)


def test_a_prompt_that_names_a_column_is_refused_since_it_might_tell_the_answer(tmp_path):
    folder = write_study(tmp_path, profiles=["careful"])
    (folder / "prompt.md").write_text("{{task}} {{first}} {{second}} {{row.chosen}}")
    text = (folder / "umpirical.yaml").read_text().replace("careful}}", "careful}, prompts: {baseline: prompt.md}}")
    (folder / "umpirical.yaml").write_text(text)
    with pytest.raises(UsageError, match=r"the task and both answers"):
        read_study(folder)


def test_no_prompt_holds_the_label_or_anything_of_the_row_but_task_and_answers(tmp_path):
    rows = [{**row, "secret": "TELLTALE"} for row in labelled(8)]
    functions = (
        "import pathlib\n"
        "def noting(task, first, second):\n"
        "    with pathlib.Path(__file__).with_name('seen.txt').open('a') as file:\n"
        "        file.write(repr((task, first, second)) + '\\n')\n"
        "    return 'tie'\n"
    )
    folder = write_study(tmp_path, rows=rows, functions=functions, more="edits: []\n")
    run(folder, trust=True)
    seen = (folder / "seen.txt").read_text()
    assert len(seen.splitlines()) >= 16
    assert not any(word in seen for word in ("TELLTALE", "easy", "hard", "chosen", "rejected", "longer"))


@pytest.mark.parametrize("rows", [[], [{"prompt": "p", "chosen": "a", "rejected": "a"}], [*labelled(1)]])
def test_nothing_to_ask_about_is_said(tmp_path, rows):
    folder = write_study(tmp_path, rows=rows, profiles=["careful"])
    with pytest.raises((UsageError, ConfigError), match=r"no rows|too few"):
        run(folder, trust=True)


def test_one_order_only_and_judges_of_other_things_are_refused(tmp_path, umpirical):
    folder = write_study(tmp_path, profiles=["careful"])
    text = (folder / "umpirical.yaml").read_text()
    (folder / "umpirical.yaml").write_text(
        text.replace("careful}}", "careful}, capabilities: {order_controllable: false}}")
    )
    code, _, err = umpirical("run", folder, "--yes")
    assert code == 2
    assert "both orders" in err
    (folder / "umpirical.yaml").write_text(text.replace("name: careful}}", "name: sound-auditor}}"))
    code, _, err = umpirical("run", folder, "--yes")
    assert code == 2
    assert "labeled pairs" in err


def test_init_writes_a_study_that_runs(tmp_path, umpirical):
    write_rows(tmp_path / "bench.jsonl", labelled(220))
    code, out, _ = umpirical("init", tmp_path / "study", "--from", tmp_path / "bench.jsonl")
    assert code == 0
    assert "220 labeled pairs" in out
    study = read_study(tmp_path / "study", outside=True)
    assert study.protocol.name == "pairs"
    assert study.spec.dataset.sample.size == 200
    code, out, _ = umpirical("check", tmp_path / "study", "--outside")
    assert code == 0
    assert "200 labeled pairs of 200 prompts" in out


def test_answers_of_one_prompt_that_beat_each_other_in_turn_still_have_a_quality():
    from umpirical.domain.stimuli import Stimulus

    def over(better, worse):
        return Stimulus("t", "t", (better, worse), GivenWinner(0), "m", NATURAL)

    chain = qualities([over("b", "c"), over("a", "b"), over("a", "d")])
    assert chain["t", "a"] > chain["t", "b"] > chain["t", "c"]
    assert len(qualities([over("a", "b"), over("b", "c"), over("c", "a")])) == 3


def test_an_incomplete_run_decides_nothing(sound):
    record = sound["careful"].record
    missing = PairsReport(**{**dict(record), "complete": False})
    assert held_to(missing, record.policy).decision.verdict == "not-enough-data"


def test_a_record_is_read_again(sound):
    report = sound["careful"]
    assert umpirical.load(report.folder).record == report.record
    schema = json.loads(PAIRS.schema())
    assert schema["properties"]["format"]["const"] == "judge-pairs/2"


def test_the_front_door_measures_rows_with_columns_of_other_names(tmp_path):
    rows = [{"q": row["prompt"], "good": row["chosen"], "bad": row["rejected"]} for row in labelled(12)]
    good = {row["good"] for row in rows}
    report = umpirical.pairs(
        lambda task, first, second: "1" if first in good else "2",  # noqa: ARG005  # a judge is called with the task
        rows,
        chosen="good",
        rejected="bad",
        task="q",
        edits=[],
        policy={"accuracy": 0.6},
        folder=tmp_path,
        progress=False,
    )
    assert report.measure("both-orders-accuracy").result.value == 1
    assert report.record.policy.accuracy == 0.6
    assert report.record.run.trials == 24
    with pytest.raises(UsageError, match="edits"):
        umpirical.pairs("simulated:careful", rows, chosen="good", rejected="bad", edits=["nonsense"], folder=tmp_path)
