"""A model that writes the responses: priced first, asked once, refusals counted, labels from people or none at all."""

import json

import pytest

from tests.protocols.stress.end_to_end.studies import DECIDED
from tests.servers.chat_server import ChatServer
from umpirical.protocols.stress.record import StressReport
from umpirical.store.generation import GenerationStore

ROWS = 16

STUDY = """\
study: prompts
seed: 5
dataset:
  path: prompts.csv
  columns: {{task: prompt, id: id}}
  responses: {{model: {model}{more}}}
  scale: {{kind: ordinal, labels: ["1", "2", "3"]}}
rubric: rubric.txt
stress:
  tests: [{tests}]
  repeats: 2
{writers}
judges:
  - {{name: sound, model: {{adapter: simulated, name: sound-examiner}}}}
"""

SIMULATED = "{adapter: simulated-writer, name: responder}"

WRITERS = """\
  generator: {model: {adapter: simulated-writer, name: generator}}
  validator: {model: {adapter: simulated-writer, name: validator}}"""


def study_of(folder, model=SIMULATED, *, more="", tests="indentation, stability", writers=""):
    folder.mkdir(parents=True)
    lines = [f"p{number},Write to the council about street {number}." for number in range(ROWS)]
    (folder / "prompts.csv").write_text("\n".join(["id,prompt", *lines, ""]))
    (folder / "rubric.txt").write_text("3: reasons and facts. 2: a wish. 1: nothing.\n")
    (folder / "umpirical.yaml").write_text(STUDY.format(model=model, more=more, tests=tests, writers=writers))
    return folder


def report_of(folder):
    [path] = folder.glob("runs/*/stress.json")
    return StressReport.model_validate_json(path.read_text())


def value(report, name, test):
    [found] = [one for one in report.measures if (one.name, one.stratum, one.group) == (name, test, "")]
    return found.result


def written(folder):
    return [json.loads(line) for line in (folder / "generated" / "responses.jsonl").read_text().splitlines()]


def test_responses_are_written_first_and_refused_ones_are_rows_without_a_text(tmp_path, umpirical):
    model = "{adapter: simulated-writer, name: responder, model_args: {refusals: 0.2, cut: 0.2}}"
    folder = study_of(tmp_path / "s", model)
    code, out, _ = umpirical("check", folder)
    assert code == 0
    assert f"{ROWS} responses to write" in out
    assert "the tests show whether verdicts stay the same, not whether they are" in out
    code, _, err = umpirical("run", folder, "--yes")
    assert code == 2
    assert f"{ROWS} of {ROWS} responses are not written yet" in err
    code, out, _ = umpirical("generate", folder, "--yes")
    assert code == 0
    assert "the model refused" in out
    assert "next:  umpirical run" in out
    code, _, err = umpirical("run", folder, "--yes")
    assert code in DECIDED, err
    report = report_of(folder)
    made = report.dataset.responses
    assert set(made.without) == {"the model refused", "the model was cut off at max_tokens"}
    assert made.written == ROWS - sum(made.without.values()) == report.dataset.sampled == len(written(folder))
    assert (made.model, made.simulated, made.spend.calls) == ("simulated responder", True, ROWS)
    assert made.spend.refused == made.without["the model refused"]
    # Without labels it is known whether verdicts stay the same, and not whether they are right.
    assert report.dataset.unlabelled == made.written
    assert value(report, "change-rate", "indentation").denominator == made.written
    assert not [one for one in report.measures if one.name == "accuracy" and one.result.kind == "estimate"]
    assert next(finding.kind for finding in report.findings) == "rehearsal"
    page = next(folder.glob("runs/*/report/index.html")).read_text()
    assert f"{made.written} of {ROWS} rows have a response of simulated responder" in page


def test_people_label_responses_and_a_label_of_another_text_is_not_used(tmp_path, umpirical):
    folder = study_of(tmp_path / "s", more=", labels: labels.jsonl")
    (folder / "labels.jsonl").write_text(json.dumps({"id": "p0", "response": "", "label": ""}) + "\n")
    assert umpirical("generate", folder, "--yes")[0] == 0
    rows = [row | {"label": str(1 + place % 3)} for place, row in enumerate(written(folder))]
    rows[0]["response"] += " Or so."
    (folder / "labels.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    code, out, _ = umpirical("check", folder)
    assert code == 0
    assert "1 labels belong to other responses and are not used" in out
    umpirical("run", folder, "--yes")
    report = report_of(folder)
    assert report.dataset.unlabelled == report.dataset.responses.stale == 1
    assert value(report, "accuracy", "original").denominator == ROWS - 1


def served(server, more=""):
    return f'{{adapter: openai-compatible, name: m, base_url: "{server.base_url}"{more}}}'


def refusing_in_words(body):
    """A model that answers, but refuses in words what is asked of one street."""
    asked = body["messages"][-1]["content"]
    return "I am sorry, but I cannot help with that." if asked.endswith("street 3.") else f"To the council: {asked}"


def test_a_refusal_in_words_is_a_response_and_nothing_is_asked_twice(tmp_path, umpirical):
    with ChatServer(refusing_in_words) as server:
        folder = study_of(tmp_path / "s", served(server, ", price: free"), more=", prompt: ask.md")
        (folder / "ask.md").write_text("Answer briefly. {{task}}")
        for _ in range(2):
            assert umpirical("generate", folder, "--yes")[0] == 0
        assert [body["temperature"] for body in server.bodies] == [0] * ROWS
        assert all(body["messages"][-1]["content"].startswith("Answer briefly. Write to") for body in server.bodies)
    assert written(folder)[3]["response"] == "I am sorry, but I cannot help with that."
    assert len(written(folder)) == ROWS


def test_calls_that_fail_leave_rows_open_and_the_same_command_resumes(tmp_path, umpirical):
    def misbehave(name, times):
        return "server-error" if int(name[:2], 16) % 3 == 0 and times < 3 else None

    with ChatServer(refusing_in_words, misbehave=misbehave) as server:
        folder = study_of(tmp_path / "s", served(server, ", price: free, attempts: 1"))
        codes = []
        while 0 not in codes and len(codes) < 5:
            codes.append(umpirical("generate", folder, "--yes")[0])
            if codes[-1] == 5:
                assert umpirical("run", folder, "--yes")[0] == 2
        assert codes[0] == 5
        assert codes[-1] == 0
        assert len(server.answered) == ROWS
        assert max(server.answered.values()) == 1
    store = GenerationStore(folder / "generated")
    try:
        assert len(list(store.attempts())) == ROWS
    finally:
        store.close()


def test_the_price_is_agreed_to_before_anything_is_sent(tmp_path, umpirical):
    with ChatServer(refusing_in_words) as server:
        folder = study_of(tmp_path / "s", served(server))
        code, _, err = umpirical("generate", folder, "--price", "m=1,2")
        assert code == 6
        assert f"{ROWS} test cases, with m" in err
        assert f"{ROWS} to {ROWS} calls, at most $" in err
        code, _, _ = umpirical("generate", folder, "--price", "m=1,2", "--yes", "--max-cost", "0.0001")
        assert code == 6
    assert not server.answered


def test_what_tests_make_of_responses_is_written_in_a_second_round(tmp_path, umpirical):
    folder = study_of(tmp_path / "s", tests="paraphrase, label-flip, stability", writers=WRITERS)
    code, out, _ = umpirical("generate", folder, "--yes")
    assert code == 0
    assert "next:  umpirical generate" in out
    code, out, _ = umpirical("check", folder)
    assert "without labels, nothing is written for label-flip" in out
    code, out, _ = umpirical("generate", folder, "--yes")
    assert code == 0
    assert f"paraphrase: {ROWS} of {ROWS} written" in out
    assert "the original has no label" in out
    assert umpirical("run", folder, "--yes")[0] in DECIDED
    assert value(report_of(folder), "change-rate", "paraphrase").denominator == ROWS


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("task: prompt, id: id", "task: prompt, id: id, response: prompt", "columns.response"),
        ("  responses:", "  # responses:", "columns.response"),
        ("task: prompt, id: id", "id: id", "name the task column in columns.task"),
        ("task: prompt, id: id", "task: prompt, label: id", "have not been generated yet"),
        (SIMULATED, "{adapter: simulated, name: sound-examiner}", "a simulated judge cannot write"),
        (SIMULATED, f"{SIMULATED}, prompt: rubric.txt", "must contain {{task}}"),
    ],
)
def test_what_leads_to_no_response_is_refused(tmp_path, umpirical, old, new, said):
    folder = study_of(tmp_path / "s")
    text = (folder / "umpirical.yaml").read_text()
    assert old in text
    (folder / "umpirical.yaml").write_text(text.replace(old, new))
    code, _, err = umpirical("check", folder)
    assert code == 2
    assert said in " ".join(err.split())
