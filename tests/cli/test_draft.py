"""`umpirical draft`, as a person uses it."""

import json

import pytest

from tests.protocols.datasheet.end_to_end.test_draft import GOOD, RUBRIC, WRONG, Replies
from tests.servers.chat_server import ChatServer
from umpirical.cli import main


@pytest.fixture
def umpirical(capsys, tmp_path, monkeypatch):
    """Runs a command in a folder of its own; returns exit code, standard output, standard error."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rubric.md").write_text(RUBRIC)

    def run(*arguments):
        with pytest.raises(SystemExit) as stop:
            main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return stop.value.code or 0, captured.out, captured.err

    return run


def draft(umpirical, server, *more):
    return umpirical("draft", "rubric.md", "--model", "writer", "--base-url", server.base_url, *more)


OWN = ("--price", "writer=0,0")


def test_a_good_draft(umpirical, tmp_path):
    with ChatServer(Replies(WRONG, GOOD)) as server:
        code, out, err = draft(umpirical, server, *OWN)
    assert code == 0
    assert "wrote my-task.yaml: 2 tasks of 5 requirements, reviewed: false" in out
    assert "set reviewed: true" in out
    assert "up to 3 calls to writer, free" in err
    assert "reviewed: false" in (tmp_path / "my-task.yaml").read_text()
    assert len((tmp_path / "my-task.replies.jsonl").read_text().splitlines()) == 2
    assert not (tmp_path / "my-task.problems.txt").exists()


def test_what_remains_wrong_is_shown_and_listed(umpirical, tmp_path):
    with ChatServer(Replies(WRONG, WRONG)) as server:
        code, out, _ = draft(umpirical, server, *OWN, "--rounds", 2, "--out", "jam.yaml")
    assert code == 5
    assert "problem: task plum-jam.plums.A: 'This one says nothing of the kind" in out
    assert "jam.problems.txt" in out
    assert (tmp_path / "jam.yaml").exists()
    assert (tmp_path / "jam.problems.txt").exists()


def test_no_draft_at_all(umpirical, tmp_path):
    with ChatServer(Replies("no", "no", "no")) as server:
        code, out, err = draft(umpirical, server, *OWN)
    assert (code, out) == (5, "")
    assert "writer produced no draft" in err
    assert "Traceback" not in err
    assert not (tmp_path / "my-task.yaml").exists()
    assert "no" in json.loads((tmp_path / "my-task.replies.jsonl").read_text().splitlines()[0])["text"]


def test_nothing_is_sent_before_somebody_agrees(umpirical):
    with ChatServer(Replies(GOOD)) as server:
        code, _, err = draft(umpirical, server)
        assert (code, "unknown price for writer" in err) == (6, True)
        code, _, err = draft(umpirical, server, "--price", "writer=3,15")
        assert code == 6
        assert "at most $" in err
        assert "add --yes --max-cost" in err
        code, _, err = draft(umpirical, server, "--allow-unpriced")
        assert (code, "add --yes" in err) == (6, True)
        assert server.bodies == []
        code, _, err = draft(umpirical, server, "--price", "writer=3,15", "--yes", "--max-cost", "0.0001")
        assert code == 6
        assert server.bodies == []
        code, _, err = draft(umpirical, server, "--price", "writer=3,15", "--yes", "--max-cost", "5")
    assert code == 0
    assert "spent: $0.0" in err


def test_a_draft_is_never_overwritten_and_nothing_is_sent(umpirical, tmp_path):
    (tmp_path / "my-task.yaml").write_text("mine")
    with ChatServer(Replies()) as server:
        for more, words in (
            ((), "already exists"),
            (("--out", "x/y.yaml"), "no folder"),
            (("--out", "y.txt"), "not a YAML file"),
        ):
            code, _, err = draft(umpirical, server, *OWN, *more)
            assert code == 2
            assert words in err
    assert server.bodies == []
    assert (tmp_path / "my-task.yaml").read_text() == "mine"


def test_a_key_that_is_not_set_is_named(umpirical, monkeypatch):
    monkeypatch.delenv("WRITER_KEY", raising=False)
    with ChatServer(Replies()) as server:
        code, _, err = draft(umpirical, server, *OWN, "--api-key-env", "WRITER_KEY")
    assert code == 2
    assert "WRITER_KEY is not set" in err
    assert server.bodies == []


def test_a_bare_name_needs_a_place(umpirical):
    code, _, err = umpirical("draft", "rubric.md", "--model", "gpt-4o")
    assert code == 2
    assert "--model provider/gpt-4o or --base-url URL" in err


def test_a_server_that_is_not_there(umpirical):
    code, _, err = umpirical(
        "draft", "rubric.md", "--model", "writer", "--base-url", "http://127.0.0.1:9/v1", *OWN, "--rounds", 1
    )
    assert code == 5
    assert "there was no reply: connection" in err
