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
    "vacuum": Family.VACUUM,
    "delta0": Family.DELTA0,
    "ladder": Family.LADDER,
    "figures": Family.FIGURES,
    "delta0-subset": Family.SUBSET,
    "length": Family.LENGTH,
    "conflict": Family.CONFLICT,
    "carrier-ladder": Family.CARRIER_LADDER,
    "carrier-delta0": Family.CARRIER_DELTA0,
    "carrier-figures": Family.CARRIER_FIGURES,
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

    row = Row(family=Family.LADDER, counts={Family.LADDER: 1})
    assert type(row.family) is str
    assert row.model_dump_json() == '{"family":"ladder","counts":{"ladder":1}}'


def test_an_id_does_not_depend_on_how_a_family_is_spelt_in_the_code():
    plain = Stimulus("task", "Do it.", ("u", "v"), NoPreference(), "ladder/1", "delta0")
    named = replace(plain, family=Family.DELTA0)
    assert named == plain
    assert named.id == plain.id


def test_carriers_are_tier_2_and_nothing_else_is():
    assert {family for family in NAMES if family in TIER_2} == {
        "carrier-ladder",
        "carrier-delta0",
        "carrier-figures",
    }
    assert ORIGINAL == "original"
