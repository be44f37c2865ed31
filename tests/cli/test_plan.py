"""The spend guard, as a person meets it: what is shown, what is asked, and that the cap holds."""

import json
import os
import pty
import re
import select
import subprocess
import sys
import time
from decimal import Decimal
from pathlib import Path

import pytest

from tests.runs.loopback import CALLS, REFUSED, judgments, responses, swayed_answer, write_study
from tests.servers.chat_server import ChatServer, completion
from tests.stimuli.built import lend_stimuli
from umpirical.models.prices import RatePricer, TokenPrices

DEAR = "{input: 1000, output: 1000}"
"""A tenth of a cent per token, so that a few calls matter."""

STUDY = """\
study: several
judges:
  - name: gpt
    model: {adapter: openai-compatible, name: gpt-4o, base_url: "https://api.openai.com/v1"}
  - name: sonnet
    model: {adapter: openai-compatible, name: claude-sonnet-4-5, base_url: "https://api.anthropic.com/v1"}
  - name: own
    model: {adapter: openai-compatible, name: qwen, base_url: "http://127.0.0.1:9/v1", price: free}
  - name: rehearsal
    model: {adapter: simulated, name: careful}
design: {size: screen}
"""


@pytest.fixture
def several(tmp_path):
    (tmp_path / "umpirical.yaml").write_text(STUDY)
    lend_stimuli(tmp_path)
    return tmp_path


def rows(text: str) -> dict[str, list[str]]:
    """The cells of every row of the first table, by the first of them."""
    lines = [re.split(r"\s{2,}", line.strip()) for line in text.splitlines()]
    return {cells[0]: cells for cells in lines if len(cells) > 3}


def dollars(cell: str) -> Decimal:
    return Decimal(cell.strip("$ +").replace(",", ""))


def billed(server: ChatServer, *, per_input=1000, per_output=1000) -> Decimal:
    """What the server would charge for all it was asked, by its own count; prices are per million."""
    assert len(server.bodies) == server.asked.total()
    usages = [completion(body, swayed_answer(body))["usage"] for body in server.bodies]
    costs = (per_input * usage["prompt_tokens"] + per_output * usage["completion_tokens"] for usage in usages)
    return Decimal(sum(costs)) / 10**6


# umpirical plan


def test_the_table_has_a_row_for_each_judge_and_its_totals_add_up(umpirical, several):
    code, out, _ = umpirical("plan", several)
    assert code == 0
    assert f"{4 * CALLS:,} calls, 0 already answered" in out
    found = rows(out)
    assert found["judge"] == ["judge", "calls", "in tok", "out/call", "expected", "at most", "time"]
    gpt, sonnet, own, total = (found[name] for name in ("gpt", "sonnet", "own", "total"))
    assert gpt[1] == f"{CALLS}"
    assert gpt[3] == "15–256"
    assert own[4:6] == ["$0.00", "$0.00"]
    assert total[1] == f"{4 * CALLS:,}"
    for column, in_total in ((4, 2), (5, 3)):
        parts = [dollars(row[column]) for row in (gpt, sonnet, own)]
        assert sum(parts) == dollars(total[in_total])
        assert parts[0] > 0


def test_the_plan_as_json_has_everything(umpirical, several):
    code, out, _ = umpirical("plan", several, "--json")
    plan = json.loads(out)
    assert code == 0
    runs = {run["judge"]: run for run in plan["runs"]}
    assert list(runs) == ["gpt", "sonnet", "own", "rehearsal"]
    assert plan["calls"] == sum(run["calls"] for run in plan["runs"]) == 4 * CALLS
    assert Decimal(plan["at_most"]) == sum(Decimal(run["at_most"]) for run in plan["runs"])
    assert Decimal(plan["expected"]) == sum(Decimal(run["expected"]) for run in plan["runs"])
    gpt = runs["gpt"]
    tokens = gpt["input_tokens"]
    assert Decimal(gpt["expected"]) == (tokens["expected"] * Decimal("2.5") + CALLS * 15 * 10) / 10**6
    assert Decimal(gpt["at_most"]) == (tokens["at_most"] * Decimal("2.5") + CALLS * 256 * 10) / 10**6
    assert (gpt["output_basis"], gpt["seconds_basis"]) == ("constrained", "assumed")
    assert {part["measure"] for part in gpt["precision"]} > {"dark-current", "target-sensitivity"}


def test_the_plan_says_what_it_assumes(umpirical, several):
    _, out, _ = umpirical("plan", several)
    for words in (
        "assumes 4 bytes per token",
        "Retries may be billed, and count toward the cap",
        "gpt: prices of gpt-4o from genai-prices 0.2.1",
        "gpt, sonnet, own: 15 output tokens per call are expected: assumed",
        "1 s per call is assumed, 16 at a time",
        "Expected 95% intervals",
        "Assumes a correlation of 0.05 within a task",
    ):
        assert words in out


def test_the_plan_shows_how_precise_each_measure_will_be(umpirical, several):
    _, out, _ = umpirical("plan", several, "--judge", "gpt")
    assert re.search(r"Position bias\s+24 pairs\s+24\s+0\.127\s+0\.211", out)


def test_one_judge_of_several(umpirical, several):
    _, out, _ = umpirical("plan", several, "--judge", "own", "--json")
    assert [run["judge"] for run in json.loads(out)["runs"]] == ["own"]


def test_a_price_on_the_command_line_changes_the_plan(umpirical, several):
    _, out, _ = umpirical("plan", several, "--judge", "gpt", "--price", "gpt-4o=5,0", "--json")
    (run,) = json.loads(out)["runs"]
    assert Decimal(run["expected"]) == run["input_tokens"]["expected"] * Decimal(5) / 10**6
    assert run["price_table"] == "--price 5,0"


@pytest.mark.parametrize(
    ("price", "words"),
    [("gpt-4o", "NAME=IN,OUT"), ("gpt-4o=1,x", "NAME=IN,OUT"), ("gpt-5o=1,2", "no judge uses this model")],
)
def test_a_wrong_price_is_answered_with_how_to_write_it(umpirical, several, price, words):
    code, _, err = umpirical("plan", several, "--price", price)
    assert code == 2
    assert words in err


def test_a_plan_shows_an_unknown_price_and_what_to_do_about_it(umpirical, tmp_path):
    study = write_study(tmp_path, "http://127.0.0.1:9/v1", price="null")
    code, out, _ = umpirical("plan", study)
    assert code == 0
    assert "unknown price for swayed at 127.0.0.1" in out
    assert "--price swayed=IN,OUT" in out
    assert "price: free" in out
    assert rows(out)["loopback"][4:6] == ["no price", "no price"]


def test_planning_asks_nothing(umpirical, tmp_path):
    with ChatServer(swayed_answer) as server:
        umpirical("plan", write_study(tmp_path, server.base_url, price=DEAR))
    assert server.asked.total() == 0


def test_names_cannot_drive_the_terminal_or_the_table(umpirical, tmp_path):
    study = write_study(tmp_path, "http://127.0.0.1:9/v1", price=DEAR)
    study.write_text(study.read_text().replace("name: swayed", 'name: "[red]x\\e]52;c;y\\a[/red]"'))
    code, out, err = umpirical("plan", study)
    assert code == 0
    assert "\x1b" not in out + err
    assert "[red]x" in out


# umpirical run


@pytest.mark.parametrize(
    ("flags", "missing"),
    [
        ([], r"add --yes --max-cost (\d+\.\d\d)\n"),
        (["--yes"], r"add --max-cost (\d+\.\d\d)\n"),
        (["--max-cost", "5"], r"add --yes\n"),
    ],
)
def test_without_a_terminal_both_flags_are_needed_and_named(umpirical, tmp_path, flags, missing):
    with ChatServer(swayed_answer) as server:
        code, _, err = umpirical("run", write_study(tmp_path, server.base_url, price=DEAR), *flags)
    assert code == 6
    assert re.search(missing, err)
    assert server.asked.total() == 0


def test_the_flags_it_names_are_enough(umpirical, tmp_path):
    with ChatServer(swayed_answer) as server:
        study = write_study(tmp_path, server.base_url, price="{input: 1, output: 1}")
        _, _, err = umpirical("run", study)
        flags = re.search(r"add (--yes --max-cost \S+)", err)[1].split()
        code, out, err = umpirical("run", study, *flags, "--json")
    assert (code, json.loads(out)[0]["complete"]) == (REFUSED, True)
    assert f"spent: ${billed(server, per_input=1, per_output=1):.4f}" in err


def test_an_unknown_price_is_refused_before_anything_is_sent(umpirical, tmp_path):
    with ChatServer(swayed_answer) as server:
        study = write_study(tmp_path, server.base_url, price="null")
        code, _, err = umpirical("run", study, "--yes", "--max-cost", "100")
    assert code == 6
    assert "unknown price for swayed" in err
    assert "--allow-unpriced" in err
    assert server.asked.total() == 0


def test_an_unknown_price_can_be_allowed_but_not_without_a_word(umpirical, tmp_path):
    with ChatServer(swayed_answer) as server:
        study = write_study(tmp_path, server.base_url, price="null")
        code, _, err = umpirical("run", study, "--allow-unpriced")
        assert (code, server.asked.total()) == (6, 0)
        assert "add --yes\n" in err
        code, _, err = umpirical("run", study, "--allow-unpriced", "--yes")
    assert (code, server.asked.total()) == (REFUSED, CALLS)
    assert "so the cap does not apply" in err


def test_a_price_can_be_given_where_none_is_known(umpirical, tmp_path):
    with ChatServer(swayed_answer) as server:
        study = write_study(tmp_path, server.base_url, price="null")
        code, _, _ = umpirical("run", study, "--price", "swayed=0,0")
    assert (code, server.asked.total()) == (REFUSED, CALLS)


def test_without_max_tokens_a_priced_model_is_refused(umpirical, tmp_path):
    with ChatServer(swayed_answer) as server:
        study = write_study(tmp_path, server.base_url, price=DEAR)
        text = study.read_text().replace("design:", "    decoding: {max_tokens: null}\ndesign:")
        study.write_text(text)
        code, _, err = umpirical("run", study, "--yes", "--max-cost", "1000000")
    assert code == 6
    assert "max_tokens" in err
    assert server.asked.total() == 0


def test_a_function_of_ones_own_needs_no_price_and_is_shown_first(umpirical, tmp_path):
    (tmp_path / "planned_judge.py").write_text(
        "from pathlib import Path\n\n\ndef judge(task, first, second):\n"
        "    with (Path(__file__).parent / 'called').open('a') as log:\n        log.write('x')\n    return 'tie'\n"
    )
    (tmp_path / "umpirical.yaml").write_text(
        "study: s\ndesign: {size: screen}\njudges:\n  - {name: mine, callable: 'planned_judge:judge'}\n"
    )
    lend_stimuli(tmp_path)
    code, _, err = umpirical("run", tmp_path)
    assert (code, (tmp_path / "called").stat().st_size) == (REFUSED, CALLS)
    assert "own costs are not visible" in err
    # The preflight shows what the function is called with, and not how the call is kept.
    shown = [line.strip().split(": ")[0] for line in err.splitlines() if line.startswith("    ")]
    assert shown[0] == "task"
    assert "'source'" not in err


def test_simulated_judges_are_run_without_a_question_and_without_a_table(umpirical, tmp_path):
    umpirical("init", tmp_path)
    study = tmp_path / "umpirical.yaml"
    study.write_text(study.read_text().replace("repeats: 1", "repeats: 1\n  size: screen"))
    lend_stimuli(tmp_path)
    code, _, err = umpirical("run", tmp_path)
    assert code == REFUSED
    assert "Plan:" not in err


@pytest.mark.parametrize("amount", ["x", "-1", "NaN", "Infinity", "1,5"])
def test_a_cap_is_an_amount(umpirical, tmp_path, amount):
    code, _, err = umpirical("run", tmp_path, "--max-cost", amount)
    assert code == 2
    assert "is not a dollar amount" in err


@pytest.mark.parametrize(
    ("prices", "concurrency", "caps"),
    [((1000, 1000), 32, ("30", "40", "10000")), ((0, 1000), 1, ("0.60", "0.90", "100"))],
    ids=["many at a time", "one at a time"],
)
def test_the_cap_holds_and_a_higher_one_goes_on_without_asking_again(umpirical, tmp_path, prices, concurrency, caps):
    def spent() -> Decimal:
        return billed(server, per_input=prices[0], per_output=prices[1])

    with ChatServer(swayed_answer) as server:
        price = f"{{input: {prices[0]}, output: {prices[1]}}}"
        study = write_study(tmp_path, server.base_url, price=price, concurrency=concurrency)
        code, _, err = umpirical("run", study, "--yes", "--max-cost", caps[0])
        assert code == 6
        assert "is lower: the run may stop there" in err
        assert re.search(r"to continue, run the same command with --max-cost \S+", err)
        first, calls = spent(), server.asked.total()
        assert 0 < calls < CALLS
        assert Decimal(caps[0]) / 2 < first <= Decimal(caps[0]), "what was left under the cap was used"

        code, _, err = umpirical("run", study, "--yes", "--max-cost", caps[1])
        assert code == 6
        assert f"{calls:,} already answered" in err
        assert first < spent() <= Decimal(caps[1]), "what the first command spent counts"
        assert f"${first:.4f} of the budget of ${caps[1]} is spent or reserved" in err

        code, out, err = umpirical("run", study, "--yes", "--max-cost", caps[2], "--json")
        assert code == REFUSED
    assert server.asked.total() == CALLS
    assert max(server.asked.values()) == 1
    assert json.loads(out)[0]["complete"]
    assert len(judgments(Path(json.loads(out)[0]["datasheet"]).parent)) == CALLS


def test_a_cap_of_nothing_sends_nothing(umpirical, tmp_path):
    with ChatServer(swayed_answer) as server:
        study = write_study(tmp_path, server.base_url, price=DEAR)
        code, _, err = umpirical("run", study, "--yes", "--max-cost", "0")
    assert (code, server.asked.total()) == (6, 0)
    assert "the next call may cost up to" in err


def test_what_came_to_nothing_may_have_been_billed_and_counts_under_the_cap(umpirical, tmp_path):
    """Every third attempt brings an answer that cannot be read: the server has worked for it all the same."""
    with ChatServer(swayed_answer, misbehave=lambda name, n: "malformed" if (int(name[:8], 16) + n) % 3 else None) as s:
        study = write_study(tmp_path, s.base_url, price=DEAR, attempts=2)
        code, _, _ = umpirical("run", study, "--yes", "--max-cost", "60")
    assert code == 6
    assert s.faults["malformed"] > 0
    assert 0 < billed(s) <= 60


def test_judges_of_one_command_share_the_cap(umpirical, tmp_path):
    with ChatServer(swayed_answer) as server:
        study = write_study(tmp_path, server.base_url, price="{input: 100, output: 100}")
        head, entry, tail = re.split(r"(?s)(  - name: loopback.*?)(?=design:)", study.read_text())
        study.write_text(head + entry + entry.replace("loopback", "second").replace("swayed", "swayed-2") + tail)
        code, out, err = umpirical("run", study, "--yes", "--max-cost", "25")
        # The first judge costs some 17 dollars, so the second is stopped by what the first has left.
        assert code == 6
        assert CALLS < server.asked.total() < 2 * CALLS
        assert "second" in err
        assert "datasheet.html" in out
    assert billed(server, per_input=100, per_output=100) <= 25


def test_every_answer_has_its_price_on_record(umpirical, tmp_path):
    with ChatServer(swayed_answer) as server:
        study = write_study(tmp_path, server.base_url, price=DEAR)
        assert umpirical("run", study, "--yes", "--max-cost", "10000")[0] == REFUSED
    (run,) = (tmp_path / "runs").iterdir()
    found = responses(run)
    pricer = RatePricer(TokenPrices(Decimal(1000), Decimal(1000)), "study file")
    assert {response.price_table for response in found} == {pricer.table} == {"study file 1000,1000"}
    assert all(response.cost == pricer.cost(response.usage) for response in found)
    assert sum(response.cost for response in found) == billed(server)


def on_a_terminal(command: list[str], answer: str) -> tuple[int, str]:
    """Runs a command with a terminal for standard input and error, and types `answer` at each of its questions."""
    leader, follower = pty.openpty()
    process = subprocess.Popen(command, stdin=follower, stdout=subprocess.PIPE, stderr=follower, close_fds=True)
    os.close(follower)
    seen, typed, deadline = "", 0, time.monotonic() + 60
    try:
        while time.monotonic() < deadline:
            if select.select([leader], [], [], 0.1)[0]:
                try:
                    seen += os.read(leader, 65536).decode("utf-8", "replace")
                except OSError:
                    break
            if seen.count("[y/N]") > typed:
                os.write(leader, f"{answer}\n".encode())
                typed += 1
        return process.wait(timeout=30), seen
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
        os.close(leader)


@pytest.mark.parametrize(("answer", "code", "calls"), [("n", 6, 0), ("", 6, 0), ("y", REFUSED, CALLS)])
def test_on_a_terminal_the_question_is_asked_and_no_is_the_default(tmp_path, answer, code, calls):
    with ChatServer(swayed_answer) as server:
        study = write_study(tmp_path, server.base_url, price="{input: 1, output: 1}")
        found, seen = on_a_terminal([sys.executable, "-m", "umpirical", "run", str(study), "--trust"], answer)
        assert server.asked.total() == calls
    assert found == code
    # A question for the few calls of the preflight, and one for the rest.
    amounts = [Decimal(amount) for amount in re.findall(r"Spend up to \$(\d+\.\d+)\? \[y/N\]", seen)]
    if not calls:
        assert len(amounts) == 1
        assert "nothing was sent" in seen
    else:
        assert amounts[0] < amounts[1] == dollars(rows(seen)["loopback"][5])


# umpirical prices


def test_what_is_known_of_a_price_is_shown_with_its_source(umpirical):
    code, out, _ = umpirical("prices", "openai/gpt-4o")
    assert code == 0
    assert "gpt-4o  at openai  from genai-prices 0.2.1" in out
    assert re.search(r"input +\$2\.5 per million tokens", out)
    assert re.search(r"output +\$10 per million tokens", out)
    assert "https://" in out


def test_tiers_are_shown(umpirical):
    _, out, _ = umpirical("prices", "anthropic/claude-sonnet-4-5")
    assert "$22.5 if a call has over 200,000 input tokens" in out


def test_prices_as_json(umpirical):
    _, out, _ = umpirical("prices", "openai/gpt-4o", "--json")
    (price,) = json.loads(out)
    rates = {rate["key"]: rate["base"] for rate in price["rates"]}
    assert (rates["input_mtok"], rates["output_mtok"]) == ("2.5", "10")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("bedrock/llama-4-maverick", "bedrock/meta.llama4-maverick-17b-instruct-v1:0"),
        ("nobody/nothing", "--price nobody/nothing=IN,OUT"),
    ],
)
def test_an_unknown_model_is_met_with_what_to_do(umpirical, name, words):
    code, _, err = umpirical("prices", name)
    assert code == 2
    assert words in err


@pytest.mark.parametrize("arguments", [["plan", "--help"], ["prices", "--help"], ["schema", "-h"], ["run", "-h"]])
def test_help_imports_nothing_heavy(arguments):
    heavy = ["numpy", "scipy", "pyarrow", "pydantic", "rich", "aiohttp", "genai_prices", "yaml"]
    code = (
        "import sys\nfrom umpirical.cli import main\n"
        f"try: main({arguments!r})\nexcept SystemExit: pass\n"
        f"print('IMPORTED', sorted(set({heavy!r}) & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert "Usage:" in done.stdout
    assert "IMPORTED []" in done.stdout


def test_a_plan_to_a_question_says_what_settles_it(several, umpirical):
    """As docs/decide/policies.md has it."""
    planned = ["plan", several, "--judge", "gpt"]
    _, out, _ = umpirical(*planned, "--for", "dark-current<=0.05", "--json")
    [found] = json.loads(out)["questions"]
    assert (found["judge"], found["power"], found["units"], found["tasks"]) == ("gpt", 0.9, 48, 24)
    assert [each["units"] for each in found["needed"]] == [77, 243, 661, 3023]
    assert all(Decimal(each["dollars"]) > 0 for each in found["needed"])
    _, out, _ = umpirical(*planned, "--for", "target-sensitivity@5>=0.9", "--power", "0.8")
    assert "target-sensitivity at 5 ≥ 0.9, decided in 80% of runs" in out
    assert "too small" in out
    code, _, error = umpirical(*planned, "--for", "dark-current")
    assert (code, error.splitlines()[0]) == (2, "error: invalid question 'dark-current'")
    code, _, error = umpirical(*planned, "--power", "0.8")
    assert (code, "--power needs a question" in error) == (2, True)
