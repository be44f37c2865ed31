"""The first shard of each question, against a dictionary."""

import random
import tracemalloc

from hypothesis import given
from hypothesis import strategies as st

from umpirical.runs.plan import FirstAsked

# Few first halves, so that many ids differ in the second alone, and the ends of what 128 bits hold.
HALVES = st.sampled_from(["0" * 16, "f" * 16, "00000000000000a1"])
IDS = st.builds(lambda first, second: first + second, HALVES, st.one_of(HALVES, st.sampled_from(["1" * 16, "2" * 16])))


@given(st.lists(st.lists(IDS, max_size=12), max_size=12))
def test_it_says_what_a_dictionary_says(shards):
    known, found = {}, FirstAsked()
    for number, ids in enumerate(shards):
        wanted = {trial_id: known.setdefault(trial_id, number) for trial_id in ids}
        assert found.add(ids, number) == wanted


def test_it_says_so_of_many_and_takes_a_fraction_of_the_memory():
    draw = random.Random(3)  # noqa: S311  # to make ids
    often = [f"{draw.getrandbits(128):032x}" for _ in range(4_000)]
    shards = [[*draw.sample(often, 600), *(f"{draw.getrandbits(128):032x}" for _ in range(1_400))] for _ in range(60)]
    known = {}
    tracemalloc.start()
    wanted = [{one: known.setdefault(bytes.fromhex(one), number) for one in ids} for number, ids in enumerate(shards)]
    del wanted
    dictionary, _ = tracemalloc.get_traced_memory()
    found = FirstAsked()
    for number, ids in enumerate(shards):
        found.add(ids, number)
    both, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (both - dictionary) * 3 < dictionary
    for ids in shards:
        assert found.add(ids, 60) == {one: known[bytes.fromhex(one)] for one in ids}
