"""Everything a user reads is plain English: our vocabulary, no pattern that nobody would say, and write-good."""

import json
import os
import subprocess
from itertools import count
from pathlib import Path

import pytest

from tests.english import checkers, plain
from tests.english.plain import Hit, Passage


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("It names the same slot in both orders.", "position"),
        ("The judge is held to a policy.", "check, compare"),
        ("That is no verdict.", "is not a"),
        ("What is left open is asked again.", "no clause as a subject"),
        ("It was right in .93 of pairs.", "a percentage, or 0 before the point"),
        ("It is right in 93 % of pairs.", "no space before %"),
        ("The judge's behaviour changed.", "American spelling"),
    ],
)
def test_a_sentence_that_nobody_would_say_is_found(text, advice):
    assert [hit.advice for hit in plain.hits([Passage("docs/x.md", 1, text)])] == [advice]


def test_code_links_and_records_are_not_prose():
    text = "See `slot` and [the page](slot.md).\n\n```\nno slot is held to this\n```\n\nThere is no run.\n"
    assert plain.hits([Passage("docs/x.md", 1, text)]) == []


def test_nothing_a_user_reads_is_hard_to_read():
    found = plain.hits(plain.passages(plain.read_by_users()))
    assert found == [], "\n".join(map(str, found))


def test_every_exception_is_needed_and_has_a_reason(monkeypatch):
    allowed = plain.exceptions()
    monkeypatch.setattr(plain, "exceptions", list)
    found: list[Hit] = plain.hits(plain.passages(plain.read_by_users()))
    idle = [one for one in allowed if not any(plain.allows(one, hit) for hit in found)]
    assert (idle, [one for one in allowed if len(one["reason"]) < 20]) == ([], [])


def test_write_good_finds_nothing_in_the_docs():
    if (checkers.FOLDER / "node_modules" / "write-good").is_dir() is False and not os.environ.get(
        "UMPIRICAL_REQUIRE_ENGLISH"
    ):
        pytest.skip("needs npm ci --prefix tests/english")
    pages = [page for page in plain.read_by_users() if page.suffix == ".md" and "decisions" not in page.parts]
    texts = [_prose(page) for page in pages]
    heard = subprocess.run(
        ["node", "prose.mjs"],
        cwd=checkers.FOLDER,
        input=json.dumps({"texts": texts}),
        capture_output=True,
        text=True,
        check=True,
    )
    found = {page.name: said for page, said in zip(pages, json.loads(heard.stdout), strict=True) if said}
    assert found == {}


def _prose(page: Path) -> str:
    """The sentences of a page: tables, headings and code would be taken for repeated words."""
    number = count()
    text = plain.NOT_PROSE.sub(lambda _: f"x{next(number)}", page.read_text(encoding="utf-8"))
    return "\n".join(line for line in text.splitlines() if not line.lstrip().startswith(("|", "#")))
