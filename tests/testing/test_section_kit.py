"""The kit for report sections: a sound section keeps every promise, and a broken one is caught by its promise."""

from dataclasses import replace
from typing import get_args

import pytest

from tests.cases import each
from tests.protocols.datasheet.samples import datasheet, two_variants
from umpirical.reports.pages import Section, plain
from umpirical.testing.sections import Promise, check_section

SOUND = Section(
    "served-by",
    ("datasheet",),
    source="<section><h2>Served by</h2>{% for record in records %}<p title='{{ record.judge.name }}'>"
    "{{ record.judge.model }}: {{ view.measures }}</p>{% endfor %}</section>",
    view=lambda records: {"measures": len(records[0].measures)},
    card=lambda record: [f"{plain(record.judge.name)}: {len(record.measures)} measures"],
)


def section(source="", **changes):
    return replace(SOUND, **({"source": source} if source else {}), **changes)


def check(found):
    check_section(found, [datasheet(), two_variants()])


def test_a_sound_section_keeps_every_promise():
    check(SOUND)


def forgets(records):
    records[0].judge.capabilities["forgotten"] = True
    return {"measures": 1}


class Counts:
    seen = 0

    def __call__(self, _):
        self.seen += 1
        return {"measures": self.seen}


BROKEN = [
    ("card", section(name="Served By")),
    ("card", section(protocols=())),
    ("card", section(file="a.html")),
    ("something", section(shown=lambda _: False)),
    ("the same again", section(view=Counts())),
    ("the same again", section(view=forgets)),
    ("inert", section("<p>{{ records[0].judge.name|safe }}</p>")),
    ("inert", section("<p title={{ records[0].judge.name }}>x</p>")),
    ("closed", section("<p>x</p><script>alert(1)</script>")),
    ("closed", section("<img src='https://example.org/x.png'>")),
    ("closed", section("<a href='https://example.org/'>x</a>")),
    ("closed", section("<p onclick='x()'>x</p>")),
    ("balanced", section("<section><p>x</section>")),
    ("balanced", section("<p>x")),
    ("short", section(card=lambda record: [record.judge.name] * 11)),
    ("short", section(card=lambda _: ["a\nb"])),
    ("short", section(card=lambda record: [f"Judge: {record.judge.name}"])),
]


@each(("promise", "found"), BROKEN)
def test_a_broken_promise_is_named(promise, found):
    with pytest.raises(AssertionError, match=f"^{promise}: "):
        check(found)


def test_no_promise_goes_untried():
    assert {promise for promise, _ in BROKEN} == set(get_args(Promise))
