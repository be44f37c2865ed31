"""Hostile text in a terminal, in files for other tools, and imported again."""

import json
import re
from dataclasses import asdict

import pytest

from tests.hostile import HOSTILE, NAMES
from tests.protocols.review.written import small_study, terms_of
from tests.reports.payloads import HIDDEN
from umpirical.protocols.review import open_review
from umpirical.review.database import open_database
from umpirical.review.desk import Desk
from umpirical.review.exchange.foreign import LABELLING_CONFIG
from umpirical.review.exchange.transfer import export_review, import_review
from umpirical.review.people import People
from umpirical.review.records import ReviewChoice, Settings
from umpirical.text.inert import inert

from .hostile_review import ADJUDICATOR, EDITOR, REVIEWER, hostile_items, hostile_transcript

FORMATS = ("umpirical", "argilla", "label-studio")

ESCAPING = tuple(each for each in HOSTILE if HIDDEN.search(each))
"""Those that would control a terminal, or be invisible in it."""


def decided(desk):
    """Every item is edited by one person and rejected by another, with hostile comments; half of them are settled."""
    items = [*hostile_items(), hostile_transcript()]
    desk.set_guideline("\n".join(HOSTILE))
    desk.add(items)
    for item in items:
        remark, label = "\n".join(HOSTILE), item.labels[-1] if item.labels else ""
        for name, choice in (
            (EDITOR, ReviewChoice("edit", text=f"{item.after}\nMine.", label=label, comment=remark)),
            (REVIEWER, ReviewChoice("reject", reason="harmful", comment=remark)),
        ):
            desk.next(name)
            desk.decide(name, item.id, choice)
    for item in items[::2]:
        desk.adjudicate(ADJUDICATOR, item.id, ReviewChoice("reject", reason="harmful", comment=item.after))


@pytest.fixture
def desk_of(tmp_path):
    """Makes desks, each on its own empty database."""
    opened = []

    def make(name):
        opened.append(open_database(f"sqlite:///{tmp_path}/{name}.sqlite"))
        return Desk(opened[-1], Settings(overlap=2))

    yield make
    for database in opened:
        database.close()


@pytest.fixture
def folder(tmp_path):
    """A study whose review has hostile items, and people with hostile names."""
    folder = small_study(tmp_path / "study", review={"overlap": 2})
    opened = open_review(terms_of(folder), begin=True)
    decided(opened.desk)
    for name in NAMES:
        opened.people.invite(name, "reviewer")
    opened.close()
    return folder


def quiet(*texts):
    """Whether nothing in the output controls a terminal or is invisible."""
    return [found[0] for found in map(HIDDEN.search, texts) if found] == []


def test_the_status_is_quiet_and_says_every_name(folder, umpirical):
    # The first use of a study says what it would do.
    assert quiet(umpirical("review", "status", folder)[2])
    code, out, err = umpirical("review", "status", folder)
    assert (code, err) == (0, "")
    assert quiet(out)
    assert [name for name in NAMES if inert(name) not in out] == []
    code, out, _ = umpirical("review", "status", folder, "--json")
    assert out.isascii()
    assert quiet(out)
    assert {person["name"] for person in json.loads(out)["people"]} >= set(NAMES)


def test_a_name_that_is_refused_is_said_quietly(folder, umpirical):
    for payload in ESCAPING[::3]:
        for command in ("invite", "revoke"):
            code, out, err = umpirical("review", command, payload, folder)
            assert code == 2
            assert quiet(out, err)


def test_a_name_that_is_taken_is_said_quietly(folder, umpirical):
    for name in (REVIEWER, EDITOR, "=cmd|' /C calc'!A0"):
        for command in ("invite", "revoke"):
            code, out, err = umpirical("review", command, name, folder)
            assert code == 0
            assert quiet(out, err)


@pytest.mark.parametrize("form", FORMATS)
def test_a_file_is_ascii_and_comes_back_as_it_was(form, desk_of, tmp_path):
    first, second, third = desk_of("first"), desk_of("second"), desk_of("third")
    decided(first)
    text = export_review(first, form).text
    assert text.isascii()
    # Whatever prints the file, its lines end only where records do, and nothing in it controls a terminal.
    assert all(line.isprintable() for line in text.split("\n"))
    file = tmp_path / "file.json"
    file.write_text(text)
    if form != "umpirical":
        second.add(first.items())
    for desk in (second, third):
        People(desk.database).invite(ADJUDICATOR, "adjudicator")
    import_review(second, file, form, names={ADJUDICATOR: ADJUDICATOR})
    assert export_review(second, form).text == text
    file.write_text(export_review(second, "umpirical").text)
    import_review(third, file, "umpirical", names={ADJUDICATOR: ADJUDICATOR})
    assert list(third.items()) == list(first.items())
    assert {one.comment for one in third.decisions()} >= {"\n".join(HOSTILE)}


def test_every_text_is_in_the_files_to_the_letter(desk_of):
    desk = desk_of("first")
    decided(desk)
    items = list(desk.items())
    own = [json.loads(line) for line in export_review(desk, "umpirical").text.splitlines()]
    assert [one["after"] for one in own if one["record"] == "item"] == [item.after for item in items]
    argilla = [json.loads(line) for line in export_review(desk, "argilla").text.splitlines()]
    assert [one["fields"]["after"] for one in argilla] == [item.after for item in items]
    tasks = json.loads(export_review(desk, "label-studio").text)
    assert [task["data"]["after"] for task in tasks] == [item.after for item in items]


def test_label_studio_is_given_text_and_no_markup():
    """Its tags for text show text. Tags that show markup would need escaped text, and are not used."""
    tags = set(re.findall(r"<(\w+)", LABELLING_CONFIG))
    assert tags == {"View", "Header", "Text", "Choices", "Choice", "TextArea"}


def test_a_hostile_file_is_refused_quietly_and_changes_nothing(folder, umpirical, tmp_path):
    """Payloads wherever a file has room for them: the kind of record, a field name, a person, a time, a label."""
    code, _, _ = umpirical("review", "export", folder, "--out", tmp_path / "before.jsonl")
    assert code == 0
    head, *records = [json.loads(line) for line in (tmp_path / "before.jsonl").read_text().splitlines()]
    decision = next(one for one in records if one["record"] == "decision")
    made = {
        "kind of record": {**decision, "record": None},
        "person": {**decision, "reviewer": None},
        "moment": {**decision, "at": None},
        "label": {**decision, "label": None},
        "item": {**decision, "item": None},
    }
    file = tmp_path / "hostile.jsonl"
    for place, (name, record) in enumerate(made.items()):
        for payload in ESCAPING[place::5]:
            bad = {key: payload if value is None and key != "reason" else value for key, value in record.items()}
            lines = [head, bad | {"number": 10_000, "reason": "harmful", payload[:9]: 1} if name == "label" else bad]
            file.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
            code, out, err = umpirical("review", "import", file, folder)
            assert code == 2, (name, payload)
            assert quiet(out, err), (name, payload)
    umpirical("review", "export", folder, "--out", tmp_path / "after.jsonl")
    assert (tmp_path / "after.jsonl").read_text() == (tmp_path / "before.jsonl").read_text()


def test_the_records_of_a_review_hold_what_they_were_given(desk_of):
    """No payload is changed, cut or cleaned when it is stored."""
    desk = desk_of("first")
    decided(desk)
    assert [asdict(item) for item in desk.items()] == [
        asdict(item) for item in [*hostile_items(), hostile_transcript()]
    ]
    assert {one.comment for one in desk.decisions() if not one.adjudicates} == {"\n".join(HOSTILE)}
    assert desk.guideline()[1] == "\n".join(HOSTILE)
