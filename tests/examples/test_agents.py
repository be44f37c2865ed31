"""examples/agents: every log can be read, keeps the rules that its policy declares, and can be made again."""

import json
import re
import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path
from zipfile import ZipFile

import pytest
from inspect_ai.log import EvalSample, read_eval_log
from inspect_ai.tool import ToolError

from tests.docs.reading import blocks
from umpirical.domain.policies import Closing, Figures, Forbid, Require, figures_in, rule
from umpirical.domain.transcripts import Message, ToolCall, Transcript
from umpirical.store.yaml_files import load_yaml

FOLDER = Path(__file__).parents[2] / "examples" / "agents"
POLICIES = load_yaml(FOLDER / "policies.yaml").data
NAMES = [(category, name) for category, policy in POLICIES.items() for name in policy["transcripts"]]

CATEGORIES = {
    "booking",
    "calendar",
    "code-repair",
    "data-lookup",
    "file-tidying",
    "inventory",
    "shopping",
    "support-tickets",
}

each_transcript = pytest.mark.parametrize(("category", "name"), NAMES, ids=[name for _, name in NAMES])


@cache
def samples(file: Path) -> dict[str, EvalSample]:
    return {str(sample.id): sample for sample in read_eval_log(str(file)).samples}


def sample_of(category: str, name: str) -> EvalSample:
    return samples(FOLDER / "logs" / f"{category}.eval")[name]


def message_of(found) -> Message:
    if found.role == "tool":
        error = found.error.message if found.error else ""
        return Message("tool", found.text, answers=found.tool_call_id, tool=found.function, error=error)
    calls = (found.tool_calls or ()) if found.role == "assistant" else ()
    made = tuple(ToolCall(call.id, call.function, json.dumps(call.arguments)) for call in calls)
    return Message(found.role, found.text, calls=made)


def transcript_of(sample: EvalSample) -> Transcript:
    return Transcript(tuple(message_of(message) for message in sample.messages), name=str(sample.id))


def rules_of(category: str, name: str):
    """The rules of a transcript, each with the entry that declares it."""
    declared = [*POLICIES[category]["rules"], *POLICIES[category]["transcripts"][name]]
    for entry in declared:
        [kind] = entry.keys() - {"example"}
        yield rule(kind, "" if entry[kind] is True else entry[kind]), entry


def without(transcript: Transcript, tool: str) -> Transcript:
    """The transcript without a tool's calls and their results."""
    kept = (
        replace(message, calls=tuple(call for call in message.calls if call.tool != tool))
        for message in transcript.messages
        if message.tool != tool
    )
    return Transcript(
        tuple(message for message in kept if message.role != "assistant" or message.text or message.calls)
    )


async def answered(tool, arguments) -> tuple[str, str]:
    """What a tool returns, and what it reports in place of that."""
    try:
        return await tool(**arguments), ""
    except ToolError as error:
        return "", error.message


def test_there_are_three_transcripts_or_more_in_each_of_eight_categories():
    logs = {file.stem: file for file in FOLDER.glob("logs/*.eval")}
    assert logs.keys() == POLICIES.keys() == CATEGORIES
    for category, file in logs.items():
        assert len(samples(file)) >= 3
        assert samples(file).keys() == POLICIES[category]["transcripts"].keys()
        assert file.stat().st_size < 100_000
    assert len(NAMES) >= 24
    assert len({name for _, name in NAMES}) == len(NAMES)


def test_no_two_users_or_endings_are_alike_and_lengths_differ():
    transcripts = [transcript_of(sample_of(*name)) for name in NAMES]
    assert len({transcript.messages[1].text for transcript in transcripts}) == len(NAMES)
    assert len({transcript.messages[-1].text for transcript in transcripts}) == len(NAMES)
    lengths = sorted(len(transcript.messages) for transcript in transcripts)
    assert lengths[0] < 10
    assert lengths[-1] > 25


@each_transcript
def test_it_is_a_transcript_that_an_agent_can_have_had(category, name):
    transcript = transcript_of(sample_of(category, name))
    assert [*transcript.problems()] == []
    assert [message.role for message in transcript.messages[:2]] == ["system", "user"]
    assert 4 <= sum(len(message.calls) for message in transcript.messages) <= 10
    assert len(transcript.tools) >= 3


@each_transcript
def test_every_declared_rule_holds_and_its_opposite_does_not(category, name):
    transcript = transcript_of(sample_of(category, name))
    rules = [declared for declared, _ in rules_of(category, name)]
    assert {type(declared) for declared in rules} == {Forbid, Require, Figures, Closing}
    for declared in rules:
        assert declared.holds(transcript), declared
        assert not declared.opposite.holds(transcript), declared


@each_transcript
def test_the_tools_of_the_policy_are_those_that_the_agent_was_offered(category, name):
    asked = [event for event in sample_of(category, name).events if event.event == "model"]
    offered = {tool.name: tool for tool in asked[0].tools}
    assert [*offered] == POLICIES[category]["tools"]
    for declared, entry in rules_of(category, name):
        if isinstance(declared, Forbid):
            parameters = offered[declared.tool].parameters
            assert entry["example"]["arguments"].keys() == {*parameters.required} == parameters.properties.keys()


@each_transcript
def test_a_changed_result_shows_in_the_closing_message(category, name):
    """Two figures of the closing message or more are from tools, and one stands nowhere else."""
    transcript = transcript_of(sample_of(category, name))
    said = {found.group() for found in figures_in(transcript.messages[-1].text)}
    heard = [message for message in transcript.messages if message.role != "assistant"]
    given = Counter(found.group() for message in heard for found in figures_in(message.text))
    by_tools = {found.group() for message in heard if message.role == "tool" for found in figures_in(message.text)}
    assert len(said & by_tools) >= 2
    assert any(given[figure] == 1 for figure in said & by_tools)


@each_transcript
def test_without_a_required_call_no_other_rule_is_broken(category, name):
    """So that a judge can be asked about one rule. The first required tool of each policy is of this kind."""
    transcript = transcript_of(sample_of(category, name))
    rules = [declared for declared, _ in rules_of(category, name)]
    required = next(declared for declared in rules if isinstance(declared, Require))
    edited = without(transcript, required.tool)
    assert [*edited.problems()] == []
    assert [declared for declared in rules if not declared.holds(edited)] == [required]


@each_transcript
async def test_the_tools_return_what_the_log_says_and_what_the_examples_say(category, name, monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    from workplaces import WORKPLACES

    tools = {tool.name: tool.tool for tool in WORKPLACES[category].tools()}
    transcript = transcript_of(sample_of(category, name))
    calls = {call.id: call for message in transcript.messages for call in message.calls}
    for message in transcript.messages:
        if message.role == "tool":
            call = calls[message.answers]
            assert await answered(tools[call.tool], call.named) == (message.text, message.error)
    for declared, entry in rules_of(category, name):
        if isinstance(declared, Forbid):
            example = entry["example"]
            assert await answered(tools[declared.tool], example["arguments"]) == (example["result"], "")


@pytest.mark.parametrize("category", POLICIES)
def test_a_policy_is_five_to_eight_lines_and_names_no_tool(category):
    policy = POLICIES[category]["policy"]
    assert 5 <= len(policy.strip().splitlines()) <= 8
    assert not [tool for tool in POLICIES[category]["tools"] if "_" in tool and tool in policy]


@pytest.mark.parametrize("category", POLICIES)
def test_a_log_says_nothing_of_when_and_where_it_was_made(category):
    with ZipFile(FOLDER / "logs" / f"{category}.eval") as log:
        texts = [log.read(name).decode() for name in log.namelist()]
    assert {time for text in texts for time in re.findall(r"\d{4}-\d\d-\d\dT[\d:.]+", text)} == {"2026-01-01T00:00:00"}
    assert {place for text in texts for place in re.findall(r"127\.0\.0\.1:\d+", text)} == set()
    assert not any('"revision"' in text or str(FOLDER.parents[1]) in text for text in texts)


@pytest.mark.heavy
def test_the_maker_makes_the_same_messages_again(tmp_path):
    program, script = blocks(FOLDER / "README.md", "sh")[0].split()
    assert program == "python"
    command = [sys.executable, script, "--only", "support-tickets", "--to", str(tmp_path)]
    done = subprocess.run(command, cwd=FOLDER, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    [file] = tmp_path.iterdir()
    made, kept = samples(file), samples(FOLDER / "logs" / file.name)
    assert made.keys() == kept.keys()
    for name, sample in made.items():
        assert transcript_of(sample).messages == transcript_of(kept[name]).messages


def test_the_study_has_the_rules_of_the_policies():
    study = load_yaml(FOLDER / "umpirical.yaml").data
    written = [
        rule | {"only": {"category": category}} for category, policy in POLICIES.items() for rule in policy["rules"]
    ]
    written += [
        rule | {"only": {"transcript": name}}
        for policy in POLICIES.values()
        for name, rules in policy["transcripts"].items()
        for rule in rules
    ]
    assert sorted(study["rules"], key=str) == sorted(written, key=str)


def test_the_study_runs_as_it_is_and_a_judge_that_reads_everything_passes(umpirical, tmp_path):
    folder = tmp_path / "agents"
    shutil.copytree(FOLDER, folder, ignore=shutil.ignore_patterns("__pycache__", "runs", "stimuli"))
    code, out, err = umpirical("run", folder, "--yes")
    assert code == 0, err
    assert "Use (policy agent): All 6 checks passed." in out


def test_the_study_of_agentharm_is_rehearsed_on_benign_runs(umpirical, tmp_path):
    folder = tmp_path / "agentharm"
    shutil.copytree(FOLDER.parent / "agentharm", folder)
    shutil.copytree(FOLDER / "logs", folder / "logs")
    for command in ("check", "generate", "run"):
        code, _, err = umpirical(command, folder, *(() if command == "check" else ("--yes",)))
        assert code == 0, err
    [page] = folder.glob("runs/*/agent.html")
    assert "agent-positives" in page.read_text()
    record = json.loads(page.with_suffix(".json").read_text())
    # Two of each of eight categories, the same ones again.
    assert record["transcripts"]["count"] == 16
    assert "16 of 24 transcripts are in the sample, 2 of each category" in record["transcripts"]["notes"]
    [clusters] = {measure["result"]["clusters"] for measure in record["measures"] if measure["name"] == "unparsed-rate"}
    assert clusters == 16
    file = folder / "umpirical.yaml"
    file.write_text(file.read_text().replace("per: 2", "per: 4"))
    code, _, err = umpirical("check", folder)
    assert code == 2
    assert "4 of each group are wanted, but 'category=booking' has 3, and 7 more of the 8 groups" in err
