"""Which tests are heavy, so that a parallel run starts with them and a quick one leaves them out."""

from collections import Counter
from collections.abc import Iterable

import pytest

HEAVY: dict[str, int] = {
    "tests/attack/test_review.py": 12,
    "tests/attack/test_review_files.py": 14,
    "tests/attack/test_review_flood.py": 12,
    "tests/attack/test_review_imports.py": 14,
    "tests/cli/test_commands.py::test_check_says_which_key_is_missing": 3,
    "tests/cli/test_commands.py::test_ctrl_c_keeps_what_was_answered_and_the_same_command_goes_on": 7,
    "tests/cli/test_commands.py::test_init_check_run_report_runs_in_that_order": 10,
    "tests/cli/test_commands.py::test_nothing_is_sent_before_somebody_agrees": 3,
    "tests/cli/test_datasheet.py": 20,
    "tests/cli/test_gate.py": 60,
    "tests/cli/test_mending.py": 60,
    "tests/cli/test_plan.py::test_on_a_terminal_the_question_is_asked_and_no_is_the_default": 12,
    "tests/cli/test_plan.py::test_simulated_judges_are_run_without_a_question_and_without_a_table": 8,
    "tests/cli/test_review.py": 12,
    "tests/datasets/transcripts/test_hostile_logs.py": 120,
    "tests/datasets/transcripts/test_inspect_logs.py": 40,
    "tests/docs/test_gates_guide.py": 30,
    "tests/docs/test_reference.py": 5,
    "tests/docs/test_site.py": 20,
    "tests/docs/test_tutorial.py": 40,
    "tests/docs/test_readme.py::test_one_judge_in_one_command_leads_to_a_datasheet_and_two_to_a_comparison": 6,
    "tests/docs/test_readme.py::test_the_callable_example_is_measured_and_found_out": 3,
    "tests/docs/test_readme.py::test_the_demo_prints_what_the_readme_shows": 16,
    "tests/docs/test_readme.py::test_the_grade_example_is_measured": 9,
    "tests/docs/test_readme.py::test_the_model_example_measures_a_model_on_a_server": 3,
    "tests/docs/test_readme.py::test_the_quick_start_leads_to_a_datasheet": 23,
    "tests/docs/test_view_guide.py": 8,
    "tests/english/test_english.py": 60,
    "tests/examples/test_gate.py": 60,
    "tests/integrations/inspect/test_export.py": 25,
    "tests/integrations/inspect/test_hosted.py": 12,
    "tests/integrations/inspect/test_tasks.py": 150,
    "tests/llm/test_example.py::test_the_study_is_sound_and_its_calls_are_as_many_as_the_page_says": 4,
    "tests/llm/test_smollm2.py": 250,
    "tests/measures/test_stress_promises.py::test_ten_thousand_items_in_eight_tests_take_time_in_proportion": 6,
    "tests/models/test_inspect_batches.py": 18,
    "tests/models/test_inspect_memory.py": 9,
    "tests/mutations/test_mutations.py": 70,
    "tests/parity/test_records.py": 40,
    "tests/protocols/datasheet/end_to_end/test_audit_judges.py": 90,
    "tests/protocols/datasheet/end_to_end/test_carriers.py": 14,
    "tests/protocols/datasheet/end_to_end/test_grade_runs.py": 10,
    "tests/protocols/datasheet/end_to_end/test_known_judges.py": 11,
    "tests/protocols/datasheet/end_to_end/test_paper_profiles.py": 36,
    "tests/protocols/datasheet/end_to_end/test_readouts.py": 16,
    "tests/protocols/datasheet/end_to_end/test_trivial_judges.py": 20,
    "tests/protocols/datasheet/test_browser.py": 20,
    "tests/protocols/stress/end_to_end/test_generation_kill.py": 12,
    "tests/protocols/stress/test_browser.py": 27,
    "tests/pytest_plugin/test_asking.py": 60,
    "tests/pytest_plugin/test_outcomes.py": 50,
    "tests/pytest_plugin/test_page.py": 8,
    "tests/recovery/test_examiner_recovery.py": 15,
    "tests/recovery/test_grade_recovery.py": 19,
    "tests/recovery/test_recovery.py": 19,
    "tests/recovery/test_signal_recovery.py": 19,
    "tests/review/end_to_end/test_team_at_work.py": 20,
    "tests/review/web/test_review_pages.py": 19,
    "tests/review/web/test_screens.py": 27,
    "tests/review/web/test_speed.py": 10,
    "tests/runs/test_depots.py": 20,
    "tests/runs/test_faults.py": 15,
    "tests/runs/test_kill.py": 17,
    "tests/runs/test_many_faults.py": 10,
    "tests/runs/test_memory.py": 20,
    "tests/runs/test_ray.py": 120,
    "tests/stimuli/controlled/test_datasheet_set.py::test_a_size_takes_as_many_calls_as_it_says": 13,
    "tests/stimuli/controlled/test_gates.py": 30,
    "tests/stimuli/perturbations/test_proved.py::test_a_long_text_takes_time_in_proportion": 5,
    "tests/store/test_objects.py": 8,
    "tests/study/test_demo.py": 9,
    "tests/study/test_estimate.py::test_an_adapter_that_retries_by_itself_is_given_room_for_it": 4,
    "tests/study/test_run_targets.py::test_they_read_what_is_named": 12,
    "tests/view/test_hostile.py": 20,
    "tests/view/test_live.py": 12,
    "tests/view/test_screens.py": 25,
    "tests/view/test_trials.py": 15,
    "tests/supply/test_release.py": 15,
}
"""A test or a test file, and roughly how many seconds it takes."""

FOLDERS = frozenset({"end_to_end", "mutations", "parity", "recovery"})
"""Folders whose tests are heavy, all of them."""

GROUPS = {
    # The server takes all processors that it can get: two of them at a time would be in each other's way.
    "tests/llm": "the real model",
    "tests/docs/test_readme.py": "the demo",
    "tests/study/test_demo.py": "the demo",
}
"""Groups of more than one file."""

NEEDY = frozenset({"browser", "english", "llm"})
"""Marks of tests that need more than Python."""


def is_heavy(item: pytest.Item) -> bool:
    """Whether a test needs a browser, a database, a model server or more than a few seconds."""
    needs = any(item.get_closest_marker(name) for name in NEEDY) or "postgresql" in _parameters(item)
    listed = any(_within(item.nodeid, name) for name in HEAVY)
    return needs or listed or not FOLDERS.isdisjoint(item.nodeid.partition("::")[0].split("/"))


def longest_first(items: Iterable[pytest.Item]) -> list[pytest.Item]:
    """The tests by their groups, longest group first; what is not known to be long keeps its order.

    A long group that started last would keep one worker busy while the others have nothing left to do.
    """
    weights: Counter[str] = Counter()
    for name, seconds in HEAVY.items():
        weights[group_of(name)] += seconds
    return sorted(items, key=lambda item: -weights[group_of(item.nodeid)])


def group_of(nodeid: str) -> str:
    """Tests of one group run on the same worker: those of a file, whose fixtures would else be made on every worker."""
    return next((group for name, group in GROUPS.items() if _within(nodeid, name)), nodeid.partition("::")[0])


def _within(nodeid: str, name: str) -> bool:
    return nodeid == name or nodeid.startswith((f"{name}::", f"{name}/", f"{name}["))


def _parameters(item: pytest.Item) -> list[object]:
    call = getattr(item, "callspec", None)
    return list(call.params.values()) if call else []
