"""The same question is never paid twice; another one is always asked."""

import json
from decimal import Decimal
from pathlib import Path

import pytest

from tests.runs.loopback import CALLS, REFUSED, judgments, responses, swayed_answer, write_study
from tests.servers.chat_server import ChatServer
from umpirical.cli import main
from umpirical.protocols.datasheet.counting import FACTS
from umpirical.reports.prices import price_of
from umpirical.runs.judgments import read_judgments
from umpirical.runs.run import open_run
from umpirical.store.budget import Budget
from umpirical.store.parquet import read_metadata, read_rows, write_rows
from umpirical.store.schemas import response_schema


@pytest.fixture
def run(capsys):
    def run(study: Path, *options: str) -> dict:
        with pytest.raises(SystemExit) as stop:
            main(["run", str(study), "--trust", "--yes", "--json", *options])
        out = capsys.readouterr()
        assert stop.value.code == REFUSED, out.err
        return json.loads(out.out)[0]

    return run


def edit(study: Path, old: str, new: str) -> None:
    text = study.read_text()
    assert old in text
    study.write_text(text.replace(old, new))


def test_more_repeats_ask_only_the_new_ones(tmp_path, run):
    with ChatServer(swayed_answer) as server:
        study = write_study(tmp_path, server.base_url)
        run(study)
        edit(study, "repeats: 1", "repeats: 3")
        result = run(study)
        assert result["trials"] == 3 * CALLS
        assert server.asked.total() == 3 * CALLS
        assert max(server.asked.values()) == 1
    assert len(judgments(Path(result["datasheet"]).parent)) == 3 * CALLS


def test_what_was_taken_over_says_so_and_costs_nothing_again(tmp_path, run):
    with ChatServer(swayed_answer) as server:
        study = write_study(tmp_path, server.base_url)
        first = run(study)
        edit(study, "repeats: 1", "repeats: 2")
        second = run(study)
    found = responses(Path(second["datasheet"]).parent)
    reused = [response for response in found if response.price_table.startswith("reused")]
    assert len(reused) == CALLS
    assert {response.price_table for response in reused} == {f"reused from {first['run']}"}
    assert {(response.cost, response.attempts) for response in reused} == {(0, 0)}
    spend = json.loads(Path(second["datasheet"]).read_text())["spend"]
    assert (spend["calls"], spend["reused"]) == (2 * CALLS, CALLS)


def test_neither_reuse_nor_resuming_makes_a_judge_cheaper_or_dearer(tmp_path, run):
    """A verdict costs what it costs: in the first run, after it was resumed twice, and in one with reused answers."""
    with ChatServer(swayed_answer) as server:
        study = write_study(tmp_path, server.base_url, price="{input: 1, output: 1}")
        first = [run(study, "--max-cost", "9") for _ in range(3)][-1]
        edit(study, "repeats: 1", "repeats: 2")
        second = run(study, "--max-cost", "9")
    one, two = (json.loads(Path(each["datasheet"]).read_text())["spend"] for each in (first, second))
    asked = responses(Path(first["datasheet"]).parent)
    assert Decimal(one["cost"]) == Decimal(one["budget"]["spent"]) == sum(response.cost for response in asked)
    assert float(two["cost_per_1000"]) == pytest.approx(float(one["cost_per_1000"]), rel=0.01)
    price = price_of_run(Path(first["datasheet"]).parent)
    again = price_of_run(Path(second["datasheet"]).parent)
    assert (price.calls, again.calls, again.reused) == (CALLS, CALLS, CALLS)
    assert 0 < price.verdicts < price.calls
    assert price.per_1000[0] > price.per_call[0]
    assert float(again.per_1000[0]) == pytest.approx(float(price.per_1000[0]), rel=0.01)


def price_of_run(folder):
    opened = open_run(folder)
    with read_judgments(opened, FACTS) as reading:
        return price_of(reading.spent, Budget(opened.call.folder).bill_of(opened.name))


def test_what_is_taken_over_is_verified_and_said(tmp_path, run, capsys):
    with ChatServer(swayed_answer) as server:
        study = write_study(tmp_path, server.base_url)
        first = run(study)
        edit(study, "repeats: 1", "repeats: 2")
        with pytest.raises(SystemExit):
            main(["plan", str(study), "--trust"])
        assert f"{CALLS} answers are reused from run {first['run']}" in capsys.readouterr().err

        # Edited answers of a run that came with the study.
        sealed = Path(first["datasheet"]).parent / "responses" / "00000-0.parquet"
        rows, about = list(read_rows(sealed)), read_metadata(sealed)
        for row in rows:
            row["text"] = '{"verdict": "tie"}'
        write_rows(sealed, rows, response_schema(), metadata=about)
        edit(study, "repeats: 2", "repeats: 3")
        asked = server.asked.total()
        with pytest.raises(SystemExit):
            main(["run", str(study), "--trust", "--yes"])
        said = capsys.readouterr().err
        assert f"no answers are reused from run {first['run']}: {sealed} has been changed since it was written" in said
        assert server.asked.total() - asked == 3 * CALLS, said


def test_a_changed_reader_reads_again_and_asks_nothing(tmp_path, run):
    with ChatServer(swayed_answer) as server:
        study = write_study(tmp_path, server.base_url)
        pattern = r"""'"verdict": "(?P<answer>1|2|tie|abstain)"'"""
        edit(study, "    model:\n", f"    answer: {{constrained: false, pattern: {pattern}}}\n    model:\n")
        before = run(study)
        asked = server.asked.total()
        edit(study, "|abstain", "")
        after = run(study)
        assert server.asked.total() == asked
    assert after["unparsed"] > before["unparsed"], "the new pattern does not read abstentions"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("name: swayed", "name: other-model"),
        ("    model:\n", "    decoding: {temperature: 0.7}\n    model:\n"),
        ("    model:\n", "    prompts: {baseline: own.md}\n    model:\n"),
    ],
    ids=["model", "parameter", "prompt"],
)
def test_another_model_parameter_or_prompt_is_another_question(tmp_path, run, old, new):
    template = "{{task}}\n[candidate 1, {{fence}}]\n{{first}}\n[end of candidate 1, {{fence}}]\n"
    template += "\n[candidate 2, {{fence}}]\n{{second}}\n[end of candidate 2, {{fence}}]"
    (tmp_path / "own.md").write_text(template)
    with ChatServer(swayed_answer) as server:
        study = write_study(tmp_path, server.base_url)
        run(study)
        edit(study, old, new)
        run(study)
        assert server.asked.total() == 2 * CALLS
        assert max(server.asked.values()) == 1


def test_another_server_is_asked_anew_though_the_model_has_the_same_name(tmp_path, run):
    with ChatServer(swayed_answer) as one, ChatServer(swayed_answer) as other:
        study = write_study(tmp_path, one.base_url)
        run(study)
        edit(study, one.base_url, other.base_url)
        run(study)
        assert other.asked.total() == CALLS


def test_failures_are_never_taken_over(tmp_path, run):
    with ChatServer(swayed_answer, misbehave=lambda name, _: "malformed" if name < "0f" else None) as server:
        study = write_study(tmp_path, server.base_url, attempts=1)
        failed = run(study)["failed"]
        assert failed > 10
        server.misbehave = lambda _name, _times: None
        edit(study, "repeats: 1", "repeats: 2")
        result = run(study)
        assert result["failed"] == 0
        assert server.asked.total() == CALLS + CALLS + failed


def test_fresh_asks_everything_again_and_is_then_the_run_that_is_resumed(tmp_path, run):
    with ChatServer(swayed_answer) as server:
        study = write_study(tmp_path, server.base_url)
        first = run(study)
        second = run(study, "--fresh")
        assert server.asked.total() == 2 * CALLS
        assert second["run"] == f"{first['run']}.2"
        assert run(study)["run"] == second["run"]
        assert server.asked.total() == 2 * CALLS


def test_a_fresh_run_that_was_thought_better_of_is_not_resumed(tmp_path, run, capsys):
    with ChatServer(swayed_answer) as server:
        study = write_study(tmp_path, server.base_url)
        first = run(study)
        edit(study, "price: free", "price: {input: 1, output: 1}")
        with pytest.raises(SystemExit) as stop:
            main(["run", str(study), "--trust", "--fresh"])
        assert stop.value.code == 6
        capsys.readouterr()
        assert run(study, "--max-cost", "5")["run"] == first["run"]
        assert server.asked.total() == CALLS
        assert run(study, "--fresh", "--max-cost", "50")["run"] == f"{first['run']}.2"
