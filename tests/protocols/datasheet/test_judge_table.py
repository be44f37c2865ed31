"""Judges that must not be accepted, and sound ones, at the sizes that are shipped: `tested_judges.py` lists them.

A third of the bad judges is asked here, those that look most like sound ones. All of them are slow.
"""

from pathlib import Path

import pytest

from tests.protocols.datasheet.in_process import decisions
from tests.protocols.datasheet.tested_judges import BAD, EVERY, NOT_EXCLUDED, SOUND
from tests.stimuli.built import built

PAGE = Path(__file__).parents[3] / "docs" / "explanation" / "judges-tested.md"

ACCEPTED = {"use", "use-with-restrictions"}

QUICK = (
    "hides its taste",
    "right in 85%",
    "right if the better one is longer",
    "longer wins beyond 1.7 times",
    "a list wins",
    "clauses of the request",
    "knows one version of each task",
    "never checks a figure",
    "prefers larger figures",
    "position 1 on JSON",
    "cannot be read on JSON",
    "position 1 in German",
    "coin on grounded answers",
)

LISTED = [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in BAD]


def test_there_are_enough_of_each():
    assert len(BAD) >= 30
    assert len(SOUND) >= 12
    assert all(tested.fails for tested in BAD.values())
    assert set(QUICK) <= set(BAD)


@pytest.mark.parametrize("name", LISTED)
def test_no_bad_judge_is_accepted_for_a_purpose_that_it_fails(name):
    found = decisions(BAD[name].judge, built("standard"))
    assert not [policy for policy in BAD[name].fails if found[policy].verdict in ACCEPTED]
    # Where it is accepted, that is not without a word: a restriction, or wide checks that tell broken judges only.
    assert "use" not in {found[policy].verdict for policy in ("ranking", "adjudication", "claim")}


@pytest.mark.slow
@pytest.mark.parametrize("size", ["screen", "full"])
@pytest.mark.parametrize("name", BAD)
def test_no_bad_judge_is_accepted_at_another_size(name, size):
    found = decisions(BAD[name].judge, built(size))
    assert not [policy for policy in BAD[name].fails if found[policy].verdict in ACCEPTED]


@pytest.mark.parametrize("name", ["perfect", *(pytest.param(name, marks=pytest.mark.slow) for name in SOUND)])
def test_no_sound_judge_is_refused(name):
    found = decisions(SOUND[name].judge, built("standard"))
    assert {decision.verdict for decision in found.values()} <= ACCEPTED | {"not-enough-data"}


@pytest.mark.slow
def test_nearly_all_sound_judges_are_accepted_in_one_standard_run():
    found = [decisions(tested.judge, built("standard"))["ranking"].verdict for tested in SOUND.values()]
    assert sum(verdict in ACCEPTED for verdict in found) >= 10


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("position 1 on JSON", "JSON answers"),
        ("position 1 in German", "German texts"),
        ("coin on grounded answers", "grounded-answers tasks"),
    ],
)
def test_a_judge_that_fails_in_one_part_is_told_which(name, words):
    found = decisions(BAD[name].judge, built("standard"))
    assert words in found["adjudication"].sentences[0]
    assert any(said.lower().startswith(words.lower()) for said in found["ranking"].not_for)


# The page, written by `docs/explanation/judges-tested/write.py`


def rows():
    """What the page says of each judge: a letter for each size, by policy."""
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in PAGE.read_text().splitlines() if "|" in line]
    heads = next(row for row in cells if row[1:2] == ["ranking"])
    found = [row for row in cells if row[0] in BAD | SOUND and "%" not in "".join(row[1:])]
    return {row[0]: dict(zip(heads[1:], row[1:], strict=True)) for row in found}


def test_the_page_lists_every_judge_and_no_bad_one_is_accepted_on_it():
    told = rows()
    assert told.keys() == {*BAD, *SOUND}
    for name, tested in BAD.items():
        assert not [policy for policy in tested.fails if set(told[name][policy]) & set("UW")], name
    assert not [name for name in SOUND for policy in EVERY if "R" in told[name][policy]]
    assert all(name in PAGE.read_text() for name in NOT_EXCLUDED)
