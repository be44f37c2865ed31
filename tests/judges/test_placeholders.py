"""Templates in the spelling of production: filled in as production would fill them in, or refused."""

import json

import pytest

from umpirical.domain.errors import UsageError
from umpirical.domain.trials import Presentation, Presented
from umpirical.judges.factory import build_judge
from umpirical.judges.prompt import StudyTexts, columns_of, resolve_prompts
from umpirical.judges.spec import JudgeSpec
from umpirical.models.requests import Message
from umpirical.models.spec import Calling

SHOWN = Presented("T{task}", "F{{first}}", "S")

NAMES = {"task": "question", "first": "answer_a", "second": "answer_b"}


def spec(**parts):
    model = {"adapter": "openai-compatible", "name": "m", "base_url": "http://127.0.0.1:9/v1"}
    return JudgeSpec.model_validate({"name": "j", "model": model, "prompts": {"baseline": "p.txt"}, **parts})


def rendered(tmp_path, text, shown=SHOWN, hidden=None, **parts):
    """The messages that a prompt file is sent as."""
    file = next(iter(parts.get("prompts", {"baseline": "p.txt"}).values()))
    (tmp_path / file).write_text(text, encoding="utf-8")
    resolved = resolve_prompts(spec(**parts), tmp_path, hidden=hidden)
    judge = build_judge(resolved, folder=tmp_path, calling=Calling())
    return [(message.role, message.content) for message in judge.request(shown, Presentation()).messages]


@pytest.mark.parametrize(
    ("template", "sent"),
    [
        ("{{task}}|{{first}}|{{second}}", "T{task}|F{{first}}|S"),
        ('{{ task }}|{{first }}|{{ second}} {"a": 1} {b}', 'T{task}|F{{first}}|S {"a": 1} {b}'),
        ("{task}|{first}|{second}", "T{task}|F{{first}}|S"),
        ('{task}|{first}|{second} {{"a": {{"b": 1}}}}', 'T{task}|F{{first}}|S {"a": {"b": 1}}'),
        ('{task}|{first}|{second} {"a": {"b": 1}}', 'T{task}|F{{first}}|S {"a": {"b": 1}}'),
        ("{task}|{first}|{second} {{x}}", "T{task}|F{{first}}|S {x}"),
    ],
)
def test_a_template_is_filled_in_as_its_own_program_would(tmp_path, template, sent):
    assert rendered(tmp_path, template) == [("user", sent)]


@pytest.mark.parametrize("template", ["{{ question }}/{{answer_a}}/{{answer_b}}", "{question}/{answer_a}/{answer_b}"])
def test_names_of_production_are_mapped_by_inputs(tmp_path, template):
    assert rendered(tmp_path, template, inputs=NAMES) == [("user", "T{task}/F{{first}}/S")]


def test_python_fills_in_a_format_template_in_the_same_way(tmp_path):
    template = 'Q {question} A {answer_a} B {answer_b} {{"winner": "A"}} 100%'
    values = {"question": SHOWN.task, "answer_a": SHOWN.first, "answer_b": SHOWN.second}
    assert rendered(tmp_path, template, inputs=NAMES) == [("user", template.format(**values))]


@pytest.mark.parametrize(
    ("template", "parts", "message"),
    [
        ("{{task}} {first} {{second}}", {}, r"both \{first\} and \{\{second\}\}"),
        ('{task} {first} {second} {{ {"a": 1}', {}, "other braces"),
        ("{{task}} {{first}} {{second}} {{winner}}", {}, "unknown placeholders: winner"),
        ("{task} {first} {second} {winner}", {}, "unknown placeholders: winner"),
        ("{{task}} {{first}} {{second}} {% if second %}x{% endif %}", {}, "not supported"),
        ("{{task}} {{first}} {{second | trim}}", {}, "not supported|has no"),
        ("{{task}} {{first}} {{second}} {{ second | trim }}", {}, "not supported"),
        ("{task} {first} {second} {{{{policy}}}}", {}, "look like a placeholder"),
        ("{{question}} {{first}} {{second}}", {}, "unknown placeholders: question"),
        ("{{task}} {{answer_a}} {{answer_b}}", {"inputs": NAMES}, "unknown placeholders: task"),
        ("{{task}} {{first}} {{second}}", {"inputs": {"winner": "x"}}, "unknown field"),
        ("{{task}} {{first}} {{second}}", {"inputs": {"row.a{b": "x"}}, "unknown field"),
        ("{{q}} {{first}} {{second}}", {"inputs": {"task": "q"}, "values": {"q": "x"}}, "in both inputs and values"),
        ("{{task}} {{first}} {{second}} {{v}}", {"values": {"v": "{{task}}"}}, "the v contains"),
        ("{{task}} {{first}} {{second}} {{row.reference}}", {}, "does not use a dataset"),
    ],
)
def test_what_is_ambiguous_or_unknown_is_refused(tmp_path, template, parts, message):
    with pytest.raises(UsageError, match=message):
        rendered(tmp_path, template, **parts)


def test_a_built_in_prompt_keeps_our_names_beside_one_with_names_of_its_own(tmp_path):
    (tmp_path / "p.txt").write_text("{question}{answer_a}{answer_b}")
    prompts = {"baseline": "p.txt", "strict": "builtin:compare-strict"}
    resolved = resolve_prompts(spec(prompts=prompts, inputs=NAMES), tmp_path)
    assert resolved.prompts["baseline"] == "{{task}}{{first}}{{second}}"
    assert "{{task}}" in resolved.prompts["strict"]


def test_a_name_of_the_template_comes_before_a_text_of_the_study(tmp_path):
    (tmp_path / "p.txt").write_text("{instruction} {first} {second} {rubric}")
    shared = {"instruction": "Grade it.", "rubric": "R"}
    resolved = resolve_prompts(spec(inputs={"task": "instruction"}), tmp_path, texts=StudyTexts(shared))
    assert resolved.prompts["baseline"] == "{{task}} {{first}} {{second}} R"


def test_an_input_named_twice_is_refused():
    with pytest.raises(ValueError, match="named twice"):
        spec(inputs={"first": "x", "second": "x"})


def test_a_value_fills_a_placeholder_with_the_same_text_every_time(tmp_path):
    parts = {"values": {"policy": "be {kind}", "row.reference": "42"}}
    template = "{{policy}} {{task}} {{first}} {{second}} {{row.reference}}"
    assert rendered(tmp_path, template, **parts) == [("user", "be {kind} T{task} F{{first}} S 42")]


# Columns of the data.


def test_a_column_is_filled_in_from_the_row_and_named_as_the_template_names_it(tmp_path):
    shown = Presented("T", "F", "S", {"reference": "{{task}}", "My rubric": "R"})
    template = "{{task}} {{first}} {{second}} {{gold}} {{ row.My rubric }}"
    parts = {"inputs": {"row.reference": "gold"}}
    assert rendered(tmp_path, template, shown, {}, **parts) == [("user", "T F S {{task}} R")]
    assert columns_of(resolve_prompts(spec(**parts), tmp_path, hidden={})) == ("My rubric", "reference")


def test_a_hidden_column_is_refused_with_what_to_do_instead(tmp_path):
    with pytest.raises(UsageError, match="uses the column 'label'") as refused:
        rendered(tmp_path, "{{task}} {{first}} {{second}} {{row.label}}", hidden={"label": "take it out"})
    assert refused.value.fix == "take it out"


def test_what_is_presented_has_no_room_for_a_label():
    assert set(Presented.__dataclass_fields__) == {"task", "first", "second", "columns"}


# Prompts of messages.

CHAT = [
    {"role": "system", "content": "You judge {question}."},
    {"role": "user", "content": "A: {answer_a}"},
    {"role": "assistant", "content": "B?"},
    {"role": "user", "content": "B: {answer_b}"},
]


@pytest.mark.parametrize("file", ["p.yaml", "p.yml", "p.json"])
def test_a_prompt_file_of_messages_keeps_their_roles_and_is_filled_in_everywhere(tmp_path, file):
    # JSON is YAML too.
    found = rendered(tmp_path, json.dumps(CHAT), prompts={"baseline": file}, inputs=NAMES)
    assert found == [
        ("system", "You judge T{task}."),
        ("user", "A: F{{first}}"),
        ("assistant", "B?"),
        ("user", "B: S"),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{}", "not a list of messages"),
        ("[]", "not a list of messages"),
        ('["x"]', "message 1"),
        ('[{"role": "user"}]', "message 1"),
        ('[{"role": "user", "content": 3}]', "message 1"),
        ('[{"role": "user", "content": [{"type": "text", "text": "x"}]}]', "message 1"),
        ('[{"role": "user", "content": "x", "name": "y"}]', "message 1"),
        ('[{"role": "developer", "content": "x"}]', "unknown role, 'developer'"),
        ('[{"role": "user", "role": "system", "content": "x"}]', "cannot be read"),
        ("[", "cannot be read"),
        ('[{"role": "system", "content": "{{task}} {{first}}"}]', r"has no \{\{second\}\}"),
    ],
)
@pytest.mark.parametrize("file", ["p.yaml", "p.json"])
def test_a_file_that_is_no_list_of_messages_is_refused(tmp_path, text, message, file):
    with pytest.raises(UsageError, match=message):
        rendered(tmp_path, text, prompts={"baseline": file})


def test_a_resolved_prompt_of_messages_survives_its_manifest(tmp_path):
    (tmp_path / "p.yaml").write_text(json.dumps(CHAT))
    resolved = resolve_prompts(spec(prompts={"baseline": "p.yaml"}, inputs=NAMES), tmp_path)
    again = JudgeSpec.model_validate(json.loads(json.dumps(resolved.model_dump(mode="json"))))
    assert again == resolved
    assert again.prompts["baseline"][0] == Message("system", "You judge {{task}}.")
    judges = [build_judge(each, folder=tmp_path, calling=Calling()) for each in (resolved, again)]
    assert judges[0].fingerprint == judges[1].fingerprint
    assert judges[0].question_fingerprint == judges[1].question_fingerprint
    assert len({judge.question_fingerprint for judge in judges}) == 1


def test_another_role_is_another_question(tmp_path):
    prints = set()
    for role in ("system", "user"):
        (tmp_path / "p.json").write_text(json.dumps([{**CHAT[0], "role": role}, *CHAT[1:]]))
        resolved = resolve_prompts(spec(prompts={"baseline": "p.json"}, inputs=NAMES), tmp_path)
        prints.add(build_judge(resolved, folder=tmp_path, calling=Calling()).question_fingerprint)
    assert len(prints) == 2
