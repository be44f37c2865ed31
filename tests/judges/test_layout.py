"""Layouts in prompts and answers: whatever the positions are called and however answers are listed, positions come
back."""

from itertools import product

import pytest

from tests.cases import each
from umpirical.domain.judgments import Abstained, Unparsed, Verdict
from umpirical.domain.responses import Response
from umpirical.domain.scales import Choice
from umpirical.domain.trials import LABEL_SETS, PLAIN, TIE_PLACES, Layout, Presentation
from umpirical.judges.answers import AnswerReader, read_response
from umpirical.judges.layout import crossed_variants, layout_values, layout_words
from umpirical.judges.prompt import builtin_prompt
from umpirical.judges.spec import JudgeSpec

EVERY = [Layout(*one) for one in product(LABEL_SETS, (False, True), (False, True), range(TIE_PLACES))]

MODEL = {"adapter": "openai-compatible", "name": "m", "base_url": "http://127.0.0.1/v1"}


def read(text, layout):
    return read_response(AnswerReader(None), Response("t", text), Presentation(layout=layout))


def test_the_options_of_a_layout_by_hand():
    layout = Layout("A/B", labels_swapped=True, options_swapped=True, tie_place=0)
    assert layout_values(layout) == {
        "first_label": "B",
        "second_label": "A",
        "winners": '"A" if candidate A is better, "B" if candidate B is better',
        "options": '"tie", "A" if candidate A is better, "B" if candidate B is better',
    }


def test_a_prompt_without_a_layout_is_plain():
    assert layout_values(None) == layout_values(PLAIN)
    assert layout_values(None)["options"] == '"1" if candidate 1 is better, "2" if candidate 2 is better, "tie"'


@each("layout", EVERY)
def test_the_label_of_a_slot_is_read_as_that_slot(layout):
    label_1, label_2 = layout.slot_labels
    assert read(f'{{"verdict": "{label_1}"}}', layout) == Verdict(Choice.POSITION_1)
    assert read(label_2, layout) == Verdict(Choice.POSITION_2)
    assert read('{"verdict": "tie"}', layout) == Verdict(Choice.TIE)
    assert read('{"verdict": "abstain"}', layout) == Abstained()


def test_a_label_of_another_set_is_no_verdict():
    assert isinstance(read('{"verdict": "1"}', Layout("A/B")), Unparsed)
    assert isinstance(read('{"verdict": "A"}', None), Unparsed)


@each("layout", EVERY)
def test_the_place_of_the_tie_is_how_many_candidates_come_before_it(layout):
    assert list(layout_words(layout)).index("tie") == layout.tie_place


def test_the_schema_lists_the_answers_in_the_order_of_the_prompt():
    reader = AnswerReader(None).under(Presentation(layout=Layout("X/Y", options_swapped=True, tie_place=1)))
    assert '"enum":["Y","tie","X","abstain"]' in reader.schema().replace(" ", "")


def test_layouts_are_crossed_only_where_the_prompt_leaves_them_open():
    plain = "{{task}} {{first}} {{second}}: answer 1, 2 or tie"
    prompts = {
        "baseline": builtin_prompt("compare"),
        "own": plain,
        "forced-choice": builtin_prompt("compare-forced-choice"),
    }
    assert crossed_variants(JudgeSpec(name="j", model=MODEL, prompts=prompts)) == ("baseline", "forced-choice")


@pytest.mark.parametrize("answer", [{"labels": {"one": "1", "two": "2"}}, {"pattern": "(?P<answer>1|2)"}])
def test_a_judge_with_words_of_its_own_keeps_them(answer):
    spec = JudgeSpec(name="j", model=MODEL, prompts={"baseline": builtin_prompt("compare")}, answer=answer)
    assert crossed_variants(spec) == ()
