"""What a model says around a text, and what only looks like it."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cases import each
from umpirical.stimuli.generation.checks import chat_around


@each(
    "text",
    [
        "I'm sorry, but I can't help with that.",
        "I’m sorry, I cannot rewrite this essay.",
        "I am very sorry, but as a language model I must decline.",
        "Sorry, but I can't assist with that request.",
        "As an AI language model, I don't have opinions.",
        "As a large language model I cannot do this.",
        "I cannot help with that.",
        "I can't provide a rewritten version of this text.",
        "I won't write that.",
        "I’m unable to translate this.",
        "I'm not able to comply with this request.",
        "I must decline to answer.",
        "\n\n  I'm sorry, but I can't help with that.\n\nIs there anything else?",
    ],
)
def test_refusals(text):
    assert chat_around(text).startswith("a refusal: ")


@each(
    "text",
    [
        "Here is the rewritten text:\n\nIt rained.",
        "Here's a longer version of the essay.\n\nIt rained.",
        "Sure! Here is the paraphrase:\nIt rained.",
        "Sure!\nIt rained.",
        "Sure thing!\nIt rained.",
        "This is the revised essay.\nIt rained.",
        "Certainly, I have expanded the essay for you.\nIt rained.",
        "Certainly. Below is the revised response:\n\nIt rained.",
        "Of course! Here you go:\nIt rained.",
        "Okay, here is the text with an added passage:\nIt rained.",
        "I've rewritten the essay as requested.\n\nIt rained.",
        "Rewritten text:\n\nIt rained.",
        "**Revised version:** It rained.",
        "Hier ist die Fassung auf Deutsch:\nEs regnete.",
        "Voici le texte :\nIl pleuvait.",
    ],
)
def test_preambles(text):
    assert chat_around(text).startswith("a preamble: ")


@pytest.mark.parametrize(
    "text",
    [
        "It rained.\n\nLet me know if you would like any changes!",
        "It rained.\nI hope this helps!",
        "It rained.\n\nWould you like me to shorten it?",
        "It rained.\n\nNote: I have kept all the names.",
    ],
)
def test_closing_remarks(text):
    assert chat_around(text).startswith("a closing remark: ")


@each(
    "text",
    [
        "It rained.",
        "I cannot believe that anyone likes rain.",
        "I can't imagine a world without rain.",
        "I'm sorry to say that it rained.",
        "I am sorry for the people who had no coats.",
        "Sure, rain is wet, but it helps the plants.",
        "Of course it rained.",
        "Absolutely everybody likes rain. They say so.",
        "Here is where it rained most: the hills.",
        "Here is why rain matters. First, plants drink it.",
        "As an airline pilot, I know rain.",
        "I have three reasons why rain is good. My essay names them.",
        "I have a dream.",
        "This is an essay about rain.",
        "This is a response to the article on rain.",
        "I won't go out in the rain.",
        "It rained.\n\nFeel it on your skin.",
        "Let me know if it rains.",
        "New text messages came in all day: it rained.",
    ],
)
def test_texts_that_only_look_like_it(text):
    assert chat_around(text) == ""


def test_what_the_original_says_itself_is_no_chat():
    letter = "I'm sorry, but I can't come to your party.\nLet me know if you got the present."
    assert chat_around(letter).startswith("a refusal")
    assert chat_around(letter, letter + "\nAnn") == ""
    code = "```\nprint(1)\n```"
    assert chat_around(code) == "marks of code around it"
    assert chat_around(code, "```\nprint(2)\n```") == ""


@pytest.mark.parametrize("text", ["", "  ", "\n\n\t"])
def test_nothing_is_no_text(text):
    assert chat_around(text) == "no text"


def test_a_long_line_is_looked_at_where_it_begins():
    assert chat_around("I'm sorry, but I can't help. " + "x " * 100_000).startswith("a refusal")
    assert chat_around("x " * 100_000 + "I'm sorry, but I can't help.") == ""


@settings(deadline=None)
@given(st.text(alphabet=st.characters(), max_size=200), st.text(alphabet=st.characters(), max_size=200))
def test_any_text_has_an_answer(text, original):
    assert isinstance(chat_around(text, original), str)
    assert chat_around(original, original) in ("", "no text")
