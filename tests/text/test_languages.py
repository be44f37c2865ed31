"""The language of a text: sentences of the same content, short ones, code, and languages that are not known here."""

import csv
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cases import each
from umpirical.text.words import LEAST_WORDS, UNKNOWN, common_share, language_of, tellable

ESSAYS = Path(__file__).parents[2].parent / "shared" / "data" / "persuade" / "essays.csv"

HARBOUR = {
    "English": "The harbour was quiet when we came down to the water, and nobody had yet opened the small cafe at the "
    "end of the pier.",
    "German": "Der Hafen war ruhig, als wir zum Wasser hinunterkamen, und niemand hatte das kleine Café am Ende des "
    "Stegs schon geöffnet.",
    "French": "Le port était calme quand nous sommes descendus vers l'eau, et personne n'avait encore ouvert le petit "
    "café au bout de la jetée.",
    "Spanish": "El puerto estaba tranquilo cuando bajamos hasta el agua, y nadie había abierto todavía el pequeño café "
    "al final del muelle.",
    "Italian": "Il porto era tranquillo quando siamo scesi verso l'acqua, e nessuno aveva ancora aperto il piccolo "
    "caffè alla fine del molo.",
    "Portuguese": "O porto estava calmo quando descemos até à água, e ninguém tinha ainda aberto o pequeno café no fim "
    "do cais.",
    "Dutch": "De haven was rustig toen we naar het water liepen, en niemand had het kleine café aan het einde van de "
    "pier al geopend.",
    "Cyrillic": "Гавань была тиха, когда мы спустились к воде.",
    "Greek": "Το λιμάνι ήταν ήσυχο όταν κατεβήκαμε στο νερό.",
    "Japanese": "私たちが水辺に降りたとき、港は静かでした。",
    "Chinese": "我们走到水边时港口很安静。",
    "Korean": "우리가 물가로 내려갔을 때 항구는 조용했다.",
    "Arabic": "كان الميناء هادئا عندما نزلنا إلى الماء",
    "Hebrew": "הנמל היה שקט כשירדנו אל המים",
}

ELSEWHERE = {
    "Swedish": "Hamnen var lugn när vi kom ner till vattnet, och ingen hade ännu öppnat det lilla kaféet i slutet av "
    "piren.",
    "Danish": "Havnen var stille, da vi kom ned til vandet, og ingen havde endnu åbnet den lille café for enden af "
    "molen.",
    "Polish": "Port był spokojny, kiedy zeszliśmy nad wodę, i nikt jeszcze nie otworzył małej kawiarni na końcu mola.",
    "Romanian": "Portul era liniștit când am coborât la apă și nimeni nu deschisese încă mica cafenea de la capătul "
    "digului.",
    "Catalan": "El port estava tranquil quan vam baixar fins a l'aigua, i ningú no havia obert encara el petit cafè al "
    "final del moll.",
    "Turkish": "Suya indiğimizde liman sessizdi ve iskelenin sonundaki küçük kafeyi henüz kimse açmamıştı, biz de "
    "bekledik.",
    "no language": "xq zzk jjw ppl rty qwe asd zxc vbn fgh jkl uio mnb vcx",
    "code": "def add(a, b):\n    return a + b\nfor i in range(10):\n    print(i, add(i, i))\nimport os, sys\nx = y",
}


@each("language", HARBOUR)
def test_a_sentence_is_enough(language):
    assert language_of(HARBOUR[language]) == language
    assert tellable(HARBOUR[language])


@pytest.mark.parametrize("language", ELSEWHERE)
def test_what_is_not_known_is_not_taken_for_something_else(language):
    assert language_of(ELSEWHERE[language]) == UNKNOWN


@pytest.mark.parametrize("text", ["", "   \n", "Yes.", "The answer is yes.", "12 + 30 = 42", "🙂🙂🙂", "___"])
def test_short_texts_are_unknown(text):
    assert language_of(text) == UNKNOWN
    assert not tellable(text)


def test_one_word_more_and_a_language_can_be_told():
    words = ("the harbour was quiet when we came down to the " * 2).split()
    assert language_of(" ".join(words[: LEAST_WORDS - 1])) == UNKNOWN
    assert language_of(" ".join(words[:LEAST_WORDS])) == "English"


def test_a_text_of_two_languages_in_equal_parts_is_unknown():
    assert language_of(f"{HARBOUR['English']} {HARBOUR['German']}") == UNKNOWN


def test_a_quotation_does_not_change_the_language():
    assert language_of(f"{HARBOUR['English'] * 4} {HARBOUR['Cyrillic']} Die Uhr") == "English"


def test_a_typographic_apostrophe_is_an_apostrophe():
    french = "C’est ce qu’il a dit et c’est d’un ami que je le tiens avec une autre."
    assert language_of(french) == language_of(french.replace("’", "'")) == "French"


def test_the_share_of_common_words():
    assert common_share("the dog and the cat", "English") == pytest.approx(3 / 5)
    assert common_share("", "English") == 0
    assert common_share(HARBOUR["German"], "German") > 0.3 > common_share(HARBOUR["German"], "English")


@settings(deadline=None)
@given(st.text(alphabet=st.characters(), max_size=300))
def test_any_text_has_an_answer(text):
    assert language_of(text) in {*HARBOUR, UNKNOWN, "Devanagari", "Bengali", "Tamil", "Thai", "Georgian", "Armenian"}
    assert 0 <= common_share(text, "English") <= 1


@pytest.mark.skipif(not ESSAYS.exists(), reason="needs the essays in ../shared/data/persuade")
def test_real_essays_with_all_their_mistakes_are_english():
    with ESSAYS.open(encoding="utf-8", newline="") as file:
        assert {language_of(row["full_text"]) for row in csv.DictReader(file)} == {"English"}
