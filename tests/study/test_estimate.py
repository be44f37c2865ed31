"""What a run will take, before it is run: counted by hand, held against what then happens."""

from decimal import Decimal

import pytest

from tests.protocols.datasheet.end_to_end.conftest import JUDGES, Silent
from tests.runs.loopback import CALLS, responses, swayed_answer, write_study
from tests.servers.chat_server import ChatServer
from tests.stimuli.built import lend_stimuli
from tests.stimuli.own_tasks import CROSSED_SINGLE
from umpirical.domain.errors import UsageError
from umpirical.domain.responses import Usage
from umpirical.models.money import FREE, most_input_tokens
from umpirical.models.prices import UNPRICED, TokenPrices
from umpirical.models.requests import ChatRequest
from umpirical.runs.plan import shown
from umpirical.stats.precision import half_width
from umpirical.stimuli.controlled.ladder.transforms import TRANSFORMS
from umpirical.study.estimate import PlanEstimate, estimate_run, pricers_of
from umpirical.study.file import parse_study, read_study
from umpirical.study.prepare import prepare_run
from umpirical.study.run import complete_run

SONNET = "adapter: openai-compatible, name: claude-sonnet-4-5, base_url: 'https://api.anthropic.com/v1'"
LOCAL = "adapter: openai-compatible, name: mine, base_url: 'http://127.0.0.1:9/v1'"


@pytest.fixture
def plan(tmp_path):
    """Plans a study of one judge, and estimates its run."""

    lend_stimuli(tmp_path)

    def plan(
        model: str, *, prices=None, design="size: screen", tasks="", judge="", concurrency=16, allow_unpriced=False
    ):
        text = f"study: s\n{tasks}design: {{{design}}}\njudges:\n  - name: one\n    model: {{{model}}}\n{judge}"
        loaded = parse_study(text, tmp_path)
        run = prepare_run(loaded, loaded.spec.judges[0])
        (pricer,) = pricers_of([run], prices or {}, allow_unpriced=allow_unpriced)
        return run, estimate_run(run, pricer, concurrency=concurrency)

    return plan


def requests(run) -> list[ChatRequest]:
    """Every request of a run, rendered here and not by what is tested."""
    judge, stimuli = run.call.open_judge(), run.stimuli
    trials = [pair for shard in range(run.shards) for pair in run.store.plan_shard(shard)]
    return [
        judge.request(shown(stimuli.part(part)[trial.stimulus_id], trial.presentation.order), trial.presentation)
        for trial, part in trials
    ]


def prompt_bytes(request: ChatRequest) -> int:
    return len((request.messages[0].content + request.answer_schema).encode())


def test_tokens_and_prices_add_up_over_every_call(plan):
    run, found = plan(f"{LOCAL}, price: {{input: 2, output: 8}}")
    asked = requests(run)
    assert (found.trials, found.answered, found.calls) == (CALLS, 0, CALLS) == (len(asked), 0, run.calls_left())
    expected_input = sum(-(-prompt_bytes(request) // 4) for request in asked)
    most_input = sum(map(most_input_tokens, asked))
    assert (found.input_tokens.expected, found.input_tokens.at_most) == (expected_input, most_input)
    assert (found.output_tokens.expected, found.output_tokens.at_most, found.output_basis) == (15, 256, "constrained")
    assert found.expected == (expected_input * Decimal(2) + CALLS * 15 * Decimal(8)) / 10**6
    assert found.at_most == (most_input * Decimal(2) + CALLS * 256 * Decimal(8)) / 10**6
    assert (found.pricing, found.price_table, found.refusal) == ("priced", "study file 2,8", "")


def test_calls_are_priced_one_by_one_and_not_by_their_sum(plan):
    """All calls together have over 200,000 input tokens, which Sonnet 4.5 would bill double if they were one."""
    _, found = plan(SONNET)
    assert found.input_tokens.expected > 200_000
    assert found.expected == (found.input_tokens.expected * Decimal(3) + CALLS * 15 * Decimal(15)) / 10**6
    assert found.at_most == (found.input_tokens.at_most * Decimal(3) + CALLS * 256 * Decimal(15)) / 10**6
    assert found.price_table == "genai-prices 0.2.1"


def test_an_answer_that_nothing_constrains_is_expected_to_use_up_its_check(plan):
    judge = "    answer: {constrained: false}\n    decoding: {max_tokens: 90}\n"
    _, found = plan(f"{LOCAL}, price: free", judge=judge)
    assert (found.output_tokens.expected, found.output_tokens.at_most, found.output_basis) == (90, 90, "max-tokens")


def test_a_check_below_what_is_expected_is_what_is_expected(plan):
    _, found = plan(f"{LOCAL}, price: free", judge="    decoding: {max_tokens: 8}\n")
    assert (found.output_tokens.expected, found.output_basis) == (8, "constrained")


def test_without_max_tokens_there_is_no_bound_and_no_run(plan):
    _, found = plan(f"{LOCAL}, price: {{input: 1, output: 1}}", judge="    decoding: {max_tokens: null}\n")
    assert found.at_most is None
    assert found.expected > 0
    assert "max_tokens" in found.refusal
    assert "decoding" in found.fix


def test_a_free_server_needs_no_bound(plan):
    _, found = plan(f"{LOCAL}, price: free", judge="    decoding: {max_tokens: null}\n")
    assert (found.expected, found.at_most, found.refusal, found.pricing) == (0, 0, "", "free")
    assert found.output_tokens.at_most is None


def test_an_unknown_price_is_unknown_and_says_what_to_do(plan):
    _, found = plan(LOCAL)
    assert (found.expected, found.at_most, found.pricing) == (None, None, "unknown")
    assert found.refusal == "unknown price for mine at 127.0.0.1"
    assert "price: free" in found.fix


def test_an_unknown_price_that_is_allowed_is_still_unknown(plan):
    run, found = plan(LOCAL, allow_unpriced=True)
    assert (found.expected, found.at_most, found.pricing, found.refusal) == (None, None, "unpriced", "")
    assert pricers_of([run], {}, allow_unpriced=True) == [UNPRICED]


def test_a_price_on_the_command_line_is_used(plan):
    _, found = plan(LOCAL, prices={"mine": TokenPrices(Decimal(1), Decimal(0))})
    assert found.expected == Decimal(found.input_tokens.expected) / 10**6
    assert found.price_table == "--price 1,0"


def test_a_price_for_a_model_nobody_has_is_a_slip(plan):
    with pytest.raises(UsageError, match="no judge uses this model") as error:
        plan(LOCAL, prices={"mien": TokenPrices(Decimal(1), Decimal(0))})
    assert "mine" in error.value.fix


def test_a_simulated_judge_costs_nothing_and_takes_no_time(plan):
    run, found = plan("adapter: simulated, name: careful")
    assert pricers_of([run], {}) == [FREE]
    assert (found.calls, found.expected, found.at_most, found.seconds, found.seconds_basis) == (CALLS, 0, 0, 0, "none")
    assert found.input_tokens is found.output_tokens is None


def test_what_a_function_of_the_users_spends_is_not_known(tmp_path):
    (tmp_path / "answering.py").write_text(JUDGES.read_text())
    lend_stimuli(tmp_path)
    judge = "  - name: f\n    callable: answering:always_first\n"
    study = parse_study(f"study: s\ndesign: {{size: screen}}\njudges:\n{judge}", tmp_path)
    run = prepare_run(study, study.spec.judges[0])
    found = estimate_run(run, pricers_of([run], {})[0], concurrency=4)
    assert (found.calls, found.pricing, found.model) == (CALLS, "own-function", "answering:always_first")
    assert found.expected is found.at_most is found.input_tokens is None
    assert found.refusal == ""
    assert found.seconds == CALLS / 4


def test_repeats_multiply_and_share_their_prompts(plan):
    _, once = plan(f"{LOCAL}, price: {{input: 2, output: 8}}")
    _, thrice = plan(f"{LOCAL}, price: {{input: 2, output: 8}}", design="size: screen, repeats: 3")
    assert thrice.calls == 3 * once.calls
    assert thrice.input_tokens.expected == 3 * once.input_tokens.expected
    assert thrice.at_most == 3 * once.at_most
    assert thrice.expected == 3 * once.expected
    # A vacuum prompt and a pair count once, however often they are asked.
    for measure, units in (("dark-current", 48), ("no-preference", 24)):
        assert [part.units for part in thrice.precision if (part.measure, part.stratum) == (measure, "")] == [units]


def test_time_is_assumed_where_nothing_was_recorded(plan):
    _, found = plan(f"{LOCAL}, price: free", concurrency=8)
    assert (found.seconds, found.seconds_basis, found.concurrency) == (CALLS / 8, "assumed", 8)


def test_a_judge_with_a_memory_is_asked_one_call_at_a_time(plan):
    _, found = plan(f"{LOCAL}, price: free", judge="    capabilities: {stateful: true}\n")
    assert (found.concurrency, found.seconds) == (1, CALLS)


def test_an_adapter_that_retries_by_itself_is_given_room_for_it(plan, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "none-is-needed-to-plan")
    model = "name: openai/mine, base_url: 'http://127.0.0.1:9/v1', price: {input: 2, output: 8}"
    run, plain = plan(f"{LOCAL}, price: {{input: 2, output: 8}}")
    dearest = max(map(most_input_tokens, requests(run))) * Decimal(2) / 10**6 + 256 * Decimal(8) / 10**6
    _, through_inspect = plan(f"adapter: inspect, {model}")
    assert through_inspect.at_most == plain.at_most + 2 * dearest


def test_what_was_answered_is_not_priced_again_and_tells_what_to_expect(tmp_path):
    with ChatServer(swayed_answer, latency=0.01) as server:
        study = read_study(write_study(tmp_path, server.base_url, price="{input: 1000, output: 1000}"))
        run = prepare_run(study, study.spec.judges[0])
        before = estimate_run(run, pricers_of([run], {})[0], concurrency=32)
        complete_run(run, 32, lambda *_: Silent())
    after = estimate_run(run, pricers_of([run], {})[0], concurrency=32)
    assert (before.answered, before.calls, before.output_basis) == (0, CALLS, "constrained")
    assert (after.answered, after.calls, after.expected, after.at_most) == (CALLS, 0, 0, 0)
    assert run.calls_left() == 0
    # The server counts the words of an answer: two, and three of "Hard to say."
    assert (after.output_basis, after.output_tokens.expected) == ("recorded", 3)
    assert after.seconds == 0
    assert after.seconds_basis == "recorded"

    # Another run of the same study with the same model is told by the first, and asks only what is new.
    again = read_study(write_study(tmp_path, server.base_url, repeats=2, price="{input: 1000, output: 1000}"))
    more = prepare_run(again, again.spec.judges[0])
    found = estimate_run(more, pricers_of([more], {})[0], concurrency=32)
    assert (found.answered, found.calls) == (CALLS, CALLS) == (more.trials - more.calls_left(), more.calls_left())
    assert (found.output_basis, found.seconds_basis) == ("recorded", "recorded")
    waited = [answer.latency_ms / 1000 for answer in responses(run.folder)]
    assert min(waited) >= 0.01
    assert found.seconds == pytest.approx(sum(waited) / 32)
    cost = pricers_of([more], {})[0].cost
    assert found.expected == sum(cost(Usage(-(-prompt_bytes(request) // 4), 3)) for request in requests(run))
    assert found.at_most == before.at_most


def test_another_model_of_the_study_tells_nothing(tmp_path):
    with ChatServer(swayed_answer) as server:
        study = read_study(write_study(tmp_path, server.base_url))
        complete_run(prepare_run(study, study.spec.judges[0]), 32, lambda *_: Silent())
        file = tmp_path / "umpirical.yaml"
        file.write_text(file.read_text().replace("name: swayed", "name: other"))
        study = read_study(file)
        run = prepare_run(study, study.spec.judges[0])
        found = estimate_run(run, FREE, concurrency=32)
    assert (found.calls, found.output_basis, found.seconds_basis) == (CALLS, "constrained", "assumed")


def plannable(measure) -> bool:
    """A share whose denominator does not depend on the answers, of the whole or of a step, not of a transform."""
    if measure.scale != "rate" or measure.name in ("one-sided-slot", "one-sided-content", "committed-accuracy"):
        return False
    return measure.name == "dark-current" or measure.stratum not in TRANSFORMS


def test_precision_is_that_of_the_measures_as_they_will_be_counted(plan):
    run, found = plan("adapter: simulated, name: careful")
    planned = {(part.measure, part.stratum): part for part in found.precision}
    measures = complete_run(run, 4, lambda *_: Silent()).record.measures
    measured = {(m.name, m.stratum): m.result for m in measures if m.result.kind == "estimate"}
    assert {(m.name, m.stratum) for m in measures if plannable(m)} & measured.keys() <= planned.keys()
    for key, part in planned.items():
        result = measured[key]
        assert (part.units, part.tasks, part.unit) == (result.denominator, result.clusters, result.unit)
        assert part.half_widths == tuple(
            half_width(p, clusters=part.tasks, per_cluster=part.units / part.tasks, correlation=0.05)
            for p in (0.1, 0.5)
        )


def test_precision_of_a_known_design(plan):
    _, found = plan("adapter: simulated, name: careful")
    planned = {(part.measure, part.stratum): part for part in found.precision}
    # 24 families with one pair of equal quality each: t(23) = 2.0687, sqrt(.25 / 24) = .10206.
    part = planned["positional-false-preference", ""]
    assert (part.units, part.tasks, part.unit) == (24, 24, "pair")
    assert part.half_widths[1] == pytest.approx(2.0687 * 0.10206, abs=1e-4)


def test_a_judge_whose_order_is_fixed_has_no_pairs(plan):
    _, found = plan("adapter: simulated, name: careful", judge="    capabilities: {order_controllable: false}\n")
    assert {part.unit for part in found.precision} == {"prompt", "call"}


def test_one_task_gives_no_interval(plan, tmp_path):
    (tmp_path / "own.yaml").write_text(CROSSED_SINGLE)
    _, found = plan("adapter: simulated, name: careful", tasks="tasks: [own.yaml]\n")
    # Two vacuum prompts; an equal pair, two crossed pairs and a conflict, in both orders.
    assert found.calls == 2 + 2 * (1 + 2 * 2)
    assert found.precision == ()


def test_totals_are_sums_and_unknown_as_soon_as_one_part_is(plan):
    _, priced = plan(f"{LOCAL}, price: {{input: 2, output: 8}}")
    _, other = plan(SONNET)
    _, unknown = plan(LOCAL)
    both = PlanEstimate((priced, other))
    assert both.calls == 2 * CALLS
    assert both.expected == priced.expected + other.expected
    assert both.at_most == priced.at_most + other.at_most
    assert both.seconds == priced.seconds + other.seconds
    assert PlanEstimate((priced, unknown)).expected is None
    assert PlanEstimate((priced, unknown)).at_most is None
    assert PlanEstimate(()).at_most == 0
