"""Decisions made with Argilla and with Label Studio."""

import json

import pytest

from tests.review.exchange.reviews import LABELS
from tests.review.items import an_item
from umpirical.domain.errors import UsageError
from umpirical.review.exchange.transfer import export_review, import_review
from umpirical.review.records import ReviewChoice

FORMS = ("argilla", "label-studio")


def exported(desk, form):
    return export_review(desk, form).text


def taken(desk, text, path, form, **options):
    path.write_text(text if isinstance(text, str) else json.dumps(text))
    return import_review(desk, path, form, **options)


def state(desk):
    return export_review(desk, "umpirical").text, desk.version()


def said(desk):
    """What each person says now, apart from numbers and times."""
    texts = {(revision.item, revision.number): revision.text for revision in desk.revisions()}
    return {
        (d.item, d.reviewer): (d.kind, d.label, d.reason, d.comment, texts[d.item, d.revision] if d.revision else "")
        for d in desk.decisions()
        if not d.undone and not d.adjudicates
    }


@pytest.mark.parametrize("form", FORMS)
def test_what_people_say_goes_there_and_comes_back(form, full, another, tmp_path):
    desk = another()
    desk.add(full.items())
    text = exported(full, form)
    result = taken(desk, text, tmp_path / "file", form)
    # These formats cannot hold an undone decision or an adjudication.
    assert (result.new, result.known) == (10, 0)
    assert said(desk) == said(full)
    assert exported(desk, form) == text
    before = state(desk)
    assert taken(desk, text, tmp_path / "file", form).new == 0
    assert state(desk) == before


@pytest.mark.parametrize("form", FORMS)
def test_what_has_no_place_there_is_counted(form, full):
    assert export_review(full, form).notes == (
        "2 undone, replaced or adjudicating decisions were not exported; use the umpirical format",
    )


@pytest.mark.parametrize("form", FORMS)
def test_decisions_from_elsewhere_are_not_taken_for_blind(form, full, another, tmp_path):
    desk = another(mode="blind")
    desk.add(full.items())
    taken(desk, exported(full, form), tmp_path / "file", form)
    assert {decision.mode for decision in desk.decisions()} == {"assisted"}


@pytest.mark.parametrize("form", FORMS)
def test_a_blind_review_gives_nothing_away(form, another):
    item = an_item("one", labels=LABELS, target="3", opinions=("an opinion",))
    for mode in ("blind", "assisted"):
        desk = another(mode=mode)
        desk.add([item])
        text = exported(desk, form)
        [record] = json.loads(text) if form == "label-studio" else [json.loads(text)]
        suggested = record["suggestions"] if form == "argilla" else record["predictions"]
        assert bool(suggested) is (mode == "assisted")
        assert "an opinion" not in text


def test_argilla_records_have_the_fields_its_server_takes(full):
    records = [json.loads(line) for line in exported(full, "argilla").splitlines()]
    assert [record["external_id"] for record in records] == ["plain-0", "plain-1", "plain-2", "plain-3", "flip"]
    for record in records:
        assert set(record) == {"external_id", "fields", "metadata", "suggestions", "responses"}
        assert all(isinstance(text, str) and text for text in record["fields"].values())
    response = records[1]["responses"][0]
    assert response["status"] == "submitted"
    assert response["values"] == {"decision": {"value": "edit"}, "text": {"value": "Blue is the wide sea."}}
    assert response["user"] == "ana"
    # A skip is a discarded response.
    assert [one["status"] for one in records[3]["responses"]] == ["submitted", "discarded"]
    # The same person has the same id in every record.
    assert len({one["user_id"] for record in records for one in record["responses"]}) == 2


def test_what_argillas_python_package_exports_is_read_too(another, tmp_path):
    desk = another()
    desk.add([an_item("flip", labels=LABELS)])
    record = {
        "id": "flip",
        "fields": {"after": "…"},
        "responses": {
            "decision": [{"value": "accept", "user_id": "u-1"}, {"value": "reject", "user_id": "u-2"}],
            "label": [{"value": "2", "user_id": "u-1"}],
        },
    }
    result = taken(desk, record, tmp_path / "records.jsonl", "argilla", names={"u-1": "ana", "u-2": "Ben"})
    assert result.new == 2
    assert said(desk) == {
        ("flip", "ana"): ("accept", "2", None, "", ""),
        ("flip", "Ben"): ("reject", "", "other", "", ""),
    }


def test_drafts_are_passed_over(another, tmp_path):
    desk = another()
    desk.add([an_item("one")])
    response = {"user": "ana", "status": "draft", "values": {"decision": {"value": "accept"}}}
    assert taken(desk, {"external_id": "one", "responses": [response]}, tmp_path / "f", "argilla").new == 0


def test_label_studio_tasks_are_one_list_with_results(full):
    tasks = json.loads(exported(full, "label-studio"))
    assert [task["data"]["item"] for task in tasks] == ["plain-0", "plain-1", "plain-2", "plain-3", "flip"]
    annotation = tasks[2]["annotations"][0]
    assert annotation["completed_by"] == {"username": "ana"}
    assert annotation["result"] == [
        {"from_name": "decision", "to_name": "after", "type": "choices", "value": {"choices": ["reject"]}},
        {"from_name": "reason", "to_name": "after", "type": "choices", "value": {"choices": ["unnatural"]}},
    ]
    assert [one["was_cancelled"] for one in tasks[3]["annotations"]] == [False, True]
    assert tasks[0]["annotations"][0]["lead_time"] == 0.9
    assert json.loads(exported_empty()) == []


def exported_empty():
    from umpirical.review.exchange.foreign import label_studio_tasks

    return "\n".join(label_studio_tasks([], {}, [], mode="blind"))


@pytest.mark.parametrize(
    ("completed_by", "name"),
    [
        (7, "7"),
        ("ana", "ana"),
        ({"id": 3, "email": "ana@example.org"}, "ana@example.org"),
        ({"id": 3, "first_name": "", "email": ""}, "3"),
    ],
)
def test_people_of_label_studio_are_found_whichever_way_they_are_written(completed_by, name, another, tmp_path):
    desk = another()
    desk.add([an_item("one")])
    taken(desk, [task("one", "accept", completed_by=completed_by)], tmp_path / "tasks.json", "label-studio")
    assert [decision.reviewer for decision in desk.decisions()] == [name]


def task(item, decision, *, completed_by="ana", label="", text="", **more):
    given = {"decision": decision, "label": label}
    results = [
        {"from_name": name, "to_name": "after", "type": "choices", "value": {"choices": [value]}}
        for name, value in given.items()
        if value
    ]
    if text:
        results.append({"from_name": "text", "to_name": "after", "type": "textarea", "value": {"text": [text]}})
    return {"data": {"item": item}, "annotations": [{"completed_by": completed_by, "result": results, **more}]}


def record(item, decision, *, label="", text="", user="ana", **more):
    values = {"decision": decision, "label": label, "text": text}
    given = {name: {"value": value} for name, value in values.items() if value}
    return {"external_id": item, "responses": [{"user": user, "status": "submitted", "values": given, **more}]}


def test_an_older_decision_does_not_replace_a_newer_one(another, tmp_path, noon):
    desk = another()
    desk.add([an_item("one")])
    new = record("one", "reject", inserted_at="2026-04-01T00:00:00Z")
    old = record("one", "accept", inserted_at="2026-03-01T00:00:00Z")
    assert taken(desk, new, tmp_path / "f", "argilla").new == 1
    result = taken(desk, old, tmp_path / "f", "argilla")
    assert (result.new, result.known) == (0, 1)
    assert said(desk)["one", "ana"][0] == "reject"
    # A decision without a time counts as made now.
    assert taken(desk, record("one", "accept"), tmp_path / "f", "argilla", clock=noon).new == 1
    assert said(desk)["one", "ana"][0] == "accept"


@pytest.mark.parametrize("form", FORMS)
def test_without_times_too_twice_is_once(form, another, tmp_path):
    desk = another()
    desk.add([an_item("one")])
    edit = {"text": "A better text."}
    given = json.dumps([task("one", "edit", **edit)]) if form == "label-studio" else record("one", "edit", **edit)
    assert taken(desk, given, tmp_path / "f", form).new == 1
    before = state(desk)
    assert taken(desk, given, tmp_path / "f", form).known == 1
    assert state(desk) == before


def test_an_accepted_text_of_somebody_else_is_that_text(another, tmp_path):
    desk = another()
    desk.add([an_item("one")])
    shown = desk.next("ana")
    desk.decide("ana", shown.item.id, ReviewChoice("edit", text="A better text."))
    taken(desk, record("one", "accept", text="A better text.", user="Ben"), tmp_path / "f", "argilla")
    assert said(desk)["one", "Ben"] == ("accept", "", None, "", "A better text.")
    assert [outcome.state for outcome in desk.outcomes()] == ["accepted"]


HOSTILE = {
    "an unknown item": (record("nowhere", "accept"), task("nowhere", "accept"), "item 'nowhere' is not in this review"),
    "an unknown label": (
        record("flip", "accept", label="9"),
        task("flip", "accept", label="9"),
        "unknown label '9'; expected one of 1, 2, 3",
    ),
    "a label where there is none": (
        record("one", "accept", label="1"),
        task("one", "accept", label="1"),
        "this item has no labels",
    ),
    "no label": (record("flip", "accept"), task("flip", "accept"), "the label is missing"),
    "no decision": (record("one", ""), task("one", ""), "the decision is missing"),
    "an unknown decision": (record("one", "drop"), task("one", "drop"), "unknown decision 'drop'"),
    "an edit that edits nothing": (record("one", "edit"), task("one", "edit"), "an edit needs a text"),
    "a long text": (
        record("one", "edit", text="x" * 200_001),
        task("one", "edit", text="x" * 200_001),
        "200,001 characters",
    ),
    "no name": (record("one", "accept", user=" "), task("one", "accept", completed_by=" "), "is not a valid name"),
    "a name that moves the terminal": (
        record("one", "accept", user="a\x1b[2J"),
        task("one", "accept", completed_by="a\x1b[2J"),
        "is not a valid name",
    ),
    "no time": (
        record("one", "accept", inserted_at="soon"),
        task("one", "accept", created_at="soon"),
        "is not a time",
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("form", FORMS)
def test_one_bad_record_and_nothing_is_taken_in(name, form, another, tmp_path):
    desk = another()
    desk.add([an_item("one"), an_item("flip", labels=LABELS)])
    before = state(desk)
    argilla, label_studio, message = HOSTILE[name]
    if form == "argilla":
        text, place = "\n".join(map(json.dumps, [record("one", "accept"), argilla])), "file:2"
    else:
        text, place = json.dumps([task("one", "accept"), label_studio]), "file: task 2"
    with pytest.raises(UsageError, match=f"^{place}") as refused:
        taken(desk, text, tmp_path / "file", form)
    assert message in str(refused.value)
    assert "nothing was imported" in refused.value.fix
    assert state(desk) == before


@pytest.mark.parametrize(
    "text", ["", "{", "[1]", '{"a": 1}', "[" * 200_000, '[{"data": 1}]', '[{"data": {}, "annotations": [1]}]']
)
def test_what_is_no_list_of_tasks_is_refused(text, another, tmp_path):
    with pytest.raises(UsageError, match=r"^file"):
        taken(another(), text, tmp_path / "file", "label-studio")


@pytest.mark.parametrize(
    "line",
    [
        '{"external_id": 5}',
        '{"external_id": "one", "responses": 3}',
        '{"external_id": "one", "responses": {"decision": [4]}}',
        '{"external_id": "one", "responses": [{"user": {}, "values": {"decision": {"value": "accept"}}}]}',
        '{"external_id": "one", "responses": [{"user": "a", "values": {"decision": {"value": 1}}}]}',
    ],
)
def test_what_is_no_record_is_refused(line, another, tmp_path):
    desk = another()
    desk.add([an_item("one")])
    with pytest.raises(UsageError, match=r"^file:1"):
        taken(desk, line, tmp_path / "file", "argilla")


def test_a_file_that_is_too_large_is_not_read(another, tmp_path, monkeypatch):
    monkeypatch.setattr("umpirical.review.exchange.files.LONGEST_LIST", 10)
    with pytest.raises(UsageError, match="longer than 10 bytes"):
        taken(another(), "[" + " " * 20 + "]", tmp_path / "file", "label-studio")


def test_the_labelling_interface_names_what_is_read():
    """The controls of the labelling interface have the names that the import expects."""
    from xml.etree import ElementTree as ET

    from umpirical.domain.reviews import REASONS
    from umpirical.review.exchange.foreign import LABELLING_CONFIG

    view = ET.fromstring(LABELLING_CONFIG)  # noqa: S314  # our own
    controls = {one.get("name"): one for one in view if one.get("toName") == "after"}
    assert set(controls) == {"decision", "label", "reason", "text", "comment"}
    assert [choice.get("value") for choice in controls["reason"]] == list(REASONS)
