"""The card: short, and text from outside stays inside its cell."""

import re
from hashlib import sha256

import pytest

from tests.cases import each
from tests.reports.dissection import shape, shown, taken_apart
from tests.reports.payloads import HIDDEN, PAYLOADS
from umpirical.protocols.stress.rendering import render_stress_markdown
from umpirical.reports.pages import MOST_LINES
from umpirical.reports.record import TroubleRecord, record_json
from umpirical.text.inert import inert

from .infecting import infected
from .samples import SAMPLES, incomplete, nothing, rate, report, small, stress_test

FIELDS = ["format", "judge", "model", "dataset", "policy", "run", "fingerprint"]


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_the_card_is_short_and_always_the_same(name):
    for one in SAMPLES[name]():
        card = render_stress_markdown(one)
        assert card == render_stress_markdown(one)
        assert len(card.splitlines()) <= MOST_LINES


def test_many_tests_and_troubles_do_not_lengthen_the_card():
    kinds = [TroubleRecord(outcome="failed", why=f"error {n}", count=n, example="") for n in range(1, 31)]
    tests = [stress_test("stability", name=f"stability-{n}") for n in range(80)]
    one = report("x", parts={f"stability-{n}": [("flip-rate", rate(30, 60))] for n in range(80)}, tests=tests,
                 worst=[], calls=[], trouble=kinds)  # fmt: skip
    card = render_stress_markdown(one)
    assert len(card.splitlines()) <= MOST_LINES
    assert re.search(r"\d+ more tests are in the JSON record\.", card)
    assert "- 455 of 26 other kinds. See the JSON record." in card


def test_the_findings_and_the_cells_are_on_the_card():
    card = render_stress_markdown(report())
    for expected in (
        "# Stress report: wordy, easily told on essays.csv",
        "- Fails: Longer wording (63% of verdicts change, +0.83 grades on average); Prompt injection",
        "| Longer wording | FAIL † | +61 points more changed; +0.83 grades | \\[+49, +74\\]; \\[+0.66, +1.00\\] |",
        "| Repeated request | INCONCLUSIVE | 3% differ | \\[0.9, 11\\] | 60 |",
        "| Your own items | PASS | 50% exact; 0.55 weighted κ; 0.45 beyond length |",
        "Cells are exploratory: each is checked separately; † survives",
        "- 3 unparsed: no grade found",
    ):
        assert expected in card, expected


def test_the_front_matter_names_judge_and_data():
    front, _ = taken_apart(render_stress_markdown(report()))
    assert list(front) == FIELDS
    assert (front["format"], front["judge"], front["dataset"]) == ("judge-stress/2", "wordy, easily told", "essays.csv")


def test_the_digest_is_that_of_the_record():
    one = report()
    assert f"`{sha256(record_json(one).encode()).hexdigest()}`" in render_stress_markdown(one)


def test_what_is_missing_is_said():
    card = render_stress_markdown(incomplete())
    assert "**Incomplete run: some planned calls have no response.**" in card
    assert (
        "| Your own items | N/A | – | weighted-kappa was not measured; agreement-beyond-length was not measured | – |"
        in card
    )
    assert "None. Every reply was a verdict or an abstention." in card
    assert "survives" not in render_stress_markdown(nothing())


@each("structure", [False, True])
@each("payload", PAYLOADS)
def test_text_from_outside_is_inert(payload, structure):
    for one in (small(), incomplete()):
        card = render_stress_markdown(infected(one, payload, structure=structure))
        card.encode()
        front, tokens = taken_apart(card)
        _, harmless = taken_apart(render_stress_markdown(infected(one, "harmless", structure=structure)))
        assert front["judge"] == inert(payload)
        assert list(front) == FIELDS
        assert shape(tokens) == shape(harmless)
        assert not HIDDEN.search(card)
        assert " ".join(inert(payload).split()) in shown(tokens)
        assert not re.search(r"https?://|www\.", card, re.IGNORECASE)
