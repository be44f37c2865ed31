"""The blocks of a text, in both readings, and its headings."""

import pytest

from tests.cases import each
from umpirical.testing.sample_texts import AWKWARD_TEXTS, ORDINARY_TEXTS
from umpirical.text.blocks import TextSpan, headings, line_runs, markdown_blocks, without_bullet

ANSWER = """\
A simple white loaf takes three hours. You need 500 g of strong flour.

## Steps

1. Mix the flour with 320 ml of warm water.
2. Knead for 12 minutes.
   The dough should not stick to the bowl.

```python
flour = 500  # grams. Keep this.

salt = 10
```

- Eat it within two days.
  * Bread never keeps well in a fridge.

    indented = "code"

| a | b |
| 1 | 2 |

It was first sold sliced in July 1928."""


def kinds(text):
    return [block.kind for block in markdown_blocks(text)]


def runs(text):
    return [[line[0] for line in run] for run in line_runs(text)]


def test_blocks_are_told_apart():
    listed = "prose other item item code item item code other other prose"
    assert kinds(ANSWER) == listed.split()
    items = [block for block in markdown_blocks(ANSWER) if block.kind == "item"]
    assert [(block.indent, block.number) for block in items] == [(0, 1), (0, 2), (0, None), (2, None)]
    assert [ANSWER[block.body :].split(maxsplit=1)[0] for block in items] == ["Mix", "Knead", "Eat", "Bread"]


@pytest.mark.parametrize("fence", ["```", "~~~", "````"])
def test_what_is_in_a_fence_is_code_whatever_it_looks_like(fence):
    text = f"One.\n{fence}md\n# Two. Three.\n- four\n\n1. five\n{fence}\nSix."
    assert kinds(text) == ["prose", "code", "prose"]
    assert runs(text) == [["One."], ["Six."]]


def test_a_fence_that_is_never_closed_is_code_to_the_end():
    assert kinds("One.\n```\ntwo\n\nThree.") == ["prose", "code"]
    assert runs("One.\n```\ntwo\n\nThree.") == [["One."]]


@each("text", [*ORDINARY_TEXTS, *AWKWARD_TEXTS])
def test_between_markdown_blocks_there_is_blank_space_only(text):
    end = 0
    for block in markdown_blocks(text):
        assert not text[end : block.span.start].strip()
        assert block.span.start <= block.body <= block.span.end
        end = block.span.end
    assert not text[end:].strip()


def test_why_there_are_two_readings():
    # A change by program indents lines, marks them and adds blank lines: only the second reading stays the same then.
    text, moved = "One line.\nAnother line.\n\nA third one.", "    One line.\n    Another line.\n\n- A third one."
    assert kinds(text) != kinds(moved)
    assert [len(run) for run in runs(text)] == [len(run) for run in runs(moved)]
    # It also knows every kind of line end, and leaves out what is data as a whole.
    assert runs("One.\r\rTwo.\r\nThree.") == [["One."], ["Two.", "Three."]]
    assert kinds("One.\r\rTwo.\r\nThree.") == ["prose"]
    assert runs('{"one":\n\n"two"}') == []
    assert kinds('{"one":\n\n"two"}') == ["prose", "prose"]


def test_spans_overlap_where_they_share_a_character():
    assert TextSpan(0, 3).overlaps(TextSpan(2, 5))
    assert not TextSpan(0, 3).overlaps(TextSpan(3, 5))


@pytest.mark.parametrize("mark", ["- ", "* ", "+\t", "  - "])
def test_a_bullet_is_taken_off_once(mark):
    assert without_bullet(f"{mark}- so") == "- so"
    assert without_bullet(f"so {mark}") == f"so {mark}"


def test_headings_are_marked_lines_and_short_ones_that_stand_alone_above_something():
    text = "My Day\n\nIt was long. I slept.\n\n## At night\nI read.\n\nDear Ann,\n\nIt was fun\n\nThe end"
    found = [(text[one.start : one.end], one.marked) for one in headings(text)]
    assert found == [("My Day", False), ("At night", True), ("It was fun", False)]
    assert [one.start for one in headings(text.upper())] == [one.start for one in headings(text)]
