"""Judges of promptfoo, as far as promptfoo itself is not needed: what is read, what is refused, what is run."""

import asyncio
import json
import sys
from pathlib import Path

import pytest

import umpirical
from umpirical.domain.errors import NotTrusted, UsageError
from umpirical.domain.judgments import Failed, Unparsed, Verdict
from umpirical.domain.trials import Presentation, Presented
from umpirical.integrations.promptfoo.assertion import read_assertion
from umpirical.integrations.promptfoo.judge import describe
from umpirical.judges.endpoint_spec import PromptfooSpec
from umpirical.judges.factory import build_judge
from umpirical.judges.spec import JudgeSpec
from umpirical.models.spec import Calling
from umpirical.study.trust import powers_of_judges

RECORDED = json.loads((Path(__file__).parent / "promptfoo" / "results.json").read_text(encoding="utf-8"))["results"]
"""What promptfoo 0.121.20 wrote about answers of every sort, by type of assertion and by what its model said."""

PASS = {"kind": "grade", "scale": {"kind": "binary", "labels": ["false", "true"]}}
SCORE = {"kind": "grade", "scale": {"kind": "interval", "low": 0, "high": 1}}

PROVIDER = {"id": "openai:chat:simulated", "config": {"apiKey": "none"}}

REPLAY = """
import base64, json, os, sys
if "--version" in sys.argv:
    print("0.121.20")
    sys.exit()
config = json.load(open("config.json"))
with open({kept!r}, "a") as kept:
    kept.write(json.dumps({{"config": config, "words": sys.argv[1:], "env": dict(os.environ)}}) + "\\n")
recorded = json.load(open({recorded!r}))["results"]
rows = []
for test in config["tests"]:
    question = json.loads(base64.b64decode(test["vars"]["umpirical"]))
    for row in recorded[test["assert"][0]["type"]][question["shown"][0].removeprefix("CASE ")]:
        row["vars"]["umpirical"]["id"] = question["id"]
        rows.append(row)
{spoil}
json.dump({{"results": {{"results": rows}}}}, open("results.json", "w"))
sys.exit(100)
"""


class Judges:
    """Judges whose promptfoo is a program that writes what the real one wrote."""

    def __init__(self, folder):
        self.folder, self.kept = folder, folder / "kept.jsonl"

    def __call__(self, decides="llm-rubric", *, spoil="", config=None, entry=None, **keys):
        assertion = {"type": decides, "value": "It helps.", **(entry or {})}
        whole = {"defaultTest": {"options": {"provider": PROVIDER}, "assert": [assertion]}}
        (self.folder / "config.yaml").write_text(json.dumps(whole if config is None else config))
        program = self.folder / "promptfoo"
        recorded = str(Path(__file__).parent / "promptfoo" / "results.json")
        code = REPLAY.format(kept=str(self.kept), recorded=recorded, spoil=spoil)
        program.write_text(f"#!{sys.executable}\n{code}")
        program.chmod(0o755)
        told = {"config": "config.yaml", "command": ["./promptfoo"], **keys.pop("promptfoo", {})}
        spec = JudgeSpec.model_validate(
            {"name": "p", "promptfoo": told, "deadline": 60, **({} if decides == "select-best" else PASS), **keys}
        )
        return build_judge(spec, folder=self.folder, calling=Calling())

    def runs(self):
        return [json.loads(line) for line in self.kept.read_text().splitlines()]


@pytest.fixture
def judge(tmp_path):
    return Judges(tmp_path)


async def asked(judge, *cases, task="Do it."):
    pair = judge.kind == "compare"
    shown = [Presented(task, f"CASE {case}", f"CASE {case}" if pair else None) for case in cases]
    requests = [judge.request(each, Presentation()) for each in shown]
    responses = await asyncio.gather(*(judge.ask(request, trial_id="t") for request in requests))
    return [judge.read(response, Presentation()) for response in responses]


def outcome(found):
    if isinstance(found, Verdict):
        return found.value
    return found.kind if isinstance(found, Failed) else "unparsed" if isinstance(found, Unparsed) else repr(found)


FAULTS = {"rejected": "rejected", "server-error": "server-error", "rate-limited": "rate-limited"}
UNREAD = {"rubbish": "unparsed", "empty": "unparsed"}

OUTCOMES = {
    "llm-rubric": {"yes": "true", "no": "false"} | dict.fromkeys(("neither", "nothing", "unsure", "alone"), "unparsed"),
    "g-eval": {"yes": "true", "no": "false", "beyond": "unparsed"},
    "model-graded-closedqa": {"yes": "true", "no": "false", "unsure": "unparsed"},
    "select-best": {"yes": "1", "no": "2", "beyond": "unparsed", "neither": "unparsed"},
}


@pytest.mark.parametrize("kind", OUTCOMES)
async def test_only_what_a_model_decided_is_a_verdict(judge, kind):
    expected = OUTCOMES[kind] | UNREAD | FAULTS
    if kind == "select-best":
        # It ends promptfoo itself, with no results.
        del expected["rate-limited"]
    assert expected.keys() == RECORDED[kind].keys()
    found = await asked(judge(kind), *expected)
    assert dict(zip(expected, map(outcome, found), strict=True)) == expected


async def test_every_verdict_of_promptfoo_on_what_is_none_would_have_counted():
    """The recorded results have a pass and a score for rubbish and for servers that fail."""
    for kind, cases in RECORDED.items():
        for case in ("rubbish", "empty", "rejected", "server-error"):
            [component] = cases[case][0]["gradingResult"]["componentResults"]
            assert (kind, component["pass"], component["score"]) == (kind, False, 0)
    [filled_in] = RECORDED["llm-rubric"]["neither"][0]["gradingResult"]["componentResults"]
    assert (filled_in["pass"], filled_in["score"]) == (True, 1)


async def test_by_its_score_a_grade_is_what_the_model_said(judge):
    found = await asked(judge(**SCORE), "yes", "no", "alone", "neither", "unsure")
    assert [*map(outcome, found)] == [0.8, 0.3, 0.6, "unparsed", "unparsed"]
    found = await asked(judge("g-eval", **SCORE), "yes", "no", "beyond")
    assert [*map(outcome, found)] == [0.8, 0.0, "unparsed"]


async def test_a_score_alone_decides_by_a_threshold(judge):
    found = await asked(judge(entry={"threshold": 0.5}), "alone", "neither", "unsure")
    assert [*map(outcome, found)] == ["true", "unparsed", "unparsed"]


async def test_a_category_counts_by_the_users_own_scores(judge):
    kept = {"inputs": {"row.gold": "facts"}, "entry": {"value": "{{facts}}"}}
    config = {
        "defaultTest": {
            "options": {"provider": PROVIDER, "factuality": {"agree": 0, "disagree": 0.5}},
            "assert": [{"type": "factuality", "value": "{{facts}}"}],
        }
    }
    cases = ("yes", "no", "beyond", "rubbish", "server-error")
    for told, expected in (({}, ["true", "false"]), ({"config": config}, ["false", "true"])):
        made = judge("factuality", **kept, **told)
        shown = [Presented("Do it.", f"CASE {case}", None, {"gold": "Paris"}) for case in cases]
        responses = [await made.ask(made.request(each, Presentation()), trial_id="t") for each in shown]
        found = [outcome(made.read(response, Presentation())) for response in responses]
        assert found == [*expected, "unparsed", "unparsed", "server-error"]
    run = judge.runs()[-1]["config"]
    assert len(set(run["defaultTest"]["options"]["factuality"].values())) == 5


@pytest.mark.parametrize(
    ("spoil", "kind"),
    [
        ("rows = rows[:-1]", "malformed"),
        ("rows += rows", "malformed"),
        ("rows[-1]['response']['output'] = 'CASE no'", "malformed"),
        ("rows[-1]['gradingResult'] = None; rows[-1]['error'] = 'Evaluation timed out after 20000ms'", "timeout"),
        ("rows[-1]['gradingResult'] = None; rows[-1]['error'] = 'fetch failed: ECONNREFUSED'", "connection"),
        ("rows[-1]['gradingResult'] = None", "judge-error"),
        ("del rows[-1]['gradingResult']['componentResults'][0]['metadata']['umpiricalSaid']", "judge-error"),
        ("rows[-1]['gradingResult']['componentResults'][0]['pass'] = None", "malformed"),
        ("open('results.json', 'w').write('{'); sys.exit(0)", "malformed"),
        ("sys.stderr.write('no such option'); sys.exit(1)", "judge-error"),
        ("sys.stderr.write('RateLimitExhaustedError: Rate limit exceeded for openai'); sys.exit(1)", "rate-limited"),
    ],
)
async def test_results_that_do_not_fit_are_no_verdicts(judge, spoil, kind):
    [found] = await asked(judge(spoil=spoil), "yes")
    assert outcome(found) == kind, found


async def test_a_broken_result_is_the_outcome_of_its_own_question_alone(judge):
    spoil = "next(r for r in rows if r['response']['output'] == 'CASE no')['response']['output'] = 'CASE yes'"
    assert [*map(outcome, await asked(judge(spoil=spoil), "yes", "no", "rubbish"))] == ["true", "malformed", "unparsed"]


async def test_one_start_answers_a_batch(judge):
    await asked(judge(), *["yes"] * 20)
    assert sorted(len(run["config"]["tests"]) for run in judge.runs()) == [4, 16]
    judge.kept.unlink()
    await asked(judge(batch=3), *["yes"] * 4)
    assert sorted(len(run["config"]["tests"]) for run in judge.runs()) == [1, 3]


async def test_a_program_that_hangs_is_killed_at_the_deadline(judge):
    [found] = await asked(judge(spoil="import time; time.sleep(600)", deadline=2), "yes")
    assert outcome(found) == "timeout"


async def test_closing_ends_what_runs(judge):
    made = judge(spoil="import time; time.sleep(600)")
    waiting = asyncio.ensure_future(asked(made, "yes"))
    while not judge.kept.exists():  # noqa: ASYNC110  # another process makes it
        await asyncio.sleep(0.05)
    await made.close()
    assert [*map(outcome, await waiting)] == ["judge-error"]


async def test_nothing_of_a_text_stands_in_the_config_and_nothing_is_written_beside_the_users(judge):
    made = judge(entry={"value": "It answers {{question}}."})
    before = sorted(judge.folder.iterdir())
    await asked(made, "yes", task="{{ env.HOME }} and so on")
    [run] = judge.runs()
    assert "env.HOME" not in json.dumps(run["config"])
    assert sorted(judge.folder.iterdir()) == sorted([*before, judge.kept])
    assert run["env"]["PROMPTFOO_DISABLE_TELEMETRY"] == run["env"]["PROMPTFOO_DISABLE_UPDATE"] == "1"
    assert "silence.mjs" in run["env"]["NODE_OPTIONS"]
    assert {"--no-cache", "--no-share"} <= {*run["words"]}
    assert run["env"]["PROMPTFOO_CONFIG_DIR"] not in map(str, judge.folder.rglob("*"))


@pytest.mark.parametrize("task", ["file:///etc/passwd", "package:evil", "What is {{question}}?", "{{ umpirical }}"])
async def test_a_text_that_promptfoo_would_load_or_fill_in_is_not_shown(judge, task):
    made = judge(entry={"value": "It answers {{question}}."})
    assert [*map(outcome, await asked(made, "yes", task=task))] == ["rejected"]
    assert not judge.kept.exists()


def test_a_config_without_the_variable_shows_any_task(judge):
    assert [*map(outcome, asyncio.run(asked(judge(), "yes", task="file:///etc/passwd")))] == ["true"]


def refused(judge, **keys):
    with pytest.raises(UsageError) as error:
        judge(**keys)
    assert not judge.kept.exists()
    return f"{error.value} {error.value.fix}"


def config_of(*assertions, **keys):
    return {"defaultTest": {"options": {"provider": PROVIDER}, "assert": list(assertions)}, **keys}


def test_what_does_not_fit_is_refused_before_any_call(judge):
    rubric = {"type": "llm-rubric", "value": "It helps."}
    assert "it has none" in refused(judge, config=config_of({"type": "contains", "value": "x"}))
    assert "it has 0: llm-rubric" in refused(judge, config=config_of(rubric), promptfoo={"assertion": 1})
    assert "no provider" in refused(judge, config={"defaultTest": {"assert": [rubric]}})
    assert "variable tone" in refused(judge, entry={"value": "It is {{tone}}."})
    assert "fills in the response" in refused(judge, inputs={"response": "reply"})
    assert "facts" in refused(judge, decides="factuality")
    assert "pass" in refused(judge, scale={"kind": "ordinal", "labels": ["1", "2", "3"]})
    assert "no such file" in refused(judge, entry={"rubricPrompt": "file://rubric.txt"})
    assert "outside the study folder" in refused(judge, entry={"rubricPrompt": "file://../rubric.txt"})
    assert "in another file" in refused(judge, entry={"provider": "file://provider.yaml"})
    (judge.folder / "promptfooconfig.js").write_text("module.exports = {}")
    assert "is a program" in refused(judge, promptfoo={"config": "promptfooconfig.js"})
    assert "no such file: absent.yaml" in refused(judge, promptfoo={"config": "absent.yaml"})
    assert "outside the study folder" in refused(judge, promptfoo={"config": "../config.yaml"})
    assert "kind: compare" in refused(judge, config=config_of({"type": "select-best", "value": "The better one."}))


def test_a_missing_program_is_said_with_the_remedy(judge):
    told = refused(judge, promptfoo={"command": ["no-such-promptfoo"]})
    assert "no program no-such-promptfoo" in told
    assert "npm install" in told
    (judge.folder / "broken").write_text("#!/bin/sh\nexit 3\n")
    (judge.folder / "broken").chmod(0o755)
    assert "exit code 3" in refused(judge, promptfoo={"command": ["./broken"]})


def test_assertions_are_counted_over_the_whole_config(tmp_path):
    (tmp_path / "config.yaml").write_text("""
providers:
  - {id: "openai:chat:target", label: other}
  - {id: "openai:chat:grader", label: grader, config: {temperature: 0}, prompts: [one]}
defaultTest:
  options: {provider: grader, rubricPrompt: "{{output}} {{rubric}}"}
  vars: {tone: warm, question: What?}
  assert:
    - {type: javascript, value: "output.length > 3"}
    - {type: llm-rubric, value: "It is {{tone}}.", weight: 0, metric: tone}
tests:
  - vars: {tone: cold}
    assert: [{type: g-eval, value: "It is {{tone}}."}, {type: contains, value: x}]
  - options: {provider: "openai:chat:third"}
    assert: [{type: select-best, value: Better., rubricPrompt: "{{outputs}}"}]
""")
    specs = [PromptfooSpec(config="config.yaml", assertion=number) for number in range(3)]
    first, second, third = (read_assertion(spec, tmp_path) for spec in specs)
    assert (first.type, second.type, third.type) == ("llm-rubric", "g-eval", "select-best")
    assert first.entry == {"type": "llm-rubric", "value": "It is {{tone}}."}
    assert first.provider == {"id": "openai:chat:grader", "config": {"temperature": 0}}
    assert (first.variables["tone"], second.variables["tone"]) == ("warm", "cold")
    assert third.provider == {"id": "openai:chat:third"}
    assert third.options == {"rubricPrompt": "{{outputs}}"}
    assert [describe(spec, tmp_path)["kind"] for spec in specs] == ["grade", "grade", "compare"]


def identity(judge, **keys):
    return judge(**keys).adapted.identity


def test_what_makes_a_judge_another_one_is_in_its_identity(judge):
    plain = identity(judge)
    assert identity(judge) == plain
    assert identity(judge, entry={"value": "It harms."}) != plain
    (judge.folder / "rubric.txt").write_text("{{output}}")
    filed = identity(judge, entry={"rubricPrompt": "file://rubric.txt"})
    (judge.folder / "rubric.txt").write_text("{{output}} {{rubric}}")
    assert identity(judge, entry={"rubricPrompt": "file://rubric.txt"}) != filed
    assert "none" not in json.dumps(plain), "a key is part of it"


def test_files_that_a_config_names_are_passed_on_by_their_whole_paths(judge):
    (judge.folder / "rubric.txt").write_text("{{output}} {{question}}")
    made = judge(entry={"rubricPrompt": "file://rubric.txt"})
    (judge.folder / ".env").write_text("OPENAI_API_KEY=none\n")
    asyncio.run(asked(made, "yes"))
    [run] = judge.runs()
    assert run["config"]["defaultTest"]["options"]["rubricPrompt"] == f"file://{judge.folder / 'rubric.txt'}"
    assert run["words"][-2:] == ["--env-file", str(judge.folder / ".env")]


def test_what_would_be_run_and_sent_is_listed_with_its_contents(tmp_path):
    spec = JudgeSpec(name="p", promptfoo={"config": "config.yaml"}, **PASS)
    entry = {"type": "llm-rubric", "value": "It helps.", "rubricPrompt": "file://rubric.txt"}
    (tmp_path / "config.yaml").write_text(json.dumps(config_of(entry)))
    for name in ("rubric.txt", "evil.js", ".env", "notes.rst"):
        (tmp_path / name).write_text("1")
    before = {power.words: power.content for power in powers_of_judges([spec], tmp_path)}
    files = {words.removeprefix("may load ") for words in before if words.startswith("may load")}
    assert files == {"config.yaml", "rubric.txt", "evil.js", ".env"}
    assert any(words.startswith("runs the program promptfoo eval") for words in before)
    assert any(words.startswith("sends prompts to the servers named in config.yaml") for words in before)
    (tmp_path / "config.yaml").write_text(json.dumps(config_of({**entry, "value": "It harms."})))
    after = {power.words: power.content for power in powers_of_judges([spec], tmp_path)}
    assert [words for words in after if after[words] != before[words]] == ["may load config.yaml"]


def test_a_config_is_agreed_to_before_anything_of_it_runs(judge):
    judge()
    started = judge.folder / "started"
    (judge.folder / "promptfoo").write_text(f"#!/bin/sh\ntouch {started}\necho 0.121.20\n")
    entry = {"promptfoo": {"config": "config.yaml", "command": ["./promptfoo"]}}
    with pytest.raises(NotTrusted) as refusal:
        umpirical.datasheet(entry, folder=judge.folder, size="screen", progress=False)
    assert "may load config.yaml" in str(refusal.value)
    assert not started.exists()
