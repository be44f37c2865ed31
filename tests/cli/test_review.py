"""`umpirical review` and what can be done with a review besides."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from contextlib import contextmanager
from types import SimpleNamespace

import pytest

from tests.docs.reading import ROOT, blocks
from tests.protocols.review.written import small_study, terms_of, write, writing_of
from umpirical.protocols.review import ItemFeed, open_review
from umpirical.review.records import ReviewChoice
from umpirical.store.stimulus_sets import StimulusSet
from umpirical.store.yaml_files import parse_yaml
from umpirical.study.file import read_study

LINK = re.compile(r"(http://127\.0\.0\.1:\d+)/join/([\w-]{43,})")


@pytest.fixture
def folder(tmp_path):
    folder = small_study(tmp_path / "study", review={"overlap": 2})
    write(folder)
    return folder


def decided(folder, people=("ana", "ben"), labels=lambda item: item.target):
    """Lets people keep everything but the first item, which they reject."""
    opened = open_review(terms_of(folder), begin=True)
    try:
        ItemFeed(writing_of(folder)).into(opened.desk)
        items = {item.id: item for item in opened.desk.items()}
        first = next(iter(items))
        for person in people:
            opened.people.invite(person, "reviewer")
            while shown := opened.desk.next(person):
                label = labels(items[shown.item.id]) if shown.item.labels else ""
                choice = (
                    ReviewChoice("reject", reason="artefact")
                    if shown.item.id == first
                    else ReviewChoice("accept", label=label)
                )
                opened.desk.decide(person, shown.item.id, choice)
    finally:
        opened.close()


@contextmanager
def served(folder, *options):
    """A review in a process of its own; what it says up to the link, and once it was stopped, all the rest."""
    command = [
        sys.executable,
        "-m",
        "umpirical",
        "review",
        str(folder),
        "--trust",
        "--no-open",
        "--port",
        "0",
        *options,
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        review = SimpleNamespace(said="", rest="", code=None)
        try:
            while not LINK.search(review.said):
                line = process.stdout.readline()
                assert line, process.stderr.read()
                review.said += line
            yield review
        finally:
            process.send_signal(signal.SIGINT)
            try:
                review.rest = "".join(process.communicate(timeout=30))
            finally:
                process.kill()  # one that did not hear it would keep the tests for good
            review.code = process.returncode


def test_a_review_before_anything_is_written_says_what_to_do(tmp_path):
    folder = small_study(tmp_path / "study")
    with served(folder) as review:
        assert "0 new texts, 8 in total" in review.said
        assert f"umpirical generate {folder}" in review.said


class Browser:
    """Plain forms, as without any script."""

    def __init__(self, url):
        self.url = url
        self.cookie = ""
        self.home = ""

    def ask(self, path, form=None):
        """One request to a page of the session, once there is one."""
        headers = {"Cookie": self.cookie} if self.cookie else {}
        if form is not None:
            headers |= {"Origin": self.url, "Sec-Fetch-Site": "same-origin"}
        body = None if form is None else urllib.parse.urlencode(form).encode()
        request = urllib.request.Request(self.url + self.home + path, data=body, headers=headers)  # noqa: S310  # our own
        opener = urllib.request.build_opener(NoRedirects)
        try:
            answer = opener.open(request, timeout=30)
        except urllib.error.HTTPError as error:
            answer = error
        with answer:
            if cookie := answer.headers.get("Set-Cookie"):
                self.cookie = cookie.partition(";")[0]
                self.home = re.search(r"Path=([^;]+)/", cookie)[1]
            return answer.status, answer.read().decode()


class NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


def hidden(page):
    found = re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', page)
    return dict(found)


def test_a_person_comes_in_by_the_link_and_decides_and_the_run_goes_by_it(tmp_path, umpirical):
    folder = small_study(tmp_path / "study")
    texts = {attempt.stimulus.id: attempt.text for attempt in write(folder)}
    with served(folder) as review:
        said = review.said
        assert "8 new texts, 8 in total when everything is written" in said
        url, token = LINK.search(said).groups()
        browser = Browser(url)
        assert browser.ask("/")[0] in (401, 403)
        status, _ = browser.ask(f"/join/{token}", {})
        assert status == 303
        status, page = browser.ask("/")
        assert status == 200
        assert "Was one passage added, and nothing else changed?" in page
        status, _ = browser.ask("/decide", {**hidden(page), "kind": "reject:artefact"})
        assert status in (200, 303)
        # The link is used up.
        assert Browser(url).ask(f"/join/{token}", {})[0] == 403
    code, out, _ = umpirical("review", "status", folder, "--json")
    assert code == 0
    [owner] = json.loads(out)["people"]
    assert (owner["name"], owner["role"], owner["decided"]) == ("owner", "owner", 1)
    code, out, err = umpirical("run", folder, "--json")
    assert code == 4
    assert "review: 1 of 8 generated texts were reviewed, by 1 person: 1 rejected; 7 undecided, include" in err
    rejected = texts.pop(hidden(page)["item"])
    [name] = {path.parent for path in folder.glob("stimuli/*/manifest.json")}
    shown = {stimulus.candidates[0] for stimulus in StimulusSet(name)}
    assert rejected not in shown
    assert shown >= set(texts.values())
    assert "1 rejected" in (folder / "runs" / json.loads(out)[0]["run"] / "stress.md").read_text()


def test_texts_arrive_while_the_review_is_served(tmp_path, umpirical):
    folder = small_study(tmp_path / "study")
    with served(folder, "--as", "Ana") as review:
        said = review.said
        assert "0 new texts, 8 in total" in said
        assert "lets Ana in, once" in said
        url, token = LINK.search(said).groups()
        browser = Browser(url)
        browser.ask(f"/join/{token}", {})
        write(folder)
        until = time.monotonic() + 60
        while "Show the next item" not in (page := browser.ask("/")[1]):
            assert time.monotonic() < until
            time.sleep(0.1)
        # Looking gives nobody an item; asking does.
        assert "Was one passage added" not in browser.ask("/")[1]
        assert browser.ask("/next", hidden(page))[0] == 303
        assert "Was one passage added" in browser.ask("/")[1]
    assert json.loads(umpirical("review", "status", folder, "--json")[1])["items"] == 8


def test_no_token_is_left_in_any_file(folder):
    with served(folder) as review:
        url, token = LINK.search(review.said).groups()
        browser = Browser(url)
        browser.ask(f"/join/{token}", {})
        session = browser.cookie.partition("=")[2]
        assert len(session) >= 43
        browser.ask("/")
    assert review.code == 0
    for secret in (token, session):
        assert secret not in review.rest
        for path in folder.rglob("*"):
            if path.is_file():
                assert secret.encode() not in path.read_bytes(), path


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.7"])  # noqa: S104  # that it is refused is the test
def test_a_review_is_not_exposed_by_accident(host, folder, umpirical):
    code, out, err = umpirical("review", folder, "--host", host, "--no-open", "--port", "0")
    assert code == 2
    assert "will not expose" in err
    assert "--expose" in err
    assert "/join/" not in out
    assert not (folder / "review").exists()


def test_serving_is_what_happens_without_a_command(folder, umpirical):
    for arguments in (("review", folder), ("review", "serve", folder)):
        code, _, err = umpirical(*arguments, "--host", "192.0.2.7")
        assert code == 2
        assert "will not expose" in err
    code, _, err = umpirical("review", "stauts", folder)
    assert code == 2
    code, _, err = umpirical("review", "stauts")
    assert code == 2
    assert "did you mean  umpirical review status?" in err
    code, out, _ = umpirical("review", "--help")
    assert code == 0
    for name in ("serve", "invite", "revoke", "status", "export", "import"):
        assert re.search(rf"^  {name} ", out, re.MULTILINE)


@pytest.mark.parametrize("arguments", [["review", "--help"], ["review", "export", "--help"]], ids=" ".join)
def test_help_imports_nothing_heavy(arguments):
    heavy = ["sqlalchemy", "alembic", "starlette", "uvicorn", "jinja2", "pydantic", "numpy", "rapidfuzz"]
    code = (
        "import sys\nfrom umpirical.cli import main\n"
        f"try: main({arguments!r})\nexcept SystemExit: pass\n"
        f"print('IMPORTED', sorted(set({heavy!r}) & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert "IMPORTED []" in done.stdout


def test_invited_let_in_and_revoked(folder, umpirical):
    code, out, err = umpirical(
        "review", "invite", "Ana", folder, "--role", "adjudicator", "--url", "https://r.example/"
    )
    assert code == 0
    assert re.fullmatch(r"https://r\.example/join/[\w-]{43,}\n", out)
    assert "for Ana, adjudicator; valid once, for a day" in err
    token = out.strip().rpartition("/")[2]
    opened = open_review(terms_of(folder))
    session = opened.people.redeem(token)
    assert opened.people.person(session).role == "adjudicator"
    code, out, _ = umpirical("review", "revoke", "ana", folder)
    assert (code, out) == (0, "ana is removed\n")
    assert opened.people.person(session) is None
    opened.close()
    code, _, err = umpirical("review", "revoke", "nobody", folder)
    assert code == 2
    assert "in this review: Ana" in err


def test_a_name_that_is_none_is_refused(folder, umpirical):
    code, out, err = umpirical("review", "invite", "a\x1b]0;owned\x07", folder)
    assert code == 2
    assert "\x1b" not in out + err


def test_the_status_counts_people_and_items_and_their_agreement(folder, umpirical):
    decided(folder)
    code, out, _ = umpirical("review", "status", folder)
    assert code == 0
    lines = out.splitlines()
    assert lines[0] == "8 items: 8 decided, 0 left, 0 disputed"
    assert lines[1:3] == ["  ana, reviewer: 8 decided", "  ben, reviewer: 8 decided"]
    assert "8 of 8 generated texts were reviewed, by 2 people: 1 rejected; none undecided." in lines
    assert any(
        re.match(r"Agreement between reviewers: 100% \[\d+, 100\] \(8/8\); Krippendorff's alpha 1\.00", x)
        for x in lines
    )
    assert any(re.match(r"  authority-cue: rejected 25% \[[\d.]+, [\d.]+\] \(1/4\)", x) for x in lines)
    assert any(re.match(r"  generator writer: rejected 1[23](\.\d)?% \[", x) for x in lines)
    found = json.loads(umpirical("review", "status", folder, "--json")[1])
    assert (found["items"], found["decided"], found["left"], found["disputed"]) == (8, 8, 0, 0)
    assert found["review"]["agreement"]["denominator"] == 8


def test_disputes_and_skips_are_in_the_status(folder, umpirical):
    decided(folder, people=("ana",))
    decided(folder, people=("ben",), labels=lambda _: "2")
    found = json.loads(umpirical("review", "status", folder, "--json")[1])
    assert (found["decided"], found["disputed"]) == (4, 4)
    assert found["review"]["agreement"]["numerator"] == 4


def test_a_review_that_was_never_opened_has_no_status(folder, umpirical):
    code, _, err = umpirical("review", "status", folder)
    assert code == 2
    assert "never opened" in err
    assert not (folder / "review").exists()


def test_what_is_foreign_moves_no_terminal(tmp_path, umpirical):
    folder = small_study(tmp_path / "study")
    file = folder / "umpirical.yaml"
    file.write_text(file.read_text().replace('"writer"', '"wri\\u001b[2Jter"').replace('"sky"', '"sky\\u202e"'))
    write(folder)
    decided(folder, people=("ana",))
    code, out, _ = umpirical("review", "status", folder)
    assert code == 0
    assert "wri⟦U+001B⟧[2Jter" in out
    with served(folder) as review:
        assert "sky⟦U+202E⟧" in review.said
    assert "\x1b" not in review.said + review.rest + out


def test_exported_and_imported(folder, tmp_path, umpirical):
    decided(folder)
    out = tmp_path / "review.jsonl"
    code, said, _ = umpirical("review", "export", folder, "--out", out)
    assert code == 0
    assert said == f"wrote {out}: 8 items, 16 decisions\n"
    other = small_study(tmp_path / "other", review={"overlap": 2})
    write(other)
    code, said, _ = umpirical("review", "import", out, other)
    assert (code, said) == (0, "16 new decisions from review.jsonl, 0 already known\n")
    again = tmp_path / "again.jsonl"
    umpirical("review", "export", other, "--out", again)
    assert again.read_bytes() == out.read_bytes()
    assert umpirical("review", "import", out, other)[1] == "0 new decisions from review.jsonl, 16 already known\n"


@pytest.mark.parametrize("form", ["argilla", "label-studio"])
def test_exported_to_another_tool_before_anyone_looked(form, folder, tmp_path, umpirical):
    """Whoever works with another tool need not open the review here."""
    out = tmp_path / "out"
    code, said, _ = umpirical("review", "export", folder, "--format", form, "--out", out)
    assert (code, said) == (0, f"wrote {out}: 8 items, 0 decisions\n")
    ours = (
        json.loads(out.read_text()) if form == "label-studio" else list(map(json.loads, out.read_text().splitlines()))
    )
    for record in ours:
        values = {"decision": "reject", "reason": "other"}
        if form == "argilla":
            given = {name: {"value": value} for name, value in values.items()}
            record["responses"] = [{"user_id": "u-7", "status": "submitted", "values": given}]
        else:
            results = [
                {"from_name": name, "to_name": "after", "type": "choices", "value": {"choices": [value]}}
                for name, value in values.items()
            ]
            record["annotations"] = [{"completed_by": 7, "result": results}]
    out.write_text(json.dumps(ours) if form == "label-studio" else "\n".join(map(json.dumps, ours)))
    code, said, _ = umpirical("review", "import", out, folder, "--format", form, "--as", "u-7=ana", "--as", "7=ana")
    assert (code, said) == (0, "8 new decisions from out, 0 already known\n")
    [person] = json.loads(umpirical("review", "status", folder, "--json")[1])["people"]
    assert (person["name"], person["role"], person["decided"]) == ("ana", None, 8)


def test_a_bad_file_is_refused_with_its_line(folder, tmp_path, umpirical):
    decided(folder, people=("ana",))
    out = tmp_path / "review.jsonl"
    umpirical("review", "export", folder, "--out", out)
    before = umpirical("review", "status", folder)[1]
    lines = out.read_text().splitlines()
    lines[3] = '{"record": "item", "id": "\\u001b[2J"}'
    out.write_text("\n".join(lines))
    code, _, err = umpirical("review", "import", out, folder)
    assert code == 2
    assert "review.jsonl:4: " in err
    assert "nothing was imported" in err
    assert "\x1b" not in err
    assert umpirical("review", "status", folder)[1] == before
    code, _, err = umpirical("review", "import", out, folder, "--as", "nobody")
    assert code == 2
    assert "THEIRS=NAME" in err


def test_a_folder_that_is_not_there_is_said(folder, tmp_path, umpirical):
    code, _, err = umpirical("review", "export", folder, "--out", tmp_path / "nowhere" / "review.jsonl")
    assert code == 2
    assert "there is no folder" in err


def test_without_the_extra_it_says_what_to_install(folder, umpirical, monkeypatch):
    import importlib.util

    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "alembic" else found(name))
    code, _, err = umpirical("review", folder, "--no-open")
    assert code == 2
    assert "pip install 'umpirical[review]'" in err


def test_another_database_is_named_or_in_the_environment(folder, tmp_path, umpirical, monkeypatch):
    url = f"sqlite:///{tmp_path}/team.sqlite"
    assert umpirical("review", "invite", "ana", folder, "--database", url)[0] == 0
    assert (tmp_path / "team.sqlite").is_file()
    assert not (folder / "review" / "review.sqlite").exists()
    code, _, err = umpirical("review", "status", folder)
    assert code == 2
    assert "UMPIRICAL_DATABASE" in err
    monkeypatch.setenv("UMPIRICAL_DATABASE", url)
    assert json.loads(umpirical("review", "status", folder, "--json")[1])["people"][0]["name"] == "ana"
    assert os.environ["UMPIRICAL_DATABASE"] == url


def test_a_database_url_that_is_wrong_does_not_show_its_password(folder, umpirical):
    code, out, err = umpirical("review", "status", folder, "--database", "mysql://ana:s3cret@db/review")
    assert code == 2
    assert "s3cret" not in out + err


GUIDE = ROOT / "docs" / "data" / "review.md"


def test_the_commands_of_the_guide_work(tmp_path, umpirical, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(small_study(tmp_path / "my-study"))
    ran = []
    for line in "".join(blocks(GUIDE, "sh")).splitlines():
        program, *arguments = shlex.split(line)
        assert program == "umpirical"
        code, _, err = umpirical(*arguments)
        assert code == 0, (line, err)
        ran.append(arguments[1])
    assert set(ran) == {"invite", "status", "revoke", "export", "import"}


def test_the_study_file_of_the_guide_is_one(tmp_path):
    (tmp_path / "guideline.txt").write_text("Keep what says the same.")
    (review,) = blocks(GUIDE, "yaml")
    folder = small_study(tmp_path)
    file = folder / "umpirical.yaml"
    file.write_text(json.dumps(json.loads(file.read_text()) | parse_yaml(review, name="guide").data))
    spec = read_study(folder).spec.review
    assert (spec.overlap, spec.undecided, spec.sensitive) == (2, "exclude", ("label-flip",))


def test_the_guide_is_short():
    assert len(GUIDE.read_text().splitlines()) <= 120
