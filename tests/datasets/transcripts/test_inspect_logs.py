"""Logs that Inspect has written, read back."""

from dataclasses import replace

import pytest

from tests.datasets.transcripts.logs import LONG, failed, limited, sample, write_log
from umpirical.datasets.transcripts.files import read_transcripts
from umpirical.domain.errors import ConfigError, UsageError
from umpirical.domain.transcripts import Message, ToolCall, transcript_from_text

pytestmark = pytest.mark.filterwarnings("ignore")

HELLO = "image/png, 5 bytes, sha256 2cf24dba5fb0a30e"

EXPECTED = (
    Message("system", "Be careful."),
    Message("user", "How long is it?", attachments=(HELLO,)),
    Message(
        "assistant",
        "Looking.",
        reasoning="I have to look.",
        calls=(
            ToolCall("c1", "read", '{"path": "manual.txt", "lines": [1, 2]}'),
            ToolCall("c2", "run", '{"cmd": "ls"}'),
        ),
    ),
    Message("tool", LONG, answers="c1", tool="read"),
    Message("tool", "", answers="c2", tool="run", error="timeout: too slow"),
    Message("assistant", "Searching.", calls=(ToolCall("w1", "web_search", '{"query": "x"}'),)),
    Message("tool", "found", answers="w1", tool="web_search"),
)


@pytest.mark.parametrize("ending", ["eval", "json"])
def test_every_kind_of_message_keeps_its_structure(tmp_path, ending):
    found = read_transcripts(write_log(tmp_path / f"log.{ending}", [sample()]))
    [transcript] = found.transcripts
    *messages, last = transcript.messages
    assert tuple(messages) == EXPECTED
    # A summary is read, what is encrypted is described, and so is what only the provider understands.
    assert replace(last, attachments=()) == Message("assistant", "Done.", reasoning="A summary.")
    assert [each.partition(",")[0] for each in last.attachments] == ["redacted reasoning", "data"]
    assert list(transcript.problems()) == []
    assert found.notes == ()
    assert transcript_from_text(transcript.text).messages == transcript.messages


@pytest.mark.parametrize("ending", ["eval", "json"])
def test_samples_are_named_by_id_and_epoch_and_have_the_values_that_were_asked_for(tmp_path, ending):
    metadata = {"level": 2, "rubric": "Is it polite?", "secret": "x", "tags": ["a", "b"]}
    samples = [sample(name, epoch=epoch, metadata=metadata) for name in ("a", 7) for epoch in (1, 2)]
    samples.append(sample("b", metadata={"tags": None}))
    file = write_log(tmp_path / f"log.{ending}", samples)
    found = read_transcripts(file, strata=["level"], columns=["rubric", "tags"])
    assert sorted(each.name for each in found.transcripts) == ["7", "7 epoch 2", "a", "a epoch 2", "b"]
    by_name = {each.name: each for each in found.transcripts}
    assert by_name["7"].strata == {"level": "2"}
    assert by_name["7"].columns == {"rubric": "Is it polite?", "tags": '["a", "b"]'}
    assert (by_name["b"].strata, by_name["b"].columns) == ({}, {"rubric": "", "tags": ""})


def test_a_key_that_no_sample_has_is_named_with_those_there_are(tmp_path):
    file = write_log(tmp_path / "log.eval", [sample(metadata={"level": 2})])
    with pytest.raises(ConfigError, match="no column 'levle'; columns: level") as error:
        read_transcripts(file, strata=["levle"])
    assert error.value.fix == "did you mean 'level'?"


@pytest.mark.parametrize("ending", ["eval", "json"])
def test_what_ended_early_and_a_head_that_says_too_much_are_notes(tmp_path, ending):
    samples = [failed("a", "no such file"), limited("b"), sample("c", [])]
    found = read_transcripts(write_log(tmp_path / f"log.{ending}", samples, told=9, status="error"))
    assert sorted(each.name for each in found.transcripts) == ["a", "b"]
    assert set(found.notes) == {
        f"log.{ending}: a: the sample ended with an error: no such file",
        f"log.{ending}: b: the sample was stopped by its token limit",
        f"log.{ending}: c: the sample has no messages; excluded",
        f"log.{ending}: the status of the log is error",
        f"log.{ending}: the header of the log lists 9 samples, but the log contains 3",
    }


def test_a_folder_is_read_in_the_order_of_its_names_and_what_is_no_log_is_said(tmp_path):
    write_log(tmp_path / "2.eval", [sample("a"), sample("c")])
    write_log(tmp_path / "1.json", [sample("a"), sample("b")])
    (tmp_path / "logs.json").write_text('{"1.json": {}}')
    (tmp_path / "readme.txt").write_text("no log")
    (tmp_path / ".eval-set-id").write_text("x")
    found = read_transcripts(tmp_path)
    assert [each.name for each in found.transcripts] == ["1.json: a", "b", "2.eval: a", "c"]
    assert found.notes == (f"{tmp_path.name}: 2 files are not logs and are excluded, such as logs.json",)


def test_a_link_out_of_the_folder_is_refused(tmp_path):
    elsewhere = write_log(tmp_path / "log.eval", [sample()])
    folder = tmp_path / "logs"
    folder.mkdir()
    (folder / "log.eval").symlink_to(elsewhere)
    with pytest.raises(ConfigError, match="outside the folder"):
        read_transcripts(folder)


def test_preprocessors_are_applied_in_their_order(tmp_path):
    file = write_log(tmp_path / "log.eval", [sample()])
    names = ["drop-tool-output", "drop-reasoning", "strip-system"]
    [transcript] = read_transcripts(file, preprocess=names).transcripts
    assert [each.role for each in transcript.messages] == [each.role for each in EXPECTED[1:]] + ["assistant"]
    assert LONG not in transcript.text
    assert "I have to look" not in transcript.text
    assert list(transcript.problems()) == []


def test_without_inspect_it_is_said_what_to_install(tmp_path, monkeypatch):
    file = write_log(tmp_path / "log.eval", [sample()])
    monkeypatch.setattr("umpirical.datasets.transcripts.files.find_spec", lambda _: None)
    with pytest.raises(UsageError, match="requires the `inspect` extra") as error:
        read_transcripts(file)
    assert error.value.fix == "pip install 'umpirical[inspect]'"


def test_only_the_public_part_of_inspect_is_imported():
    from pathlib import Path

    import umpirical.datasets.transcripts as package

    for file in Path(package.__file__).parent.glob("*.py"):
        assert "inspect_ai._" not in file.read_text(encoding="utf-8")
