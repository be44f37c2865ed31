"""What the first screen of every report on one judge has to say, read from the page itself."""

import re

from tests.reports.dissection import Page
from umpirical.domain.measures import Estimate

MARKS = {"pass": "PASS", "fail": "FAIL", "open": "INCONCLUSIVE", "none": "N/A"}


def first_screen(html):
    """The text of everything before the folded sections."""
    return " ".join(Page(html.partition('<details class="fold">')[0] + "</main></body></html>").text.split())


def assert_says_what_to_do(html, record, overview, steps):
    """Verdict, worst failure with its number and threshold, and next steps that fit, on a short first screen."""
    text = first_screen(html)
    assert record.decision.title in text
    assert overview.worst in text
    assert steps
    assert all(step.words in text and step.command in text for step in steps)
    assert record.judge.fingerprint not in text
    assert record.judge.fingerprint in Page(html).text
    again = any("measure it again" in step.words for step in steps)
    gate = any(step.command.startswith("umpirical gate") for step in steps)
    assert gate == (record.decision.verdict in {"use", "use-with-restrictions"})
    if record.decision.verdict == "do-not-use":
        assert again
        assert re.search(r"\d.*\(must be .*\d", overview.worst)


def assert_rows_are_of_the_record(rows, record, written):
    """Every check of the page has the value, interval and verdict of the record; `written` formats a measure."""
    found = {(one.name, one.stratum): one for one in record.measures if one.variant == "baseline" and not one.group}
    for row in rows:
        measure = found.get((row.measure, row.part))
        if measure is None or not isinstance(measure.result, Estimate):
            assert (row.value, row.interval) == ("", "")
        else:
            assert (row.value, row.interval) == written(measure)


def assert_tiles_are_of_rows(tiles, rows):
    by_anchor = {row.anchor: row for row in rows}
    for tile in tiles:
        if tile.anchor not in by_anchor:
            assert (tile.mark, tile.value) == ("none", "")
            continue
        row = by_anchor[tile.anchor]
        assert MARKS[tile.mark] == row.verdict
        assert (tile.value, tile.interval, tile.threshold) == (row.value, row.interval, row.threshold)
