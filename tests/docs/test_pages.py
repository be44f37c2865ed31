"""What every page has to keep."""

from tests.cases import each
from tests.docs.reading import PAGES, ROOT, links, table
from umpirical.measures.catalogue import MEASURES
from umpirical.registry import load_object

GLOSSARY = table(ROOT / "docs" / "reference" / "glossary.md", "word")


@each("page", PAGES)
def test_every_link_and_image_is_there_and_inside_the_project(page):
    for link in links(page):
        target = (page.parent / link.partition("#")[0]).resolve()
        assert target.exists(), link
        assert target.is_relative_to(ROOT), link


def test_the_glossary_has_every_word_once_in_order():
    words = [word.casefold() for word, *_ in GLOSSARY]
    assert len(words) >= 40
    assert words == sorted(set(words))


@each("row", GLOSSARY)
def test_a_word_of_the_glossary_is_in_the_code(row):
    _, meaning, place = row
    module, _, name = place.strip("`").rpartition(".")
    assert meaning
    assert load_object(f"{module}:{name}") is not None


def test_the_names_of_the_paper_are_those_of_the_registry():
    told = {
        symbol: measure.partition(",")[0].strip("`")
        for symbol, measure in table(ROOT / "docs" / "reference" / "measures.md", "symbol")
    }
    own = {spec.symbol: spec.name for spec in MEASURES if spec.symbol}
    assert told == own | {spec.symbol_above_0: spec.name for spec in MEASURES if spec.symbol_above_0}
    assert set(told) >= {"MBT", "RFP0", "Other", "DC", "SCS", "PFP", "OSC"}
    words = {word for word, *_ in GLOSSARY}
    assert words >= {"MBT", "RFP0", "Other", "DC", "SCS", "PFP", "OSC"}
