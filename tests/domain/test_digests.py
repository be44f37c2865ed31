"""Digests: one spelling for one value, and an id for everything."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from umpirical.domain.digests import canonical_json, digest

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=10,
)


def test_a_known_value_never_changes():
    # From `printf 'item\n{"a":1,"b":"é"}' | sha256sum`. Ids are on people's disks: a change would orphan their runs.
    assert digest("item", {"b": "é", "a": 1}) == "002d3163be78916f0a0c20b21b8b4488"


@given(st.dictionaries(st.text(), VALUES, max_size=6))
def test_the_order_of_keys_does_not_matter(payload):
    assert digest("x", payload) == digest("x", dict(reversed(payload.items())))


@given(VALUES)
def test_canonical_json_is_json_of_the_same_value(payload):
    assert json.loads(canonical_json(payload)) == payload


def test_the_order_of_a_list_matters():
    assert digest("x", [1, 2]) != digest("x", [2, 1])


def test_the_kind_matters_and_cannot_be_smuggled_in():
    assert digest("item", [1]) != digest("stimulus", [1])
    assert digest("a\n", "b") != digest("a", "\nb")


def test_lone_surrogates_have_ids_of_their_own():
    assert len({digest("x", text) for text in ("\ud800", "\udfff", "\\ud800")}) == 3


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_what_is_no_json_number_has_no_digest(number):
    with pytest.raises(ValueError, match="Out of range"):
        digest("x", [number])
