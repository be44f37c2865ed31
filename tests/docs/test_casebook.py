"""The casebook says what its records say: its pages follow from them, and a claim they do not bear out is found."""

import json
import re
import shlex
import shutil

import pytest

from tests.docs.reading import ROOT, blocks, load_script
from umpirical.cli import COMMANDS
from umpirical.domain.scoring_methods import SCORING_METHODS
from umpirical.protocols.datasheet.record import Datasheet
from umpirical.protocols.datasheet.scoring_method_rules import ScoringMethods
from umpirical.reports.record import record_json
from umpirical.study.file import read_study

FOLDER = ROOT / "docs" / "results" / "casebook"


write = load_script(FOLDER / "write.py", "casebook_write")
BOOK = write.Casebook(FOLDER)
RECORDS = sorted(path.name.removesuffix(".json") for path in (FOLDER / "records").glob("*.json"))
JUDGES = [name for name in RECORDS if not name.endswith(".scoring-methods")]
COMPARE = [name for name in JUDGES if BOOK.sheet(name).judge.kind == "compare"]
TEMPLATES = sorted((FOLDER / "text").glob("*.jinja"))

each_judge = pytest.mark.parametrize("name", JUDGES)
each_compare = pytest.mark.parametrize("name", COMPARE)


@pytest.fixture
def copy(tmp_path):
    """The casebook, to be tampered with."""
    return shutil.copytree(FOLDER, tmp_path / "casebook")


def check(folder) -> int:
    return write.main(["--check", "--folder", str(folder)])


def tamper(path, change) -> None:
    record = json.loads(path.read_text(encoding="utf-8"))
    change(record)
    path.write_text(json.dumps(record), encoding="utf-8")


def measured(measures, name: str, stratum: str = "") -> dict:
    (found,) = (m for m in measures if (m["name"], m["stratum"], m["variant"]) == (name, stratum, "baseline"))
    return found["result"]


def test_the_pages_are_what_the_records_give(capsys):
    assert check(FOLDER) == 0, capsys.readouterr().err


def test_every_record_is_of_a_model_that_is_named_and_every_model_page_has_a_record():
    assert sorted(BOOK.judges()) == JUDGES
    pages = {path.name.removesuffix(write.TEMPLATE) for path in TEMPLATES if path.name.endswith(write.TEMPLATE)}
    assert pages - {"README", "agents", write.READER} == {model.name for model in BOOK.models()}


@each_judge
@pytest.mark.parametrize("name_of_measure", ["dark-current", "raw-false-preference"])
def test_another_number_in_a_record_is_found(copy, capsys, name, name_of_measure):
    def change(record):
        result = measured(record["measures"], name_of_measure)
        if "value" in result:
            result["value"] = 1 - result["value"] if result["value"] != 0.5 else 0.25
        else:
            result["reason"] = "another reason"

    tamper(copy / "records" / f"{name}.json", change)
    assert check(copy) == 1
    assert capsys.readouterr().err


@each_compare
def test_a_number_that_only_the_datasheet_shows_is_held_to_the_record_too(copy, capsys, name):
    def change(record):
        measured(record["measures"], "excess-stable")["value"] = 0.987

    tamper(copy / "records" / f"{name}.json", change)
    assert check(copy) == 1
    assert f"{name}.html has no {write.numbers.difference(0.987)} for excess-stable" in capsys.readouterr().err


@each_compare
def test_another_number_in_the_record_of_the_scoring_methods_is_found(copy, name):
    def change(record):
        (row,) = (row for row in record["rows"] if row["name"] == "order-averaged")
        result = measured(row["reported_on"], "raw-false-preference")
        result["numerator"] += 1

    tamper(copy / "records" / f"{name}.scoring-methods.json", change)
    assert check(copy) == 1


def test_a_claim_that_the_record_does_not_bear_out_is_found(copy, capsys):
    template = copy / "text" / f"README{write.TEMPLATE}"
    name = COMPARE[0]
    value = BOOK.sheet(name).measures[0].result.value
    claim = f'{{{{ book.claim("{name}", "dark-current", at_most={value - 0.001}) }}}}'
    template.write_text(template.read_text(encoding="utf-8") + claim, encoding="utf-8")
    assert check(copy) == 1
    assert "the text claims at most" in capsys.readouterr().err


def test_a_page_without_a_template_and_a_datasheet_without_a_page_are_found(copy, capsys):
    (copy / "stray.md").write_text("# Stray\n")
    (copy / "pages" / f"{COMPARE[0]}.html").unlink()
    assert check(copy) == 1
    said = capsys.readouterr().err
    assert "stray.md has no template" in said
    assert f"{COMPARE[0]}.html is not there" in said


def test_writing_anew_mends_a_page(copy):
    page = copy / "README.md"
    page.write_text(page.read_text(encoding="utf-8").replace("[0.", "[1."), encoding="utf-8")
    assert check(copy) == 1
    assert write.main(["--folder", str(copy)]) == 0
    assert check(copy) == 0


class TestClaims:
    NAME = COMPARE[0]

    def one(self, **claim):
        return BOOK.claim(self.NAME, "positional-false-preference", **claim)

    def ends(self):
        (found,) = (
            m.result
            for m in BOOK.sheet(self.NAME).measures
            if (m.name, m.stratum, m.variant) == ("positional-false-preference", "", "baseline")
        )
        return found.interval.low, found.value, found.interval.high

    def test_what_holds_leaves_nothing_to_read(self):
        low, value, high = self.ends()
        assert not self.one(at_least=value, at_most=value, above=low - 0.001, below=high + 0.001)

    @pytest.mark.parametrize(("claim", "end"), [("at_least", 1), ("at_most", 1), ("above", 0), ("below", 2)])
    def test_what_does_not_hold_is_an_error(self, claim, end):
        beyond = 0.001 if claim in {"at_least", "above"} else -0.001
        with pytest.raises(write.NotBorneOut, match=r"the text claims"):
            self.one(**{claim: self.ends()[end] + beyond})

    def test_a_claim_that_claims_nothing_is_an_error(self):
        with pytest.raises(write.UsageError, match="claims nothing"):
            self.one()

    def test_of_what_is_not_there_nothing_can_be_said(self):
        with pytest.raises(write.NotBorneOut, match="there is no"):
            BOOK.figure(self.NAME, "charm")

    def test_of_an_undefined_measure_nothing_can_be_claimed_but_that(self):
        undefined = next(m for m in BOOK.sheet(self.NAME).measures if m.result.kind == "undefined")
        where = {"stratum": undefined.stratum, "variant": undefined.variant}
        assert BOOK.reason(self.NAME, undefined.name, **where) == undefined.result.reason
        assert undefined.result.reason in BOOK.figure(self.NAME, undefined.name, **where)
        for claim in ("at_least", "at_most", "above", "below"):
            with pytest.raises(write.NotBorneOut):
                BOOK.claim(self.NAME, undefined.name, **where, **{claim: 0.0})
        with pytest.raises(write.NotBorneOut):
            BOOK.reason(self.NAME, "dark-current")

    def test_a_word_that_the_record_does_not_use_is_an_error(self):
        assert not BOOK.same(BOOK.sheet(self.NAME).judge.kind, "compare")
        with pytest.raises(write.NotBorneOut):
            BOOK.same(BOOK.sheet(self.NAME).judge.kind, "grade")


class TestShares:
    NAME = BOOK.crossed()[0].name
    FIVE = (
        "task-following",
        "task-blind-preference",
        "task-reversal",
        "one-version-preference",
        "neither-version-preference",
    )

    def test_all_that_can_come_of_a_quad_adds_up_to_one(self):
        assert not BOOK.whole(self.NAME, self.FIVE)

    @pytest.mark.parametrize("names", [("neither-version-preference",) * 2, ("task-following", "raw-false-preference")])
    def test_what_does_not_add_up_is_an_error(self, names):
        with pytest.raises(write.NotBorneOut):
            BOOK.whole(self.NAME, names)
        with pytest.raises(write.NotBorneOut):
            BOOK.adds_up(self.NAME, *names)

    def test_checks_are_those_of_the_judges_own_instruction_with_what_came_of_them(self):
        checks = BOOK.own_checks(self.NAME)
        assert {check.variant for check in checks} == {"baseline"}
        for check in checks:
            outcome, _, why = BOOK.held(self.NAME, check.measure, check.stratum).partition("<br>")
            assert outcome == write.OUTCOMES[check.verdict]
            assert re.search(r", at (least|most) |^undefined: ", why)


def test_records_of_two_ladders_never_share_a_table():
    crossed, earlier = BOOK.crossed(), BOOK.earlier()
    assert [*crossed, *earlier] == BOOK.models()
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    above, notice, below = text.partition("**These records are older than the crossed pairs.**")
    assert bool(notice) == bool(earlier)
    for model in earlier:
        assert f"| [{model.title}]" not in above
        assert f"| [{model.title}]" in below
        assert "ladder of fillers" in (FOLDER / f"{model.name}.md").read_text(encoding="utf-8")


@each_judge
def test_every_planned_trial_has_one_outcome(name):
    sheet = BOOK.sheet(name)
    outcomes = ("position_1", "position_2", "tie", "abstained", "unparsed", "failed", "unasked", "graded")
    assert sheet.complete
    assert sum(row.planned for row in sheet.audit) == sheet.run.trials
    for row in sheet.audit:
        assert sum(getattr(row, outcome) for outcome in outcomes) == row.planned


@each_compare
def test_the_baseline_of_a_judge_that_compares_has_300_calls_or_more(name):
    assert BOOK.calls(name, "baseline") >= 300
    assert BOOK.calls(name, "baseline", "failed") == 0


@each_compare
def test_all_scoring_methods_are_made_of_every_judge_that_compares(name):
    scoring_methods = BOOK.scoring_methods(name)
    assert [row.name for row in scoring_methods.rows] == [scoring_method.name for scoring_method in SCORING_METHODS]
    assert not any(row.why_not for row in scoring_methods.rows)
    assert scoring_methods.run.responses_sha256 == BOOK.sheet(name).run.responses_sha256


def again_as_said(again, said):
    """Returns what is said again of everything that was said."""
    if isinstance(said, dict):
        return {name: again_as_said(again[name], each) for name, each in said.items()}
    if isinstance(said, list):
        assert len(again) == len(said)
        return [again_as_said(one, each) for one, each in zip(again, said, strict=True)]
    return again


@pytest.mark.parametrize("name", RECORDS)
def test_a_record_is_as_it_was_written_and_names_nothing_of_a_machine(name):
    text = (FOLDER / "records" / f"{name}.json").read_text(encoding="utf-8")
    kind = ScoringMethods if name.endswith(".scoring-methods") else Datasheet
    # It says what it said, field by field; what records have been given since is not there, and nothing is put into it.
    again = json.loads(record_json(kind.model_validate_json(text)))
    assert again_as_said(again, json.loads(text)) == json.loads(text)
    assert not re.search(r"/(tmp|home|root|work)/", text)


@each_judge
def test_words_of_today_change_no_number_and_no_verdict(name):
    said, now = BOOK.sheet(name), write.in_words_of_today(BOOK.sheet(name))
    assert [one.result for one in now.measures] == [one.result for one in said.measures]
    found = [[(one.variant, one.measure, one.stratum, one.verdict) for one in sheet.checks] for sheet in (said, now)]
    assert found[0] == found[1]
    assert now.decision.verdict == said.decision.verdict


@each_judge
def test_the_study_file_is_that_of_the_record(name):
    sheet = BOOK.sheet(name)
    study = read_study(FOLDER / "studies" / name)
    (spec,) = study.spec.judges
    assert spec.kind == sheet.judge.kind
    assert spec.model.name in sheet.judge.model
    assert spec.decoding.max_tokens == sheet.judge.decoding["max_tokens"]
    assert set(sheet.run.variants) == set(study.spec.design.variants)


def test_another_answer_of_a_writer_of_transcripts_is_found(copy, capsys):
    def aim_at_the_last(record):
        [first, *_] = (call for call in record["calls"] if call["role"] == "planner")
        [last] = (one["messages"] for one in record["transcripts"] if one["name"] == first["transcript"])
        first["text"] = json.dumps({"steps": [{"message": last, "change": "Name no day."}]})

    tamper(copy / "agents" / "writers.json", aim_at_the_last)
    assert check(copy) == 1
    assert "the text claims" in capsys.readouterr().err


def test_another_number_of_the_judge_of_agents_is_found(copy):
    def change(record):
        whole = [one for one in record["measures"] if not one["stratum"] and not one["group"]]
        [found] = (one for one in whole if one["name"] == "accuracy")
        found["result"]["value"] = 0.123

    tamper(copy / "agents" / "judge.json", change)
    assert check(copy) == 1


@pytest.mark.parametrize("name", ["judge.json", "judge.html", "writers.json"])
def test_a_record_of_agents_names_nothing_of_a_machine(name):
    assert not re.search(r"/(tmp|home|root|work)/", (FOLDER / "agents" / name).read_text(encoding="utf-8"))


def prose(template) -> str:
    """What is typed by hand: placeholders, code and the names of things taken out."""
    text = template.read_text(encoding="utf-8")
    for taken in (r"\{#.*?#\}", r"\{\{.*?\}\}", r"\{%.*?%\}", r"^```.*?^```", r"`[^`]*`", r"\]\([^)]*\)", r"<[^>]*>"):
        text = re.sub(taken, "", text, flags=re.DOTALL | re.MULTILINE)
    names = (model.title for model in write.MODELS)
    for name in (*names, *NAMES):
        text = text.replace(name, "")
    return re.sub(r"\b[Ss]lots? [12]\b|Δ[0-5](?:\.5)?\b", "", text)


NAMES = ("Q4_1", "Q4_K_M", "Q8_0", "95%", "SHA-256", "AVX-512")
"""Digits that are no figure."""


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: path.name)
def test_no_figure_is_typed_by_hand(template):
    assert re.findall(r".*\d.*", prose(template)) == []


@pytest.mark.parametrize("template", [t for t in TEMPLATES if t.name.split(".md")[0] in COMPARE], ids=lambda p: p.name)
def test_a_page_about_a_model_claims_something_that_is_checked(template):
    assert len(re.findall(r"book\.(?:claim|same|reason)\(", template.read_text(encoding="utf-8"))) >= 8


@pytest.mark.parametrize("page", sorted((FOLDER / "pages").glob("*.html")), ids=lambda path: path.name)
def test_a_datasheet_is_small_and_asks_for_nothing_from_elsewhere(page):
    text = page.read_text(encoding="utf-8").replace('<link rel="icon" href="data:,">', "")
    assert len(text) < 400_000
    assert not re.search(r"<script|<img|<link|<iframe|\bsrc=|url\((?!#)", text)


def test_the_commands_are_there():
    lines = [line for block in blocks(FOLDER / "README.md", "sh") for line in block.splitlines()]
    ours = [shlex.split(line)[1] for line in lines if line.startswith("umpirical ")]
    assert {"check", "run", "rescore"} <= set(ours)
    assert set(ours) <= set(COMMANDS)


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("# A\n\nb\nc\n", "# A\n\nb c\n"),
        ("- a\n  b\n- c\n", "- a b\n- c\n"),
        ("| a | b |\n| --- | --- |\n", "| a | b |\n| --- | --- |\n"),
        ("```sh\na   b\nc\n```\n", "```sh\na   b\nc\n```\n"),
        (f"{'word ' * 30}\n", f"{' '.join(['word'] * 24)}\n{' '.join(['word'] * 6)}\n"),
    ],
)
def test_paragraphs_and_items_are_filled_and_nothing_else(text, filled):
    assert write.wrapped(text) == filled
    assert write.wrapped(filled) == filled


def test_a_reader_that_gets_everything_right_is_accepted_under_every_policy():
    assert set(BOOK.under(write.READER).values()) == {"Use"}


def test_another_verdict_of_the_reader_is_found(copy):
    def change(record):
        measured(record["measures"], "figure-following")["value"] = 0.5

    tamper(copy / write.READER / "datasheet.json", change)
    assert check(copy) == 1


def test_the_readers_record_names_nothing_of_a_machine():
    for path in (FOLDER / write.READER).iterdir():
        assert not re.search(r"/(tmp|home|root|work)/", path.read_text(encoding="utf-8")), path.name
