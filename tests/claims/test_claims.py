"""Claims: bounds from a datasheet, the joined statement, and what a reader finds out about one that was edited."""

import json
import re
import shutil
from dataclasses import replace

import pytest

import umpirical
from tests.claims.tables import planted_rows, write_table
from tests.protocols.pairs.pair_studies import labelled, write_study
from tests.stimuli.built import lend_stimuli
from umpirical.claims.documents import claim_text, read_claim, sha256, write_claim
from umpirical.claims.record import BoundsRecord, MatchRecord
from umpirical.claims.statement import verify_claim
from umpirical.domain.errors import StoreError, UsageError
from umpirical.domain.measures import Undefined
from umpirical.reports.record import record_json

SCRIPT = "</td><script>alert(1)</script>|[x](http://evil)\u202e"


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """The runs of a sound judge and of one that follows its position, on built-in test cases and on labelled pairs."""
    folder = tmp_path_factory.mktemp("measured")
    lend_stimuli(folder)
    runs = {
        name: umpirical.datasheet(f"simulated:{name}", size="screen", folder=folder, progress=False).folder
        for name in ("careful", "slot-locked")
    }
    pairs = write_study(folder / "pairs", rows=labelled(60), profiles=("careful", "slot-locked"), more="edits: []\n")
    return runs | {f"{report.judge} on pairs": report.folder for report in umpirical.run(pairs, trust=True)}


def make_claim(correction, measured, judge="careful", **changes):
    """A claim of a judge of ours, with its labelled pairs as evidence."""
    return umpirical.claim(
        correction, **{"datasheet": measured[judge], "evidence": measured[f"{judge} on pairs"], **changes}
    )


@pytest.fixture
def published(measured, tmp_path):
    """A claim with everything that it rests on beside it, as a reader finds it."""
    file = write_table(tmp_path / "verdicts.csv", planted_rows())
    claim = make_claim(umpirical.correct(file, estimate="win-rate"), measured)
    shutil.copy(measured["careful"] / "datasheet.json", tmp_path)
    shutil.copy(measured["careful on pairs"] / "pairs.json", tmp_path)
    return write_claim(claim, tmp_path, "verdicts")[0]


def unlabelled(path, **options):
    return write_table(path, ({key: row[key] for key in ("item", "verdict")} for row in planted_rows(**options)))


# Bounds.


def test_the_datasheet_of_a_sound_judge_bounds_the_win_rate(measured, tmp_path):
    file = unlabelled(tmp_path / "v.csv", right=1.0)
    correction = umpirical.correct(file, estimate="win-rate", record=measured["careful"])
    bounds = correction.systems[0].corrected
    assert isinstance(bounds, BoundsRecord)
    assert bounds.learned
    assert 0.25 < bounds.low < 0.5 < bounds.high < 0.75
    assert any("This was not tested" in sentence for sentence in correction.assumptions)
    assert [rate.name for rate in correction.systems[0].error_rates] == [
        "target-sensitivity at 1",
        "wrong-choice-rate at 1",
        "raw-false-preference",
    ]


def test_from_a_judge_that_follows_its_slot_nothing_is_learned(measured, tmp_path):
    rows = ({"verdict": "win" if number % 2 else "loss"} for number in range(600))
    file = write_table(tmp_path / "v.csv", rows)
    correction = umpirical.correct(file, estimate="win-rate", record=measured["slot-locked"])
    bounds = correction.systems[0].corrected
    assert isinstance(bounds, BoundsRecord)
    assert not bounds.learned
    with pytest.raises(UsageError, match="does not show that the judge agrees with the labels beyond chance"):
        make_claim(correction, measured, "slot-locked")


def test_missing_verdicts_widen_bounds_by_all_that_they_could_be(measured, tmp_path):
    rows = [row | {"label": ""} for row in planted_rows(right=1.0)]
    some = [row | ({"verdict": ""} if number % 5 == 0 else {}) for number, row in enumerate(rows)]
    whole, part = (
        umpirical.correct(
            write_table(tmp_path / f"{name}.csv", each), estimate="win-rate", record=measured["careful"]
        ).systems[0].corrected
        for name, each in (("whole", rows), ("part", some))
    )  # fmt: skip
    assert part.high - part.low > whole.high - whole.low + 0.1


def test_a_judge_measured_on_a_hundred_thousand_pairs_without_an_error_is_nearly_believed(measured, tmp_path):
    file = tmp_path / "datasheet.json"
    text = json.loads((measured["careful"] / "datasheet.json").read_text())
    for measure in text["measures"]:
        if (measure["name"], measure["stratum"]) == ("raw-false-preference", ""):
            measure["result"] |= {"value": 0.0, "numerator": 0.0, "denominator": 100_000, "design_effect": None}
        if (measure["name"], measure["stratum"]) == ("target-sensitivity", "1"):
            measure["result"] |= {"value": 1.0, "numerator": 100_000.0, "denominator": 100_000, "design_effect": None}
    file.write_text(json.dumps(text))
    rows = ({"verdict": "win"} for _ in range(600))
    found = umpirical.correct(write_table(tmp_path / "v.csv", rows), estimate="win-rate", record=file)
    assert found.systems[0].corrected.low > 0.95


@pytest.mark.parametrize(
    ("estimate", "words"), [("pass-rate", "does not contain both error rates"), ("mean-score", "no labels")]
)
def test_a_datasheet_says_nothing_about_passing_or_scores(measured, tmp_path, estimate, words):
    file = write_table(tmp_path / "v.csv", ({"verdict": "1"} for _ in range(30)))
    scale = "1..5" if estimate == "mean-score" else ""
    with pytest.raises(UsageError, match=words):
        umpirical.correct(file, estimate=estimate, record=measured["careful"], scale=scale)


def test_a_step_that_was_not_asked_is_named(measured, tmp_path):
    file = write_table(tmp_path / "v.csv", ({"verdict": "1"} for _ in range(30)))
    with pytest.raises(UsageError, match=r"no target-sensitivity at 0\.75; it is available at"):
        umpirical.correct(file, estimate="win-rate", record=measured["careful"], step=0.75)


# The statement.


def test_a_claim_names_estimate_judge_decision_and_digests(measured, published):
    claim = read_claim(published)
    assert claim.sentences[0].startswith("win rate by the judge 5")
    assert "PPI++, 300 labels" in claim.sentences[0]
    assert claim.sentences[1].startswith("Judge careful (simulated: careful): ")
    assert re.search(r"blank-input preference \d% \[", claim.sentences[1])
    assert claim.judge.policy_digest in published.with_suffix(".md").read_text()
    assert claim.datasheet.sha256 == sha256((measured["careful"] / "datasheet.json").read_text())
    # The same digest is on the datasheet's own card.
    assert claim.datasheet.sha256 in (measured["careful"] / "datasheet.md").read_text()
    assert claim.datasheet.sha256 in published.with_suffix(".md").read_text()


def test_whether_a_record_follows_from_its_responses_is_found_out_and_never_read(measured, published, tmp_path):
    """A claim says nothing about it: whoever verifies it is told what could be checked here and now."""
    (check,) = (check for check in verify_claim(published) if check.part == "datasheet.json")
    assert "NOT CHECKED against its responses" in check.found
    text = published.read_text().replace('"judge":', '"held_to_responses": true, "judge":', 1)
    published.write_text(text)
    assert "is incomplete or damaged: held_to_responses" in str(damage(published))
    run = shutil.copytree(measured["careful"].parents[1], tmp_path / "study") / "runs" / measured["careful"].name
    claim = make_claim(umpirical.correct(tmp_path / "verdicts.csv", estimate="win-rate"), measured, datasheet=run)
    beside, _ = write_claim(claim, run, "verdicts")
    (check,) = (check for check in verify_claim(beside) if check.part == "datasheet.json")
    assert "follows from its responses" in check.found


def test_bounds_are_not_joined_with_another_record_than_theirs(measured, tmp_path):
    correction = umpirical.correct(
        unlabelled(tmp_path / "v.csv", right=1.0), estimate="win-rate", record=measured["careful"]
    )
    with pytest.raises(UsageError, match="made with another record"):
        make_claim(correction, measured, datasheet=measured["slot-locked"])


def test_a_claim_without_an_estimate_says_that_there_is_none(measured, tmp_path):
    file = write_table(tmp_path / "verdicts.csv", planted_rows(labelled=5))
    correction = umpirical.correct(file, estimate="win-rate")
    assert isinstance(correction.systems[0].corrected, Undefined)
    claim = make_claim(correction, measured)
    assert "no corrected estimate: 5 labels" in claim.sentences[0]


# Evidence on natural text.


@pytest.fixture
def correction(tmp_path):
    return umpirical.correct(write_table(tmp_path / "v.csv", planted_rows()), estimate="win-rate")


def test_a_claim_names_its_evidence_on_natural_text(published):
    claim = read_claim(published)
    assert claim.sentences[2].startswith("On natural text with labels (pairs): ")
    assert "agreement" in claim.sentences[2]
    assert claim.evidence_file.name == "pairs.json"
    assert (
        f"pairs.json, run {claim.evidence.run}, on natural text | `{claim.evidence_file.sha256}`"
        in published.with_suffix(".md").read_text()
    )


def test_a_claim_without_evidence_is_refused_with_what_to_do(correction, measured):
    for given in (None, measured["careful"]):
        with pytest.raises(UsageError, match="no labels on natural text, which a claim needs") as caught:
            make_claim(correction, measured, evidence=given)
        assert "umpirical init FOLDER --from DATA" in caught.value.fix


def test_a_judge_that_is_measured_on_labels_is_its_own_evidence(correction, measured):
    claim = make_claim(correction, measured, datasheet=measured["careful on pairs"], evidence=None)
    assert claim.evidence_file == claim.datasheet


def test_evidence_about_another_judge_is_refused(correction, measured):
    with pytest.raises(UsageError, match=r"pairs.json describes a different judge"):
        make_claim(correction, measured, datasheet=measured["slot-locked"])


def test_labelled_responses_are_evidence_and_a_constant_grade_is_none(correction, tmp_path):
    rows = [
        {"essay": f"word {'and more ' * (number % 7)} {number}", "score": str(1 + number % 3)} for number in range(60)
    ]
    right = {row["essay"]: row["score"] for row in rows}
    graders = {"right": lambda _, response: right[response], "constant": lambda _, response: "2"}  # noqa: ARG005
    settings = {"response": "essay", "label": "score", "tests": ["stability"], "progress": False}
    runs = {
        name: umpirical.stress(judge, rows, folder=tmp_path / name, name=name, **settings).folder
        for name, judge in graders.items()
    }
    claim = umpirical.claim(correction, datasheet=runs["right"])
    assert "weighted kappa" in claim.sentences[2].lower()
    with pytest.raises(UsageError, match="beyond chance"):
        umpirical.claim(correction, datasheet=runs["constant"])


def forged_evidence(claim, **changes):
    from umpirical.claims.statement import statement

    evidence = claim.evidence.model_copy(update=changes)
    sentences = statement(claim.correction, claim.judge, evidence)
    return claim.model_copy(update={"evidence": evidence, "sentences": sentences})


def publish(path, claim):
    path.write_text(record_json(claim))
    path.with_suffix(".md").write_text(claim_text(claim))


def test_forged_evidence_is_found(published):
    claim = read_claim(published)
    # Taken out: nothing is left that shows agreement with labels.
    publish(published, forged_evidence(claim, measures=[]))
    assert "no labels on natural text" in damage(published)[published.name]
    # Made better than its record says.
    better = [one.model_copy(update={"result": replace(one.result, value=0.99)}) for one in claim.evidence.measures]
    publish(published, forged_evidence(claim, measures=better))
    assert set(damage(published)) == {"pairs.json"}
    # The datasheet is passed off as evidence.
    swapped = claim.model_copy(update={"evidence_file": claim.datasheet})
    publish(published, swapped)
    assert "datasheet.json" in damage(published)
    # The labelled pairs of another judge, digest and all.
    file = published.with_name("pairs.json")
    record = json.loads(file.read_text())
    record["judge"] |= {"fingerprint": "0" * 32, "decoding": {"temperature": 1.0}}
    file.write_text(json.dumps(record, indent=1) + "\n")
    other = forged_evidence(claim, fingerprint="0" * 32)
    match = MatchRecord(name=file.name, sha256=sha256(file.read_text()))
    publish(published, other.model_copy(update={"evidence_file": match}))
    assert damage(published) == {"pairs.json": "pairs.json describes a different judge"}


# A record that was edited.


def edit(path, name, **figures):
    text = json.loads(path.read_text())
    for measure in text["measures"]:
        if (measure["name"], measure["stratum"]) == (name, ""):
            measure["result"] |= figures
    path.write_text(json.dumps(text, indent=1) + "\n")


def test_a_record_that_does_not_follow_from_its_responses_is_refused(measured, tmp_path):
    study = shutil.copytree(measured["slot-locked"].parents[1], tmp_path / "study")
    run = study / "runs" / measured["slot-locked"].name
    (run / "datasheet.md").unlink()
    edit(run / "datasheet.json", "dark-current", value=0.0, numerator=0.0, interval=None)
    correction = umpirical.correct(write_table(tmp_path / "v.csv", planted_rows()), estimate="win-rate")
    with pytest.raises(StoreError, match="does not match its responses"):
        umpirical.claim(correction, datasheet=run)


def test_a_record_by_itself_that_contradicts_itself_is_refused(measured, tmp_path):
    record = tmp_path / "datasheet.json"
    shutil.copy(measured["slot-locked"] / "datasheet.json", record)
    edit(record, "dark-current", value=0.0)
    correction = umpirical.correct(write_table(tmp_path / "v.csv", planted_rows()), estimate="win-rate")
    with pytest.raises(StoreError, match="contradicts itself on dark-current"):
        umpirical.claim(correction, datasheet=record)


def test_a_record_other_than_its_card_is_refused(measured, tmp_path):
    for name in ("datasheet.json", "datasheet.md"):
        shutil.copy(measured["slot-locked"] / name, tmp_path)
    edit(tmp_path / "datasheet.json", "dark-current", value=0.0, numerator=0.0, interval=None)
    correction = umpirical.correct(write_table(tmp_path / "v.csv", planted_rows()), estimate="win-rate")
    with pytest.raises(StoreError, match=r"is not the record that datasheet.md was written from"):
        umpirical.claim(correction, datasheet=tmp_path / "datasheet.json")


# What a reader finds out.


def damage(path):
    return {check.part: check.found for check in verify_claim(path) if not check.holds}


def test_a_claim_as_published_holds(published, umpirical_command):
    assert damage(published) == {}
    assert len(list(verify_claim(published))) == 5
    code, out, _ = umpirical_command("verify", published)
    assert code == 0
    assert out.count("ok ") == 5


@pytest.fixture
def umpirical_command(umpirical):
    return umpirical


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("corrected 5", "corrected 9", "sentences do not match"),
        ('"tuning": 0.', '"tuning": 0.1', "digest of its corrected estimate"),
        ("blank-input preference ", "blank-input preference 5", "sentences do not match"),
        ("The file does not name its judge.", "Signed.", "list of assumptions is incomplete"),
        ('"format": "judge-claim/2",', '"format": "judge-claim/2", "more": 1,', "is incomplete or damaged"),
    ],
)
def test_an_edited_claim_is_found(published, old, new, words):
    text = published.read_text()
    assert old in text
    published.write_text(text.replace(old, new, 1))
    assert any(words in found for found in damage(published).values())


def test_a_claim_made_up_whole_is_found_from_the_data(published):
    """Its figures, its digest of them, and its sentences agree with each other, but not with the data."""
    claim = read_claim(published)
    (system,) = claim.correction.systems
    better = replace(system.corrected, value=0.9)
    correction = claim.correction.model_copy(update={"systems": [system.model_copy(update={"corrected": better})]})
    from umpirical.claims.statement import statement
    from umpirical.reports.record import record_json

    made_up = claim.model_copy(
        update={
            "correction": correction,
            "correction_sha256": sha256(record_json(correction)),
            "sentences": statement(correction, claim.judge, claim.evidence),
        }
    )
    published.write_text(record_json(made_up))
    published.with_suffix(".md").write_text(claim_text(made_up))
    assert damage(published) == {"verdicts.csv": "the corrected estimate does not follow from this file"}


def test_other_data_and_another_datasheet_are_found(published, measured):
    with published.with_name("verdicts.csv").open("a") as handle:
        handle.write("another,win,win\n")
    shutil.copy(measured["slot-locked"] / "datasheet.json", published.parent)
    found = damage(published)
    assert "digest is different" in found["verdicts.csv"]
    assert "digest is different" in found["datasheet.json"]


def test_files_that_are_not_there_are_said_to_be_unchecked(published, umpirical_command):
    published.with_name("verdicts.csv").unlink()
    published.with_name("datasheet.json").unlink()
    code, out, _ = umpirical_command("verify", published)
    assert code == 0
    assert out.count("not checked") == 2


def test_a_claim_does_not_lead_out_of_its_folder(published):
    text = published.read_text().replace('"name": "verdicts.csv"', '"name": "../../etc/passwd"', 1)
    published.write_text(text)
    assert not any("passwd" in part for part in damage(published))


def test_bounds_are_computed_again_from_the_record_beside_them(measured, tmp_path):
    file = unlabelled(tmp_path / "v.csv", right=1.0)
    correction = umpirical.correct(file, estimate="win-rate", record=measured["careful"])
    path, _ = write_claim(make_claim(correction, measured), tmp_path, "v")
    shutil.copy(measured["careful"] / "datasheet.json", tmp_path)
    assert damage(path) == {}
    edit(tmp_path / "datasheet.json", "raw-false-preference", value=0.5, numerator=6.0, denominator=12)
    assert set(damage(path)) == {"v.csv", "datasheet.json"}


# Hostile names, and the commands.


def test_hostile_names_are_inert_everywhere(measured, tmp_path, umpirical_command):
    rows = list(planted_rows(system=SCRIPT))
    write_table(tmp_path / "v.csv", rows)
    code, out, err = umpirical_command("correct", tmp_path / "v.csv", "--estimate", "win-rate")
    assert code == 0
    assert "\u202e" not in out + err
    judge = ("--datasheet", measured["careful"], "--evidence", measured["careful on pairs"])
    code, _, _ = umpirical_command("claim", tmp_path / "v.corrected.json", *judge)
    assert code == 0
    for name in ("v.corrected.md", "v.claim.md"):
        text = (tmp_path / name).read_text()
        assert "<script" not in text
        assert "\u202e" not in text
        assert "http:" not in text
        row = next(line for line in text.splitlines() if line.startswith("| &lt;"))
        assert row.replace("\\|", "").count("|") == 7
    assert damage(tmp_path / "v.claim.json") == {}


def test_the_commands_print_json_and_exit_with_4_where_there_is_no_estimate(tmp_path, umpirical_command):
    write_table(tmp_path / "v.csv", planted_rows(labelled=5))
    code, out, _ = umpirical_command("correct", tmp_path / "v.csv", "--estimate", "win-rate", "--json")
    assert code == 4
    assert json.loads(out)["systems"][0]["corrected"]["kind"] == "undefined"
    code, out, err = umpirical_command("correct", tmp_path / "v.csv")
    assert code == 2
    assert "--estimate" in err


def test_what_is_no_corrected_estimate_is_not_claimed(measured, tmp_path, umpirical_command):
    (tmp_path / "x.json").write_text("{}")
    code, _, err = umpirical_command("claim", tmp_path / "x.json", "--datasheet", measured["careful"])
    assert code == 2
    assert "as written by `umpirical correct`" in err
