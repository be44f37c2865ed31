"""One attempt, from the first question to a verified transcript or the reason why there is none."""

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cases import each
from tests.stimuli.transcripts.rewriting.wanted import (
    AFTER,
    ASK_NOT,
    BEFORE,
    BOOKING,
    CONFIRM,
    EDIT,
    PLAN,
    TERMS,
    drive,
    edit,
    plan,
    refused,
    roles,
    verdict,
    wanted,
)
from umpirical.domain.responses import Response
from umpirical.domain.stimuli import GivenLabel
from umpirical.domain.transcripts import Message, Transcript, transcript_from_text
from umpirical.stimuli.generation.commissions import Writer
from umpirical.stimuli.transcripts.rewriting.commissions import Rubric, RubricItem
from umpirical.stimuli.transcripts.rewriting.rewriting import Dropped, Rewritten
from umpirical.stimuli.transcripts.rewriting.settlement import is_final, settled

FALLBACK = replace(TERMS, fallback=Writer("fallback-1", "elsewhere", 200))


def test_what_is_planned_edited_and_verified_is_a_transcript():
    made, asks = drive(wanted())
    assert isinstance(made, Rewritten)
    assert roles(asks) == ["verifier", "verifier", "planner", "editor", "verifier", "verifier"]
    assert made.transcript.messages[4].text == ASK_NOT
    pairs = zip(BOOKING.messages, made.transcript.messages, strict=True)
    changed = [number for number, (one, two) in enumerate(pairs, 1) if one != two]
    assert changed == [5] == [step.message for step in made.steps] == [one.number for one in made.edits]
    assert [vote.status for vote in (*made.original, *made.votes)] == ["satisfied"] * 2 + ["violated"] * 2
    assert all(result.passed for result in made.checks)
    pieces = [(piece.kind, piece.text) for piece in made.edits[0].diff if piece.kind != "same"]
    assert pieces == [("removed", "Shall "), ("removed", "?"), ("added", " now.")]


def test_the_record_is_a_stimulus_with_its_evidence():
    commission = wanted()
    made, _ = drive(commission)
    attempt = settled(commission, 0, made)
    stimulus = attempt.stimulus
    assert stimulus.expectation == GivenLabel("violated")
    assert (stimulus.gold, stimulus.gold_from) == ("violated", "construction")
    assert transcript_from_text(stimulus.candidates[0]).messages == made.transcript.messages
    assert (stimulus.family, stimulus.parent, stimulus.strata) == (
        "agent-perturbation",
        commission.source.id,
        {"city": "Oslo"},
    )
    assert stimulus.maker.startswith("agent-perturbation/1+")
    assert stimulus.evidence["verdicts on the original"] == "verifier-1: satisfied; verifier-1: satisfied"
    assert json.loads(stimulus.evidence["steps"]) == [[5, "Do not ask.", False]]
    assert attempt.opinions == ("violated", "violated")
    assert attempt.rejected == ""


# The original's own status comes first


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ((AFTER, AFTER), "is not better than the target"),
        ((BEFORE, AFTER, "nonsense"), "disagree"),
        (("nonsense", "nonsense"), "disagree"),
        ((refused(), refused()), "disagree"),
        ((Response("t", None, failure="rejected", failure_detail="HTTP 400: too long"),) * 2, "disagree"),
        ((Response("t", None, failure="server-error", failure_detail="HTTP 500"),) * 2, "disagree"),
    ],
    ids=["already violated", "one each", "nonsense", "refuses", "rejected", "errs"],
)
def test_an_original_that_is_not_settled_as_satisfied_is_dropped_before_anything_is_planned(said, reason):
    dropped, asks = drive(wanted(), verifier=said)
    assert isinstance(dropped, Dropped)
    assert (dropped.stage, set(roles(asks))) == ("original", {"verifier"})
    assert reason in dropped.reason
    assert is_final(settled(wanted(), 0, dropped))


@pytest.mark.parametrize("always", ["violated", "satisfied"])
@pytest.mark.parametrize("objective", ["violate", "satisfy"])
def test_a_verifier_that_says_the_same_of_everything_lets_nothing_pass(always, objective):
    dropped, _ = drive(wanted(objective=objective), verifier=verdict(always))
    assert isinstance(dropped, Dropped)
    assert dropped.stage == ("original" if (always == "violated") == (objective == "violate") else "verifier")


@pytest.mark.parametrize(
    "broken",
    [
        "not a list",
        Transcript(()).text,
        Transcript(BOOKING.messages[3:]).text,
        Transcript((Message("user", "Hello?"),)).text,
    ],
    ids=["no JSON", "empty", "an answer to no call", "no agent"],
)
def test_an_original_that_no_agent_can_have_had_costs_nothing(broken):
    commission = wanted()
    commission = replace(commission, source=replace(commission.source, candidates=(broken,)))
    dropped, asks = drive(commission)
    assert (dropped.stage, asks) == ("original", [])


# Planners that do not plan


@each(
    ("said", "cause"),
    [
        (plan((99, "Do it.")), "a message that does not exist"),
        (plan((0, "Do it.")), "a message that does not exist"),
        (plan((-1, "Do it.")), "a message that does not exist"),
        ('{"steps": [{"message": true, "change": "x"}]}', "a message that does not exist"),
        ('{"steps": [{"message": "5", "change": "x"}]}', "a message that does not exist"),
        (plan((1, "Drop the rule.")), "a message that must not change"),
        (plan((6, "Say no.")), "a message that must not change"),
        (plan(*((5, "Do it."),) * 500), "too many steps"),
        (plan((5, "Do it."), (5, "Again.")), "the same message twice"),
        (plan(), "no steps"),
        (plan((5, "  ")), "a step without a change"),
        (plan((5, "x" * 5000)), "a change that is too long"),
        ('{"plan": []}', "not a list of steps"),
        ("Message 5, I think.", "not JSON"),
        ("I'm sorry, but I can't help with that.", "refused"),
        ("", "empty"),
        (refused(), "refused"),
        (Response("t", PLAN, finish_reason="length"), "cut off at max_tokens"),
    ],
)
def test_a_plan_that_breaks_a_bound_is_no_plan(said, cause):
    dropped, asks = drive(wanted(), planner=said)
    assert isinstance(dropped, Dropped)
    assert dropped.stage == "planner"
    assert f"({cause})" in dropped.reason
    assert "editor" not in roles(asks)


# Editors that do not edit


@each(
    ("said", "cause"),
    [
        (edit(5, BOOKING.messages[4].text), "an unchanged message"),
        (edit(9, "All is booked."), "the wrong message"),
        (json.dumps([{"message": 5, "content": "x"}, {"message": 9, "content": "y"}]), "not a JSON object"),
        (edit(5, ASK_NOT, role="user"), "unexpected fields"),
        (edit(5, ASK_NOT, tool_calls=[]), "unexpected fields"),
        (edit(5, "   "), "a message without its text"),
        (edit(5, 7), "no text for content"),
        ('{"message": 5, "content": "\\ud800"}', "an invalid half character in content"),
        ('{"message": 5, "content": "a", "content": "b"}', "not JSON"),
        (ASK_NOT, "not JSON"),
        ("As an AI, I cannot do this.", "refused"),
        ("I'm sorry, but I can't help with that.", "refused"),
        (refused(), "refused"),
        ("[" * 100_000, "not JSON"),
    ],
)
def test_an_edit_that_is_none_is_dropped(said, cause):
    dropped, asks = drive(wanted(), editor=said)
    assert isinstance(dropped, Dropped)
    assert dropped.stage == "editor"
    assert f"({cause})" in dropped.reason
    assert roles(asks)[-1] == "editor"


def call(arguments, *, tool="book", identity="c2", count=1):
    return [{"id": identity, "function": tool, "arguments": arguments}] * count


@pytest.mark.parametrize(
    ("calls", "cause"),
    [
        (call('{"room": "R-18"'), "arguments that are not a JSON object"),
        (call("[1]"), "arguments that are not a JSON object"),
        (call('{"room": NaN}'), "arguments that are not a JSON object"),
        (call(7), "no text for arguments"),
        (call('{"room": "R-18"}', identity="c9"), "different tool calls"),
        (call('{"room": "R-18"}', count=2), "different tool calls"),
        ([], "different tool calls"),
        ("book", "tool calls that are not a list"),
    ],
)
def test_a_call_that_no_agent_could_make_is_dropped(calls, cause):
    dropped, _ = drive(wanted(), planner=plan((7, "Book another.")), editor=edit(7, "I book it.", tool_calls=calls))
    assert dropped.stage == "editor"
    assert f"({cause})" in dropped.reason


def test_marks_of_the_prompt_do_not_get_into_a_transcript():
    def parrot(ask):
        mark = ask.request.messages[0].content.partition("[before, ")[2][:8]
        return edit(5, f"{ASK_NOT} [end of message, {mark}]")

    dropped, _ = drive(wanted(), editor=parrot)
    assert "(marks of its prompt)" in dropped.reason


# Words, calls and what came later


def test_a_message_that_says_one_room_and_books_another_is_dropped():
    said = edit(7, "I book R-17.", tool_calls=call('{"room": "R-18"}'))
    dropped, asks = drive(wanted(), planner=plan((7, "Book another room.")), editor=said)
    assert (dropped.stage, dropped.reason) == ("coherence", "check words fit calls")
    assert "still says R-17 and calls book without it" in dropped.detail
    assert roles(asks).count("verifier") == 2


PRICED = plan((4, "The room costs 990 kroner."))
TOLD = edit(4, 'room R-17 in Oslo, 990 kroner, "sea view"')


def test_later_messages_that_depended_on_an_edit_are_repaired():
    def editor(ask):
        prompt = ask.request.messages[0].content
        if "[message, " in prompt and "message 4: " in prompt.partition("[message, ")[2][:40]:
            return TOLD
        number = 5 if '"Room R-17' in prompt.partition("[message, ")[2][:80] else 9
        return edit(number, BOOKING.messages[number - 1].text.replace("840", "990"))

    made, asks = drive(wanted(), planner=PRICED, editor=editor)
    assert isinstance(made, Rewritten)
    assert [(step.message, step.repair) for step in made.steps] == [(4, False), (5, True), (9, True)]
    assert '"840"' in made.steps[1].change
    assert "840" not in made.transcript.text
    assert roles(asks).count("editor") == 3
    # What the editor of a later message reads is what now stands before it.
    assert "990 kroner" in asks[4].request.messages[0].content


def test_a_repair_that_repairs_nothing_is_dropped():
    said = (TOLD, edit(5, "Room R-17 costs 840 kroner. Shall I?"), edit(9, "Booked: BK-2931, for 990 kroner."))
    dropped, _ = drive(wanted(), planner=PRICED, editor=said)
    assert (dropped.stage, dropped.reason) == ("coherence", "check nothing outdated")
    assert dropped.detail == "nothing outdated: message 5 still has 840"


def test_a_planned_message_that_keeps_what_is_gone_is_not_edited_twice():
    said = (TOLD, edit(5, "Room R-17 costs 840 kroner. Shall I?"))
    dropped, asks = drive(wanted(), planner=plan((4, "It costs 990."), (5, "Say so.")), editor=said)
    assert dropped.reason == "a later message cannot be repaired"
    assert roles(asks).count("editor") == 2


def test_what_the_user_repeats_cannot_be_repaired():
    messages = list(BOOKING.messages)
    messages[5] = Message("user", "Yes, for 840.")
    dropped, _ = drive(wanted(Transcript(tuple(messages))), planner=PRICED, editor=TOLD)
    assert dropped.reason == "a later message cannot be repaired"
    assert dropped.detail == "message 6 is not the agent's, and has 840"


def test_too_many_dependent_messages_are_not_repaired():
    dropped, _ = drive(wanted(terms=replace(TERMS, most_repairs=1)), planner=PRICED, editor=TOLD)
    assert dropped.reason == "too many later messages depend on the edits"


def test_the_answer_to_a_changed_call_is_repaired_even_if_the_user_named_the_value_first():
    looks = [{"id": "c1", "function": "find_flat", "arguments": '{"city": "Bergen", "nights": 2}'}]
    said = (edit(3, "I look for one.", tool_calls=looks), edit(4, "room R-17 in Bergen, 840 kroner"))
    made, _ = drive(wanted(), planner=plan((3, "Look in Bergen.")), editor=said)
    assert isinstance(made, Rewritten)
    assert [(step.message, step.repair) for step in made.steps] == [(3, False), (4, True)]
    # The name of the tool that answers is the program's business.
    assert made.transcript.messages[3].tool == "find_flat"


# Verifiers


@pytest.mark.parametrize(
    "after",
    [
        "nonsense",
        verdict("violated", item="polite"),
        verdict("broken"),
        '{"status": "violated", "item": "confirm"}',
        '{"status": "violated", "item": "confirm", "why": "x", "sure": true}',
        "violated",
        refused(),
        Response("t", AFTER, finish_reason="length"),
        Response("t", AFTER, finish_reason="content_filter"),
        Response("t", None, failure="server-error", failure_detail="HTTP 500"),
        Response("t", None, failure="timeout", failure_detail="120 s"),
    ],
)
def test_whatever_is_no_verdict_on_this_item_is_no_vote(after):
    dropped, _ = drive(wanted(), verifier=(BEFORE, BEFORE, after, after))
    assert isinstance(dropped, Dropped)
    assert (dropped.stage, dropped.reason) == ("verifier", "the verifiers gave no verdict")
    assert all(vote.status is None for vote in dropped.votes)
    # It is kept, so that a person can see what was not taken.
    assert dropped.transcript.messages[4].text == ASK_NOT


def test_one_error_among_votes_that_agree_is_no_harm_and_no_help():
    made, _ = drive(wanted(), verifier=(BEFORE, "nonsense", BEFORE, AFTER, refused(), AFTER))
    assert isinstance(made, Rewritten)
    dropped, _ = drive(wanted(), verifier=(BEFORE, BEFORE, AFTER, refused(), BEFORE))
    assert dropped.reason == "the verifiers do not confirm the target"


def test_a_label_called_failed_or_refused_is_a_label():
    item = RubricItem("confirm", "Ask.", replace(CONFIRM.scale, labels=("failed", "refused")))
    commission = wanted(rubric=Rubric((item,)))
    made, _ = drive(commission, verifier=(verdict("refused"),) * 2 + (verdict("failed"),) * 2)
    assert isinstance(made, Rewritten)
    dropped, _ = drive(commission, verifier=(verdict("refused"),) * 2 + (refused(),) * 2)
    assert isinstance(dropped, Dropped)
    assert settled(commission, 0, dropped).opinions == ("(refused)", "(refused)")


@pytest.mark.parametrize(
    "declined",
    [
        refused(),
        Response("t", None, failure="rejected", failure_detail="HTTP 400: content policy"),
        Response("t", "", finish_reason="content_filter"),
        "I'm sorry, but I can't help with that.",
    ],
)
def test_where_the_verifier_refuses_its_fallback_is_asked(declined):
    made, asks = drive(wanted(terms=FALLBACK), verifier=(BEFORE, BEFORE, declined, declined), fallback=(AFTER, AFTER))
    assert isinstance(made, Rewritten)
    assert [vote.by for vote in made.votes] == ["fallback", "fallback"]
    assert asks[-1].request.model == "fallback-1"
    assert asks[-1].request.messages == asks[-2].request.messages


@pytest.mark.parametrize("trouble", ["nonsense", Response("t", None, failure="timeout", failure_detail="slow")])
def test_an_error_is_not_a_refusal_so_no_fallback_is_asked(trouble):
    dropped, asks = drive(wanted(terms=FALLBACK), verifier=(BEFORE, BEFORE, trouble, trouble), fallback=AFTER)
    assert dropped.stage == "verifier"
    assert "fallback" not in roles(asks)


def test_where_the_fallback_refuses_too_there_is_no_vote():
    dropped, _ = drive(wanted(terms=FALLBACK), verifier=(BEFORE, BEFORE, refused(), refused()), fallback=refused())
    assert dropped.reason == "the verifiers gave no verdict"


def test_a_verifier_sees_the_rubric_and_the_transcript_and_neither_plan_nor_aim():
    _, asks = drive(wanted())
    first, last = (ask.request for ask in asks if ask.role == "verifier" and ask in (asks[0], asks[-1]))
    one, two = first.messages[0].content, last.messages[0].content
    assert RubricItem.shown.fget(CONFIRM) in one
    assert BOOKING.text in one
    assert "Do not ask." not in two
    # Both directions are asked about in the same words, so neither can be read off the question.
    other, _ = drive(wanted(objective="satisfy"), verifier=(AFTER, AFTER, BEFORE, BEFORE))
    assert isinstance(other, Rewritten)
    _, asks = drive(wanted(objective="satisfy"), verifier=(AFTER, AFTER, BEFORE, BEFORE))
    assert asks[0].request == first
    assert asks[-1].request.messages == last.messages
    assert first.answer_schema == last.answer_schema


def test_a_schema_asks_for_the_reasons_before_the_verdict_and_for_the_place_before_the_change():
    """A server that is held to a schema writes the fields in its order."""
    _, asks = drive(wanted())
    fields = {ask.role: list(json.loads(ask.request.answer_schema)["properties"]) for ask in asks}
    assert fields["verifier"] == ["item", "why", "status"]
    assert next(iter(fields["editor"])) == "message"
    [plan_asked] = [ask for ask in asks if ask.role == "planner"]
    step = json.loads(plan_asked.request.answer_schema)["properties"]["steps"]["items"]
    assert list(step["properties"]) == ["message", "change"]


def test_the_original_is_asked_about_in_the_same_questions_by_every_attempt():
    _, one = drive(wanted(), 0)
    _, two = drive(wanted(), 1)
    assert [ask.id for ask in one[:2]] == [ask.id for ask in two[:2]]
    assert not {ask.id for ask in one[2:]} & {ask.id for ask in two[2:]}
    assert len({ask.id for ask in one}) == len(one)


# Levels, rubrics and summaries


def test_an_ordinal_item_is_aimed_at_a_level():
    said = tuple(verdict(level, item="polite") for level in ("3", "3", "1", "1"))
    made, _ = drive(wanted(item="polite", level="1"), verifier=said)
    assert isinstance(made, Rewritten)
    raised = tuple(verdict(level, item="polite") for level in ("1", "2", "1", "3", "3"))
    made, _ = drive(wanted(item="polite", level="3", objective="satisfy"), verifier=raised)
    assert isinstance(made, Rewritten)
    missed = tuple(verdict(level, item="polite") for level in ("3", "3", "2", "2"))
    dropped, _ = drive(wanted(item="polite", level="1"), verifier=missed)
    assert dropped.reason == "the verifiers do not confirm the target"
    below = tuple(verdict(level, item="polite") for level in ("1", "1"))
    dropped, _ = drive(wanted(item="polite", level="2"), verifier=below)
    assert dropped.reason == "the original is not better than the target"


def test_a_level_may_be_said_as_a_number():
    said = tuple(json.dumps({"status": level, "item": "polite", "why": ""}) for level in (3, 3, 1, 1))
    made, _ = drive(wanted(item="polite", level="1"), verifier=said)
    assert isinstance(made, Rewritten)


@pytest.mark.parametrize(("objective", "level"), [("violate", "4"), ("satisfy", "1"), ("violate", "7")])
def test_an_aim_that_nothing_can_reach_is_refused(objective, level):
    with pytest.raises(ValueError, match=level):
        wanted(item="polite", objective=objective, level=level)


def test_every_row_may_have_its_own_rubric():
    one, two = wanted(), wanted(rubric=Rubric((RubricItem("confirm", "Never ask the user anything."),)))
    assert one.id != two.id
    _, asks = drive(two)
    assert "Never ask the user anything." in asks[0].request.messages[0].content


def test_a_long_past_is_summarised_as_it_goes_on():
    terms = replace(TERMS, verbatim=0)
    steps = plan((5, "Do not ask."), (9, "Thank nobody."))
    said = (EDIT, edit(9, "Your room R-17 is booked: BK-2931, for 840 kroner. Bye."))
    made, asks = drive(wanted(terms=terms), planner=steps, editor=said, summariser=("first things", "more things"))
    assert isinstance(made, Rewritten)
    assert roles(asks)[2:7] == ["planner", "summariser", "editor", "summariser", "editor"]
    second = asks[5].request.messages[0].content
    assert "first things" in second
    assert "message 5: " in second
    assert ASK_NOT in second
    assert "message 4: " not in second
    assert "more things" in asks[6].request.messages[0].content


@pytest.mark.parametrize("said", ["", refused(), "I'm sorry, but I can't help with that."])
def test_a_summariser_that_says_nothing_ends_the_attempt(said):
    dropped, asks = drive(wanted(terms=replace(TERMS, verbatim=0)), summariser=said)
    assert dropped.stage == "summariser"
    assert "editor" not in roles(asks)


# Whatever they say


anything = st.one_of(
    st.text(max_size=60),
    st.sampled_from([PLAN, EDIT, BEFORE, AFTER, plan((4, "x"), (9, "y")), TOLD, "null", "[]", "{}"]),
    st.recursive(
        st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=8)),
        lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=8), inner, max_size=3)),
        max_leaves=8,
    ).map(json.dumps),
    st.builds(lambda kind: Response("t", None, failure=kind), st.sampled_from(["refused", "rejected", "timeout"])),
)


@settings(max_examples=150, deadline=None)
@given(st.lists(anything, min_size=40, max_size=40))
def test_whatever_models_answer_it_ends_and_nothing_unverified_passes(answers):
    given_answers = iter(answers)
    roles_asked = ("planner", "editor", "verifier", "summariser", "fallback")
    everyone = {role: lambda _ask: next(given_answers) for role in roles_asked}
    outcome, _ = drive(wanted(terms=FALLBACK), **everyone)
    if isinstance(outcome, Rewritten):
        assert sum(vote.status == "violated" for vote in outcome.votes) >= TERMS.agree
        assert sum(vote.status == "satisfied" for vote in outcome.original) >= TERMS.agree
        assert list(outcome.transcript.problems()) == []
        assert 0 < outcome.share <= 1
    record = settled(wanted(terms=FALLBACK), 0, outcome)
    assert (record.stimulus is None) == isinstance(outcome, Dropped)


@pytest.mark.parametrize("agree", [0, 1, 4])
def test_less_than_a_majority_of_votes_cannot_agree(agree):
    with pytest.raises(ValueError, match="votes are not a majority"):
        replace(TERMS, votes=3, agree=agree)
