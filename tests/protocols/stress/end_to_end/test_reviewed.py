"""A study that was generated, reviewed by people, run and reported: what they decided is what judges are asked."""

import json
import shutil
from types import SimpleNamespace

import pytest

from tests.protocols.review.written import terms_of, writing_of
from tests.protocols.stress.end_to_end.loopback import answer
from tests.protocols.stress.end_to_end.studies import DECIDED, persuade_study
from tests.servers.chat_server import ChatServer
from umpirical.domain.stimuli import GivenLabel
from umpirical.protocols.review import ItemFeed, open_review
from umpirical.protocols.stress.record import StressReport
from umpirical.review.records import ReviewChoice
from umpirical.store.stimulus_sets import StimulusSet

ESSAYS = 8
LEVELS = 6 * 3


@pytest.fixture(scope="module")
def generated(persuade, tmp_path_factory):
    """A study whose texts are written, and the server that wrote them."""
    from click.testing import CliRunner

    from umpirical.cli import cli

    with ChatServer(answer) as server:
        tests = ("vertical-spacing", "paraphrase", "synthetic-ordinal")
        folder = persuade_study(
            tmp_path_factory.mktemp("generated"),
            persuade,
            server.base_url,
            size=ESSAYS,
            tests=tests,
            judges=["word-counter"],
        )
        result = CliRunner().invoke(cli, ["generate", str(folder), "--outside", "--trust"], standalone_mode=False)
        assert result.exception is None, result.output
        yield folder, server


@pytest.fixture
def study(generated, tmp_path):
    """A copy of it, to be reviewed in another way by every test."""
    folder = tmp_path / "study"
    shutil.copytree(generated[0], folder)
    return folder


@pytest.fixture
def asked(generated):
    """What the judge was asked since the test began."""
    server = generated[1]
    before = len(server.bodies)

    def texts() -> list[str]:
        bodies = server.bodies[before:]
        return [body["messages"][-1]["content"] for body in bodies if body["model"] == "word-counter"]

    return texts


def configure(folder, **review):
    file = folder / "umpirical.yaml"
    file.write_text(f"{file.read_text()}\nreview: {json.dumps(review)}\n")


def reviewed(folder, said, people=("ana",), adjudicate=None):
    """Lets people go through everything at the desk; `said` is their choice by item, or None for a skip."""
    opened = open_review(terms_of(folder, outside=True), begin=True)
    try:
        ItemFeed(writing_of(folder, outside=True)).into(opened.desk)
        items = {item.id: item for item in opened.desk.items()}
        for person in people:
            while shown := opened.desk.next(person):
                # A blind reviewer is not shown what it was written for; those who made up this test know.
                assert not shown.item.target
                choice = said(person, items[shown.item.id])
                opened.desk.decide(person, shown.item.id, choice or ReviewChoice("skip"))
        while adjudicate and (shown := opened.desk.disputed("cleo")):
            opened.desk.adjudicate("cleo", shown.item.id, adjudicate(shown.item))
    finally:
        opened.close()
    return items


def run(folder, umpirical):
    code, out, err = umpirical("run", folder, "--outside", "--json")
    assert code in DECIDED, err
    [entry] = json.loads(out)
    record = folder / "runs" / entry["run"]
    manifest = json.loads((record / "run.json").read_text())
    stimuli = StimulusSet(folder / "stimuli" / manifest["stimuli_folder"])
    report = StressReport.model_validate_json((record / "stress.json").read_text())
    return SimpleNamespace(
        said=err,
        id=manifest["id"],
        stimuli={stimulus.candidates[0]: stimulus for stimulus in stimuli if stimulus.parent},
        set=stimuli,
        report=report,
        made={test.name: test.made for test in report.tests},
        markdown=(record / "stress.md").read_text(),
        page=(folder / "report" / "index.html").read_text(),
    )


def of(items, test):
    return [item for item in items.values() if item.test == test]


def other_words(text):
    """A paraphrase that still passes every check on one."""
    return text.replace(" the ", " this ", 2)


def one_of_each(items_seen):
    """Of the paraphrases the first is rejected, the second edited, the third spoilt, the fourth accepted; of the new
    texts the first gets another label, the second the label it was written for. The rest is skipped."""
    counts = {"paraphrase": 0, "synthetic-ordinal": 0}

    def say(_person, item):
        place = counts[item.test]
        counts[item.test] += 1
        choice = {
            ("paraphrase", 0): ReviewChoice("reject", reason="meaning"),
            ("paraphrase", 1): ReviewChoice("edit", text=other_words(item.after)),
            ("paraphrase", 2): ReviewChoice("edit", text="Too short by far."),
            ("paraphrase", 3): ReviewChoice("accept"),
            ("synthetic-ordinal", 0): ReviewChoice("accept", label="6" if item.target != "6" else "1"),
            ("synthetic-ordinal", 1): ReviewChoice("accept", label=item.target),
        }.get((item.test, place))
        items_seen[item.test, place] = (item, choice)
        return choice

    return say


def test_what_people_decided_is_what_the_judge_is_asked(study, asked, umpirical):
    seen = {}
    items = reviewed(study, one_of_each(seen))
    done = run(study, umpirical)
    texts = asked()

    def is_asked(text):
        return any(text in prompt for prompt in texts)

    rejected, edited, spoilt, accepted = (seen["paraphrase", place] for place in range(4))
    assert not is_asked(rejected[0].after)
    assert rejected[0].after not in done.stimuli
    assert not is_asked(edited[0].after)
    assert is_asked(edited[1].text)
    assert is_asked(accepted[0].after)
    evidence = done.stimuli[edited[1].text].evidence
    assert evidence["review"] == "edited by a person (revision 1), kept by 1 person"
    assert evidence["validators"].startswith("asked about the text before a person edited it: ")
    assert not [kind for kind, found in evidence.items() if "NOT PASSED" in found]
    assert done.stimuli[accepted[0].after].evidence["review"] == "kept by 1 person"
    # What a program finds wrong with a person's text is said, and the text is asked about all the same.
    assert is_asked(spoilt[1].text)
    found = done.stimuli[spoilt[1].text].evidence
    assert found["check length ratio"].startswith("NOT PASSED: 0.0")
    # Whoever nobody decided on counts, by the default policy, and has nobody's word for it.
    left = [item for (test, place), (item, choice) in seen.items() if choice is None]
    assert len(left) == len(items) - 6
    assert all(is_asked(item.after) and "review" not in done.stimuli[item.after].evidence for item in left)


def test_a_label_that_people_gave_is_the_gold(study, umpirical):
    seen = {}
    reviewed(study, one_of_each(seen))
    done = run(study, umpirical)
    (relabelled, choice), (confirmed, _) = seen["synthetic-ordinal", 0], seen["synthetic-ordinal", 1]
    stimulus = done.stimuli[relabelled.after]
    assert (stimulus.gold, stimulus.gold_from) == (choice.label, "review")
    assert stimulus.expectation == GivenLabel(choice.label)
    assert stimulus.evidence["review"] == f"kept by 1 person; label {choice.label} instead of {relabelled.target}"
    kept = done.stimuli[confirmed.after]
    assert (kept.gold, kept.gold_from, kept.expectation) == (
        confirmed.target,
        "construction",
        GivenLabel(confirmed.target),
    )
    # The judge gives every text the grade it was written for, so one gold more that is another is one error more.
    [accuracy] = [
        m.result for m in done.report.measures if (m.name, m.stratum, m.group) == ("accuracy", "synthetic-ordinal", "")
    ]
    assert (accuracy.numerator, accuracy.denominator) == (LEVELS - 1, LEVELS)


def test_the_report_counts_what_people_did(study, umpirical):
    items = reviewed(study, one_of_each({}))
    done = run(study, umpirical)
    written = len(of(items, "paraphrase"))
    made = done.made["paraphrase"]
    assert (made.accepted, made.reviewed, made.rejected_by_review) == (written, 4, 1)
    assert (made.edited, made.relabelled, made.undecided, made.excluded) == (2, 0, written - 4, 0)
    made = done.made["synthetic-ordinal"]
    assert (made.reviewed, made.relabelled, made.undecided) == (2, 1, LEVELS - 2)
    assert made.gold_from == {"construction": LEVELS - 1, "review": 1}
    # Nobody was bothered with what a program has proved.
    assert done.made["vertical-spacing"].reviewed == done.made["vertical-spacing"].undecided == 0
    review = done.report.review
    assert (review.generated, review.reviewed, review.people, review.decisions) == (len(items), 6, 1, 6)
    assert (review.rejected, review.edited, review.relabelled, review.undecided) == (1, 2, 1, len(items) - 6)
    assert review.agreement.reason == review.alpha.reason == "no item was decided by two people"
    rates = {row.test: row.rejection for row in review.tests}
    assert (rates["paraphrase"].numerator, rates["paraphrase"].denominator) == (1, 4)
    assert rates["paraphrase"].interval.low < 0.25 < rates["paraphrase"].interval.high
    [generator] = review.generators
    assert (generator.generator, generator.rejection.numerator, generator.rejection.denominator) == ("writer", 1, 6)
    line = f"6 of {len(items)} generated texts were reviewed, by 1 person: 1 rejected, 2 edited, 1 relabeled; "
    line += f"{len(items) - 6} undecided, included"
    assert f"review: {line}\n" in done.said
    assert f"- Review: {line}." in done.markdown
    assert "Agreement between reviewers: undefined, no item was decided by two people." in done.markdown
    assert "Human review of generated texts" in done.page
    assert "Reviewers: 1 rejected, 2 edited," in done.page
    assert "undefined: no item was decided by two people" in done.page


def test_check_and_plan_say_it_in_a_line(study, umpirical):
    items = reviewed(study, one_of_each({}))
    line = f"review: 6 of {len(items)} generated texts were reviewed, by 1 person"
    code, out, _ = umpirical("check", study, "--outside")
    assert code == 0
    [said] = [each for each in out.splitlines() if each.startswith("review: ")]
    assert said.startswith(line)
    # Originals, proved texts and paraphrases twice, new texts once; one paraphrase was rejected.
    paraphrases = sum(item.test == "paraphrase" for item in items.values())
    calls = 2 * ESSAYS + 2 * ESSAYS + 2 * (paraphrases - 1) + len(items) - paraphrases
    assert f"judge word-counter: {calls:,} calls" in out
    code, out, err = umpirical("plan", study, "--outside")
    assert code == 0
    assert line in err
    assert f"Plan: {calls:,} calls" in out


def test_by_policy_only_what_people_kept_counts(study, asked, umpirical):
    configure(study, undecided="exclude")
    seen = {}
    items = reviewed(study, one_of_each(seen))
    done = run(study, umpirical)
    assert len([s for s in done.stimuli.values() if s.family == "paraphrase"]) == 3
    assert len([s for s in done.stimuli.values() if s.family == "synthetic-ordinal"]) == 2
    made = done.made["paraphrase"]
    assert made.excluded == made.undecided == len(of(items, "paraphrase")) - 4
    left = [item for item, choice in seen.values() if choice is None]
    assert left
    assert not any(item.after in prompt for item in left for prompt in asked())
    assert f"{len(left)} undecided, excluded" in done.said
    assert done.report.review.excluded == len(left)


def test_by_policy_nothing_counts_that_nobody_was_asked_about(study, umpirical):
    configure(study, undecided="exclude")
    done = run(study, umpirical)
    assert {stimulus.family for stimulus in done.stimuli.values()} == {"original", "vertical-spacing"}
    assert done.report.review is None
    assert "review: not started, so" in done.said
    cell = next(cell for cell in done.report.verdicts if cell.test == "paraphrase")
    assert cell.verdict == "N/A"
    assert "excluded until reviewers decide" in cell.why
    code, out, _ = umpirical("check", study, "--outside")
    assert code == 0
    assert "generated texts are excluded" in out


def test_two_people_agree_and_an_adjudicator_settles_the_rest(study, umpirical):
    configure(study, overlap=2, undecided="exclude", mode="blind")

    met = []

    def say(person, item):
        if item.labels:
            return ReviewChoice("accept", label=item.target)
        # Both reject the first text they meet, and one of them the second.
        met.extend([] if item.id in met else [item.id])
        place = met.index(item.id)
        reject = place == 0 or (place == 1 and person == "Ben")
        return ReviewChoice("reject", reason="unnatural") if reject else ReviewChoice("accept")

    items = reviewed(study, say, people=("ana", "Ben"))
    both, disputed = items[met[0]], items[met[1]]
    before = run(study, umpirical)
    review = before.report.review
    assert (review.people, review.decisions, review.overlap) == (2, 2 * len(items), 2)
    assert (review.rejected, review.undecided, review.excluded) == (1, 1, 1)
    assert both.after not in before.stimuli
    assert disputed.after not in before.stimuli
    assert (review.agreement.numerator, review.agreement.denominator) == (len(items) - 1, len(items))
    assert review.agreement.interval.low < review.agreement.value <= review.agreement.interval.high
    assert 0 < review.alpha.value < 1
    assert review.alpha.interval.low < review.alpha.value <= review.alpha.interval.high
    assert review.modes == {"blind": 2 * len(items)}
    assert review.label_alpha.value == 1
    assert f"{review.alpha.value:.2f}" in before.page
    assert f"alpha {review.alpha.value:.2f} " in before.markdown
    reviewed(study, say, people=(), adjudicate=lambda _: ReviewChoice("accept"))
    after = run(study, umpirical)
    review = after.report.review
    assert (review.undecided, review.adjudicated, review.people) == (0, 1, 3)
    assert len(after.stimuli) == len(before.stimuli) + 1
    assert after.stimuli[disputed.after].evidence["review"] == "decided by an adjudicator, after 2 had decided"


def test_a_test_whose_every_text_was_rejected_says_so(study, umpirical):
    def say(_, item):
        return ReviewChoice("reject", reason="meaning") if item.test == "paraphrase" else None

    items = reviewed(study, say)
    done = run(study, umpirical)
    count = len(of(items, "paraphrase"))
    cell = next(cell for cell in done.report.verdicts if cell.test == "paraphrase")
    assert cell.verdict == "N/A"
    assert cell.why == f"0 of {count} generated texts remain: {count} rejected by reviewers"


def test_a_review_that_was_never_opened_changes_nothing(study, umpirical):
    before = run(study, umpirical)
    assert "review" not in before.set.manifest
    assert not any("reviewed" in made for made in before.set.manifest["made"].values())
    assert "review:" not in before.said
    assert "Human review" not in before.page
    assert not (study / "review").exists()
    # Opened, with nothing decided: the same texts under the same ids, so the same run.
    reviewed(study, lambda *_: None)
    after = run(study, umpirical)
    assert after.id == before.id
    assert after.set.digest == before.set.digest
    assert after.report.review.reviewed == 0
    assert "0 of" in after.said


def test_nothing_is_asked_again_that_people_only_accepted(study, asked, umpirical):
    run(study, umpirical)
    before = len(asked())
    reviewed(study, lambda _, item: ReviewChoice("accept", label=item.target if item.labels else ""))
    done = run(study, umpirical)
    assert len(asked()) == before
    assert all("review" in s.evidence for s in done.stimuli.values() if s.family in ("paraphrase", "synthetic-ordinal"))
    assert done.report.review.undecided == 0


def test_a_review_that_is_kept_elsewhere_is_not_overlooked(study, tmp_path, umpirical, monkeypatch):
    url = f"sqlite:///{tmp_path}/team.sqlite"
    monkeypatch.setenv("UMPIRICAL_DATABASE", url)
    reviewed(study, one_of_each({}))
    assert run(study, umpirical).report.review.reviewed == 6
    monkeypatch.delenv("UMPIRICAL_DATABASE")
    code, _, err = umpirical("run", study, "--outside")
    assert code == 2
    assert "the review of this study is kept at sqlite:///" in err
    assert "UMPIRICAL_DATABASE" in err
    code, out, _ = umpirical("check", study, "--outside")
    assert code == 2
    assert "problem: the review of this study is kept at" in out
