"""Files that are written to harm a review: each is refused, and every table is as it was."""

import gzip
import io
import json
import zipfile
from datetime import UTC, datetime, timedelta

import pytest

from tests.review.conftest import Clock, fresh_postgres, postgres_url, url  # noqa: F401
from tests.review.exchange.reviews import everything_happened
from umpirical.domain.errors import UsageError
from umpirical.review.database import open_database
from umpirical.review.desk import Desk
from umpirical.review.exchange.transfer import export_review, import_review
from umpirical.review.people import People
from umpirical.review.records import ReviewChoice, Settings

from .review_parts import tables

HUGE, LONG = 2**70, "x" * 200_001
TOMORROW = (datetime.now(UTC) + timedelta(days=2)).isoformat()

DECISION = {
    "record": "decision", "number": 1001, "item": "plain-0", "reviewer": "dora", "kind": "accept", "revision": 0,
    "at": "2026-03-01T00:00:00+00:00", "milliseconds": 900, "mode": "blind", "guideline": 0, "label": "",
    "reason": None, "comment": "", "adjudicates": False, "undone": False,
}  # fmt: skip
REVISION = {
    "record": "revision", "number": 7, "item": "plain-0", "parent": 0, "author": "dora", "text": "Another text.",
    "at": "2026-03-01T00:00:00+00:00",
}  # fmt: skip

# By field: values that no review has there.
DECISIONS = {
    "milliseconds": [HUGE, -HUGE, -1, 2**63, 86_400_001, 1.5, "900", True, [900], float("nan")],
    "adjudicates": [True, 1, "true", "yes", None, [True]],
    "undone": [1, "true", None],
    "revision": [HUGE, -1, 9, "0", True, None, 0.0],
    "guideline": [HUGE, -1, 9, "1", True, None],
    "number": [None, "1", 1.5, True, 1000],
    "kind": ["delete", "", None, 1, "edit", "reject", "ACCEPT"],
    "label": ["excellent", LONG, None, 1],
    "reason": ["because", "other", 1],
    "item": ["nowhere", "", None, 0, LONG, "flip"],
    "reviewer": ["", " ", "a" * 65, "a\u200bb", "a\x1b]0;x\x07", None, 7, "ana", "ANA", "\uff41na", "owner"],
    "at": ["", "yesterday", "2026-13-01", TOMORROW, "9999-12-31T23:59:59-14:00", "0001-01-01T00:00:00+14:00", None, 0],
    "mode": ["open", "", None, True],
    "comment": [LONG, None, 1],
}
REVISIONS = {
    # Number 0 is the generator's text: whoever replaces it has others accept what they never saw.
    "number": [0, -1, "7", None, True, 1.5],
    "item": ["nowhere", None, 1],
    "parent": [9, -1, None, "0"],
    "author": ["", "a" * 65, "a\n", None],
    "text": ["", "  ", LONG, None, 1],
    "at": ["yesterday", TOMORROW, "9999-12-31T23:59:59-14:00", None],
}
ITEMS = {
    "id": [None, 1, LONG, "plain-1"],
    "after": [None, LONG, ["a"]],
    "labels": ["abc", None, [1], {"a": 1}],
    "checks": ["no", [1], [{"check": "a"}]],
    "opinions": [None, [None]],
    "sensitive": [1, "yes", None],
    "rubric": [LONG, None],
}


def zipped(text):
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("review.jsonl", text)
    return held.getvalue()


WHOLE = {
    "zip": zipped,
    "gzip": lambda text: gzip.compress(text.encode()),
    "nothing": lambda _: b"",
    "half": lambda text: text.encode()[:-40],
    "NUL": lambda text: text.encode() + b"\0",
    "UTF-16": lambda text: text.encode("utf-16"),
    "twice": lambda text: (text + text).encode(),
    "deep": lambda text: text.encode() + b"[" * 100_000,
    "digits": lambda text: text.encode() + b'{"record": "decision", "number": ' + b"9" * 10_000 + b"}",
    "long line": lambda text: text.encode() + b" " * 8_000_001,
    "no head": lambda text: text.partition("\n")[2].encode(),
    "newer": lambda text: text.replace("umpirical-review/1", "umpirical-review/2").encode(),
    "no guideline": lambda text: text.replace('"guideline":2', '"guideline":77', 1).encode(),
    "long guideline": lambda text: (
        text + json.dumps({"record": "guideline", "version": 78, "text": LONG}) + "\n"
    ).encode(),
    "unknown": lambda text: text.encode() + b'{"record": "person", "name": "mallory", "role": "owner"}\n',
}

# Two accepts agree on plain-0; ana and Ben differ on flip, which nobody has settled.
SETTLED = {
    "no role": {"adjudicates": True, "item": "flip", "label": "1"},
    "no dispute": {"adjudicates": True, "reviewer": "cleo", "kind": "reject", "reason": "other"},
    "their own": {"adjudicates": True, "reviewer": "ana", "item": "flip", "label": "1"},
    "another's": {"adjudicates": True, "reviewer": "eve", "item": "plain-2"},
    "revoked": {"adjudicates": True, "reviewer": "rolf", "item": "flip", "label": "1"},
    "a skip": {"adjudicates": True, "reviewer": "cleo", "item": "flip", "kind": "skip"},
}

FOREIGN = {
    "argilla": [
        {"external_id": "plain-0", "responses": [{"user": name, "status": "submitted", "values": values}]}
        for name, values in [
            ("dora", {"decision": {"value": "settle"}}),
            ("dora", {}),
            ("dora", {"decision": {"value": "accept"}, "label": {"value": "excellent"}}),
            ("dora", {"decision": {"value": "edit"}, "text": {"value": LONG}}),
            ("dora", {"decision": {"value": "edit"}}),
            ("dora", {"decision": {"value": 1}}),
            ("ana", {"decision": {"value": "reject"}}),
            ("ANA", {"decision": {"value": "reject"}}),
            ("", {"decision": {"value": "accept"}}),
            ("a\x1b[2J", {"decision": {"value": "accept"}}),
        ]
    ],
    "label-studio": [
        {"data": {"item": item}, "annotations": [{"completed_by": person, "result": [chosen], "created_at": at}]}
        for item, person, chosen, at in [
            (item, person, {"from_name": "decision", "type": "choices", "value": {"choices": [kind]}}, at)
            for item, person, kind, at in [
                ("nowhere", "dora", "accept", ""),
                ("plain-0", "ana", "reject", ""),
                ("plain-0", "dora", "settle", ""),
                ("plain-0", None, "accept", ""),
                ("plain-0", True, "accept", ""),
                ("plain-0", "dora", "accept", "yesterday"),
                ("plain-0", "dora", "accept", TOMORROW),
                ("plain-0", "dora", "accept", "9999-12-31T23:59:59-14:00"),
                ("flip", "dora", "accept", ""),
                ("plain-0", "dora", "edit", ""),
            ]
        ]
    ],
}


def hostile(text):
    """By name: the bytes of a file, and its format. Each begins with records that fit, and must leave none of them."""
    item = next(line for line in map(json.loads, text.splitlines()) if line["record"] == "item") | {"id": "new"}
    fitting = [item, {"record": "guideline", "version": 76, "text": "Theirs."}, DECISION | {"number": 1000}]
    text += "".join(f"{json.dumps(one)}\n" for one in fitting)
    found = {f"whole {name}": (change(text), "umpirical") for name, change in WHOLE.items()}
    new = DECISION | {"at": "2026-03-02T00:00:00+00:00"}
    for kind, whole, fields in (("decision", new, DECISIONS), ("revision", REVISION, REVISIONS)):
        for name, values in fields.items():
            for number, value in enumerate(values):
                line = json.dumps(whole | {name: value})
                found[f"{kind} {name} {number}"] = (f"{text}{line}\n".encode(), "umpirical")
    for name, values in ITEMS.items():
        for number, value in enumerate(values):
            line = json.dumps(item | {"id": "newer"} | {name: value})
            found[f"item {name} {number}"] = (f"{text}{line}\n".encode(), "umpirical")
    for name, change in SETTLED.items():
        found[f"settled {name}"] = (f"{text}{json.dumps(new | change)}\n".encode(), "umpirical")
    for number, task in enumerate(FOREIGN["argilla"]):
        fits = {"external_id": "plain-1", "responses": [{"user": "dora", "values": {"decision": {"value": "accept"}}}]}
        found[f"argilla {number}"] = (f"{json.dumps(fits)}\n{json.dumps(task)}\n".encode(), "argilla")
    for number, task in enumerate(FOREIGN["label-studio"]):
        found[f"label studio {number}"] = (json.dumps([task]).encode(), "label-studio")
    return found


@pytest.fixture
def desk(url):  # noqa: F811
    database = open_database(url)
    desk, people = Desk(database, Settings(2), Clock()), People(database)
    everything_happened(desk)
    for name, role in (("ana", "reviewer"), ("cleo", "adjudicator"), ("eve", "adjudicator"), ("owner", "owner")):
        people.invite(name, role)
    people.invite("rolf", "adjudicator")
    people.revoke("rolf")
    yield desk
    database.close()


NAMES = {name: name for name in ("cleo", "eve", "rolf")}


def attack(desk, folder, cases):
    before = tables(desk.database)
    taken = []
    for name, (content, form) in cases.items():
        file = folder / "file"
        file.write_bytes(content)
        try:
            import_review(desk, file, form, names={"ana": "ana"} if name == "settled their own" else NAMES)
        except UsageError as refused:
            taken += [] if refused.fix else [f"{name}: nothing is said to do"]
        else:
            taken.append(name)
        assert tables(desk.database) == before, name
    assert taken == []
    return len(cases)


def test_a_file_that_harms_is_refused_whole(desk, tmp_path):
    every = hostile(export_review(desk, "umpirical").text)
    some = {name: every[name] for name in list(every)[:: len(every) // 24]}
    broken = (
        "decision milliseconds 0",
        "settled no role",
        "settled no dispute",
        "decision reviewer 7",
        "revision number 0",
    )
    attack(desk, tmp_path, some | {name: every[name] for name in broken})


@pytest.mark.attack
def test_every_file_that_harms_is_refused_whole(desk, tmp_path):
    assert attack(desk, tmp_path, hostile(export_review(desk, "umpirical").text)) >= 150


def test_what_the_hostile_files_begin_with_would_fit(desk, tmp_path):
    """Otherwise nothing is shown by its absence."""
    text = hostile(export_review(desk, "umpirical").text)["decision number 0"][0]
    file = tmp_path / "file"
    file.write_bytes(b"\n".join(text.splitlines()[:-1]))
    taken = import_review(desk, file, "umpirical", names=NAMES)
    assert (taken.new, taken.known) == (1, 12)
    assert [version for version, _ in desk.guidelines()] == [1, 2, 3]
    assert "new" in {item.id for item in desk.items()}


def test_an_adjudicator_who_is_named_settles_by_file(desk, tmp_path):
    said = DECISION | {"adjudicates": True, "reviewer": "cleo", "item": "flip", "label": "1", "mode": "assisted"}
    file = tmp_path / "file"
    file.write_text(f"{export_review(desk, 'umpirical').text}{json.dumps(said)}\n")
    with pytest.raises(UsageError, match="a decision by cleo, who also takes part") as refused:
        import_review(desk, file, "umpirical")
    assert refused.value.fix.endswith("--as cleo=cleo")
    assert import_review(desk, file, "umpirical", names=NAMES).new == 1
    assert {one.item: one.adjudicator for one in desk.outcomes()}["flip"] == "cleo"
    with pytest.raises(UsageError, match="has decided this item"):
        desk.decide("ana", "flip", ReviewChoice("accept", label="2"))
