"""The card: short, and text from outside stays inside its cell."""

import re
from functools import cache
from hashlib import sha256

import pytest
from markdown_it import MarkdownIt

from tests.cases import each
from tests.reports.dissection import shape, shown, skeleton, taken_apart
from tests.reports.payloads import HIDDEN, PAYLOADS, infected
from umpirical.protocols.datasheet.page import render_markdown
from umpirical.reports.record import TroubleRecord, record_json
from umpirical.text.inert import inert

from .samples import SAMPLES, datasheet, incomplete, nothing, simulated, two_variants


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_the_same_record_gives_the_same_bytes(name):
    assert render_markdown(SAMPLES[name]()).encode() == render_markdown(SAMPLES[name]()).encode()


@pytest.mark.parametrize("sample", [datasheet, simulated, incomplete, nothing])
def test_the_card_has_at_most_sixty_lines(sample):
    assert len(render_markdown(sample()).splitlines()) <= 60


def test_many_findings_and_troubles_do_not_lengthen_the_card():
    kinds = [TroubleRecord(outcome="failed", why=f"error {n}", count=n, example="") for n in range(1, 31)]
    sheet = datasheet(findings=[f"Finding {n}." for n in range(40)], trouble=kinds, complete=False)
    card = render_markdown(sheet)
    assert len(card.splitlines()) <= 60
    assert "- And 33 more in the JSON record." in card
    assert "- 455 of 26 other kinds. See the JSON record." in card


def test_the_front_matter_names_the_judge():
    front, _ = taken_apart(render_markdown(datasheet()))
    assert front.pop("policy", "").startswith("ranking, digest ")
    assert front == {
        "format": "judge-datasheet/2",
        "judge": "Qwen2.5-32B-Instruct, pairwise",
        "model": "vllm/Qwen/Qwen2.5-32B-Instruct",
        "run": "2026-01-01-qwen32b-5f2c",
        "fingerprint": "9f0c1b7de2a44d0c8a39b1b52f0e6c7d",
    }


def test_the_ratings_and_the_counts_are_shown():
    card = render_markdown(datasheet())
    assert "| Target sensitivity, Δ1 | 94/100 calls | 94% | [88, 97] |" in card
    assert "| Detection threshold Δ75 | n = 300 calls | ≤ 1 (left-censored) | below 1 |" in card
    assert "- 3 unparsed: no verdict found" in card
    assert "Incomplete" not in card


def test_the_digest_is_that_of_the_record():
    sheet = datasheet()
    assert f"`{sha256(record_json(sheet).encode()).hexdigest()}`" in render_markdown(sheet)


def test_what_is_missing_is_said():
    card = render_markdown(incomplete())
    assert "**Incomplete run: some planned calls have no response.**" in card
    assert "| Target sensitivity, Δ5 | – | Undefined | no call of step 5 was answered |" in card
    assert "Nothing was measured." in render_markdown(nothing())


def test_several_variants_have_a_column():
    card = render_markdown(two_variants())
    assert "| baseline | Dark current | 0/120 prompts |" in card
    assert "| strict | Dark current | 80/120 prompts |" in card


@each("structure", [False, True])
@each("payload", PAYLOADS)
def test_text_from_outside_is_inert(payload, structure):
    for sample in (datasheet, incomplete, two_variants):
        card = render_markdown(infected(sample(), payload, structure=structure))
        card.encode()
        front, tokens = taken_apart(card)
        assert front["judge"] == inert(payload)
        assert [name for name in front if name != "policy"] == ["format", "judge", "model", "run", "fingerprint"]
        assert front["format"] == "judge-datasheet/2"
        assert shape(tokens) == harmless_shape(sample, structure)
        assert not HIDDEN.search(card)
        assert " ".join(inert(payload).split()) in shown(tokens)
        assert not re.search(r"https?://|www\.", card, re.IGNORECASE)


@cache
def harmless_shape(sample, structure):
    _, tokens = taken_apart(render_markdown(infected(sample(), "harmless", structure=structure)))
    return shape(tokens)


@each("payload", PAYLOADS)
def test_front_matter_taken_for_markdown_is_inert_too(payload):
    card = render_markdown(infected(datasheet(), payload, structure=False))
    tokens = MarkdownIt("commonmark", {"html": True}).parse(card[: card.index("\n# ")])
    assert not {kind for kind, _, children in skeleton(tokens) for kind in (kind, *children)} & {
        "html_block", "html_inline", "link_open", "image", "code_inline", "fence",
    }  # fmt: skip
