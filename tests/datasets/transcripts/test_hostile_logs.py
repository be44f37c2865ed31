"""Logs of people who mean harm: refused or bounded, with a message, and never at the cost of the machine's memory."""

import json
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from tests.datasets.transcripts.archives import DEFLATED, ZSTANDARD, packed, zeros
from tests.datasets.transcripts.logs import sample, write_log
from umpirical.datasets.archives import ArchiveLimits, check_archive
from umpirical.datasets.transcripts import confinement
from umpirical.datasets.transcripts.files import read_transcripts
from umpirical.datasets.transcripts.sources import TranscriptLimits
from umpirical.domain.errors import ConfigError, UsageError

pytestmark = pytest.mark.filterwarnings("ignore")

ROOT = Path(__file__).parents[3]
MOST = 500
"""Megabytes that either process may take."""

SAMPLE = "samples/a_epoch_1.json"


def measured(path):
    """Reads a file in a process of its own, and holds both processes to their memory."""
    command = [sys.executable, "-m", "tests.datasets.transcripts.measured", str(path)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=550, cwd=ROOT)
    said = json.loads(done.stdout)
    assert said["parent"] < MOST
    assert said["child"] < MOST
    return said


def rewritten(path, change):
    """The log with other contents of its only sample."""
    with zipfile.ZipFile(path) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    entries[SAMPLE] = change(entries[SAMPLE])
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in entries.items():
            archive.writestr(name, text)
    return path


@pytest.fixture
def log(tmp_path):
    return write_log(tmp_path / "log.eval", [sample("a")])


# Archives.


@pytest.mark.parametrize("method", [DEFLATED, ZSTANDARD])
def test_a_bomb_is_refused_by_what_it_says(tmp_path, method):
    data, check = zeros(method, 1 << 30)
    file = packed(tmp_path / "log.eval", {SAMPLE: (method, data, 1 << 30, check)})
    assert file.stat().st_size < 1_100_000
    said = measured(file)
    assert said["kind"] == "ConfigError"
    assert "1,073,741,824 bytes when unpacked; the limit is 268,435,456" in said["error"]


@pytest.mark.parametrize("method", [DEFLATED, ZSTANDARD])
def test_a_bomb_that_says_it_is_small_is_unpacked_no_further(tmp_path, method):
    data, check = zeros(method, 1 << 30)
    file = packed(tmp_path / "log.eval", {SAMPLE: (method, data, 1_000, check)})
    said = measured(file)
    assert said["error"].startswith(f"log.eval: {SAMPLE}: its contents do not match the archive listing")


def test_a_bomb_of_many_small_files_is_refused(tmp_path):
    data, check = zeros(DEFLATED, 1 << 20)
    entries = {f"samples/{n}_epoch_1.json": (DEFLATED, data, 1 << 20, check) for n in range(1_024)}
    said = measured(packed(tmp_path / "log.eval", entries))
    assert "more than 200 times as many" in said["error"]


def test_files_that_overlap_are_refused(tmp_path):
    data, check = zeros(DEFLATED, 1 << 20)
    file = packed(tmp_path / "log.eval", {SAMPLE: (DEFLATED, data * 50, 1 << 20, check)})
    content = file.read_bytes()
    place = content.index(b"PK\x01\x02")
    entry, ends = content[place:-22], bytearray(content[-22:])
    copies = b"".join(entry.replace(b"a_epoch", f"{n}_epoch".encode()) for n in range(3))
    ends[8:16] = (3).to_bytes(2, "little") * 2 + len(copies).to_bytes(4, "little")
    file.write_bytes(content[:place] + copies + bytes(ends))
    with pytest.raises(ConfigError, match="files in the archive overlap"):
        check_archive(file)


def test_a_sound_archive_is_found_sound_whatever_packed_it(tmp_path):
    contents = {method: zeros(method, 1 << 20) for method in (DEFLATED, ZSTANDARD)}
    entries = {str(method): (method, data, 1 << 20, check) for method, (data, check) in contents.items()}
    file = packed(tmp_path / "log.eval", entries)
    assert check_archive(file) == [str(DEFLATED), str(ZSTANDARD)]
    with pytest.raises(ConfigError, match="2 files; the limit is 1"):
        check_archive(file, limits=ArchiveLimits(entries=1))
    with pytest.raises(ConfigError, match="the limit is 1,000"):
        check_archive(file, limits=ArchiveLimits(bytes=1_000_000, unpacked=1_000, entry=1 << 30))


@pytest.mark.parametrize("part", [0.0, 0.3, 0.9, 0.999])
def test_a_log_that_was_cut_off_is_refused(log, part):
    content = log.read_bytes()
    log.write_bytes(content[: int(len(content) * part)])
    with pytest.raises(ConfigError, match=r"log\.eval: not a valid archive") as error:
        read_transcripts(log)
    assert error.value.fix == "check that the file is complete"


def test_a_log_with_a_changed_byte_is_refused(log):
    content = bytearray(log.read_bytes())
    content[content.index(b"samples/") + 60] ^= 1
    log.write_bytes(content)
    with pytest.raises(ConfigError, match=r"cannot unpack it|do not match the archive"):
        read_transcripts(log)


# What is in them.


def test_a_head_that_lies_is_noted_and_nothing_is_made_ready_for_what_it_promises(tmp_path):
    said = measured(write_log(tmp_path / "log.eval", [sample("a")], told=10**9))
    assert said["names"] == ["a"]
    assert said["notes"] == ["log.eval: the header of the log lists 1,000,000,000 samples, but the log contains 1"]


def test_a_message_of_ten_megabytes_is_refused(tmp_path):
    from inspect_ai.model import ChatMessageUser

    text = " ".join(map(str, range(1_500_000)))[:10_000_000]
    said = measured(write_log(tmp_path / "log.eval", [sample("a", [ChatMessageUser(content=text)])]))
    assert "log.eval: a: 10,000,031 bytes in message 1; the limit is 4,194,304" in said["error"]
    assert said["fix"] == "remove what you do not need, or raise the limit `message`"


def test_a_message_of_ten_megabytes_in_a_line_is_refused_and_read_if_the_limit_is_raised(tmp_path):
    file = tmp_path / "runs.jsonl"
    file.write_text(json.dumps([{"role": "user", "content": "x" * 10_000_000}]))
    assert "the limit is 4,194,304" in measured(file)["error"]
    found = read_transcripts(file, limits=TranscriptLimits(message=1 << 24))
    assert len(found.transcripts[0].messages[0].text) == 10_000_000


def test_deep_nesting_in_a_sample_is_refused(log):
    deep = b'{"metadata": {"x": ' + b"[" * 200_000 + b"]" * 200_000 + b"},"
    said = measured(rewritten(log, lambda text: deep + text[1:].replace(b'"metadata"', b'"other"')))
    assert said["kind"] == "ConfigError"
    assert said["error"].startswith("log.eval: ")


@pytest.mark.parametrize("name", ["log.json", "runs.jsonl"])
def test_deep_nesting_in_json_is_refused_before_it_is_parsed(tmp_path, name):
    file = tmp_path / name
    file.write_text('{"version": 2, "eval": ' + "[" * 200_000 + "]" * 200_000 + "}")
    said = measured(file)
    assert f"{name}" in said["error"]
    assert "nested more than 64 levels deep" in said["error"]


NAMES = ["../../x", "/etc/passwd", "C:\\x", "a/b", "\x1b[2J\x07", "a\nb", "a\tb", "\u202ex", "x" * 300]


def test_names_are_only_names(tmp_path):
    folder = tmp_path / "logs"
    folder.mkdir()
    write_log(folder / "log.json", [sample(name) for name in NAMES])
    records = [{"id": name, "messages": [{"role": "user", "content": "x"}]} for name in NAMES]
    (folder / "runs.jsonl").write_text("".join(f"{json.dumps(record)}\n" for record in records))
    before = sorted(tmp_path.rglob("*"))
    found = read_transcripts(folder)
    assert sorted(tmp_path.rglob("*")) == before
    shown = {"".join(char if char.isprintable() else f"⟦U+{ord(char):04X}⟧" for char in name) for name in NAMES}
    assert {each.name for each in found.transcripts} == {
        f"{file}: {name}" for file in ("log.json", "runs.jsonl") for name in shown
    }


def test_a_name_that_is_a_path_in_an_archive_is_only_a_name(tmp_path):
    folder = tmp_path / "a" / "b"
    folder.mkdir(parents=True)
    file = write_log(folder / "log.eval", [sample("../../x"), sample("/etc/passwd")])
    before = sorted(tmp_path.rglob("*"))
    assert {each.name for each in read_transcripts(file).transcripts} == {"../../x", "/etc/passwd"}
    assert sorted(tmp_path.rglob("*")) == before


def test_a_name_without_end_is_refused(tmp_path):
    file = tmp_path / "runs.jsonl"
    file.write_text(json.dumps({"id": "x" * 1_000, "messages": [{"role": "user", "content": "x"}]}))
    with pytest.raises(ConfigError, match="a name of 1,000 characters; the limit is 500"):
        read_transcripts(file)


def test_bytes_that_are_no_text_are_refused(log):
    said = measured(rewritten(log, lambda text: text.replace(b"Be careful.", b"Be \xff\xfe.")))
    assert said["error"].startswith("log.eval: Inspect cannot read it: ")


@pytest.mark.parametrize(
    ("name", "where"),
    [("log.json", "byte 0xff at position 25 is not UTF-8"), ("runs.jsonl", "byte 0xff at position 25 of")],
)
def test_bytes_that_are_no_text_in_json_are_refused_with_their_place(tmp_path, name, where):
    file = tmp_path / name
    file.write_bytes(b'{"version": 2, "eval": "\xff"}')
    with pytest.raises(ConfigError, match=where):
        read_transcripts(file)


def test_halves_of_characters_are_shown_as_unknown_ones(tmp_path):
    file = tmp_path / "runs.jsonl"
    file.write_text('{"id": "a", "kind": "k\\ud800", "messages": [{"role": "user", "content": "x\\ud800y"}]}')
    found = read_transcripts(file, columns=["kind"])
    [transcript] = found.transcripts
    assert transcript.messages[0].text == "x\ufffdy"
    assert transcript.columns == {"kind": "k\ufffd"}
    assert "half characters" in found.notes[0]


def test_a_line_that_takes_a_hundred_times_its_size_when_parsed_kills_only_its_own_process(tmp_path):
    file = tmp_path / "runs.jsonl"
    file.write_text('[{"role": "user", "content": [' + "[]," * 6_000_000 + "[]]}]")
    said = measured(file)
    assert said["kind"] == "ConfigError"
    assert "runs.jsonl: cannot be read: reading it needs more than 400 MB of memory" in said["error"]


def test_a_sample_that_takes_too_much_memory_kills_only_its_own_process(log):
    much = b'{"scores": {"x": {"value": 1, "metadata": {"y": [' + b"{}," * 6_000_000 + b"{}]}}},"
    said = measured(rewritten(log, lambda text: much + text[1:]))
    assert said["kind"] == "ConfigError"
    assert said["error"].startswith("log.eval: cannot be read: ")
    assert "memory" in said["fix"]


# Limits.


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({"transcripts": 2}, "3 transcripts; the limit is 2"),
        ({"messages": 1}, "2 messages; the limit is 1"),
        ({"message": 20}, "bytes in message 1; the limit is 20"),
        ({"transcript": 50}, "bytes in one transcript; the limit is 50"),
        ({"total": 2_000}, "bytes in memory so far; the limit is 2,000"),
        ({"lines": 100}, "bytes; the limit is 100"),
        ({"line": 30}, "a line of more than 30 bytes"),
        ({"depth": 1}, "nested more than 1"),
    ],
)
def test_every_limit_is_named_when_it_is_reached(tmp_path, limits, message):
    file = tmp_path / "runs.jsonl"
    file.write_text(f"{json.dumps([{'role': 'user', 'content': 'x'}] * 2)}\n" * 3)
    assert len(read_transcripts(file).transcripts) == 3
    with pytest.raises(ConfigError, match=message) as error:
        read_transcripts(file, limits=replace(TranscriptLimits(), **limits))
    assert f"`{next(iter(limits))}`" in error.value.fix
    assert error.value.where.startswith("runs.jsonl")


def test_a_process_that_takes_too_long_is_ended(log):
    with pytest.raises(ConfigError, match=r"cannot be read: it took more than 0\.01 seconds"):
        read_transcripts(log, limits=TranscriptLimits(seconds=0.01))


def test_a_process_that_dies_is_a_log_that_cannot_be_read(log, monkeypatch):
    monkeypatch.setattr(confinement, "WORKER", "tests.datasets.transcripts.dying")
    with pytest.raises(ConfigError, match=r"log\.eval: cannot be read: .* was killed by SIGSEGV") as error:
        read_transcripts(log)
    assert "inspect log convert" in error.value.fix


def test_the_process_gets_no_secrets_and_imports_nothing_from_the_folder_that_one_is_in(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "zipfile.py").write_text("raise SystemExit('taken over')")
    file = tmp_path / "runs.jsonl"
    file.write_text(json.dumps([{"role": "user", "content": "x"}]))
    assert len(read_transcripts(file).transcripts) == 1
    assert "secret" not in confinement.environment("folder").values()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"format": "inspekt"}, "unknown transcript format 'inspekt'"),
        ({"preprocess": ["os.system"]}, "unknown preprocessor 'os.system'"),
    ],
)
def test_what_is_named_has_to_be_there(log, given, message):
    with pytest.raises(UsageError, match=message):
        read_transcripts(log, **given)


def test_what_tells_no_format_is_refused(tmp_path):
    file = tmp_path / "runs.txt"
    file.write_text("hello")
    with pytest.raises(UsageError, match="the format cannot be recognized") as error:
        read_transcripts(file)
    assert error.value.fix == "choose a format: inspect, messages, otel"
    with pytest.raises(UsageError, match="is not a file"):
        read_transcripts(tmp_path / "nothing.eval")
    with pytest.raises(UsageError, match="contains no logs"):
        read_transcripts(tmp_path)
