"""`umpirical init --from` with a judge of another tool: an OpenAI grader, or the assertions of a promptfoo config."""

import json
import re
import sys

import jsonschema
import pytest
import yaml

import umpirical as api
from tests.cli.test_harness import fates, leaves, refused, started
from tests.frameworks.matrix import environment
from tests.servers.chat_server import ChatServer
from umpirical.protocols.catalogue import SCHEMA_FILE
from umpirical.study.file import read_study
from umpirical.study.verification import verify_run

SCORE = {
    "type": "score_model",
    "name": "Helpfulness (0-10)",
    "model": "gpt-4o-2024-08-06",
    "input": [
        {
            "type": "message",
            "role": "developer",
            "content": {"type": "input_text", "text": 'Grade \U0001f600 from 0 to 10. Return {"result": 7}.'},
        },
        {"role": "user", "content": "Task:\n{{ item.question }}\n\nAnswer:\n{{sample.output_text}}"},
    ],
    "range": [0, 10],
    "pass_threshold": 7,
    "sampling_params": {"temperature": 0, "top_p": 0.9, "seed": 42, "max_completions_tokens": 512},
}

LABEL = {
    "type": "label_model",
    "name": "tone",
    "model": "gpt-4o-mini",
    "input": [
        {"role": "user", "content": [{"type": "input_text", "text": "{{item.prompt}} {{ sample.output_text }}"}]}
    ],
    "labels": ["good", "fair", "bad"],
    "passing_labels": ["good"],
}

PROMPTFOO = """\
description: Answers of support
prompts: ["Answer: {{question}}"]
providers: [openai:chat:gpt-4o]
defaultTest:
  options:
    provider: {id: "openai:chat:gpt-5-mini", config: {apiBaseUrl: BASE, apiKey: none}}
    rubricPrompt: "Is it so? {{rubric}} <answer>{{output}}</answer> Say {reason, pass, score}."
  assert:
    - {type: cost, threshold: 0.01}
    - {type: llm-rubric, value: "Does all of this: {{question}}", threshold: 0.5, weight: 2}
tests:
  - vars: {question: "How are you?"}
    assert:
      - {type: llm-rubric, value: It does not apologize.}
      - {type: factuality, value: Paris}
outputPath: out.json
"""

STAND_IN = """
import base64, json, sys, urllib.request
if "--version" in sys.argv:
    print("0.121.20")
    sys.exit()
config = json.load(open("config.json"))
grader = next(each for each in config["providers"] if each["label"] == "umpirical-grader")
rows = []
for test in config["tests"]:
    question = json.loads(base64.b64decode(test["vars"]["umpirical"]))
    [entry] = test["assert"]
    texts = {"rubric": entry["value"], "output": question["shown"][0], **question["variables"]}
    prompt = config["defaultTest"]["options"]["rubricPrompt"]
    for name in ("rubric", *texts):
        prompt = prompt.replace("{{%s}}" % name, texts[name])
    body = {"model": grader["id"].rpartition(":")[2], "messages": [{"role": "user", "content": prompt}]}
    request = urllib.request.Request(grader["config"]["apiBaseUrl"] + "/chat/completions", json.dumps(body).encode())
    request.add_header("Content-Type", "application/json")
    said = json.load(urllib.request.urlopen(request))["choices"][0]["message"]["content"]
    found = json.loads(said)
    component = {"pass": found["pass"], "score": found["score"], "reason": found["reason"], "assertion": entry}
    component["metadata"] = {"umpiricalSaid": said}
    row = {"vars": {"umpirical": {"id": question["id"]}}, "provider": {"label": "1"}}
    rows.append({**row, "response": {"output": texts["output"]}, "gradingResult": {"componentResults": [component]}})
json.dump({"results": {"results": rows}}, open("results.json", "w"))
"""
"""A program that asks the provider of a config over HTTP, and writes results as promptfoo does."""


def written(folder, name, what):
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(what if isinstance(what, str) else json.dumps(what, indent="\t"), encoding="utf-8")
    return path


def measured(folder, base_url, **keys):
    """A datasheet of the first judge of a study, with its model at another server."""
    file = folder / "umpirical.yaml"
    study = yaml.safe_load(file.read_text(encoding="utf-8").replace("https://api.openai.com/v1", base_url))
    study["judges"][0] |= keys
    study |= {"judges": study["judges"][:1], "design": {"size": "screen"}}
    file.write_text(yaml.safe_dump(study), encoding="utf-8")
    [report] = api.run(folder, allow_unpriced=True, trust=True, progress=False)
    assert report.record.complete
    assert [check for check in verify_run(report.folder) if not check.holds] == []
    return report


@pytest.mark.parametrize(
    ("grader", "source"),
    [(SCORE, "score_model 'Helpfulness (0-10)' in grader.json"), (LABEL, "label_model 'tone' in grader.json")],
)
def test_an_openai_grader_runs_to_a_datasheet_that_names_it(umpirical, tmp_path, monkeypatch, grader, source):
    monkeypatch.setenv("OPENAI_API_KEY", "a-key")
    folder = tmp_path / "study"
    out = started(umpirical, folder, written(tmp_path, "grader.json", grader))
    told = fates((folder / "migration.md").read_text())
    assert list(told) == leaves(grader)
    assert all(f"  {fate:8} {key} " in out for key, fate in told.items())
    results = [7, 3] if grader is SCORE else ["good", "bad"]

    def answer(body):
        text = body["messages"][-1]["content"]
        return json.dumps({"steps": "It is short.", "result": results[len(text) % 2]})

    with ChatServer(answer) as server:
        report = measured(folder, server.base_url)
    assert report.measure("unparsed-rate").result.value == 0
    assert f"from {source}" in report.record.judge.model
    assert source.replace("'", "&#39;") in report.html()
    assert source in report.markdown()
    body = server.bodies[0]
    assert body["model"] == grader["model"]
    schema = body["response_format"]["json_schema"]["schema"]
    assert list(schema["properties"]) == ["steps", "result"]
    assert {"{{", "item."} & set(re.findall(r"\{\{|item\.", json.dumps(body["messages"]))) == set()
    if grader is SCORE:
        assert [message["role"] for message in body["messages"]] == ["system", "user"]
        assert body["messages"][0]["content"] == SCORE["input"][0]["content"]["text"]
        assert (body["temperature"], body["top_p"], body["seed"], body["max_tokens"]) == (0, 0.9, 42, 512)
    else:
        assert "temperature" not in body
        assert set(schema["properties"]["result"]["enum"]) >= {"good", "fair", "bad"}


@pytest.mark.parametrize("program", ["stand-in", pytest.param("promptfoo", marks=pytest.mark.slow)])
def test_a_promptfoo_config_runs_to_a_datasheet_that_names_it(umpirical, tmp_path, program):
    folder = tmp_path / "study"

    def answer(body):
        text = "".join(message["content"] for message in body["messages"])
        good = len(text) % 2 == 0
        return json.dumps({"reason": "It tries.", "pass": good, "score": int(good)})

    with ChatServer(answer) as server:
        config = written(tmp_path, "promptfooconfig.yaml", PROMPTFOO.replace("BASE", server.base_url))
        out = started(umpirical, folder, config)
        if program == "stand-in":
            written(folder, "promptfoo", f"#!{sys.executable}\n{STAND_IN}").chmod(0o755)
            command = ["./promptfoo"]
        else:
            command = [str(environment("promptfoo") / "node_modules" / ".bin" / "promptfoo")]
        spec = {"config": "promptfooconfig.yaml", "assertion": 0, "command": command}
        report = measured(folder, server.base_url, promptfoo=spec)
    told = fates((folder / "migration.md").read_text())
    assert list(told) == leaves(yaml.safe_load(config.read_text()))
    for key, fate in {
        "defaultTest.assert[0].type": "dropped",
        "defaultTest.assert[1].threshold": "kept",
        "defaultTest.assert[1].weight": "dropped",
        "defaultTest.options.rubricPrompt": "kept",
        "defaultTest.options.provider.config.apiBaseUrl": "kept",
        "tests[0].assert[0].value": "kept",
        "tests[0].assert[1].type": "dropped",
        "prompts": "dropped",
    }.items():
        assert told[key] == fate
        assert f"  {fate:8} {key} " in out
    assert "llm-rubric-2 does not see the task" in out
    assert report.measure("unparsed-rate").result.value == 0
    assert "promptfoo: assertion 0 of promptfooconfig.yaml" in report.record.judge.model
    asked = server.bodies[0]["messages"][-1]["content"]
    assert "Does all of this:" in asked
    assert "{{" not in asked
    assert {body["model"] for body in server.bodies} == {"gpt-5-mini"}


def test_what_a_config_would_run_is_agreed_to_first(capsys, tmp_path):
    from umpirical.cli import main

    written(tmp_path, "promptfooconfig.yaml", PROMPTFOO)
    for arguments, code in (
        (["init", str(tmp_path), "--from", str(tmp_path / "promptfooconfig.yaml")], 0),
        (["run"], 2),
    ):
        with pytest.raises(SystemExit) as stop:
            main([*arguments, *([str(tmp_path)] if code else [])])
        assert (stop.value.code or 0) == code
    assert "promptfooconfig.yaml" in (said := capsys.readouterr().err)
    assert "--trust" in said


REFUSED = {
    "not JSON": ('{\n "type": "score_model",\n}', "not JSON", "correct it"),
    "a list": ("[1, 2]", "expected an object", "name another file"),
    "huge": (" " * 1_000_001 + "{}", "larger than 1,000,000 bytes", "separate file"),
    "deep": ("[" * 100_000, "not JSON", "correct it"),
    "no judge": ('{"answer": 42}', "describes no judge", "name a config of promptfoo"),
    "another type": ({**SCORE, "type": "string_check"}, "does not ask a model", "score_model or label_model"),
    "no model": ({**SCORE, "model": ""}, "model: missing", "add the model"),
    "no messages": ({**SCORE, "input": "Grade."}, "expected a list of messages", "{role: user"),
    "an image": (
        {**SCORE, "input": [{"role": "user", "content": {"type": "input_image", "image_url": "x"}}]},
        "input[0] is not a message of text",
        "images and audio cannot be tested",
    ),
    "an unknown name": (
        {**SCORE, "input": [{"role": "user", "content": "{{item.question}} {{item.gold}} {{sample.output_text}}"}]},
        "no text for {{ item.gold }}",
        "{row.gold: item.gold}",
    ),
    "JSON of a sample": (
        {**SCORE, "input": [{"role": "user", "content": "{{item.question}} {{sample.output_json.a}}"}]},
        "no text for {{ sample.output_json.a }}",
        "remove it",
    ),
    "no task": (
        {**SCORE, "input": [{"role": "user", "content": "{{ sample.output_text }}"}]},
        "does not see the task",
        "{{ item.question }}",
    ),
    "no answer": (
        {**SCORE, "input": [{"role": "user", "content": "{{ item.question }}"}]},
        "has no {{sample.output_text}}",
        "add the placeholders",
    ),
    "a range": ({**SCORE, "range": [1, 0]}, "1 is not below 0", "lowest score first"),
    "a setting": ({**SCORE, "sampling_params": {"temperature": "hot"}}, "temperature: expected a number", ""),
    "a setting out of range": ({**SCORE, "sampling_params": {"top_p": 2}}, "top_p", "correct the key"),
    "no number": ('{"type": "score_model", "range": [0, NaN]}', "not JSON", "correct it"),
    "half a letter": ('{"type": "score_model", "model": "\\ud800"}', "not JSON", "correct it"),
    "all pass": ({**LABEL, "passing_labels": ["good", "fair", "bad"]}, "passing_labels", "some of them"),
    "no assertion": (
        "tests: [{assert: [{type: equals, value: a}]}]",
        "no assertion that a model decides",
        "llm-rubric",
    ),
    "no provider": ("tests: [{assert: [{type: llm-rubric, value: a}]}]", "no assertion", "add the model"),
    "a file": (
        "tests: [{assert: [{type: llm-rubric, value: 'file://r.txt', provider: 'openai:chat:m'}]}]",
        "it needs the file r.txt",
        "write the study beside",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_strange_file_is_refused_with_what_to_do(umpirical, tmp_path, case):
    what, message, fix = REFUSED[case]
    name = "promptfooconfig.yaml" if isinstance(what, str) and what.startswith("tests") else "grader.json"
    (tmp_path / "r.txt").write_text("It helps.")
    err = refused(umpirical, tmp_path / "study", written(tmp_path, name, what))
    assert message in err
    assert fix in err.partition("fix:")[2]


def test_two_labels_keep_their_names(umpirical, tmp_path):
    grader = {**LABEL, "labels": ["yes", "no"], "passing_labels": ["yes"]}
    started(umpirical, tmp_path / "study", written(tmp_path, "grader.json", grader))
    [judge] = read_study(tmp_path / "study").spec.judges
    assert judge.scale.labels == ("no", "yes")


def test_every_study_file_has_a_schema_beside_it_that_fits(umpirical, tmp_path):
    starts = [(), ("--from", written(tmp_path, "g.json", SCORE)), ("--from", written(tmp_path, "p.yaml", PROMPTFOO))]
    for number, more in enumerate(starts):
        folder = tmp_path / str(number)
        assert umpirical("init", folder, *more)[0] == 0
        text = (folder / "umpirical.yaml").read_text(encoding="utf-8")
        named = re.match(r"# yaml-language-server: \$schema=(\S+)\n", text)
        assert named[1] == SCHEMA_FILE
        schema = json.loads((folder / named[1]).read_text(encoding="utf-8"))
        jsonschema.validate(yaml.safe_load(text), schema)
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({**yaml.safe_load(text), "concurency": 1}, schema)
