"""A study with answers of the user's own, end to end."""

import json
from importlib.resources import files

import pytest

from tests.protocols.datasheet.end_to_end.conftest import Silent
from umpirical.domain.errors import ConfigError, GateError, UsageError
from umpirical.domain.stimuli import TIER_2
from umpirical.protocols.datasheet.stimuli import write_stimulus_set
from umpirical.study.estimate import estimate_run, pricers_of
from umpirical.study.file import check_study, parse_study, read_study
from umpirical.study.prepare import prepare_run
from umpirical.study.run import complete_run

SECRET = "Ermintrude"  # noqa: S105  # a word that only the user's answers hold

SMALL = "tasks: [jam-batch, thunder-gap]\ndesign: {size: screen}\n"

TOWNS = {"Ayr": 1205, "Bath": 1590, "Cork": 1185, "Deal": 1699, "Eton": 1440, "Ford": 1312}


def write_answers(folder):
    entries = [
        {
            "id": town.lower(),
            "context": f"{town}, founded in {year}, has a tower of 45 metres. {SECRET} wrote on its market on Monday.",
            "task": f"When was {town} founded, and what is there to see?",
            "answer": f"{town} was founded in {year}. Its market is held on Monday. {SECRET} of {town} wrote two books."
            " Many people come to see the walls.\n\n- The tower is 45 metres high.\n- The bridge is older.",
            "facts": [
                f"{town} was founded in {year}.",
                "Its market is held on Monday.",
                "The tower is 45 metres high.",
                f"{SECRET} of {town} wrote two books",
            ],
        }
        for town, year in TOWNS.items()
    ]
    (folder / "answers.yaml").write_text(json.dumps({"answers": entries}), encoding="utf-8")


def study(folder, *, own="own_answers: answers.yaml\n", judge="name: j, model: {adapter: simulated, name: careful}"):
    write_answers(folder)
    return parse_study(f"study: s\n{own}{SMALL}judges:\n  - {{{judge}}}\n", folder)


def measured(own):
    run = prepare_run(own, own.spec.judges[0])
    return complete_run(run, 8, lambda *_: Silent())


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    """The same judge without carriers and with them."""
    return tuple(
        measured(study(tmp_path_factory.mktemp("s"), own=text)) for text in ("", "own_answers: answers.yaml\n")
    )


def test_a_careful_judge_sees_the_edits_and_keeps_to_ties_between_layouts(both):
    found = {(m.name, m.stratum): m.result for m in both[1].record.measures}
    assert found["carrier-sensitivity", "deleted"].value > 0.9
    assert found["carrier-sensitivity", "corrupted 3"].value > 0.9
    assert found["carrier-sensitivity", "deleted 1"].clusters == len(TOWNS)
    assert found["carrier-false-preference", ""].value < 0.4


def test_a_careful_judge_goes_with_the_context(both):
    found = {(m.name, m.stratum): m.result for m in both[1].record.measures}
    following, blind = found["carrier-following", ""], found["carrier-blind-preference", ""]
    assert following.value > 0.7
    assert blind.value < 0.1
    assert following.clusters == len(TOWNS)
    # Of each town its year, its market day and the height of its tower.
    assert following.denominator == 3 * len(TOWNS)


def test_nothing_of_tier_1_changes(both):
    alone, with_carriers = ({(m.name, m.stratum): m for m in finished.record.measures} for finished in both)
    assert {key: with_carriers[key] for key in alone} == alone
    assert {name for name, _ in with_carriers.keys() - alone.keys()} == {
        "carrier-sensitivity",
        "carrier-false-preference",
        "carrier-following",
        "carrier-blind-preference",
    }
    one, other = (finished.record for finished in both)
    assert (one.findings, one.checks, one.profile, one.grades) == (
        other.findings,
        other.checks,
        other.profile,
        other.grades,
    )


def test_the_audit_names_tier_2_apart(both):
    one, other = (finished.record.audit for finished in both)
    assert [row for row in other if row.family not in TIER_2] == one
    assert {row.stratum for row in other if row.family in TIER_2} == {
        *("", "deleted", "corrupted", "whitespace", "list", "bullets")
    }


def test_the_tiers_are_named(both):
    one, other = (finished.record.stimuli for finished in both)
    assert [tier[:2] for tier in one.tiers] == ["T1"]
    assert [tier[:2] for tier in other.tiers] == ["T1", "T2"]
    assert f"{len(TOWNS)} of your own answers" in other.tiers[1]
    assert "crossed with contexts" in other.tiers[1]
    assert {"carriers/1", "carrier-quads/1"} <= {*other.makers}
    assert "carriers-checked" in {gate.name for gate in other.gates}


def test_the_users_answers_are_in_no_document(tmp_path):
    finished = measured(study(tmp_path, judge="name: j, model: {adapter: simulated, name: slot-locked}"))
    assert finished.record.examples
    for path in (finished.documents.json, finished.documents.html, finished.documents.markdown):
        assert SECRET not in path.read_text(encoding="utf-8")


def test_a_judge_that_grades(tmp_path):
    scale = "scale: {kind: ordinal, labels: ['1', '2', '3', '4', '5']}"
    judge = f"name: g, kind: grade, model: {{adapter: simulated, name: steady-grader}}, {scale}"
    finished = measured(study(tmp_path, judge=judge))
    found = {(m.name, m.stratum) for m in finished.record.measures}
    assert {("carrier-sensitivity", "deleted"), ("carrier-false-preference", "")} <= found
    assert not [row for row in finished.record.grades if row.family in TIER_2]


def test_the_plan_says_how_precise_it_will_be(tmp_path):
    own = study(tmp_path)
    run = prepare_run(own, own.spec.judges[0])
    [pricer] = pricers_of([run], {})
    precision = estimate_run(run, pricer, concurrency=4).precision
    parts = {part.stratum: part for part in precision if part.measure == "carrier-sensitivity"}
    assert parts["deleted 1"].tasks == len(TOWNS)
    assert parts["deleted"].units > parts["deleted 1"].units


def test_another_fact_makes_another_set_and_no_carriers_the_old_one(tmp_path):
    with_carriers, without = study(tmp_path), study(tmp_path, own="")
    first = write_stimulus_set(with_carriers).folder
    assert write_stimulus_set(without).folder != first
    text = (tmp_path / "answers.yaml").read_text(encoding="utf-8")
    (tmp_path / "answers.yaml").write_text(text.replace("45 metres", "46 metres"), encoding="utf-8")
    assert write_stimulus_set(with_carriers).folder != first


def test_a_fact_that_is_not_in_its_answer_blocks_the_run(tmp_path):
    own = study(tmp_path)
    text = (tmp_path / "answers.yaml").read_text(encoding="utf-8")
    (tmp_path / "answers.yaml").write_text(text.replace("The tower is 45 metres high.", "It is high.", 1))
    with pytest.raises(GateError, match=r"answer ayr: the fact .* occurs 0 times"):
        prepare_run(own, own.spec.judges[0])
    assert not (tmp_path / "runs").exists()
    judges = "judges: [{name: j, model: {adapter: simulated, name: careful}}]\n"
    (tmp_path / "umpirical.yaml").write_text(f"study: s\nown_answers: answers.yaml\n{SMALL}{judges}")
    assert any("carriers-checked" in problem for problem in check_study(read_study(tmp_path), {}).problems)


def test_an_empty_file_blocks_too(tmp_path):
    own = study(tmp_path)
    (tmp_path / "answers.yaml").write_text("answers: []\n")
    with pytest.raises(GateError, match="the file has no answers"):
        prepare_run(own, own.spec.judges[0])


@pytest.mark.parametrize(
    ("name", "words"), [("none.yaml", "no file of your own answers"), ("../answers.yaml", "outside")]
)
def test_a_file_that_is_not_there_or_not_here(tmp_path, name, words):
    (tmp_path / "in").mkdir()
    write_answers(tmp_path)
    own = study(tmp_path / "in", own=f"own_answers: {name}\n")
    with pytest.raises(UsageError, match=words):
        prepare_run(own, own.spec.judges[0])


def test_a_wrong_entry_is_named_with_its_line(tmp_path):
    own = study(tmp_path)
    (tmp_path / "answers.yaml").write_text("answers:\n  - id: a\n    task: t\n    anser: x\n    facts: []\n")
    with pytest.raises(ConfigError, match=r"answers\.yaml:"):
        prepare_run(own, own.spec.judges[0])


def test_a_task_may_not_be_named_like_a_carrier(tmp_path):
    shipped = files("umpirical.stimuli.controlled") / "families" / "jam-batch.yaml"
    text = shipped.read_text(encoding="utf-8").replace("id: jam-batch", "id: 'carrier:jam'", 1)
    (tmp_path / "task.yaml").write_text(text, encoding="utf-8")
    own = parse_study(
        "study: s\ntasks: [task.yaml]\njudges:\n  - {name: j, model: {adapter: simulated, name: careful}}\n", tmp_path
    )
    with pytest.raises(UsageError, match="your own answers"):
        prepare_run(own, own.spec.judges[0])
