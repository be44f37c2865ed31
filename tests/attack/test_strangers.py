"""Studies from strangers: until a person agrees, nothing is sent, no code is run and nothing outside is read."""

import ast
import json
import os
import py_compile
import re
import stat
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import click
import pytest

import umpirical as front_door
from tests.attack.hostile_studies import CANARY, HOSTILE, SECRET, Traps
from tests.trusting import leaves
from umpirical.cli import main
from umpirical.domain.errors import NotTrusted, UsageError
from umpirical.domain.judgments import Unparsed
from umpirical.judges.answers import AnswerReader
from umpirical.judges.shapes import AnswerSpec, shape_of

ROOT = Path(__file__).parents[2]

FEW = (
    "plain",
    "inspect-base-url",
    "function",
    "engine",
    "program-of-the-machine",
    "endpoint",
    "modules-lying-about",
    "generator",
    "hugging-face-url",
    "hugging-face-absolute",
    "shipped-run-with-escapes",
)
"""The folders that every gate tries; `just attack` tries all of them."""

ARGUMENTS = {
    "study": lambda folder: [str(folder)],
    "target": lambda folder: [str(next(folder.glob("runs/*"), folder))],
    "targets": lambda folder: [str(folder)],
    "judges": lambda folder: ["theirs.yaml" if (folder / "theirs.yaml").exists() else "theirs"],
    "rubric": lambda folder: [str(folder / "umpirical.yaml")],
    "folder": lambda folder: [str(folder)],
    "file": lambda folder: [str(folder / "umpirical.yaml")],
    "result": lambda folder: [str(folder / "umpirical.yaml")],
    "name": lambda _: ["ann"],
    "what": lambda _: ["config"],
    "models": lambda _: ["gpt-4o"],
    "shell": lambda _: ["bash"],
}
"""What each argument of a command is given, so that the command uses the hostile folder wherever it can."""

OPTIONS = {
    "folder": lambda folder: ["--folder", str(folder)],
    "max_cost": lambda _: ["--max-cost", "100"],
    "yes": lambda _: ["--yes"],
    "allow_unpriced": lambda _: ["--allow-unpriced"],
    "outside": lambda _: ["--outside"],
    "size": lambda _: ["--size", "screen"],
    # Nobody listens at this address, so that no command serves for ever.
    "host": lambda _: ["--host", "192.0.2.1"],
}
"""The most careless options: all but --trust."""


class Server(ThreadingHTTPServer):
    """The stranger's server: it answers anything, and keeps what it is sent."""

    def __init__(self):
        self.requests: list[str] = []
        super().__init__(("127.0.0.1", 0), Handler)

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class Handler(BaseHTTPRequestHandler):
    def _serve(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.server.requests.append(f"{self.requestline}\n{self.headers}\n{body.decode('utf-8', 'replace')}")
        message = {"role": "assistant", "content": '{"verdict": "tie"}'}
        answer = {"model": "m", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
        text = json.dumps(answer | {"usage": {"prompt_tokens": 1, "completion_tokens": 1}}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    do_GET = do_POST = do_HEAD = do_PUT = _serve  # noqa: N815  # named by the base class

    def log_message(self, *_):
        pass


@pytest.fixture
def server():
    with Server() as serving:
        thread = threading.Thread(target=serving.serve_forever, daemon=True)
        thread.start()
        yield serving
        serving.shutdown()
        thread.join()


@pytest.fixture
def traps(tmp_path, server, monkeypatch, sound):
    outside = tmp_path / "private"
    outside.mkdir()
    (outside / "data.csv").write_text(f"text,label\n{CANARY},1\nother {CANARY},2\nthird,3\n")
    (outside / "secret.txt").write_text(f"{CANARY}\n")
    for name in (SECRET, "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "THEIRS_API_KEY"):
        monkeypatch.setenv(name, CANARY)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.chdir(tmp_path)
    return Traps(server.url, tmp_path / "ran", outside, sound)


def written(name, folder, traps):
    HOSTILE[name](folder, traps)
    return folder


def command_line(path, command, folder, out):
    """The words of a command about a folder; fails for a command with an argument that is new here."""
    words = list(path)
    for parameter in command.params:
        if parameter.param_type_name == "argument":
            assert parameter.name in ARGUMENTS, f"say what the argument {parameter.name} of {path} is, in ARGUMENTS"
            words += ARGUMENTS[parameter.name](folder)
        elif parameter.name in OPTIONS and path[0] not in ("draft", "demo"):
            words += OPTIONS[parameter.name](folder)
        elif parameter.required and isinstance(parameter.type, click.Choice):
            words += [parameter.opts[-1], parameter.type.choices[0]]
        elif parameter.required:
            words += [parameter.opts[-1], str(out / "made.json") if parameter.name == "out" else "openai/none"]
    return words


def outcome(capsys, words):
    with pytest.raises(SystemExit) as stop:
        main(words)
    captured = capsys.readouterr()
    return stop.value.code, captured.out, captured.err


def everything_tried(name, folder, traps, server, capsys, monkeypatch):
    """Runs every command on a folder, and fails if one of them did what nobody has agreed to."""
    known = set(sys.modules)
    written(name, folder, traps)
    monkeypatch.chdir(folder)
    out = folder.with_name(f"{folder.name}-out")
    out.mkdir()
    for path, command in leaves().items():
        if path == ("demo",):
            continue  # it takes no study: `test_the_tour_takes_nothing_from_a_folder`
        code, said, complaint = outcome(capsys, command_line(path, command, folder, out))
        told = f"{name}: {' '.join(path)}, exit code {code}\n{said}{complaint}"
        assert not server.requests, told
        assert not traps.ran.exists(), told
        assert CANARY not in said + complaint, told
        assert "\x1b" not in said + complaint, told
        assert "this is a bug" not in complaint, told
    secrets = [path for path in (*folder.rglob("*"), *out.rglob("*")) if _holds_canary(path)]
    assert not secrets, f"{name}: read from outside into {secrets}"
    stray = [module for module in set(sys.modules) - known if module.startswith("their")]
    assert not stray, f"{name}: imported {stray}"


def _holds_canary(path):
    return path.is_file() and not path.is_symlink() and CANARY.encode() in path.read_bytes()


@pytest.mark.parametrize("name", FEW)
def test_no_command_does_what_nobody_agreed_to(name, traps, server, capsys, monkeypatch, tmp_path):
    everything_tried(name, tmp_path / name, traps, server, capsys, monkeypatch)


@pytest.mark.attack
@pytest.mark.parametrize("name", sorted(HOSTILE))
def test_no_command_does_what_nobody_agreed_to_in_any_folder(name, traps, server, capsys, monkeypatch, tmp_path):
    everything_tried(name, tmp_path / name, traps, server, capsys, monkeypatch)


def test_there_are_at_least_forty_hostile_folders():
    assert len(HOSTILE) >= 40
    assert set(FEW) <= HOSTILE.keys()


def test_the_tour_takes_nothing_from_a_folder():
    assert not [each.name for each in leaves()["demo",].params if each.param_type_name == "argument"]


# What is shown, and what agreeing does


def test_once_agreed_the_traps_work_so_the_tests_can_fail(traps, server, capsys, tmp_path):
    folder = written("plain", tmp_path / "plain", traps)
    outcome(capsys, ["run", str(folder), "--trust", "--yes", "--no-preflight"])
    assert any(CANARY in request for request in server.requests)
    outcome(capsys, ["plan", str(written("function", tmp_path / "function", traps)), "--trust"])
    assert traps.ran.exists()


def test_host_variable_code_data_and_answers_are_named(traps, capsys, tmp_path):
    port = traps.url.split(":")[2].partition("/")[0]
    expected = {
        "plain": [f"sends prompts to 127.0.0.1, port {port}, unencrypted, on this machine", f"the value of {SECRET}"],
        "inspect-base-url": [f"sends your key for openai to 127.0.0.1:{port}   <- check this: the key is for openai"],
        "inspect-arguments": ["sends prompts to hf, through inspect", "passes trust_remote_code = True to hf/theirs"],
        "function": ["runs the Python function their_judge:judge", "may import their_judge.py"],
        "function-of-the-machine": ["runs the Python function os:system"],
        "program": ["judge.py, with your environment", "may load judge.py"],
        "program-of-the-machine": ["runs the program sh -c", "<- check this: its code is in the command itself"],
        "endpoint": [f"sends prompts to 127.0.0.1, port {port}, unencrypted", f"the value of {SECRET}"],
        "endpoint-for-grades": [
            f"calls 127.0.0.1:{port} with a=b",
            "<- check this: the variable name looks like a secret",
        ],
        "query": [
            f"sends prompts to 127.0.0.1, port {port}, unencrypted",
            f"calls 127.0.0.1:{port} with next=api.openai.com",
        ],
        "generator": [
            f"sends the value of {SECRET} to 127.0.0.1:{port}   <- check this: the variable name looks like a secret"
        ],
        "dataset-outside": [f"reads {traps.outside / 'data.csv'}, the dataset, outside its folder"],
        "rubric-outside": [f"reads {traps.outside / 'secret.txt'}, the rubric, outside its folder"],
        "dataset-on-the-hub": ["downloads theirs/data from the Hugging Face hub"],
        "raised-limits": ["raises dataset.limits.bytes from 1,073,741,824 to 1,125,899,906,842,624"],
        "shipped-run": ["uses the answers in runs/theirs-1"],
    }
    for name, lines in expected.items():
        code, _, err = outcome(capsys, ["check", str(written(name, tmp_path / name, traps)), "--outside"])
        assert code == 2, name
        assert all(line in err for line in lines), err
        assert "with --trust" in err


@pytest.mark.parametrize("name", ["user-in-url", "backslash", "fragment", "line-in-url", "escape-in-url"])
def test_an_address_that_can_be_read_in_two_ways_is_refused(name, traps, server, capsys, tmp_path):
    folder = written(name, tmp_path / name, traps)
    code, _, err = outcome(capsys, ["run", str(folder), "--trust", "--yes"])
    assert (code, server.requests) == (2, [])
    assert "invalid characters" in err
    assert "\x1b" not in err


def test_an_agreement_is_kept_for_the_folder_and_only_what_is_new_is_asked(traps, capsys, tmp_path):
    folder = written("function", tmp_path / "function", traps)
    assert outcome(capsys, ["check", str(folder), "--trust"])[0] == 0
    assert "used here" not in outcome(capsys, ["check", str(folder)])[2]
    with (folder / "their_judge.py").open("a") as file:
        file.write("# changed\n")
    code, _, err = outcome(capsys, ["check", str(folder)])
    assert code == 2
    assert "has changed since you approved it" in err
    assert "may import their_judge.py" in err
    assert "runs the Python function" not in err
    folder.rename(tmp_path / "elsewhere")
    assert outcome(capsys, ["check", str(tmp_path / "elsewhere")])[0] == 2


def test_a_changed_program_is_asked_about_again(traps, capsys, tmp_path):
    folder = written("program", tmp_path / "program", traps)
    assert outcome(capsys, ["check", str(folder), "--trust"])[0] == 0
    assert outcome(capsys, ["check", str(folder)])[0] == 0
    for name in ("judge.py", "beside.py"):
        (folder / name).write_text("print('changed')\n")
        code, _, err = outcome(capsys, ["check", str(folder)])
        assert (code, f"may load {name}" in err) == (2, True)
        assert outcome(capsys, ["check", str(folder), "--trust"])[0] == 0
    assert not traps.ran.exists()


def test_agreements_are_the_users_own_and_not_in_the_folder(traps, capsys, tmp_path):
    folder = written("plain", tmp_path / "plain", traps)
    before = sorted(folder.rglob("*"))
    assert outcome(capsys, ["check", str(folder), "--trust"])[0] == 0
    assert sorted(folder.rglob("*")) == before
    [kept] = (tmp_path / "state").rglob("agreed.json")
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    kept.chmod(0o666)
    assert outcome(capsys, ["check", str(folder)])[0] == 2, "anybody could have written it"


def test_a_study_that_does_nothing_of_the_kind_is_never_asked_about(traps, capsys, tmp_path):
    folder = tmp_path / "own"
    assert outcome(capsys, ["init", str(folder)])[0] == 0
    study = folder / "umpirical.yaml"
    study.write_text(study.read_text().replace("repeats: 1", "repeats: 1\n  size: screen"))
    assert outcome(capsys, ["plan", str(folder)])[0] == 0
    # Planned runs were made here, so their answers are no stranger's.
    assert list((folder / "runs").iterdir())
    assert outcome(capsys, ["plan", str(folder)])[0] == 0
    data = tmp_path / "mine.csv"
    data.write_text((traps.outside / "data.csv").read_text() + "fourth,1\n")
    assert outcome(capsys, ["init", str(tmp_path / "stress"), "--from", str(data)])[0] == 0
    assert outcome(capsys, ["check", str(tmp_path / "stress"), "--outside"])[0] == 0


@pytest.mark.usefixtures("traps")
def test_a_judge_that_the_person_names_is_not_asked_about(capsys, tmp_path):
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "my_own_judge.py").write_text("def judge(task, first, second):\n    return '1'\n")
    words = ["datasheet", "my_own_judge:judge", "--folder", str(folder), "--size", "screen"]
    code, _, err = outcome(capsys, words)
    assert code == 3, "it was asked, and always names the first answer"
    assert "used here" not in err


def test_on_a_terminal_the_question_is_asked_once_and_no_is_the_default(traps, server, tmp_path):
    from tests.cli.test_plan import on_a_terminal

    folder = written("plain", tmp_path / "plain", traps)
    command = [sys.executable, "-m", "umpirical", "check", str(folder)]
    for answer, code in (("", 2), ("n", 2), ("y", 0)):
        found, seen = on_a_terminal(command, answer)
        assert found == code, seen
        assert seen.count("Approve this study") == 1
        assert SECRET in seen
    found, seen = on_a_terminal(command, "")
    assert (found, seen.count("Approve this study"), server.requests) == (0, 0, [])


def test_the_python_functions_ask_too(traps, server, tmp_path):
    folder = written("plain", tmp_path / "plain", traps)
    for call in (
        lambda: front_door.run(folder, progress=False),
        lambda: front_door.datasheet("theirs", size="screen", folder=folder, progress=False),
        lambda: front_door.datasheet("theirs", name="other", size="screen", folder=folder, progress=False),
        lambda: front_door.stress("theirs", [{"text": "a", "label": "1"}, {"text": "b", "label": "2"}], folder=folder),
    ):
        with pytest.raises(NotTrusted, match=SECRET):
            call()
    assert server.requests == []
    front_door.run(folder, progress=False, trust=True)
    assert server.requests


def test_shipped_answers_are_not_counted_unawares(traps, capsys, tmp_path):
    folder = written("shipped-run", tmp_path / "shipped", traps)
    for words in (["run", str(folder)], ["datasheet", "simulated:careful", "--folder", str(folder)]):
        code, _, err = outcome(capsys, words)
        assert code == 2
        assert "uses the answers in runs/theirs-1" in err


# Code


def test_what_was_compiled_elsewhere_is_not_run(traps, capsys, tmp_path):
    folder = written("function", tmp_path / "function", traps)
    source = folder / "their_judge.py"
    evil = source.read_text()
    clean = "def judge(task, first, second):\n    return '1'\n"
    (folder / "their_cached.py").write_text(clean)
    (folder / "evil.txt").write_text(evil)
    target = folder / "__pycache__" / f"their_cached.{sys.implementation.cache_tag}.pyc"
    unchecked = py_compile.PycInvalidationMode.UNCHECKED_HASH
    py_compile.compile(str(folder / "evil.txt"), cfile=str(target), invalidation_mode=unchecked, doraise=True)
    study = folder / "umpirical.yaml"
    study.write_text(study.read_text().replace("their_judge:", "their_cached:"))
    assert outcome(capsys, ["plan", str(folder), "--trust"])[0] == 0
    assert not traps.ran.exists(), "the file that was agreed to is another one"


def test_a_module_in_the_current_folder_is_not_imported(traps, tmp_path):
    folder = written("modules-lying-about", tmp_path / "lying", traps)
    simulated = "{name: a, model: {adapter: simulated, name: careful}}"
    (folder / "umpirical.yaml").write_text(f"study: s\njudges: [{simulated}]\ndesign: {{size: screen}}\n")
    for words in (["check"], ["doctor"], ["--version"]):
        done = subprocess.run(
            [sys.executable, "-m", "umpirical", *words],
            cwd=folder,
            env=os.environ,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert not traps.ran.exists(), words


# Data


@pytest.mark.parametrize("name", sorted(name for name in HOSTILE if name.startswith("hugging-face")))
def test_a_dataset_folder_leads_nowhere_else_even_when_agreed(name, traps, server, capsys, tmp_path):
    pytest.importorskip("datasets", reason="needs the extra huggingface")
    folder = written(name, tmp_path / name, traps)
    code, said, err = outcome(capsys, ["check", str(folder), "--trust"])
    assert code == 2
    assert "outside the folder" in err or "is a link to a file outside" in err or "files are not supported" in err, err
    assert server.requests == []
    assert CANARY not in said + err


def test_a_compressed_file_is_not_unpacked(traps, capsys, tmp_path):
    import gzip

    pytest.importorskip("datasets", reason="needs the extra huggingface")
    folder = written("hugging-face-absolute", tmp_path / "packed", traps)
    (folder / "theirs" / "README.md").unlink()
    (folder / "theirs" / "own.csv").write_bytes(gzip.compress(b"text,label\n" + b"a,1\n" * 1_000_000))
    code, _, err = outcome(capsys, ["check", str(folder), "--trust"])
    assert code == 2
    assert "own.csv is compressed" in err


# Terminal


def test_a_name_cannot_write_to_the_terminal(traps, capsys, tmp_path):
    folder = written("shipped-run-with-escapes", tmp_path / "escapes", traps)
    for words in (["list", str(folder)], ["report", str(folder)], ["report", str(next((folder / "runs").iterdir()))]):
        code, said, err = outcome(capsys, words)
        assert "this is a bug" not in err, code
        assert "\x1b" not in said + err
        assert "⟦U+001B⟧" in said + err


def test_json_says_the_same_with_and_without_what_moves_a_terminal(capsys):
    from umpirical.cli.terminal import say_json

    record = {"name": "a\x9b2Jb\u202ec\U000e0001\x7f", "plain": "größer"}
    say_json(json.dumps(record, ensure_ascii=False))
    said = capsys.readouterr().out
    assert json.loads(said) == record
    assert not re.search("[\x7f-\x9f\u202e\U000e0001]", said)


def test_commands_print_in_one_place_only():
    allowed = {"terminal.py", "consent.py"}
    for file in (ROOT / "src" / "umpirical" / "cli").rglob("*.py"):
        names = {ast.unparse(node.func) for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.Call)}
        loud = names & {"print", "click.echo", "click.secho", "click.confirm", "click.prompt", "sys.stdout.write"}
        assert not loud or file.name in allowed, f"{file.name}: {loud}"


# Limits


@pytest.mark.parametrize(
    "pattern",
    [
        r"(?P<answer>(a+)+)$",
        r"^(a|aa)+(?P<answer>b)$",
        r"(.*)(.*)(.*)(.*)(.*)(?P<answer>b)",
        r"(?:a.*z|(?P<answer>a))",
        r"(a?){50}a{50}(?P<answer>b)",
    ],
)
def test_a_pattern_takes_time_in_proportion_to_the_answer(pattern):
    reader = AnswerReader(None, shape=shape_of(AnswerSpec(pattern=pattern)))

    def seconds(length):
        start = time.perf_counter()
        assert isinstance(reader.read("a" * length + "!"), Unparsed)
        return time.perf_counter() - start

    short, long = min(seconds(10_000 + n) for n in range(3)), min(seconds(160_000 + n) for n in range(3))
    assert long < 120 * short + 0.05, "sixteen times the text, where a square would be 256 times"


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        (r"(?=1)(?P<answer>1)", "lookarounds"),
        (r"(?P<answer>1)(?P=answer)", "lookarounds"),
        (r".{0,1000}.{0,1000}(?P<answer>1)", "large counts"),
        ("(?:" * 300 + "(?P<answer>1)" + ")*" * 300, "1,000"),
        (r"(?P<other>1)", "a group named answer"),
        (r"(?P<answer>", "not a valid"),
    ],
)
def test_a_pattern_that_may_take_long_is_refused_when_it_is_read(pattern, why):
    with pytest.raises(ValueError, match=why):
        AnswerSpec(pattern=pattern)


def test_an_answer_of_blank_lines_is_read_in_proportion_to_its_length():
    reader = AnswerReader(None)

    def seconds(length):
        start = time.perf_counter()
        assert isinstance(reader.read("```" + "\n" * length + "x"), Unparsed)
        return time.perf_counter() - start

    short, long = min(seconds(10_000 + n) for n in range(3)), min(seconds(320_000 + n) for n in range(3))
    assert long < 250 * short + 0.05, "32 times the text, where a square would be 1,024 times"


@pytest.mark.usefixtures("traps")
def test_a_study_cannot_ask_for_any_number_of_calls(capsys, tmp_path):
    folder = tmp_path / "many"
    outcome(capsys, ["init", str(folder)])
    study = folder / "umpirical.yaml"
    study.write_text(study.read_text().replace("repeats: 1", "repeats: 10000\n  size: screen"))
    code, _, err = outcome(capsys, ["check", str(folder)])
    assert code == 2
    assert "more than 1,000,000 calls" in err
    assert "--max-calls N" in err
    study.write_text(study.read_text().replace("repeats: 10000", "repeats: 1"))
    for command in ("plan", "run"):
        code, _, err = outcome(capsys, [command, str(folder), "--max-calls", "100"])
        assert code == 2
        assert "more than 100 calls" in err
    assert outcome(capsys, ["plan", str(folder), "--max-calls", "1000"])[0] == 0


def test_what_a_person_sets_has_no_such_limit(tmp_path):
    from umpirical.study.file import load_study, parse_study
    from umpirical.study.prepare import count_calls
    from umpirical.study.trust import agree_to_none

    text = "study: s\njudges: [{name: a, model: {adapter: simulated, name: careful}}]\ndesign: {size: screen}\n"
    (tmp_path / "umpirical.yaml").write_text(text)
    asked, typed = load_study(tmp_path, agree_to_none, max_calls=10), parse_study(text, tmp_path)
    stimuli = typed.protocol.check(typed).stimuli
    [judge] = typed.spec.judges
    design = typed.protocol.design(typed, judge).over(stimuli)
    assert count_calls(typed, judge, stimuli, design) == 336
    with pytest.raises(UsageError, match="more than 10 calls"):
        count_calls(asked, judge, stimuli, design)
