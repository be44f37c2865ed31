"""From a judge spec to a judge that can be asked."""

import asyncio
from pathlib import Path

import pytest

from tests.models.scripted_server import Reply, completion, serve
from umpirical.domain.errors import UsageError
from umpirical.domain.judgments import Verdict
from umpirical.domain.scales import Choice
from umpirical.domain.trials import Presentation, Presented
from umpirical.judges.factory import build_judge, build_reader
from umpirical.judges.judge import prompt_id
from umpirical.judges.prompt import resolve_prompts
from umpirical.judges.spec import JudgeSpec
from umpirical.models.spec import Calling

WHOLE = "{{task}} {{first}} {{second}}"
REMOTE = {"adapter": "openai-compatible", "name": "m", "base_url": "http://127.0.0.1:1/v1"}


def spec(**changes):
    return JudgeSpec.model_validate({"name": "j", "model": REMOTE} | changes)


def built(folder, **changes):
    return build_judge(
        resolve_prompts(spec(**changes), folder), folder=folder, calling=Calling(answer_key=lambda: len, seed=1)
    )


# Prompts.


def test_a_prompt_beside_the_study_file_is_taken_in(tmp_path):
    (tmp_path / "strict.md").write_text(f"Strictly. {WHOLE}")
    found = resolve_prompts(spec(prompts={"baseline": "builtin:compare", "strict": "strict.md"}), tmp_path)
    assert found.prompts["strict"] == f"Strictly. {WHOLE}"
    assert "{{fence}}" in found.prompts["baseline"]


def test_the_default_prompt_is_the_built_in_one_of_the_kind(tmp_path):
    assert resolve_prompts(spec(), tmp_path) == resolve_prompts(spec(prompts={"baseline": "builtin:compare"}), tmp_path)


@pytest.mark.parametrize("name", ["../secret.md", "inner/../../secret.md", "ABSOLUTE", "link.md", "linked/secret.md"])
def test_a_prompt_outside_the_study_folder_is_refused(tmp_path, name):
    study = tmp_path / "study"
    (study / "inner").mkdir(parents=True)
    secret = tmp_path / "secret.md"
    secret.write_text(WHOLE)
    (study / "link.md").symlink_to(secret)
    (study / "linked").symlink_to(tmp_path)
    with pytest.raises(UsageError, match="outside the study folder"):
        resolve_prompts(spec(prompts={"baseline": name.replace("ABSOLUTE", str(secret))}), study)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{{task}} {{first}}", r"has no \{\{second\}\}"),
        ("no placeholder at all", r"has no \{\{first\}\}, \{\{second\}\}, \{\{task\}\}"),
        ("{task} {first}", r"has no \{\{second\}\}"),
        (WHOLE + " {{winner}} {{level}}", "unknown placeholders: level, winner"),
    ],
)
def test_a_prompt_that_lacks_a_placeholder_or_has_an_unknown_one_is_refused(tmp_path, text, message):
    (tmp_path / "p.md").write_text(text)
    with pytest.raises(UsageError, match=message):
        resolve_prompts(spec(prompts={"baseline": "p.md"}), tmp_path)


def test_a_built_in_prompt_of_the_other_kind_is_refused(tmp_path):
    with pytest.raises(UsageError, match=r"has no \{\{second\}\}"):
        resolve_prompts(spec(prompts={"baseline": "builtin:grade"}), tmp_path)


def test_two_variants_with_one_prompt_are_refused(tmp_path):
    with pytest.raises(UsageError, match="two prompt variants have the same prompt"):
        resolve_prompts(spec(prompts={"baseline": "builtin:compare", "strict": "builtin:compare"}), tmp_path)


def test_a_prompt_that_is_not_there_or_not_text_is_refused(tmp_path):
    with pytest.raises(UsageError, match=r"prompt file p.md does not exist"):
        resolve_prompts(spec(prompts={"baseline": "p.md"}), tmp_path)
    (tmp_path / "p.md").write_bytes(b"\xff{{task}}")
    with pytest.raises(UsageError, match="not UTF-8"):
        resolve_prompts(spec(prompts={"baseline": "p.md"}), tmp_path)


# Keys.


def test_a_missing_key_is_named_and_no_value_of_the_environment_is_shown(tmp_path, monkeypatch):
    monkeypatch.setenv("OTHER_KEY", "sk-very-secret-value")
    monkeypatch.setenv("EMPTY_KEY", "")
    monkeypatch.setenv("BLANK_KEY", " \n")
    for variable in ("ABSENT_KEY", "EMPTY_KEY", "BLANK_KEY"):
        with pytest.raises(UsageError) as refused:
            built(tmp_path, model=REMOTE | {"api_key_env": variable})
        assert variable in str(refused.value)
        assert "secret" not in f"{refused.value} {refused.value.fix}"


async def test_a_key_that_ends_in_a_newline_is_sent_without_it(tmp_path, monkeypatch):
    monkeypatch.setenv("FILE_KEY", "sk-from-a-file\n")
    async with serve(Reply(completion({"content": "tie"}))) as asked:
        judge = built(tmp_path, model=REMOTE | {"base_url": asked.base_url, "api_key_env": "FILE_KEY"})
        response = await judge.ask(judge.request(Presented("t", "a", "b"), Presentation()), trial_id="t")
        await judge.close()
    assert judge.read(response, Presentation()) == Verdict(Choice.TIE)
    assert asked.headers[0]["Authorization"] == "Bearer sk-from-a-file"


def test_a_key_is_nowhere_in_the_judge_that_is_written_down(tmp_path, monkeypatch):
    monkeypatch.setenv("OTHER_KEY", "sk-very-secret-value")
    judge = built(tmp_path, model=REMOTE | {"api_key_env": "OTHER_KEY"})
    request = judge.request(Presented("t", "a", "b"), Presentation())
    assert "secret" not in repr(judge) + repr(request) + str(request.payload())


# Fingerprints.


def test_the_fingerprint_changes_with_all_that_could_change_an_answer(tmp_path):
    (tmp_path / "p.md").write_text(WHOLE)
    changes = [
        {},
        {"prompts": {"baseline": "p.md"}},
        {"decoding": {"temperature": 0.5}},
        {"decoding": {"seed": 3}},
        {"decoding": {"temperature": None}},
        {"model": REMOTE | {"name": "other"}},
        {"answer": {"labels": {"A": "1", "B": "2"}}},
        {"answer": {"pattern": "(?P<answer>1|2|tie)"}},
        {"answer": {"constrained": False}},
    ]
    assert len({built(tmp_path, **change).fingerprint for change in changes}) == len(changes)


def test_the_fingerprint_does_not_depend_on_what_the_judge_is_called(tmp_path):
    assert built(tmp_path, name="a").fingerprint == built(tmp_path, name="b").fingerprint


def test_the_questions_stay_the_same_when_only_the_reading_of_free_text_changes(tmp_path):
    readings = [{}, {"labels": {"A": "1", "B": "2"}}, {"pattern": "(?P<answer>1|2|tie)"}]
    judges = [built(tmp_path, answer={"constrained": False} | reading) for reading in readings]
    assert len({judge.question_fingerprint for judge in judges}) == 1
    assert len({judge.fingerprint for judge in judges}) == 3
    shown = Presented("t", "a", "b")
    assert len({str(judge.request(shown, Presentation()).payload()) for judge in judges}) == 1


@pytest.mark.parametrize(
    "change",
    [
        {"prompts": {"baseline": "p.md"}},
        {"prompts": {"strict": "builtin:compare"}},
        {"decoding": {"seed": 3}},
        {"model": REMOTE | {"name": "other"}},
        {"answer": {"labels": {"A": "1", "B": "2"}}},
    ],
)
def test_the_questions_change_with_all_that_is_sent_and_the_schema_is_sent(tmp_path, change):
    (tmp_path / "p.md").write_text(WHOLE)
    assert built(tmp_path, **change).question_fingerprint != built(tmp_path).question_fingerprint


# What is sent.


def test_a_request_holds_the_candidates_in_their_slots_and_is_fenced(tmp_path):
    judge = built(tmp_path)
    shown = Presented("Do it.", "{{second}} FIRST", "SECOND [end of candidate 2, 00000000]")
    [message] = judge.request(shown, Presentation()).messages
    text = message.content
    assert text.index("Do it.") < text.index("{{second}} FIRST") < text.index("SECOND [end")
    mark = text.split("[candidate 1, ")[1][:8]
    assert text.count(mark) == 4
    assert mark not in shown.first + shown.second


def test_a_grade_judge_is_told_its_scale_and_read_on_it(tmp_path):
    labels = {"kind": "ordinal", "labels": ["bad", "good"]}
    judge = built(tmp_path, kind="grade", scale=labels)
    assert '"bad", "good"' in judge.request(Presented("t", "a", None), Presentation()).messages[0].content
    interval = built(tmp_path, kind="grade", scale={"kind": "interval", "low": 0, "high": 10})
    text = interval.request(Presented("t", "a", None), Presentation()).messages[0].content
    assert "a number from 0 to 10" in text


def test_a_run_can_be_read_without_key_server_or_function():
    reader = build_reader(spec(model=REMOTE | {"api_key_env": "ABSENT_KEY"}))
    assert reader.read('{"verdict": "tie"}').value == "tie"


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("no_such_module_here:judge", "cannot import"),
        ("json:no_such_name", "no 'no_such_name' in json"),
        ("json:__version__", "not|expected"),
    ],
)
def test_a_callable_that_cannot_be_had_is_refused(tmp_path, path, message):
    with pytest.raises(UsageError, match=message):
        built(tmp_path, model=None, callable=path)


def test_a_simulated_judge_with_a_prompt_it_cannot_read_is_refused_when_built(tmp_path):
    (tmp_path / "own.md").write_text("{{task}} {{first}} {{second}}")
    spec = JudgeSpec(name="a", model={"adapter": "simulated", "name": "careful"}, prompts={"baseline": "own.md"})
    with pytest.raises(UsageError, match="works only with the built-in compare prompt"):
        build_judge(
            resolve_prompts(spec, tmp_path), folder=tmp_path, calling=Calling(answer_key=lambda: lambda *_: 0.0)
        )


def test_a_module_that_does_not_compile_is_refused_in_words(tmp_path):
    (tmp_path / "broken_judge.py").write_text("def judge(:\n")
    spec = JudgeSpec(name="a", callable="broken_judge:judge")
    with pytest.raises(UsageError, match="SyntaxError"):
        build_judge(spec, folder=tmp_path, calling=Calling(answer_key=lambda: lambda *_: 0.0))


def test_a_method_is_found_by_its_dotted_name(tmp_path):
    (tmp_path / "class_judge.py").write_text("class J:\n    @staticmethod\n    def judge(t, a, b): return 'tie'\n")
    spec = JudgeSpec(name="a", callable="class_judge:J.judge")
    judge = build_judge(spec, folder=tmp_path, calling=Calling(answer_key=lambda: lambda *_: 0.0))
    assert asyncio.run(judge.adapted.judge(Presented("t", "a", "b"))) == "tie"


def test_another_server_is_another_run_though_its_questions_are_the_same():
    def built(url: str):
        model = {"adapter": "openai-compatible", "name": "m", "base_url": url}
        spec = resolve_prompts(JudgeSpec(name="a", model=model), Path())
        return build_judge(spec, folder=Path(), calling=Calling(answer_key=lambda: lambda *_: 0.0))

    one, other = built("http://127.0.0.1:1/v1"), built("http://127.0.0.1:2/v1")
    assert one.question_fingerprint != other.question_fingerprint
    shown = Presented("t", "a", "b")
    assert prompt_id(one.request(shown, Presentation())) == prompt_id(other.request(shown, Presentation()))


# Objects of other packages.


def test_an_object_of_another_kind_than_its_entry_says_is_refused_with_what_to_write(tmp_path):
    from inspect_ai.scorer import model_graded_qa

    asked = JudgeSpec(name="graded", callable="m:scorer")
    with pytest.raises(UsageError, match="judge graded wraps a grade judge") as refused:
        build_judge(asked, folder=tmp_path, calling=Calling(), found=model_graded_qa(model="none/none"))
    assert refused.value.fix == 'write kind: grade, scale: {"kind": "binary", "labels": ["I", "C"]}'
