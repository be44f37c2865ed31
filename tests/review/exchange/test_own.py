"""Our own format loses nothing."""

import json

import pytest

from umpirical.domain.errors import UsageError
from umpirical.review.exchange.transfer import export_review, import_review
from umpirical.review.people import People
from umpirical.review.records import ReviewChoice


def exported(desk, form="umpirical"):
    return export_review(desk, form).text


def taken(desk, text, path, form="umpirical", *, names=(), **options):
    """Imports a text, as someone does who has made cleo an adjudicator, and knows that the file's cleo is her."""
    path.write_text(text)
    People(desk.database).invite("cleo", "adjudicator")
    return import_review(desk, path, form, names={"cleo": "cleo", **dict(names)}, **options)


def state(desk):
    return exported(desk), desk.version()


def test_out_and_in_again_is_the_same_to_the_last_byte(full, desk_of, tmp_path):
    before = exported(full)
    assert {json.loads(line)["record"] for line in before.splitlines()} == {
        "review",
        "item",
        "guideline",
        "revision",
        "decision",
    }
    # Also into the other kind of database.
    desk = desk_of(overlap=2)
    result = taken(desk, before, tmp_path / "review.jsonl")
    assert (result.new, result.known) == (12, 0)
    assert exported(desk) == before
    assert list(desk.outcomes()) == list(full.outcomes())
    assert desk.guideline() == full.guideline() == (2, "Keep what says the same, and reads well.")
    # Nobody is given an item they decided on again, and no item goes to a third person.
    assert desk.next("ana") is None
    assert desk.next("dora").item.id == "plain-3"
    desk.release("dora")
    assert desk.next("Ben") is None


def test_twice_is_once(full, another, tmp_path):
    desk = another()
    text = exported(full)
    taken(desk, text, tmp_path / "review.jsonl")
    before = state(desk)
    result = taken(desk, text, tmp_path / "review.jsonl")
    assert (result.new, result.known) == (0, 12)
    assert state(desk) == before


def test_what_came_from_a_file_says_so(full, another, tmp_path, noon):
    from sqlalchemy import select

    from umpirical.review.database.tables import event

    desk = another()
    taken(desk, exported(full), tmp_path / "theirs.jsonl", clock=noon)
    with desk.database.read() as connection:
        rows = connection.execute(select(event).where(event.c.kind == "imported")).all()
    assert {row.decision for row in rows} == {decision.number for decision in desk.decisions()}
    assert {row.detail for row in rows} == {"umpirical: theirs.jsonl"}
    assert {row.at for row in rows} == {"2026-05-01T12:00:00+00:00"}


def test_two_reviews_of_the_same_items_become_one(full, another, tmp_path):
    """Decisions made here stay and those in the file are added; different texts have different numbers."""
    desk = another()
    desk.add(full.items())
    desk.set_guideline("Ours.")
    shown = desk.next("dora")
    while shown.item.id != "plain-1":
        desk.decide("dora", shown.item.id, ReviewChoice("skip"))
        shown = desk.next("dora")
    desk.decide("dora", "plain-1", ReviewChoice("edit", text="A text of Dora's."))
    result = taken(desk, exported(full), tmp_path / "review.jsonl")
    assert result.new == 12
    texts = {(revision.item, revision.number): revision.text for revision in desk.revisions()}
    assert texts["plain-1", 1] == "A text of Dora's."
    said = {(d.reviewer, d.item): texts[d.item, d.revision] for d in desk.decisions() if d.kind == "edit"}
    assert said["dora", "plain-1"] == "A text of Dora's."
    assert said["ana", "plain-1"] == said["Ben", "plain-1"] == "Blue is the wide sea."
    # The guideline in force here stays in force, and the file's are kept for the decisions made under them.
    assert desk.guideline()[1] == "Ours."
    assert {d.guideline for d in desk.decisions() if d.reviewer == "Ben"} == {2}


def test_people_are_known_by_name_whatever_the_case(full, another, tmp_path):
    desk = another()
    text = exported(full).replace('"reviewer":"ana"', '"reviewer":"ANA"')
    taken(desk, text, tmp_path / "review.jsonl", names={"Ben": "benedict", "ANA": "ana"})
    assert {decision.reviewer for decision in desk.decisions()} == {"ana", "benedict", "cleo"}


def nested(depth):
    return "[" * depth + "]" * depth


LINES = {
    "no JSON": (3, lambda line: line[:-1], "this is not valid JSON"),
    "deep": (4, lambda _: nested(200_000), "nested too deeply"),
    "a list": (4, lambda _: "[]", "expected a JSON object, got a list"),
    "an unknown record": (
        4,
        lambda line: line.replace('"record":"item"', '"record":"user"'),
        "unknown record 'user'",
    ),
    "a stray key": (2, lambda line: line.replace("{", '{"admin":true,', 1), "'admin' is not known"),
    "a key too few": (2, lambda line: line.replace('"sensitive":false,', ""), "'sensitive' is missing"),
    "a wrong type": (
        2,
        lambda line: line.replace('"after":"', '"after":["').replace('says plain-0."', 'says plain-0."]', 1),
        "",
    ),
    "an item twice": (2, lambda line: f"{line}\n{line}", "appears twice"),
}


@pytest.mark.parametrize("name", LINES)
def test_a_line_that_does_not_fit_is_named_and_nothing_is_taken_in(name, full, another, tmp_path):
    number, change, message = LINES[name]
    lines = exported(full).splitlines()
    lines[number - 1] = change(lines[number - 1])
    desk = another()
    before = state(desk)
    with pytest.raises(UsageError) as refused:
        taken(desk, "\n".join(lines), tmp_path / "review.jsonl")
    assert message in str(refused.value)
    assert str(refused.value).startswith(f"review.jsonl:{number}: " if name != "an item twice" else "review.jsonl: ")
    assert "nothing was imported" in refused.value.fix
    assert state(desk) == before


def altered(text, kind, change):
    """The file with its last record of a kind changed, and the line number of that record."""
    lines = text.splitlines()
    number = max(place for place, line in enumerate(lines) if json.loads(line)["record"] == kind)
    lines[number] = json.dumps(json.loads(lines[number]) | change)
    return "\n".join(lines), number + 1


RECORDS = {
    "an unknown item": ("decision", {"item": "nowhere"}, "does not exist"),
    "an unknown text": ("decision", {"revision": 7}, "does not exist"),
    "an unknown label": ("decision", {"label": "excellent"}, "unknown label 'excellent'"),
    "an unknown guideline": ("decision", {"guideline": 9}, "guideline 9 is not in the file"),
    "no time": ("decision", {"at": "yesterday"}, "is not a time"),
    "an empty time": ("decision", {"at": ""}, "expected a time"),
    "no name": ("decision", {"reviewer": "a\x1b]0;x\x07"}, "is not a valid name"),
    "a long name": ("decision", {"reviewer": "a" * 65}, "is not a valid name"),
    "an unknown kind": ("decision", {"kind": "delete"}, "kind"),
    "a revision of nothing": ("revision", {"item": "nowhere"}, "does not exist"),
    "a revision of a later one": ("revision", {"parent": 9}, "does not exist"),
}


@pytest.mark.parametrize("name", RECORDS)
def test_a_record_that_does_not_fit_is_named_and_nothing_is_taken_in(name, full, another, tmp_path):
    kind, change, message = RECORDS[name]
    text, number = altered(exported(full), kind, change)
    desk = another()
    before = state(desk)
    with pytest.raises(UsageError, match=f"^review.jsonl:{number}: ") as refused:
        taken(desk, text, tmp_path / "review.jsonl")
    assert message in str(refused.value)
    assert state(desk) == before


def test_an_item_that_is_another_one_here_is_refused(full, another, tmp_path):
    desk = another()
    desk.add(full.items())
    text, _ = altered(exported(full), "item", {"after": "Something else."})
    with pytest.raises(UsageError, match="a different item with the same id"):
        taken(desk, text, tmp_path / "review.jsonl")


def test_a_line_without_end_is_not_read_to_its_end(another, tmp_path, monkeypatch):
    monkeypatch.setattr("umpirical.review.exchange.files.LONGEST_LINE", 1000)
    with pytest.raises(UsageError, match=r"review\.jsonl:1: the line is longer than 1,000 bytes"):
        taken(another(), "x" * 5000, tmp_path / "review.jsonl")


def test_what_is_exported_is_plain_ascii(full):
    text = exported(full)
    assert "\\u202e" in text
    assert text.isascii()
    assert all(character.isprintable() or character == "\n" for character in text)
    for form in ("argilla", "label-studio"):
        assert exported(full, form).isascii()
