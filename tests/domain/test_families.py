"""Families are text wherever they are compared, counted or written down."""

import json
from dataclasses import replace

import duckdb
import pyarrow as pa
import pytest
from pydantic import BaseModel

from umpirical.domain.digests import canonical_json
from umpirical.domain.stimuli import ORIGINAL, TIER_2, Family, NoPreference, Stimulus

NAMES = {
    "blank": Family.BLANK,
    "equal": Family.EQUAL,
    "graded": Family.GRADED,
    "figures": Family.FIGURES,
    "equal-subset": Family.SUBSET,
    "length": Family.LENGTH,
    "fine": Family.FINE,
    "conflict": Family.CONFLICT,
    "own-graded": Family.OWN_GRADED,
    "own-equal": Family.OWN_EQUAL,
    "own-figures": Family.OWN_FIGURES,
    "original": Family.ORIGINAL,
}


def test_every_family_is_known_here():
    assert [*NAMES.values()] == [*Family]


@pytest.mark.parametrize(("text", "family"), NAMES.items())
def test_a_member_is_its_text(text, family):
    assert family == text
    assert hash(family) == hash(text)
    assert (str(family), f"{family}", f"{family:>20}".strip(), "%s" % family) == (text,) * 4  # noqa: UP031
    assert {text: 1}[family] == {family: 1}[text] == 1


@pytest.mark.parametrize(("text", "family"), NAMES.items())
def test_json_and_sql_and_parquet_see_plain_text(text, family):
    assert json.loads(json.dumps({family: family})) == {text: text}
    assert canonical_json({"family": family}) == f'{{"family":"{text}"}}'
    [(value, kind)] = duckdb.execute("select ?, typeof(?)", [family, family]).fetchall()
    assert (value, kind) == (text, "VARCHAR")
    table = pa.Table.from_pylist([{"family": family}])
    assert table.schema.field("family").type == pa.string()
    assert [type(row["family"]) for row in table.to_pylist()] == [str]


def test_a_record_keeps_the_plain_text():
    class Row(BaseModel):
        family: str
        counts: dict[str, int]

    row = Row(family=Family.GRADED, counts={Family.GRADED: 1})
    assert type(row.family) is str
    assert row.model_dump_json() == '{"family":"graded","counts":{"graded":1}}'


def test_an_id_does_not_depend_on_how_a_family_is_spelt_in_the_code():
    plain = Stimulus("task", "Do it.", ("u", "v"), NoPreference(), "ladder/1", "equal")
    named = replace(plain, family=Family.EQUAL)
    assert named == plain
    assert named.id == plain.id


def test_carriers_are_tier_2_and_nothing_else_is():
    assert {family for family in NAMES if family in TIER_2} == {
        "own-graded",
        "own-equal",
        "own-figures",
    }
    assert ORIGINAL == "original"
