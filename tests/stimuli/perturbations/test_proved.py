"""What holds for every perturbation made by program, on any text."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.timing import LINEAR, growth
from umpirical.stimuli.perturbations.catalogue import PERTURBATIONS, ProvedPerturbation
from umpirical.stimuli.perturbations.proof import prove

NAMES = [name for name in PERTURBATIONS.names() if isinstance(PERTURBATIONS.get(name), ProvedPerturbation)]

FRAGMENTS = [
    *("\n", "\n\n", "\r\n", "\r", "\t", " ", "  ", "    ", "\u00a0", "\u2028", "\x85", "\x0b", "\x00", "\ud800"),
    *("```", "~~~", "`", "``", "$", "<", ">", "<b>", "{", "}", "[", "]", "**", "*", "***", "\\", "_", "|", "="),
    *("- ", "* ", "+ ", "• ", "# ", "## ", "1. ", "> ", "- Alpha went home.", "* Beta came in. ", "• Gamma sat."),
    *('"', "'", "“", "”", "‘", "’", "(", ")", ".", "...", "…", "!", "?", ",", ":", ";", "-", " - ", "–", "‐"),
    *("http", "://", "www", "www.a", "@", "htpt", "**Bold** ", "**Note:** ", "Title Words", "Reasons:"),
    *("The ", "word. ", "Another sentence. ", "It was there. ", "thing ", "things", "aBcd", "NASA ", "Mr. ", "from"),
    *("ß", "ı", "İ", "ŉ", "ǰ", "σς", "e\u0301", "\u0345", "K", "ſ", "漢字漢字", "привет ", "😀", "1", "23 ", "5' "),
]
TEXTS = st.lists(st.sampled_from(FRAGMENTS), max_size=25).map("".join) | st.text(max_size=60)
SENTENCES = st.lists(
    st.sampled_from(
        [
            "Alpha went home.",
            "Beta came in.",
            "- Gamma sat down.",
            "* Delta rose.",
            " ",
            "\n",
            "\n\n",
            "\r\n",
            "- ",
            "\r",
        ]
    ),
    max_size=14,
).map("".join)


@pytest.fixture(params=NAMES)
def perturbation(request) -> ProvedPerturbation:
    return PERTURBATIONS.get(request.param)


@given(text=TEXTS | SENTENCES, seed=st.integers(0, 2**32))
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_proof_holds_and_the_normal_form_is_its_own(perturbation, text, seed):
    changed = perturbation.change(text, np.random.default_rng(seed))
    assert changed == perturbation.change(text, np.random.default_rng(seed))
    normal = perturbation.normal(text)
    assert perturbation.normal(normal) == normal
    if changed != text:
        assert prove(perturbation, text, changed)["proof"] == f"equal after {perturbation.maker} normal form"


@given(text=SENTENCES, seed=st.integers(0, 2**32))
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_code_and_links_are_kept_to_the_letter(perturbation, text, seed):
    code = "```\nsay  'a - b'...\n\n\n- And then.\n# Not a heading\n```"
    link = "https://example.org/some-words_here?q='a'"
    whole = f"{text}\n\n{code}\n\nIt is on the page {link} for all to see.\n\n{text}"
    changed = perturbation.change(whole, np.random.default_rng(seed))
    assert code in changed
    assert link in changed


@given(text=TEXTS | SENTENCES, seed=st.integers(0, 2**32))
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_letters_and_digits_stay_but_for_typos_and_case(perturbation, text, seed):
    changed = perturbation.change(text, np.random.default_rng(seed))
    if perturbation.name.endswith("-claim"):
        changed = changed.partition("]\n\n")[2]
    before, after = ([c for c in whole if c.isalnum()] for whole in (text, changed))
    if perturbation.name == "typos":
        before, after = sorted(before), sorted(after)
    if perturbation.name == "heading-case":
        before, after = ([c.casefold() for c in letters] for letters in (before, after))
    assert before == after


@pytest.mark.parametrize("size", [25_000, pytest.param(100_000, marks=pytest.mark.slow)])
def test_a_long_text_takes_time_in_proportion(perturbation, size):
    paragraph = 'A title\n\nIt was said: "we don\'t know well-known things". Then **we** left. They left. It ended.\n\n'

    def work(length, mark):
        text = f"{mark}\n\n" + (paragraph * 10_000)[:length]
        changed = perturbation.change(text, np.random.default_rng(1))
        prove(perturbation, text, changed)
        assert changed != text

    assert growth(work, size=size) < LINEAR
