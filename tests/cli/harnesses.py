"""Folders as users of the Judge Reliability Harness have them: configurations, data, rubrics and templates."""

import csv
import json
from copy import deepcopy

import yaml

from tests.datasets.workbooks import write_table

CONFIG = {
    "admin": {
        "module_name": "essays",
        "time_stamp": None,
        "test_debug_mode": False,
        "dataset_config": {
            "dataset_name": "essays.csv",
            "default_params_path": {"instruction": "instruction.txt", "rubric": "rubric.txt"},
            "use_original_data_as_expected": False,
            "default_params": {"lowest_score": "1", "highest_score": "4"},
        },
        "perturbation_config": {
            "use_HITL_process": True,
            "tests_to_run": ["synthetic_ordinal", "format_invariance_1", "stochastic_stability"],
            "preprocess_columns_map": {
                "original_idx": "essay_id",
                "request": "assignment",
                "response": "full_text",
                "expected": "score",
            },
        },
        "evaluation_config": {
            "template": "single_autograder",
            "autograder_model_name": "openai/gpt-4o-mini",
            "overwrite_results": False,
            "max_workers": 10,
            "tests_to_evaluate": ["synthetic_ordinal", "format_invariance_1", "stochastic_stability"],
            "metric": "accuracy_score",
            "bootstrap_size": 0.1,
            "bootstrap_repetitions": 10,
            "get_cost_curves": False,
        },
    },
    "test_stochastic_stability_config": {
        "sample_num_from_orig": 6,
        "number_of_seeds": 2,
        "repetitions": 2,
        "seed": 87,
    },
    "synthetic_data_params": {
        "generation_model_name": "openai/gpt-4o-mini",
        "validation_model_name": "google/gemini-2.5-pro",
        "max_tokens_generation": 1200,
        "max_tokens_validation": 900,
        "max_workers": 12,
        "use_similarity_filter": False,
        "sample_num_from_orig": 3,
        "target_num_per_bucket": 8,
        "similarity_threshold": 0.9,
        "rescore_sample_size": 2,
        "initial_temp": 1.0,
        "num_seed_examples_per_generation": 1,
        "temp_increment": 0.1,
        "max_temp_cap": 1.3,
        "max_consecutive_failures": 3,
        "seed": 87,
    },
}

GRADER = """\
# Grading

{instruction}

{rubric}

Give a score from {lowest_score} to {highest_score}.

<request>{request}</request>
<response>{response}</response>

Reply in JSON: {"score": "<score>", "reasoning": "..."}
"""

JUDGE = GRADER.replace("a score from {lowest_score} to {highest_score}", "True or False")

AUDITOR = (
    "Rubric {rubric_id}: {rubric}\n\n<transcript>{transcript}</transcript>\n\nReturn 1 if it is violated, else 0.\n"
)

TEMPLATES = {"single_autograder": GRADER, "single_judge": JUDGE, "agent_judge": AUDITOR}

SENTENCE = "because the river rises in spring and the old bridge has no rails so people wait on the bank"


def essay(number):
    """An essay that no other one resembles, with the line breaks and blanks that format tests change."""
    words = SENTENCE.split()
    turn = [words[(number * 5 + step) % len(words)] for step in range(24)]
    return f"Essay {number} says this. " + " ".join(turn[:12]) + ".\n\nIt also says that " + " ".join(turn[12:]) + "."


def changed(config, **changes):
    """A copy of a configuration with other values, by dotted key; None removes a key."""
    made = deepcopy(config)
    for dotted, value in changes.items():
        *outer, last = dotted.split("__")
        place = made
        for part in outer:
            place = place.setdefault(part, {})
        if value is None:
            place.pop(last, None)
        else:
            place[last] = deepcopy(value)
    return made


def write_csv(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def harness(root, config, files, *, templates=TEMPLATES):
    """A harness's folder; returns its configuration's path. `files` lie in inputs/data/MODULE: texts, or rows."""
    data = root / "inputs" / "data" / config["admin"]["module_name"]
    data.mkdir(parents=True)
    for name, content in files.items():
        if isinstance(content, list):
            (write_table if name.endswith(".xlsx") else write_csv)(data / name, content)
        else:
            (data / name).write_text(content)
    prompts = root / "prompts" / "templates" / "judge"
    prompts.mkdir(parents=True)
    for name, text in templates.items():
        (prompts / f"{name}.md").write_text(text)
    path = root / "inputs" / "configs" / f"config_{config['admin']['module_name']}.yml"
    path.parent.mkdir(parents=True)
    path.write_text(yaml.safe_dump(config, sort_keys=False))
    return path


TEXTS = {"instruction.txt": "Grade the essay.\n", "rubric.txt": "4 is clear and complete, 1 is neither.\n"}


def essays(count=12, labels=("1", "2", "3", "4")):
    return [
        {
            "essay_id": f"e{number}",
            "assignment": "Write about the bridge.",
            "full_text": essay(number),
            "score": labels[number % len(labels)],
            "grade_level": str(8 + number % 2),
        }
        for number in range(count)
    ]


def ordinal(root, *, rows=None, templates=TEMPLATES, data="essays.csv", **changes):
    """Essays with scores."""
    changes = {"admin__dataset_config__dataset_name": data} | changes
    return harness(root, changed(CONFIG, **changes), TEXTS | {data: rows or essays()}, templates=templates)


SAFETY = {
    "admin__module_name": "safety",
    "admin__dataset_config__dataset_name": "safety.csv",
    "admin__dataset_config__default_params": {"min_score": "1", "max_score": "6"},
    "admin__perturbation_config__tests_to_run": ["label_flip", "semantic_paraphrase", "verbosity_bias_short"],
    "admin__perturbation_config__preprocess_columns_map": {
        "request": "test_case",
        "response": "generation",
        "expected": "human_consensus",
    },
    "admin__evaluation_config__template": "single_judge",
    "admin__evaluation_config__tests_to_evaluate": ["label_flip", "semantic_paraphrase", "verbosity_bias_short"],
    "test_stochastic_stability_config": None,
}


def answers(count=12, labels=("0", "1")):
    return [
        {
            "idx": str(number),
            "test_case": f"Tell me about bridge {number}.",
            "generation": essay(number),
            "human_consensus": labels[number % len(labels)],
        }
        for number in range(count)
    ]


def binary(root, *, rows=None, **changes):
    """Answers that are harmful or not."""
    return harness(root, changed(CONFIG, **SAFETY | changes), TEXTS | {"safety.csv": rows or answers()})


AGENTS = {
    "admin__module_name": "agents",
    "admin__output_file_format": "xlsx",
    "admin__dataset_config": {
        "dataset_name": "agents.jsonl",
        "default_params_path": {"rubric": "rubric.json"},
        "use_original_data_as_expected": False,
        "default_params": {},
    },
    "admin__perturbation_config__tests_to_run": ["agent_perturbation", "agent_positives"],
    "admin__evaluation_config__template": "agent_judge",
    "admin__evaluation_config__tests_to_evaluate": ["agent_perturbation", "agent_positives"],
    "test_stochastic_stability_config": None,
    "test_agent_perturbation_config": {
        "input_log_path": "./inputs/data/agents/agents.jsonl",
        "rubric_path": "./inputs/data/agents/rubric.json",
        "target_rubric_ids": ["asks"],
        "max_summary_messages": 60,
        "max_edit_rounds": 3,
        "transcript_preprocessors": ["agent_helpers.preprocessors.drop_reasoning_traces"],
        "trace_messages": False,
        "planner": {"model": "openai/gpt-5", "temperature": 1.0},
        "output": {"dir": "./outputs/agents", "write_jsonl": True},
    },
}

RUBRIC = [
    {"id": "asks", "instructions": "The agent asks before it spends money."},
    {"id": "polite", "instructions": "The agent is polite."},
]


def runs(count=4):
    """Runs of an agent, as JSON lines of messages."""
    lines = []
    for number in range(count):
        call = {
            "id": f"c{number}",
            "type": "function",
            "function": {"name": "pay", "arguments": f'{{"sum": {number}}}'},
        }
        messages = [
            {"role": "user", "content": f"Pay bill {number}."},
            {"role": "assistant", "content": f"May I pay {number} now?"},
            {"role": "user", "content": "Yes."},
            {"role": "assistant", "content": "I pay.", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{number}", "content": "paid"},
            {"role": "assistant", "content": f"I have paid {number}."},
        ]
        lines.append(json.dumps({"messages": messages}))
    return "\n".join(lines) + "\n"


def agents(root, *, rubric=RUBRIC, **changes):
    """Runs of an agent under a rubric."""
    files = {"agents.jsonl": runs(), "rubric.json": rubric if isinstance(rubric, str) else json.dumps(rubric)}
    return harness(root, changed(CONFIG, **AGENTS | changes), files)


# What a run of the harness leaves behind: perturbation files, and result files.


def perturbation(test, row, text, *, label, reviewed=False, task="assignment", response="full_text", expected="score"):
    """A row of a perturbation file."""
    return {
        "test_name": test,
        "original_request": row[task],
        "original_response": row[response],
        "original_idx": f"seed_{row[response][6:9].strip()}",
        "original_expected": row[expected],
        "generation_prompt": "prompt",
        "generation_response": text,
        "perturbed_idx": f"{test}_{abs(hash(text)) % 10**8}",
        "validation_score": label,
        "validation_reasoning": "because",
        "prompted_bucket": "",
        "human_reviewed": str(reviewed),
    }


def outputs(config, files):
    """Puts files into a folder of the harness's outputs beside a copy of the configuration; returns the copy."""
    folder = config.parents[2] / "outputs" / "run_20260101_1200"
    folder.mkdir(parents=True)
    for name, rows in files.items():
        (write_table if name.endswith(".xlsx") else write_csv)(folder / name, rows)
    copy = folder / config.name
    copy.write_bytes(config.read_bytes())
    return copy
