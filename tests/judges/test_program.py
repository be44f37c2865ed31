"""Judges that are programs: whatever a program does, each question has one outcome, and never another one's verdict."""

import asyncio
import json
import shutil
import sys
from pathlib import Path

import pytest

from umpirical.domain.errors import UsageError
from umpirical.domain.judgments import Abstained, Failed, Unparsed, Verdict
from umpirical.domain.scales import Choice
from umpirical.domain.trials import Presentation, Presented
from umpirical.judges.adapters import program as processes
from umpirical.judges.factory import build_judge
from umpirical.judges.spec import JudgeSpec
from umpirical.models.spec import Calling

HEAD = """
import json, os, signal, subprocess, sys, time
def ask():
    line = sys.stdin.readline()
    if not line: sys.exit(0)
    return json.loads(line)
def say(**reply):
    print(json.dumps(reply), flush=True)
"""

LONGER = """
while True:
    q = ask()
    a, b = len(q["first"]), len(q["second"])
    say(id=q["id"], verdict="tie" if a == b else "1" if a > b else "2")
"""


class Programs:
    """Judges made of programs in Python, all of which are ended after the test."""

    def __init__(self, folder):
        self.folder, self.opened = folder, []

    def __call__(self, source, *, deadline=30.0, **keys):
        (self.folder / "judge.py").write_text(HEAD + source)
        spec = JudgeSpec(name="p", **{"exec": [sys.executable, "judge.py"], "deadline": deadline, **keys})
        judge = build_judge(spec, folder=self.folder, calling=Calling())
        self.opened.append(judge)
        return judge


@pytest.fixture
async def program(tmp_path):
    made = Programs(tmp_path)
    yield made
    for judge in made.opened:
        await judge.close()


async def asked(judge, first="a", second="bb", task="t"):
    shown = Presented(task, first, second)
    response = await judge.ask(judge.request(shown, Presentation()), trial_id="t")
    return judge.read(response, Presentation())


def is_running(pid):
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


async def until(holds):
    for _ in range(1200):
        if holds():
            return True
        await asyncio.sleep(0.05)
    return False


async def until_gone(pid):
    return await until(lambda: not is_running(pid))


async def test_a_program_is_asked_and_its_answers_are_read(program):
    judge = program(LONGER)
    assert await asked(judge, "aaa", "b") == Verdict(Choice.POSITION_1)
    assert await asked(judge, "a", "b") == Verdict(Choice.TIE)
    assert await asked(judge, "", "{{task}} \n\r\t\0 \ud800 漢字 🙂") == Verdict(Choice.POSITION_2)


async def test_many_questions_are_in_flight_and_answers_in_any_order_find_theirs(program):
    judge = program(
        """
while True:
    batch = [ask() for _ in range(20)]
    for q in reversed(batch):
        say(id=q["id"], verdict=q["task"])
"""
    )
    tasks = ["1", "2", "tie", "abstain"] * 10
    found = await asyncio.gather(*(asked(judge, task=task) for task in tasks))
    known = {"1": Verdict(Choice.POSITION_1), "2": Verdict(Choice.POSITION_2), "tie": Verdict(Choice.TIE)}
    assert found == [known.get(task, Abstained()) for task in tasks]


async def test_several_processes_share_the_questions(program):
    judge = program('while True:\n    q = ask()\n    say(id=q["id"], text=str(os.getpid()))\n', processes=3)
    shown = Presented("t", "a", "b")
    answers = await asyncio.gather(*(judge.ask(judge.request(shown, Presentation()), trial_id="t") for _ in range(30)))
    assert len({answer.text for answer in answers}) == 3


async def test_a_grader_is_shown_a_response_under_the_names_it_wants(program):
    judge = program(
        'while True:\n    q = ask()\n    say(id=q["id"], grade=len(q["output"]), reasoning=",".join(sorted(q)))\n',
        kind="grade",
        scale={"kind": "interval", "low": 0, "high": 10},
        inputs={"response": "output"},
    )
    shown = Presented("t", "four", None)
    response = await judge.ask(judge.request(shown, Presentation()), trial_id="t")
    assert judge.read(response, Presentation()) == Verdict(4.0)
    assert json.loads(response.text)["reasoning"] == "id,output,task"


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        ('error="no", kind="rate-limited"', "rate-limited"),
        ('error="no", kind="refused", verdict="1"', "refused"),
        ('error={"code": 3}, verdict="1"', "judge-error"),
        ('error="no", kind="made up"', "judge-error"),
        ('error=1, kind=["rate-limited"]', "judge-error"),
    ],
)
async def test_an_error_that_a_program_reports_has_its_kind_and_is_no_verdict(program, reply, kind):
    outcome = await asked(program(f'while True:\n    q = ask()\n    say(id=q["id"], {reply})\n'))
    assert (type(outcome), outcome.kind) == (Failed, kind)


@pytest.mark.parametrize(
    "reply",
    [
        "",
        'verdict="3"',
        "verdict=None",
        "verdict=True",
        'verdict=float("nan")',
        'verdict=["1"]',
        'winner="1"',
        'verdict="1", confidence=7',
        'text="it is 1"',
        'error="could not be read", kind="unreadable", verdict="1"',
    ],
)
async def test_an_answer_off_the_scale_is_unparsed(program, reply):
    outcome = await asked(program(f'while True:\n    q = ask()\n    say(id=q["id"], {reply})\n'))
    assert isinstance(outcome, Unparsed)


NO_REPLY = {
    "junk": 'print("loading model...", flush=True)',
    "blank": "print(flush=True)",
    "no id": 'say(verdict="1")',
    "no object": 'print("[1]", flush=True)',
    "a number for an id": 'say(id=1, verdict="1")',
    "a list for an id": 'say(id=[q["id"]], verdict="1")',
    "an unknown id": 'say(id="0" * 16, verdict="1")',
    "an id in capitals": 'say(id=q["id"].upper() + "A", verdict="1")',
    "twice in one line": 'print(\'{"id": "\' + q["id"] + \'", "verdict": "1", "verdict": "2"}\', flush=True)',
    "two in one line": 'print(json.dumps({"id": q["id"], "verdict": "1"}) * 2, flush=True)',
    "not UTF-8": 'sys.stdout.buffer.write(b"\\xff\\xfe\\n"); sys.stdout.flush()',
    "nested": 'print("[" * 100_000, flush=True)',
    "too long": 'print("x" * 3_000_000, flush=True)',
    "endless": 'while True: sys.stdout.write("x" * 100_000)',
    "a flood of lines": 'while True: sys.stdout.write("\\n" * 100_000)',
}


@pytest.mark.parametrize("case", NO_REPLY)
async def test_what_is_no_reply_fails_what_is_in_flight_and_gives_no_verdict(program, case):
    judge = program(f'while True:\n    q = ask(); r = ask()\n    {NO_REPLY[case]}\n    say(id=q["id"], verdict="1")\n')
    found = await asyncio.gather(asked(judge), asked(judge))
    assert [(type(outcome), outcome.kind) for outcome in found] == [(Failed, "malformed")] * 2


async def test_an_answer_to_a_question_that_was_answered_already_fails_what_is_in_flight(program):
    judge = program(
        """
q = ask()
say(id=q["id"], verdict="1")
r = ask()
say(id=q["id"], verdict="2")
say(id=r["id"], verdict="2")
time.sleep(600)
"""
    )
    assert await asked(judge) == Verdict(Choice.POSITION_1)
    outcome = await asked(judge)
    assert (type(outcome), outcome.kind) == (Failed, "malformed")
    assert "has an answer already" in outcome.detail


async def test_after_a_broken_line_the_next_question_is_put_to_a_new_process(program):
    judge = program(
        """
marker = os.path.exists("once")
open("once", "w").close()
while True:
    q = ask()
    print("junk", flush=True) if not marker else say(id=q["id"], verdict="2")
"""
    )
    assert (await asked(judge)).kind == "malformed"
    assert await asked(judge) == Verdict(Choice.POSITION_2)


async def test_a_program_that_ends_fails_what_is_in_flight_with_what_it_said_last(program):
    judge = program('ask()\nprint("no model file", file=sys.stderr)\nsys.exit(7)\n')
    outcome = await asked(judge)
    assert (type(outcome), outcome.kind) == (Failed, "judge-error")
    assert "exit code 7" in outcome.detail
    assert "no model file" in outcome.detail


async def test_a_program_that_never_answers_is_started_only_a_few_times(program):
    judge = program('open("starts", "a").write("x")\nsys.exit(1)\n')
    for _ in range(10):
        outcome = await asked(judge)
        assert (type(outcome), outcome.kind) == (Failed, "judge-error")
    assert "given up" in outcome.detail
    assert len((program.folder / "starts").read_text()) == processes.BARREN_STARTS


async def test_a_program_that_dies_now_and_then_goes_on_but_not_for_ever(program, monkeypatch):
    monkeypatch.setattr(processes, "MOST_STARTS", 5)
    judge = program('open("starts", "a").write("x")\nq = ask()\nsay(id=q["id"], verdict="1")\nask()\nsys.exit(1)\n')
    found = [await asked(judge) for _ in range(14)]
    assert found.count(Verdict(Choice.POSITION_1)) == 5
    assert len((program.folder / "starts").read_text()) == 5


async def test_what_was_said_before_the_end_counts(program):
    judge = program('q = ask()\nsys.stdout.write(json.dumps({"id": q["id"], "verdict": "2"}))\n')
    assert await asked(judge) == Verdict(Choice.POSITION_2)


async def test_a_program_that_hangs_is_killed_with_its_children_when_it_is_given_up(program):
    judge = program(
        """
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
signal.signal(signal.SIGTERM, signal.SIG_IGN)
open("new", "w").write(f"{os.getpid()} {child.pid}")
os.rename("new", "pids")
ask()
time.sleep(600)
""",
    )
    one, other = asyncio.ensure_future(asked(judge)), asyncio.ensure_future(asked(judge))
    await until((program.folder / "pids").exists)
    one.cancel()
    outcome = await other
    assert (type(outcome), outcome.kind) == (Failed, "timeout")
    for pid in (program.folder / "pids").read_text().split():
        assert await until_gone(int(pid))


async def test_a_program_that_does_not_answer_has_a_deadline(program):
    outcome = await asked(program("ask()\ntime.sleep(600)\n", deadline=0.5))
    assert (type(outcome), outcome.kind) == (Failed, "timeout")


async def test_a_late_answer_is_dropped_and_the_others_get_theirs(program):
    judge = program(
        """
slow = ask()
for _ in range(6):
    q = ask()
    say(id=q["id"], verdict="2")
say(id=slow["id"], verdict="1")
q = ask()
say(id=q["id"], verdict="tie")
""",
    )
    slow = asyncio.ensure_future(asked(judge))
    await asyncio.sleep(0)
    others = await asyncio.gather(*(asked(judge) for _ in range(5)))
    slow.cancel()
    await asyncio.wait([slow])
    assert [*others, await asked(judge)] == [Verdict(Choice.POSITION_2)] * 6
    assert await asked(judge) == Verdict(Choice.TIE)


async def test_a_flood_on_standard_error_is_read_away(program):
    judge = program('sys.stderr.write("x" * 5_000_000)\n' + LONGER)
    assert await asked(judge) == Verdict(Choice.POSITION_2)


async def test_a_program_that_reads_nothing_is_given_up(program):
    judge = program("os.close(0)\ntime.sleep(600)\n", deadline=5.0)
    outcome = await asked(judge, first="x" * 3_000_000)
    assert isinstance(outcome, Failed)


async def test_a_program_that_is_not_there_is_a_failure_that_says_so(tmp_path):
    spec = JudgeSpec(name="p", exec=["./no-such-program"])
    judge = build_judge(spec, folder=tmp_path, calling=Calling())
    outcome = await asked(judge)
    assert (outcome.kind, "cannot start ./no-such-program" in outcome.detail) == ("judge-error", True)
    await judge.close()


async def test_closing_ends_a_program_that_does_not_want_to(program):
    judge = program(
        'open("pid", "w").write(str(os.getpid()))\nq = ask()\nsay(id=q["id"], verdict="1")\ntime.sleep(600)\n'
    )
    assert await asked(judge) == Verdict(Choice.POSITION_1)
    await judge.close()
    assert await until_gone(int((program.folder / "pid").read_text()))


async def test_no_shell_reads_the_command(tmp_path):
    spec = JudgeSpec(name="p", exec=["echo", "$(touch hacked); touch hacked", "&&", "touch", "hacked"])
    judge = build_judge(spec, folder=tmp_path, calling=Calling())
    assert isinstance(await asked(judge), Failed)
    await judge.close()
    assert not list(tmp_path.iterdir())


async def test_a_secret_that_a_program_prints_is_not_recorded(program, monkeypatch):
    monkeypatch.setenv("SOME_API_KEY", "abcdefgh-1234-5678-ijkl")
    judge = program('q = ask()\nsay(id=q["id"], error="401 with " + os.environ["SOME_API_KEY"])\n')
    outcome = await asked(judge)
    assert "abcdefgh" not in outcome.detail


def test_an_edited_program_is_another_judge(tmp_path):
    def prints():
        spec = JudgeSpec(name="p", exec=["node", "judge.js", "--rubric=rubric.txt"])
        judge = build_judge(spec, folder=tmp_path, calling=Calling())
        return judge.fingerprint, judge.question_fingerprint

    (tmp_path / "judge.js").write_text("1")
    (tmp_path / "notes.md").write_text("1")
    before = prints()
    (tmp_path / "notes.md").write_text("2")
    assert prints() == before
    seen = {before}
    for name in ("judge.js", "helper.js", "rubric.txt"):
        (tmp_path / name).write_text(name)
        assert prints() not in seen
        seen.add(prints())


def test_processes_and_deadlines_make_no_other_judge(tmp_path):
    def print_of(**keys):
        return build_judge(JudgeSpec(name="p", exec=["x"], **keys), folder=tmp_path, calling=Calling()).fingerprint

    assert print_of() == print_of(processes=4, deadline=3) != print_of(answer={"labels": {"A": "1"}})


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"inputs": {"first": "id"}}, "the name id is reserved"),
        ({"inputs": {"response": "x"}}, "no field response"),
        ({"inputs": {"first": "second"}}, "the same name"),
    ],
)
def test_names_that_cannot_be_are_refused(tmp_path, keys, message):
    with pytest.raises(UsageError, match=message):
        build_judge(JudgeSpec(name="p", exec=["x"], **keys), folder=tmp_path, calling=Calling())


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
async def test_a_program_in_javascript(tmp_path):
    (tmp_path / "judge.js").write_text(
        """
const lines = require("readline").createInterface({ input: process.stdin });
lines.on("line", (line) => {
  const { id, first, second } = JSON.parse(line);
  const verdict = first.length === second.length ? "tie" : first.length > second.length ? "1" : "2";
  setTimeout(() => console.log(JSON.stringify({ id, verdict })), 10);
});
"""
    )
    judge = build_judge(JudgeSpec(name="p", exec=["node", "judge.js"]), folder=tmp_path, calling=Calling())
    found = await asyncio.gather(*(asked(judge, "a" * (n % 3), "b") for n in range(30)))
    assert found == [Verdict(c) for c in (Choice.POSITION_2, Choice.TIE, Choice.POSITION_1)] * 10
    await judge.close()
