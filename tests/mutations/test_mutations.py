"""The checks can fail: each classic mistake, made on purpose in a copy of the source, is caught by a named test."""

import os
import shutil
import sys
from multiprocessing import get_context
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
KNOWN_JUDGES = "tests/protocols/datasheet/end_to_end/test_known_judges.py"

COUNTING = "tests/protocols/datasheet/test_counting.py"

MONEY, BUDGET = "tests/models/test_money.py", "tests/store/test_budget.py"
REDACTION = "tests/models/test_redaction.py"
OUTCOMES = "tests/review/test_outcomes.py"
DECISION = "tests/protocols/datasheet/test_decision.py"

MUTATIONS = {
    "slot taken for content": (
        "measures/counting/pairs.py",
        """avg((settled is not null)::int) filter (complete) as stable,
  avg((position_1 = 2 or position_2 = 2)::int) filter (complete) as positional,""",
        """avg((position_1 = 2 or position_2 = 2)::int) filter (complete) as stable,
  avg((settled is not null)::int) filter (complete) as positional,""",
        [f"{KNOWN_JUDGES}::test_a_judge_that_always_says_1_is_all_positional_and_half_right"],
    ),
    "slots mapped back to the wrong content": (
        "measures/counting/pairs.py",
        "ab1 + ba2 as chose_a, ab2 + ba1 as chose_b",
        "ab2 + ba1 as chose_a, ab1 + ba2 as chose_b",
        [f"{KNOWN_JUDGES}::test_an_oracle_is_always_right_and_never_prefers_without_reason"],
    ),
    "candidates shown in the wrong slots": (
        "runs/plan.py",
        "(u, v) if order is Order.AB else (v, u)",
        "(v, u) if order is Order.AB else (u, v)",
        [f"{KNOWN_JUDGES}::test_an_oracle_is_always_right_and_never_prefers_without_reason"],
    ),
    "the half on one-sided commits dropped": (
        "measures/estimates/pairs.py",
        "tally.one_sided / 2",
        "tally.one_sided",
        ["tests/golden/test_dark_current.py"],
    ),
    "ties counted correct": (
        "measures/estimates/pairs.py",
        "tally.correct_calls / 2",
        "(tally.correct_calls + tally.tie_calls) / 2",
        [f"{KNOWN_JUDGES}::test_a_judge_that_always_ties_sees_nothing_and_is_not_thought_right"],
    ),
    "ties counted correct when counting": (
        "measures/counting/pairs.py",
        "when 'b' then chose_b else 0 end as correct",
        "when 'b' then chose_b else 0 end + ties as correct",
        [f"{KNOWN_JUDGES}::test_a_judge_that_always_ties_sees_nothing_and_is_not_thought_right"],
    ),
    "repeats counted as pairs": (
        "measures/counting/pairs.py",
        "select cluster, variant, family, delta, stratum, stimulus_id,\n  count",
        "select cluster, variant, family, delta, stratum, stimulus_id, repeat,\n  count",
        [f"{COUNTING}::test_a_pair_counts_once_however_often_it_is_repeated"],
    ),
    "an abstention counted as a tie": (
        "measures/counting/pairs.py",
        "abt + bat as ties",
        "abt + bat + aba + baa as ties",
        [f"{COUNTING}::test_an_abstention_is_no_tie_and_not_in_the_model"],
    ),
    "an abstention in the model": (
        "protocols/datasheet/counting.py",
        "from pair where decided group by all",
        "from pair where complete group by all",
        [f"{COUNTING}::test_an_abstention_is_no_tie_and_not_in_the_model"],
    ),
    "the versions of a crossed_pair swapped": (
        "measures/counting/pairs.py",
        "sum(good * other_good)",
        "sum(good * (other_won - other_good))",
        [f"{COUNTING}::test_each_kind_of_quad_by_hand"],
    ),
    "the orders of a crossed_pair ignored": (
        "measures/counting/pairs.py",
        "case when chose_a = 2 then 'a' when chose_b = 2 then 'b' end as settled",
        "case when chose_a > 0 then 'a' when chose_b > 0 then 'b' end as settled",
        [f"{COUNTING}::test_each_kind_of_quad_by_hand"],
    ),
    "repeats of a crossed_pair counted as quads": (
        "measures/counting/pairs.py",
        "select cluster, variant, family, stratum, delta, crossed_pair, version,",
        "select cluster, variant, family, stratum, delta, crossed_pair, version, repeat,",
        [f"{COUNTING}::test_repeats_of_a_quad_are_combined_and_the_quad_counts_once"],
    ),
    "halves of a crossed_pair that share a slot": (
        "measures/counting/pairs.py",
        "(a.uv + b.vu) / 2 * (a.vu + b.uv) / 2",
        "(a.uv + b.uv) / 2 * (a.vu + b.vu) / 2",
        [f"{COUNTING}::test_each_kind_of_quad_by_hand"],
    ),
    "pairs taken for independent": (
        "stats/intervals.py",
        "return ClusterRate(p, min(low, 1 - lowest), max(high, highest), clusters, effect)",
        "return ClusterRate(p, *wilson(p * units, units, level=level), clusters, effect)",
        ["tests/recovery/test_recovery.py::test_cluster_wilson_covers_with_intra_task_correlation"],
    ),
    "an unparsed answer becomes a tie": (
        "runs/judgments.py",
        'return said | {"outcome": "unparsed", "why": why}',
        'return said | {"outcome": "verdict", "choice": "tie"}',
        [f"{KNOWN_JUDGES}::test_what_is_not_on_the_scale_is_excluded_shown_and_bounded"],
    ),
    "calls in flight need no room": (
        "models/money.py",
        "self.spent + self.reserved + worst <= self._limit",
        "self.spent + worst <= self._limit",
        [f"{MONEY}::test_a_tight_cap_is_reached_and_a_wide_one_is_not"],
    ),
    "a call without an answer is free": (
        "models/money.py",
        'self._settle(self.worst, ("unanswered",) if self.worst else ())',
        "self._settle(Decimal(0))",
        [f"{MONEY}::test_a_reservation_is_settled_exactly_once"],
    ),
    "any count of tokens is believed": (
        "models/money.py",
        "if cost is None or not self._plausible(usage, received):",
        "if cost is None:",
        [f"{MONEY}::test_a_count_is_believed_if_it_can_be_true"],
    ),
    "a lease ignores what others reserved": (
        "store/budget.py",
        "cap - others.total",
        "cap",
        [f"{BUDGET}::test_a_lease_takes_what_is_left_and_no_more"],
    ),
    "what a killed process held is free again": (
        "store/budget.py",
        "Bill(uncertain=booked.held,",
        "Bill(uncertain=Decimal(0),",
        [f"{BUDGET}::test_what_a_killed_process_reserved_stays_booked_and_becomes_uncertain"],
    ),
    "a failed call is reused as an answer": (
        "store/reuse.py",
        "where r.failure is null",
        "where true",
        ["tests/runs/test_reuse.py::test_failures_are_never_taken_over"],
    ),
    "a reused answer is paid for again": (
        "store/reuse.py",
        '"cost": "0", "attempts": 0',
        '"attempts": 0',
        ["tests/runs/test_reuse.py::test_neither_reuse_nor_resuming_makes_a_judge_cheaper_or_dearer"],
    ),
    "a shard sealed before its last answer": (
        "runs/asking.py",
        "if shard.waiting == 0:",
        "if shard.waiting <= 1:",
        ["tests/runs/test_recorder.py::test_a_shard_is_sealed_with_its_last_answer_and_not_before"],
    ),
    "an escaped key not seen": (
        "models/recording.py",
        "for units in (_plain_units(text), _unescaped_units(text)):",
        "for units in (_plain_units(text),):",
        [f"{REDACTION}::test_a_secret_is_found_however_it_is_written"],
    ),
    "a key in base64 not seen": (
        "models/recording.py",
        "(secret, secret[::-1], raw.hex(), *encoded)",
        "(secret, secret[::-1], raw.hex())",
        [f"{REDACTION}::test_a_secret_is_found_however_it_is_written"],
    ),
    "an error that shows a key": (
        "models/recording.py",
        "return KEY_SHAPES.sub(MARK, self(text))",
        "return self(text)",
        [f"{REDACTION}::test_what_looks_like_a_key_is_taken_out_of_errors"],
    ),
    "an interval that holds the check passes": (
        "reports/checks.py",
        "if least <= low and high <= most:",
        "if least <= high and low <= most:",
        ["tests/reports/test_checks.py::test_a_check_passes_only_if_the_whole_interval_is_inside"],
    ),
    "a broken check only restricts": (
        "reports/decision.py",
        'return "do-not-use"\n    if "open"',
        'return "use-with-restrictions"\n    if "open"',
        [f"{DECISION}::test_an_essential_check_refuses_or_leaves_open"],
    ),
    "an incomplete run is decided": (
        "reports/decision.py",
        "    if not complete:\n",
        "    if False:\n",
        [f"{DECISION}::test_an_incomplete_run_or_a_failed_gate_is_not_enough_data_whatever_the_checks_say"],
    ),
    "an undone decision counts": (
        "review/records.py",
        "if not decision.undone and not decision.adjudicates:",
        "if not decision.adjudicates:",
        [f"{OUTCOMES}::test_nothing_said_is_undecided"],
    ),
    "a skip counts as a decision": (
        "review/records.py",
        'for decision in newest.values() if decision.kind != "skip"]',
        "for decision in newest.values()]",
        [f"{OUTCOMES}::test_nothing_said_is_undecided"],
    ),
    "the first adjudication stands": (
        "review/records.py",
        "settling[-1] if settling",
        "settling[0] if settling",
        [f"{OUTCOMES}::test_the_newest_adjudication_settles_it"],
    ),
}


def run_tests(source: Path, tests: list[str]) -> tuple[int, str]:
    """Runs tests on a copy of the source; returns pytest's exit code and what it printed.

    Every run forks from one process that has imported the libraries, and nothing of Umpirical: that is most of the
    time a fresh Python would take.
    """
    context = get_context("forkserver")
    context.set_forkserver_preload(["numpy", "scipy.stats", "duckdb", "pyarrow.parquet", "pydantic", "pytest"])
    printed = source.parent / "printed.txt"
    process = context.Process(target=_run, args=(source, tests, printed))
    process.start()
    process.join()
    return process.exitcode, printed.read_text(encoding="utf-8")


def _run(source: Path, tests: list[str], printed: Path) -> None:
    os.chdir(ROOT)
    os.environ |= {"PYTHONPATH": str(source), "PYTHONDONTWRITEBYTECODE": "1"}
    sys.path.insert(0, str(source))
    with printed.open("w", encoding="utf-8") as file:
        for stream in (1, 2):
            os.dup2(file.fileno(), stream)
        code = pytest.main(["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", *tests])
        assert Path(sys.modules["umpirical"].__file__).is_relative_to(source)
        sys.stdout.flush()
    # Without the clean-up of a process that others still need.
    os._exit(code)


@pytest.mark.parametrize("name", MUTATIONS)
def test_each_mistake_is_caught(name, tmp_path):
    file, right, wrong, tests = MUTATIONS[name]
    shutil.copytree(ROOT / "src", tmp_path / "src")
    mutated = tmp_path / "src" / "umpirical" / file
    text = mutated.read_text()
    assert text.count(right) == 1, "the mutation no longer fits the source"
    mutated.write_text(text.replace(right, wrong))
    code, printed = run_tests(tmp_path / "src", tests)
    assert code == 1, printed[-2000:]
    assert " failed" in printed


def test_without_a_mistake_the_same_tests_pass(tmp_path):
    """The harness itself: an unchanged copy passes, so it is the mutation that fails."""
    shutil.copytree(ROOT / "src", tmp_path / "src")
    tests = sorted({test for *_, tests in MUTATIONS.values() for test in tests if "recovery" not in test})
    code, printed = run_tests(tmp_path / "src", tests)
    assert code == 0, printed[-2000:]
