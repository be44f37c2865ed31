"""Real answers as carriers: what is edited, what never is, and what the gate says of it."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cases import each
from umpirical.domain.errors import ConfigError
from umpirical.domain.stimuli import GivenWinner, NoPreference
from umpirical.stimuli.controlled.carriers.carrier import (
    Carrier,
    check_carriers,
    corrupted,
    corruptible,
    corruption_problem,
    deletable,
    deletion_problem,
    layout_problem,
    read_carriers,
    without,
)
from umpirical.stimuli.controlled.carriers.crossing import carriers_checked
from umpirical.stimuli.controlled.carriers.pairs import LAYOUTS, MOST_EDITED, carrier_stimuli, laid_out
from umpirical.stimuli.controlled.ladder.transforms import TOKENIZERS
from umpirical.store.yaml_files import parse_yaml
from umpirical.text.blocks import markdown_blocks
from umpirical.text.sentences import locate

ANSWER = """\
A simple white loaf takes three hours. You need 500 g of strong flour, 7 g of dried yeast and 10 g of salt. Dr. Smith's
method (e.g. the "slow" one) is not needed.

## Steps

1. Mix the flour with 320 ml of warm water.
2. Knead for 12 minutes. The dough should not stick to the bowl.
3. Let it rise for 90 minutes.
4. Bake at 230 °C for at least 30 minutes.

```python
flour = 500  # grams. Keep this. And this.
```

- Eat it within two days.
- Bread never keeps well in a fridge.

It was first sold sliced on a Monday in July 1928. Many towns had a bakery by then. Some still have one."""

CLAIMS = (
    "You need 500 g of strong flour, 7 g of dried yeast and 10 g of salt.",
    "Knead for 12 minutes.",
    "The dough should not stick to the bowl",
    "Let it rise for 90 minutes",
    "Bread never keeps well in a fridge",
    "It was first sold sliced on a Monday in July 1928.",
)

BREAD = Carrier("bread", "How do I bake a white loaf?", ANSWER, CLAIMS)

TEA = Carrier(
    "tea",
    "How do I brew green tea?",
    "Heat the water to 75 degrees. Steep the leaves for two minutes. Do not stir. Green tea is never boiled.",
    ("Heat the water to 75 degrees.", "Steep the leaves for two minutes."),
)

CARRIERS = [BREAD, TEA]


def made(carriers=CARRIERS, seed=1):
    return list(carrier_stimuli(carriers, seed=seed))


def other(stimulus, carrier):
    [text] = [text for text in stimulus.candidates if text != carrier.answer]
    return text


def test_blocks_are_told_apart():
    assert [block.kind for block in markdown_blocks(ANSWER)] == [
        *("prose", "other", "item", "item", "item", "item", "code", "item", "item", "prose")
    ]


# Deletion


def test_deletion_takes_the_sentence_out_and_nothing_else():
    text = without(ANSWER, [CLAIMS[0]])
    assert "You need" not in text
    assert text == ANSWER.replace(f" {CLAIMS[0]}", "", 1)


def test_a_list_closes_up_and_is_numbered_anew():
    text = without(ANSWER, [CLAIMS[3]])
    assert "2. Knead for 12 minutes. The dough should not stick to the bowl.\n3. Bake at 230" in text
    assert without("1. One.\n1. Two.\n1. Three.", ["Two."]) == "1. One.\n1. Three."
    nested = "1. One.\n2. Two.\n   1. Inner one.\n   2. Inner two.\n3. Three."
    assert without(nested, ["One."]) == "1. Two.\n   1. Inner one.\n   2. Inner two.\n2. Three."


def test_claims_of_one_sentence_go_together():
    answer = "It has 5 rooms and 2 baths. It was built in 1950."
    assert deletable(answer, ["5 rooms", "2 baths", "built in 1950"]) == [(0, 1), (2,)]


def test_a_sentence_that_shares_marks_with_the_next_is_not_torn_apart():
    assert deletable("**It has 5 rooms. It was built in 1950.**", ["5 rooms", "built in 1950"]) == []
    assert deletable("| rooms | 5 |", ["5"]) == []
    assert deletable("# It has 5 rooms", ["5 rooms"]) == []


# Corruption


@pytest.mark.parametrize(
    ("claim", "changed"),
    [
        ("Bake it for 45 minutes.", "45"),
        ("It costs $1,500.50 a month.", "1,500.50"),
        ("It was built in 1928.", "1928"),
        ("It weighs 50kg.", "50"),
        ("About 0.05 of them fail.", "0.05"),
        ("It opens in July.", "July"),
        ("It opens on Monday.", "Monday"),
        ("There are Seven dwarfs.", "Seven"),
        ("It never rains there.", "never"),
        ("It does not float.", "not"),
        ("It cannot float.", "cannot"),
    ],
)
def test_one_word_is_changed_by_the_table(claim, changed):
    for seed in range(20):
        now = corrupted(claim, np.random.default_rng(seed))
        assert now != claim
        before, after = claim.split(), now.split()
        differing = [word for word in before if word not in after]
        assert len(differing) == 1
        assert changed in differing[0]
        if any(letter.isdigit() for letter in changed):
            assert [letter.isdigit() for letter in now] == [letter.isdigit() for letter in claim]
        assert not corruption_problem(Carrier("c", "t", claim, (claim,)), now)


@each(
    "claim",
    [
        "It is quite large.",
        "It holds at least 5 people.",  # who has five has more than three
        "It holds more than 5 people.",
        "It holds 5 or more people.",
        "It takes 5 to 10 minutes.",
        "Between 5 and 10 people come.",
        "See step 5.",  # points somewhere
        "As shown [3].",
        "It was on March 5.",  # no day 85
        "It opens at 9 am.",
        "Trains leave at 10:30.",
        "It is in version 2.0.1.",
        "Water is H2O.",
        "The march was in May.",
        "It is not only large.",
        "Not all of them do not float.",
        "It does not have any rooms.",
        "One of them is here.",
    ],
)
def test_where_another_word_might_be_right_as_well_nothing_is_changed(claim):
    assert not corruptible(claim)


def test_a_claim_with_nothing_to_corrupt_is_only_deleted():
    carrier = Carrier("c", "t", "It is large. It is old. It is red.", ("It is large.", "It is old."))
    assert {(s.stratum, s.delta) for s in made([carrier]) if s.family == "own-graded"} == {
        ("deleted", 1.0),
        ("deleted", 2.0),
    }


# Layout


@pytest.mark.parametrize("name", LAYOUTS)
def test_a_layout_keeps_every_word_and_all_code(name):
    for seed in range(20):
        text = laid_out(ANSWER, name, np.random.default_rng(seed))
        if text is not None:
            assert layout_problem(ANSWER, text) == ""
            assert "```python\nflour = 500  # grams. Keep this. And this.\n```" in text


def test_what_each_layout_does():
    rng = np.random.default_rng(1)
    text = laid_out(ANSWER, "list", rng)
    assert "- It was first sold sliced on a Monday in July 1928.\n- Many towns" in text
    assert "* Eat it within two days.\n* Bread" in laid_out(ANSWER, "bullets", rng)
    assert "minutes.\n\n4. Bake" in laid_out(ANSWER, "whitespace", rng)
    assert laid_out("One sentence alone.", "list", rng) is None


@pytest.mark.parametrize(
    ("one", "now", "problem"),
    [
        ("One two.", "One two.", "nothing differs"),
        ("One two.", "One 2.", "the words differ"),
        ("One two.", "Two one.", "the words differ"),
        ("One.\n```\na  b\n```", "One.\n\n```\na b\n```", "the code differs"),
        ("One.\n\n    a  b", "One.\n\n    a b", "the code differs"),
    ],
)
def test_a_changed_word_is_no_layout(one, now, problem):
    assert layout_problem(one, now) == problem


# Pairs


def test_the_pairs_of_a_carrier():
    stimuli = made([BREAD])
    assert {(s.family, s.stratum, s.delta) for s in stimuli} == {
        *(("own-graded", edit, float(k)) for edit in ("deleted", "corrupted") for k in (1, 2, 3, 4, 5)),
        *(("own-equal", layout, 0.0) for layout in ("whitespace", "list", "bullets")),
    }
    assert len(stimuli) == 13
    assert {s.task_id for s in stimuli} == {"carrier:bread"}
    assert {s.maker for s in stimuli} == {"carriers/1"}


def test_the_unedited_answer_is_the_winner_and_levels_are_claims_intact():
    for stimulus in made():
        carrier = next(c for c in CARRIERS if c.task_id == stimulus.task_id)
        own = stimulus.candidates.index(carrier.answer)
        levels = stimulus.levels
        assert levels[own] == len(carrier.facts)
        assert levels[1 - own] == sum(bool(locate(other(stimulus, carrier), claim)) for claim in carrier.facts)
        if stimulus.family == "own-graded":
            assert stimulus.expectation == GivenWinner(own)
        else:
            assert stimulus.expectation == NoPreference()


def test_which_slot_is_u_is_a_coin():
    owns = [s.candidates.index(BREAD.answer) for seed in range(40) for s in made([BREAD], seed)]
    assert 0.4 < np.mean(owns) < 0.6


def test_deletion_shortens_and_corruption_keeps_the_length_to_a_word():
    words = TOKENIZERS["words and marks"]
    for seed in range(10):
        for stimulus in made([BREAD], seed):
            now, then = (len(words.findall(text)) for text in (other(stimulus, BREAD), ANSWER))
            if stimulus.stratum == "deleted":
                assert now < then
            elif stimulus.stratum == "corrupted":
                assert then - stimulus.delta <= now <= then


def test_the_same_seed_gives_the_same_bytes_and_another_does_not():
    assert [s.id for s in made()] == [s.id for s in made()]
    assert [s.id for s in made(seed=2)] != [s.id for s in made()]
    # Another carrier in the file changes nothing of the first.
    assert [s.id for s in made([BREAD])] == [s.id for s in made() if s.task_id == "carrier:bread"]


# The gate


def gate(carriers=CARRIERS, stimuli=None):
    stimuli = made(carriers) if stimuli is None else stimuli
    return carriers_checked(carriers, stimuli, stimuli)


def test_the_gate_passes_what_was_made():
    found = gate()
    assert found.passed
    assert found.blocks
    assert found.found.startswith("2 answers, 8 facts,")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"facts": ("It was never said.",)}, "occurs 0 times"),
        ({"facts": ("flour",)}, "times in the answer, not once"),
        ({"facts": ("flour = 500",)}, "lies in code"),
        ({"facts": ("3. Let it rise for 90 minutes.",)}, "mark of a list item"),
        ({"facts": ("for 90 minutes. 4. Bake",)}, "more than one paragraph"),
        ({"facts": ("Knead for 12 minutes.", "12 minutes")}, "overlap"),
        ({"facts": ()}, "no fact"),
        ({"facts": ("Steps",)}, "can be deleted or corrupted"),
        ({"id": "tea"}, "the id 'tea'"),
    ],
)
def test_an_unsound_carrier_is_refused_and_nothing_is_made(change, words):
    carriers = [replace(BREAD, **change), TEA]
    found = gate(carriers)
    assert not found.passed
    assert words in found.found
    assert made(carriers) == []


def test_one_answer_under_two_ids_is_refused():
    assert any("have the answer" in problem for problem in check_carriers([BREAD, replace(BREAD, id="again")]))


@pytest.mark.parametrize(
    ("stratum", "old", "new"),
    [
        ("deleted", "Many towns", "Few towns"),
        ("deleted", "Eat it within two days.", ""),
        ("corrupted", "Many towns", "Few towns"),
        ("corrupted", "flour = 500", "flour = 600"),
        ("whitespace", "Many towns", "Few towns"),
        ("list", "two days", "ten days"),
    ],
)
def test_an_edit_that_touches_more_than_its_claims_is_found(stratum, old, new):
    stimuli = made([BREAD])
    place = next(n for n, s in enumerate(stimuli) if s.stratum == stratum)
    texts = tuple(t if t == ANSWER else t.replace(old, new) for t in stimuli[place].candidates)
    stimuli[place] = replace(stimuli[place], candidates=texts)
    found = gate([BREAD], stimuli)
    assert not found.passed
    assert f"(carrier:bread, {stratum})" in found.found


@pytest.mark.parametrize(
    "change",
    [
        {"delta": 2.0, "base": 4.0},
        {"expectation": NoPreference()},
        {"task": "Another task"},
        {"task_id": "carrier:none"},
        {"candidates": ("a", "b")},
    ],
)
def test_a_pair_that_says_something_else_of_itself_is_found(change):
    stimuli = made([BREAD])
    stimuli[0] = replace(stimuli[0], **change)
    assert not gate([BREAD], stimuli).passed


def test_the_winner_turned_round_is_found():
    stimuli = made([BREAD])
    stimuli[0] = replace(stimuli[0], candidates=stimuli[0].candidates[::-1])
    assert not gate([BREAD], stimuli).passed


def test_pairs_that_come_out_otherwise_the_second_time_are_found():
    assert "gives other pairs" in carriers_checked(CARRIERS, made(), made(seed=2)).found


def test_a_claim_corrupted_into_itself_or_into_two_words_is_no_corruption():
    carrier = Carrier("c", "t", "It has 5 rooms. It is old.", ("It has 5 rooms.",))
    assert corruption_problem(carrier, "It has 8 rooms. It is old.") == ""
    for text in ("It has 55 rooms. It is old.", "It has some rooms. It is old.", "It had 8 rooms. It is old."):
        assert corruption_problem(carrier, text)
    assert deletion_problem(carrier, "It is old.") == ""
    assert deletion_problem(carrier, "It is.")


SENTENCES = st.sampled_from(
    [
        "It has 5 rooms.",
        "The roof (built in 1950) leaks!",
        "Dr. Smith lives at no. 7.",
        "**Note:** never use it.",
        "**Half bold. Other half.**",
        "It does not float?",
        "See `x = 5. Y` there.",
        "# not a heading",
        "- 3 is less than 5.",
        "1. is first.",
        "Two  blanks\nand a break.",
        "Ends in a colon:",
        "| a | b |",
        "> quoted. Twice.",
        "ünïcödé 3 ½ — done.",
        "\u2028 odd \x0b breaks.",
    ]
)
PARTS = st.one_of(
    st.lists(SENTENCES, min_size=1, max_size=4).map(" ".join),
    st.lists(SENTENCES, min_size=1, max_size=3).map(lambda items: "\n".join(f"- {item}" for item in items)),
    st.lists(SENTENCES, min_size=1, max_size=3).map(
        lambda items: "\n".join(f"{number}. {item}" for number, item in enumerate(items, 1))
    ),
    st.just("```\ncode. More code. 5\n```"),
    st.just("    indented. Code 5."),
    st.just("## Heading 5"),
    st.just("```\nnever closed"),
)


@given(
    st.lists(PARTS, min_size=1, max_size=5).map("\n\n".join),
    st.lists(SENTENCES, min_size=1, max_size=4, unique=True),
    st.integers(0, 5),
)
@settings(max_examples=400, deadline=None)
def test_whatever_an_answer_looks_like_the_gate_passes_what_is_made_of_it(answer, claims, seed):
    answer = answer.strip()
    sound = [claim for claim in claims if not any(check_carriers([Carrier("c", "t", answer, (claim,))]))]
    carrier = Carrier("c", "t", answer, tuple(sound))
    if any(check_carriers([carrier])):
        assert made([carrier], seed) == []
        return
    stimuli = made([carrier], seed)
    assert gate([carrier], stimuli).passed
    assert all(s.delta <= MOST_EDITED for s in stimuli)
    codes = [answer[b.span.start : b.span.end] for b in markdown_blocks(answer) if b.kind == "code"]
    for stimulus in stimuli:
        assert all(code in text for code in codes for text in stimulus.candidates)


# Reading


GOOD = "answers:\n  - id: a\n    task: T\n    answer: It has 5 rooms.\n    facts: [5 rooms]\n"


def test_a_file_is_read():
    assert read_carriers(parse_yaml(GOOD, name="answers.yaml")) == [Carrier("a", "T", "It has 5 rooms.", ("5 rooms",))]


@pytest.mark.parametrize(
    ("text", "where"),
    [
        (GOOD.replace("task: T", "taks: T"), "answers.yaml:"),
        (GOOD.replace("id: a", "id: a/b"), "answers.yaml:2"),
        (GOOD.replace("[5 rooms]", "['']"), "answers.yaml:5"),
        (GOOD.replace("[5 rooms]", "[5]"), "answers.yaml:5"),
        ("answer: []\n", "answers.yaml:"),
        ("answers: {a: b}\n", "answers.yaml:1"),
    ],
)
def test_a_wrong_file_is_answered_with_its_line(text, where):
    with pytest.raises(ConfigError) as problem:
        read_carriers(parse_yaml(text, name="answers.yaml"))
    assert problem.value.where.startswith(where)
