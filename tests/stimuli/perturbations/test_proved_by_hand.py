"""What each perturbation made by program changes and what it must keep, by hand."""

import re

import numpy as np

from tests.cases import each
from umpirical.stimuli.perturbations.catalogue import PERTURBATIONS
from umpirical.stimuli.perturbations.proved import RATE, REAL_WORDS

CODE = "```python\nif  dry :\n\n    say( 'a - b...' )\n```"
LIST = "Rules:\n- Water them daily.\n- Wait an hour.\n- Look again."
PROSE = "Rules:\nWater them daily. Wait an hour. Look again."


def change(name, text, seed=1):
    return PERTURBATIONS.get(name).change(text, np.random.default_rng(seed))


def normal(name, text):
    return PERTURBATIONS.get(name).normal(text)


@each(
    ("name", "text", "changed"),
    [
        ("list-or-prose", LIST, PROSE),
        ("list-or-prose", LIST.replace("\n", "\r\n"), PROSE.replace("\n", "\r\n")),
        ("list-or-prose", "Look around. Then wait. Then look.", "- Look around.\n- Then wait.\n- Then look."),
        ("list-or-prose", "* Look around.\n* Then wait.", "Look around. Then wait."),
        ("markdown-or-plain", "# A title\n\nSome **bold words**.", "A title\n\nSome bold words."),
        ("markdown-or-plain", "- One **two**: three\n- Four", "One two: three\nFour"),
        ("markdown-or-plain", "## 1. First\n\n**Note:** it (**really**) works", "1. First\n\nNote: it (really) works"),
        ("markdown-or-plain", "word", "**word**"),
        ("markdown-or-plain", "My day\n\nIt is so.", "## My day\n\nIt is so."),
        ("look-alike-punctuation", "\"Don't\" ('ever')...", "“Don’t” (‘ever’)…"),
        ("look-alike-punctuation", "well-known - so", "well‐known – so"),
        ("look-alike-punctuation", "one two", "one\u00a0two"),
        ("heading-case", "# don't panic", "# Don't Panic"),
        ("heading-case", "# DON'T PANIC", "# Don't Panic"),
        ("heading-case", "# Don't Panic", "# DON'T PANIC"),
        ("heading-case", "My day\n\nIt was fine.", "My Day\n\nIt was fine."),
        ("heading-case", "# a `b_c` www.d.org ß", "# A `b_c` www.d.org ß"),
        ("typos", "He does.", "He deos."),
        ("inline-spacing", "9 a b.", None),
        ("indentation", "- one\n- two", "  - one\n  - two"),
        ("vertical-spacing", "one\n\ntwo", None),
        ("blank-lines-removed", "one\n\n\ntwo\n\nthree\n", "one\ntwo\nthree\n"),
        ("blank-lines-removed", "one\r\n\r\ntwo", "one\r\ntwo"),
        ("blank-lines-removed", "one\n \t\n  two", "one\n  two"),
        ("blank-lines-removed", "Words:\n\n- one\n\n- two", "Words:\n- one\n- two"),
        ("blank-lines-removed", "a title\n\n---\n\nand text", "a title\n\n---\nand text"),
        ("blank-lines-removed", "so:\n\n    x = 1\n\nand so", "so:\n\n    x = 1\nand so"),
        ("blank-lines-removed", "so:\n\n| a |\n\nand so", "so:\n\n| a |\nand so"),
        ("blank-lines-removed", "one line only\n\n", "one line only\n\n"),
    ],
)
def test_changed_to(name, text, changed):
    given = change(name, text)
    if changed is None:
        assert given != text
        assert given.split() == text.split()
    else:
        assert given == changed
    assert normal(name, given) == normal(name, text)


@each(
    ("name", "text"),
    [
        *(
            (name, text)
            for name in PERTURBATIONS.names()[:8]
            for text in ("", " ", "\n\n", "\r\n \t", CODE, "{}", "<a b>")
        ),
        *((name, '{"a": "It is well-known... so."}') for name in PERTURBATIONS.names()[:8]),
        ("vertical-spacing", "One sentence"),
        ("vertical-spacing", "It was Mr. Smith of the U.S. Army, e.g. Prof. Smith"),
        ("vertical-spacing", "| a | b |\n| c | d |"),
        ("vertical-spacing", "def f():\n    a = 1\n    return a"),
        ("inline-spacing", "1 000 000"),
        ("inline-spacing", "- a\n# b\n1. c"),
        ("inline-spacing", "`a b c` $a b c$ <a b c> a_b 9 c_d 9 e@f.org"),
        ("inline-spacing", "    for a in b:\n        print a"),
        ("indentation", "def f():\n    return 1\n\nprint(f())"),
        ("indentation", "- one\n  - two\n\n- three"),
        ("list-or-prose", "Two sentences here. No more here."),
        ("list-or-prose", "First line. Then more.\nSecond line. Then more. Then more."),
        ("list-or-prose", "- no stop\n- No stop either"),
        ("list-or-prose", "1. Numbered ones.\n2. Are kept."),
        ("list-or-prose", "- One that ends.\n  It goes on.\n- Another that ends."),
        ("markdown-or-plain", "`**a**` 2 ** 3 ** 4 x**y**z a_b"),
        ("look-alike-punctuation", '5\' 10" 1-2 3 - 2 1...3 .... `"a"`'),
        ("heading-case", "Just prose. Nothing above it.\n\nAnd more of it."),
        ("heading-case", "Dear Sir,\n\nYours"),
        ("heading-case", "Text.\n\nA last line"),
        ("heading-case", "STUDENT_NAME\n\nText."),
        ("heading-case", "```\n# a comment\n```"),
        ("typos", "It is so big"),
        ("typos", "NASA Paris been 漢字漢字漢字 abc123 google.com well-being"),
        ("typos", "from"),
    ],
)
def test_nothing_to_change(name, text):
    assert change(name, text) == text


@each(
    ("name", "one", "other"),
    [
        ("vertical-spacing", "a b", "a  b"),
        ("vertical-spacing", "a\nb", "a b"),
        ("vertical-spacing", "a\n b", "a\nb"),
        ("vertical-spacing", "a\nb", "ab"),
        ("vertical-spacing", "so it was then", "so it was\nthen"),
        ("vertical-spacing", "```\na\n\nb\n```", "```\na\nb\n```"),
        ("inline-spacing", "a b", "ab"),
        ("inline-spacing", "a b", "a\tb"),
        ("inline-spacing", "a\n b", "a\n  b"),
        ("inline-spacing", "a b", "a b "),
        ("inline-spacing", "1 2", "1  2"),
        ("inline-spacing", "`a b`", "`a  b`"),
        ("indentation", "a b", "a  b"),
        ("indentation", "a\nb", "a\n\nb"),
        ("indentation", "a\nb", "ab"),
        ("indentation", "a ", "a"),
        ("indentation", "```\na\n```", "```\n a\n```"),
        ("list-or-prose", "- a", "a"),
        ("list-or-prose", "One ends. Two ends.", "One ends.  Two ends."),
        ("list-or-prose", "One ends. Two ends.", "One ends Two ends."),
        ("list-or-prose", "1. One ends.", "One ends."),
        ("list-or-prose", "- 5", "5"),
        ("markdown-or-plain", "2**3", "23"),
        ("markdown-or-plain", "a * b", "a b"),
        ("markdown-or-plain", "a *b* c", "a b c"),
        ("markdown-or-plain", "`**a**`", "`a`"),
        ("markdown-or-plain", "- 5", "5"),
        ("look-alike-punctuation", "1-2", "1–2"),
        ("look-alike-punctuation", "a-b", "a–b"),
        ("look-alike-punctuation", "a-b", "ab"),
        ("look-alike-punctuation", "5'", "5’"),
        ("look-alike-punctuation", '"a"', "'a'"),
        ("look-alike-punctuation", "a b", "ab"),
        ("look-alike-punctuation", "`'`", "`’`"),
        ("heading-case", "# a\n\nnasa", "# a\n\nNASA"),
        ("heading-case", "# a", "## a"),
        ("heading-case", "# a b", "# a  b"),
        ("heading-case", "# `Ab`", "# `ab`"),
        ("typos", "form", "farm"),
        ("typos", "does", "odes"),
        ("typos", "does", "dose"),
        ("typos", "Does", "Deos"),
        ("typos", "ab cd", "abcd"),
        ("typos", "it goes on", "it geos on."),
        ("typos", "1234", "1324"),
        ("typos", "`does`", "`deos`"),
    ],
)
def test_the_normal_form_tells_apart(name, one, other):
    assert normal(name, one) != normal(name, other)


def test_vertical_spacing_prefers_paragraphs_then_lines_then_sentences():
    assert re.fullmatch(r"a\nb\n{3,6}c\nd", change("vertical-spacing", "a\nb\n\nc\nd"))
    assert re.fullmatch(r"a\n{2,5}b\n{2,5}c", change("vertical-spacing", "a\nb\nc"))
    sentences = "It rained. We stayed inside. Nobody came."
    assert re.search(r"[a-z]\.\n{2,4}[A-Z]", change("vertical-spacing", sentences))


def test_vertical_spacing_adds_the_line_breaks_that_the_text_has():
    assert re.fullmatch(r"a(\r\n){3,6}b", change("vertical-spacing", "a\r\n\r\nb"))
    assert re.fullmatch(r"a\r{3,6}b", change("vertical-spacing", "a\r\rb"))


def test_the_lines_of_a_paragraph_are_indented_alike():
    lines = change("indentation", "one\ntwo\nthree").split("\n")
    indents = {line[: len(line) - len(line.lstrip())] for line in lines}
    assert len(indents) == 1
    assert indents != {""}


def test_an_indented_paragraph_is_prose_and_an_indented_line_of_code_is_not():
    paragraph = "\tThis was the day that we had been waiting for since spring."
    assert change("typos", paragraph) != paragraph
    assert change("typos", "\twhile waiting for something") == "\twhile waiting for something"
    assert change("typos", paragraph.replace(".", ";")) == paragraph.replace(".", ";")


def test_typos_come_at_the_stated_rate_and_at_least_once():
    for words in (1, 10, 100, 1_000):
        text = " ".join(["something"] * words)
        typos = sum(word != "something" for word in change("typos", text).split())
        assert typos == max(1, round(RATE * words))
    assert f"{RATE:.0%}" in PERTURBATIONS.get("typos").about


def test_headings_come_in_either_style():
    assert {change("heading-case", "# my day", seed) for seed in range(20)} == {"# MY DAY", "# My Day"}


def test_no_typo_makes_another_word():
    text = " ".join(["there trial form united calm"] * 200)
    for seed in range(20):
        typos = [word for word in change("typos", text, seed).split() if word not in text.split()]
        assert typos
        assert not REAL_WORDS & set(typos)


def test_every_real_word_is_one_swap_from_another():
    for word in REAL_WORDS:
        swaps = {word[:n] + word[n + 1] + word[n] + word[n + 2 :] for n in range(1, len(word) - 2)}
        assert swaps & (REAL_WORDS - {word}), word
