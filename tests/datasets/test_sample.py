"""Which items are taken: as many of each cell as they should, and always the same ones."""

import random
from collections import Counter
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from umpirical.datasets.items import allocate, sample_items
from umpirical.datasets.spec import SampleSpec
from umpirical.domain.errors import ConfigError
from umpirical.domain.stimuli import Item

COUNTS = st.dictionaries(st.text(max_size=3), st.integers(1, 200), min_size=1, max_size=12)


def drawn(counts, size, allocation="proportional"):
    return allocate(counts, size=size, allocation=allocation)


@pytest.mark.parametrize(
    ("counts", "size", "expected"),
    [
        # Shares 6, 3 and 1 exactly.
        ({"a": 60, "b": 30, "c": 10}, 10, {"a": 6, "b": 3, "c": 1}),
        # Shares 3.5, 3.5 and 3: of two equal remainders the first name's.
        ({"b": 35, "a": 35, "c": 30}, 10, {"a": 4, "b": 3, "c": 3}),
        # Shares 4.7, 3.4 and 1.9 of ten: by largest remainder.
        ({"a": 47, "b": 34, "c": 19}, 10, {"a": 5, "b": 3, "c": 2}),
        # The share of c is 0.1: it gets one, and the others share nine.
        ({"a": 60, "b": 39, "c": 1}, 10, {"a": 5, "b": 4, "c": 1}),
        # One for each, exactly.
        ({"a": 98, "b": 1, "c": 1}, 3, {"a": 1, "b": 1, "c": 1}),
        # Fewer than cells: to those with the largest shares.
        ({"a": 50, "b": 30, "c": 20}, 2, {"a": 1, "b": 1, "c": 0}),
        ({"a": 50, "b": 30, "c": 20}, 1, {"a": 1, "b": 0, "c": 0}),
    ],
)
def test_proportional_by_hand(counts, size, expected):
    assert drawn(counts, size) == expected


@pytest.mark.parametrize(
    ("counts", "size", "expected"),
    [
        ({"a": 60, "b": 30, "c": 10}, 9, {"a": 3, "b": 3, "c": 3}),
        # The one left over goes to the largest cell.
        ({"a": 60, "b": 30, "c": 10}, 10, {"a": 4, "b": 3, "c": 3}),
        # What c lacks is spread over the others.
        ({"a": 60, "b": 30, "c": 2}, 12, {"a": 5, "b": 5, "c": 2}),
        ({"a": 60, "b": 3, "c": 2}, 20, {"a": 15, "b": 3, "c": 2}),
        ({"a": 5, "b": 3, "c": 2}, 10, {"a": 5, "b": 3, "c": 2}),
        ({"a": 60, "b": 30, "c": 10}, 2, {"a": 1, "b": 1, "c": 0}),
    ],
)
def test_even_by_hand(counts, size, expected):
    assert drawn(counts, size, "even") == expected


@given(counts=COUNTS, data=st.data(), allocation=st.sampled_from(["proportional", "even"]))
def test_an_allocation_adds_up_fits_and_leaves_no_cell_out_that_there_is_room_for(counts, data, allocation):
    size = data.draw(st.integers(1, sum(counts.values())))
    taken = drawn(counts, size, allocation)
    assert taken.keys() == counts.keys()
    assert sum(taken.values()) == size
    assert all(0 <= taken[name] <= counts[name] for name in counts)
    if size >= len(counts):
        assert min(taken.values()) >= 1
    # The order in which cells were met decides nothing.
    shuffled = data.draw(st.permutations(list(counts)))
    assert drawn({name: counts[name] for name in shuffled}, size, allocation) == taken


@given(counts=COUNTS, data=st.data())
def test_a_proportional_share_is_rounded_to_a_neighbour_where_none_is_short(counts, data):
    size = data.draw(st.integers(1, sum(counts.values())))
    shares = {name: Fraction(count * size, sum(counts.values())) for name, count in counts.items()}
    assume(size < len(counts) or min(shares.values()) >= 1)
    assert all(abs(drawn(counts, size)[name] - share) < 1 for name, share in shares.items())


@given(counts=COUNTS, data=st.data())
def test_even_cells_differ_by_one_at_most_unless_one_is_used_up(counts, data):
    taken = drawn(counts, data.draw(st.integers(1, sum(counts.values()))), "even")
    most = max(taken.values())
    assert all(taken[name] >= most - 1 or taken[name] == counts[name] for name in counts)


@given(counts=COUNTS, data=st.data())
def test_a_larger_even_allocation_takes_no_less_of_any_cell(counts, data):
    size = data.draw(st.integers(1, sum(counts.values())))
    larger = data.draw(st.integers(size, sum(counts.values())))
    less, more = drawn(counts, size, "even"), drawn(counts, larger, "even")
    assert all(less[name] <= more[name] for name in counts)


def items_of(count, *, named=True):
    """Three labels in the shares 5, 3 and 2, and two topics."""
    labels = "aaaaabbbcc"
    return [
        Item(
            task="t",
            response=f"response {number}",
            labels=(labels[number % 10],),
            strata={"topic": "sky" if number % 3 else "sea"},
            name=f"id-{number}" if named else f"data.csv:{number + 2}",
        )
        for number in range(count)
    ]


def sampled(items, seed=1, **parts):
    return sample_items(items, SampleSpec(**parts), seed=seed)


def responses(items):
    return {item.response for item in items}


def test_a_sample_has_the_size_and_the_shares_it_should():
    taken = sampled(items_of(200), size=40, by=("label",))
    assert Counter(item.labels[0] for item in taken) == {"a": 20, "b": 12, "c": 8}
    even = sampled(items_of(200), size=42, by=("label",), allocation="even")
    assert Counter(item.labels[0] for item in even) == {"a": 14, "b": 14, "c": 14}
    crossed = sampled(items_of(200), size=6, by=("label", "topic"))
    assert {(item.labels[0], item.strata["topic"]) for item in crossed} == {
        (x, y) for x in "abc" for y in ("sky", "sea")
    }


def test_a_sample_keeps_the_order_of_the_file_and_takes_each_item_once():
    items = items_of(100)
    taken = sampled(items, size=30, by=("label",))
    assert [items.index(item) for item in taken] == sorted({items.index(item) for item in taken})
    assert len(taken) == 30


def test_all_are_taken_where_no_size_is_named_or_it_is_too_large():
    items = items_of(10)
    assert sampled(items) == sampled(items, size=10) == sampled(items, size=99, by=("label",)) == items


@pytest.mark.parametrize("named", [True, False])
def test_the_sample_does_not_depend_on_the_order_of_the_file(named):
    items = items_of(100, named=named)
    shuffled = random.Random(5).sample(items, k=100)  # noqa: S311  # no secret
    if not named:
        # Where lines name the items, another order gives them other names.
        shuffled = [
            Item(item.task, item.response, item.labels, item.strata, name=f"data.csv:{place + 2}")
            for place, item in enumerate(shuffled)
        ]
    parts = {"size": 25, "by": ("label",)}
    assert responses(sampled(items, **parts)) == responses(sampled(shuffled, **parts))


def test_the_sample_does_not_depend_on_strata_it_is_not_drawn_by():
    items = items_of(100)
    bare = [Item(item.task, item.response, item.labels, {}, item.name) for item in items]
    assert responses(sampled(items, size=25, by=("label",))) == responses(sampled(bare, size=25, by=("label",)))


def test_the_seed_decides():
    items = items_of(100)
    draws = [responses(sampled(items, seed=seed, size=25)) for seed in range(5)]
    assert all(first != second for place, first in enumerate(draws) for second in draws[place + 1 :])


@pytest.mark.parametrize("allocation", ["proportional", "even"])
def test_a_larger_sample_holds_the_smaller_one(allocation):
    """For these counts no proportional share falls as the sample grows, either."""
    items = items_of(100)
    grown = [responses(sampled(items, size=size, by=("label",), allocation=allocation)) for size in range(3, 100)]
    assert all(small <= large for small, large in pairwise(grown))


def test_of_rows_that_say_the_same_each_has_its_own_draw():
    items = [Item("t", "same", ("a",), name=f"id-{number}") for number in range(100)]
    once = {item.name for item in sampled(items, size=50)}
    assert len(once) == 50
    assert once != {f"id-{number}" for number in range(50)}
    assert once == {item.name for item in sampled(items[::-1], size=50)}


def test_every_item_is_as_likely_as_any_other():
    items, counts = items_of(20), Counter()
    for seed in range(2_000):
        counts.update(item.name for item in sampled(items, seed=seed, size=5))
    # 500 expected of each, standard deviation 19: four of them, over twenty items, is one false alarm in 800.
    assert all(abs(counts[item.name] - 500) < 80 for item in items)


def test_the_same_number_of_each_group_is_taken_or_none():
    taken = sampled(items_of(100), per=2, by=("label", "topic"))
    assert Counter((item.labels[0], item.strata["topic"]) for item in taken) == dict.fromkeys(
        ((label, topic) for label in "abc" for topic in ("sea", "sky")), 2
    )
    assert taken != sampled(items_of(100), seed=2, per=2, by=("label", "topic"))
    assert responses(taken) <= responses(sampled(items_of(100), per=3, by=("label", "topic")))
    with pytest.raises(ConfigError, match="7 of each group are wanted, but 'label=b' has 6, and 1 more of the 3"):
        sampled(items_of(20), per=7, by=("label",))


@pytest.mark.parametrize("parts", [{"per": 2}, {"per": 2, "size": 4, "by": ["label"]}, {"per": 0, "by": ["label"]}])
def test_a_number_of_each_group_needs_groups_and_nothing_else(parts):
    with pytest.raises(ValueError, match="per"):
        SampleSpec(**parts)
