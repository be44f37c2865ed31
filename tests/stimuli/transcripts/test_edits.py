from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.stimuli.transcripts.runs import TOOLS, transcripts
from umpirical.domain.policies import Closing, Figures, Forbid, Require, figures_in, policy_from_text
from umpirical.domain.transcripts import transcript_from_text
from umpirical.stimuli.transcripts.cases import (
    EDITS,
    PLACES,
    ExampleCall,
    GivenRule,
    cases_of,
    cut_ending,
    derived_rules,
    drop_calls,
    insert_calls,
    lengthen,
    message_changes,
    swap_figures,
)

DELETE = ExampleCall("delete_all", '{"sure": true}', "deleted 31415 rows")


def sound(transcript):
    return not list(transcript.problems()) and transcript_from_text(transcript.text).messages == transcript.messages


@given(transcripts(), st.sampled_from(PLACES), st.integers(1, 4))
def test_an_inserted_call_is_all_that_is_new(run, place, times):
    edited = insert_calls(run, DELETE, place, times=times)
    added = [message for message in edited.messages if message not in run.messages]
    assert sound(edited)
    assert len(added) == 2 * times
    assert [message for message in edited.messages if message not in added] == list(run.messages)
    assert sum(call.tool == "delete_all" for message in added for call in message.calls) == times
    assert edited.messages[-1] == run.messages[-1]


@given(transcripts())
def test_places_are_in_order(run):
    first = [
        next(number for number, message in enumerate(insert_calls(run, DELETE, place).messages) if message.calls
             and message.calls[0].tool == "delete_all")
        for place in PLACES
    ]  # fmt: skip
    assert first == sorted(set(first))


@given(transcripts(), st.sampled_from(TOOLS))
def test_dropped_calls_are_all_that_is_gone(run, tool):
    dropped = drop_calls(run, tool)
    if tool not in run.tools:
        assert dropped is None
        return
    edited, first = dropped
    assert sound(edited)
    assert tool not in edited.tools
    others = [call for message in run.messages for call in message.calls if call.tool != tool]
    assert [call for message in edited.messages for call in message.calls] == others
    assert [message.text for message in edited.messages if message.role != "tool" and message.text] == [
        message.text for message in run.messages if message.role != "tool" and message.text
    ]
    assert run.messages[:first] == edited.messages[:first]


@given(transcripts(), st.sampled_from((1, None)))
def test_swapped_figures_are_all_that_is_changed(run, most):
    swapped = swap_figures(run, most=most)
    if swapped is None:
        return
    edited, first, size = swapped
    assert sound(edited)
    assert len(edited.messages) == len(run.messages)
    changed = [(one, two) for one, two in zip(run.messages, edited.messages, strict=True) if one != two]
    assert changed
    assert all(one.role == "tool" for one, _ in changed)
    assert run.messages[first] != edited.messages[first]
    gone = set()
    for one, two in changed:
        before, after = ([found.group() for found in figures_in(message.text)] for message in (one, two))
        gone |= {old for old, new in zip(before, after, strict=True) if old != new}
        assert one.text.translate(str.maketrans("", "", "0123456789")) == two.text.translate(
            str.maketrans("", "", "0123456789")
        )
    assert len(gone) == size
    assert not Figures().holds(edited)


@given(transcripts())
def test_what_is_cut_off_is_the_end(run):
    edited, size = cut_ending(run)
    assert sound(edited)
    assert edited.messages == run.messages[:-size]
    assert not Closing().holds(edited)


@given(transcripts(), st.sampled_from((2.0, 4.0)))
def test_a_lengthened_run_is_longer_and_says_nothing_new(run, factor):
    longer = lengthen(run, factor)
    if longer is None:
        return
    assert sound(longer)
    assert len(longer.text) >= factor * len(run.text) * 0.95
    assert set(longer.tools) == set(run.tools)
    assert {message.text for message in longer.messages} <= {"", *(message.text for message in run.messages)}


@settings(deadline=None)
@given(st.lists(transcripts(), min_size=2, max_size=3))
def test_every_case_is_true_by_program_and_turns_with_the_policy(runs):
    made = 0
    for run in runs:
        skipped = Counter()
        for case in cases_of(run, derived_rules(run, runs), edits=list(EDITS.values()), skipped=skipped):
            made += 1
            assert sound(case.edited)
            assert case.policy.holds(case.original)
            assert not case.policy.holds(case.edited)
            # Only the tested rule is broken, and only it is turned.
            broken = [rule for rule in case.policy.rules if not rule.holds(case.edited)]
            assert broken == [case.tested]
            assert policy_from_text(case.opposite.text).rules.count(case.tested.opposite) == 1
            if case.crossed:
                assert case.opposite.holds(case.edited)
                assert not case.opposite.holds(case.original)
            assert list(message_changes(case.original, case.edited))
    assert made


@given(transcripts())
def test_a_rule_that_a_run_breaks_is_tested_by_its_opposite(run):
    tool = run.tools[0]
    found = list(cases_of(run, [GivenRule(Forbid(tool), DELETE)], edits=list(EDITS.values()), skipped=Counter()))
    assert [case.tested for case in found] == [Require(tool)]


@given(transcripts())
def test_what_cannot_be_made_is_counted(run):
    skipped = Counter()
    assert not list(cases_of(run, [GivenRule(Forbid("delete_all"))], edits=list(EDITS.values()), skipped=skipped))
    assert skipped == {"forbidden-call: the transcript has no example of a call to the forbidden tool": 1}
