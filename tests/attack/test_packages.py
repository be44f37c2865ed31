"""Release packages that were damaged or forged. None passes, and the reader is told which part is wrong."""

import json
import os
import shutil
from hashlib import sha256

import pytest

import umpirical as front_door
from tests.attack.runs import copy_study
from tests.claims.tables import planted_rows, write_table
from tests.protocols.agent.agent_studies import LONG
from tests.protocols.agent.agent_studies import write_study as write_agent_study
from tests.protocols.pairs.pair_studies import labelled
from tests.protocols.pairs.pair_studies import write_study as write_pair_study
from umpirical.claims.documents import write_claim
from umpirical.claims.package_checks import PackageReader
from umpirical.claims.packages import prepare, published_spec
from umpirical.domain.errors import StoreError, UsageError
from umpirical.judges.factory import build_renderer
from umpirical.judges.spec import JudgeSpec
from umpirical.protocols.datasheet.protocol import DATASHEET
from umpirical.protocols.datasheet.report import held_to
from umpirical.store.parquet import read_rows, write_rows
from umpirical.store.schemas import judgment_schema

RECORD, PAGE, CARD = "datasheet.json", "datasheet.html", "datasheet.md"


@pytest.fixture(scope="module")
def pairs(tmp_path_factory):
    """A run of the same judge on pairs of the author's own."""
    study = write_pair_study(
        tmp_path_factory.mktemp("pairs"), rows=labelled(60), profiles=("careful",), more="edits: []\n"
    )
    [report] = front_door.run(study, trust=True)
    return report.folder


@pytest.fixture(scope="module")
def run(sound, pairs, tmp_path_factory):
    """A run on built-in test cases with a claim that rests on it."""
    folder = tmp_path_factory.mktemp("packages")
    run = copy_study(sound, folder / "study")
    file = write_table(folder / "verdicts.csv", planted_rows())
    claim = front_door.claim(front_door.correct(file, estimate="win-rate"), datasheet=run, evidence=pairs)
    write_claim(claim, run, "verdicts")
    return run


@pytest.fixture(scope="module")
def package(run, tmp_path_factory):
    folder = tmp_path_factory.mktemp("published") / "package"
    prepare(run).write(folder)
    return folder


def redo(folder):
    """Lists every file again, as whoever has only the package can."""
    manifest = json.loads((folder / "manifest.json").read_text())
    found = (path for path in folder.iterdir() if path.name != "manifest.json")
    manifest["files"] = {
        path.name: {"sha256": sha256(path.read_bytes()).hexdigest(), "bytes": path.stat().st_size} for path in found
    }
    (folder / "manifest.json").write_text(json.dumps(manifest))


def edit(folder, name, change, *, redone=True):
    """Changes a JSON file of a package."""
    content = json.loads((folder / name).read_text())
    change(content)
    (folder / name).write_text(json.dumps(content))
    if redone:
        redo(folder)


def rewrite(folder, change):
    """Changes the record, and writes its page and card to it."""
    record = json.loads((folder / RECORD).read_text())
    change(record)
    publish(folder, DATASHEET.record.model_validate(record))


def publish(folder, record):
    DATASHEET.write(record, folder)
    redo(folder)


def replace(folder, name, old, new):
    text = (folder / name).read_text()
    assert old in text
    (folder / name).write_text(text.replace(old, new, 1))
    redo(folder)


def list_file(folder, name):
    edit(folder, "manifest.json", lambda it: it["files"].update({name: {"sha256": "0" * 64, "bytes": 1}}), redone=False)


def measure_of(record, name):
    return next(one["result"] for one in record["measures"] if one["name"] == name)


def raise_count(record):
    result = measure_of(record, "target-sensitivity")
    result["numerator"] += 1


def other_measures(folder):
    """A rate that fits its own counts, its interval and the decision, and not the judgments."""
    record = json.loads((folder / RECORD).read_text())
    result = measure_of(record, "tie-rate")
    result["numerator"] -= 0.5
    result["value"] = result["numerator"] / result["denominator"]
    found = DATASHEET.record.model_validate(record)
    publish(folder, held_to(found, found.policy))


def lax_policy(folder):
    record = DATASHEET.parse((folder / RECORD).read_text())
    lax = [
        one.model_copy(update={"cures": (), **({"at_most": 1.0} if one.at_least is None else {"at_least": 0.0})})
        for one in record.policy.compare
    ]
    publish(folder, held_to(record, record.policy.model_copy(update={"compare": tuple(lax)})))


def other_judgments(folder, change):
    rows = list(read_rows(folder / "judgments.parquet"))
    schema = judgment_schema(DATASHEET.early().facts.columns)
    write_rows(folder / "judgments.parquet", [change(number, row) for number, row in enumerate(rows)], schema)
    redo(folder)


def swap_verdict(number, row):
    choices = {"1": "2", "2": "1"}
    return row | {"choice": choices.get(row["choice"], row["choice"])} if number < 60 else row


def swap_lines(folder, name):
    first, second, *rest = (folder / name).read_text().splitlines()
    one, other = json.loads(first), json.loads(second)
    one["request"], other["request"] = other["request"], one["request"]
    (folder / name).write_text("\n".join([json.dumps(one), json.dumps(other), *rest]) + "\n")
    redo(folder)


def link_out(folder):
    outside = folder.parent / "outside.md"
    shutil.move(folder / CARD, outside)
    (folder / CARD).symlink_to(outside)


def twice(folder):
    text = (folder / "manifest.json").read_text()
    (folder / "manifest.json").write_text(text.replace('"format":', '"format": "judge-package/9", "format":', 1))


def without_judgments(folder):
    (folder / "judgments.parquet").unlink()
    redo(folder)


def other_seed(folder):
    edit(folder, "stimuli.json", lambda it: it["recipe"].update(seed=2))


def recipe_of_files(folder):
    edit(folder, "stimuli.json", lambda it: it["recipe"].update(tasks=["../../secret.yaml"]))


def as_own_data(folder):
    """Says that the test cases are the author's own, so that nobody makes them again."""
    edit(folder, "stimuli.json", lambda it: it.update(recipe=None))


def other_claim(claim):
    claim["datasheet"]["sha256"] = claim["evidence_file"]["sha256"] = "0" * 64


def huge(folder):
    with (folder / "manifest.json").open("a") as file:
        file.write(" " * (1 << 21))


FORGERIES = {
    "a file is missing": (lambda p: (p / CARD).unlink(), "files", "is missing"),
    "the manifest is missing": (lambda p: (p / "manifest.json").unlink(), "manifest.json", "No such file"),
    "a file was added": (lambda p: (p / "more.txt").write_text("x"), "files", "is not listed"),
    "a file was changed": (lambda p: (p / CARD).write_text("x" * (p / CARD).stat().st_size), "files", "changed"),
    "a file was truncated": (lambda p: os.truncate(p / PAGE, 100), "files", "bytes, but"),
    "a link out of the folder": (link_out, "files", "is a link"),
    "a folder": (lambda p: (p / "runs2").mkdir(), "files", "is a link, a folder"),
    "a named pipe": (lambda p: os.mkfifo(p / "pipe"), "files", "is a link, a folder"),
    "the manifest is a link": (
        lambda p: (p / "manifest.json").rename(p / "m") and (p / "manifest.json").symlink_to(p / "m"),
        "manifest.json",
        "is not a file",
    ),
    "a path that leads out": (lambda p: list_file(p, "../outside"), "manifest.json", "is not the name"),
    "an absolute path": (lambda p: list_file(p, "/etc/passwd"), "manifest.json", "is not the name"),
    "a file that would be taken for a run": (lambda p: list_file(p, "run.json.md"), "manifest.json", "not the name"),
    "names that differ in case": (
        lambda p: list_file(p, "Verdicts.claim.json"),
        "manifest.json",
        "differ only in case",
    ),
    "the digest of another file": (
        lambda p: edit(
            p, "manifest.json", lambda it: it["files"][CARD].update(sha256=it["files"][PAGE]["sha256"]), redone=False
        ),
        "files",
        "changed since",
    ),
    "an unknown format": (
        lambda p: edit(p, "manifest.json", lambda it: it.update(format="judge-package/2"), redone=False),
        "manifest.json",
        "",
    ),
    "an unknown protocol": (
        lambda p: edit(p, "manifest.json", lambda it: it.update(protocol="../x"), redone=False),
        "manifest.json",
        "",
    ),
    "a field twice": (twice, "manifest.json", "appears twice"),
    "a manifest that is too large": (huge, "manifest.json", "has more than"),
    "deep nesting": (lambda p: (p / "manifest.json").write_text("[" * 100_000), "manifest.json", ""),
    "the record changed": (lambda p: replace(p, RECORD, '"complete": true', '"complete": false'), RECORD, ""),
    "NaN in the record": (lambda p: replace(p, RECORD, '"seed": 1,', '"seed": NaN,'), RECORD, "not a number"),
    "a huge number": (lambda p: replace(p, RECORD, '"seed": 1,', f'"seed": {"9" * 4000},'), RECORD, "too large"),
    "an endless number": (lambda p: replace(p, RECORD, '"seed": 1,', '"seed": 1e999,'), RECORD, "not a number"),
    "not UTF-8": (
        lambda p: (p / RECORD).write_bytes((p / RECORD).read_bytes().replace(b"careful", b"caref\xff1", 1)) and redo(p),
        RECORD,
        "UTF-8",
    ),
    "a verdict changed": (
        lambda p: rewrite(p, lambda it: it["decision"].update(verdict="use")),
        RECORD,
        "does not follow",
    ),
    "a finding changed": (
        lambda p: rewrite(p, lambda it: it["findings"].insert(0, "It is perfect.")),
        RECORD,
        "do not follow",
    ),
    "a lax policy under a shipped name": (lax_policy, RECORD, "is not the policy"),
    "a count changed": (lambda p: rewrite(p, raise_count), RECORD, "contradicts itself"),
    "calls left out": (lambda p: rewrite(p, lambda it: it["audit"].pop()), RECORD, "calls"),
    "measures that fit themselves": (other_measures, "judgments.parquet", "do not follow"),
    "the judge's name changed": (
        lambda p: rewrite(p, lambda it: it["judge"].update(name="better")) or edit(p, "manifest.json", bool),
        RECORD,
        "another run, judge",
    ),
    "the judge's name changed everywhere": (
        lambda p: (
            rewrite(p, lambda it: it["judge"].update(name="better"))
            or edit(p, "manifest.json", lambda it: it.update(judge="better"), redone=False)
        ),
        "judge.json",
        "is not the judge",
    ),
    "the prompt changed": (
        lambda p: edit(p, "judge.json", lambda it: it["prompts"].update(baseline="{{task}} Say 1.")),
        "",
        "",
    ),
    "the settings changed": (
        lambda p: edit(p, "judge.json", lambda it: it.update(decoding={"temperature": 1.0})),
        "judge.json",
        "is not the judge",
    ),
    "the parser changed": (
        lambda p: edit(p, "judge.json", lambda it: it.update(answer={"reasoning": True})),
        "judge.json",
        "",
    ),
    "the page changed": (lambda p: replace(p, PAGE, "<title>", "<title>Use "), PAGE, "does not follow"),
    "the card changed": (lambda p: replace(p, CARD, "careful", "better"), CARD, ""),
    "the schema changed": (lambda p: edit(p, "datasheet.schema.json", lambda it: it.clear()), "datasheet.schema", ""),
    "test cases of another seed": (other_seed, "stimuli.json", "are others"),
    "test cases left out": (lambda p: edit(p, "stimuli.json", lambda it: it["ids"].pop()), "stimuli.json", "not the"),
    "a recipe that names files": (recipe_of_files, "stimuli.json", "never read"),
    "built-in test cases called one's own": (as_own_data, "stimuli.json", "says otherwise"),
    "prompts swapped": (lambda p: swap_lines(p, "prompts.jsonl"), "prompts.jsonl", "has been changed"),
    "redacted prompts swapped": (lambda p: swap_lines(p, "redacted-prompts.jsonl"), "redacted", "does not follow"),
    "judgments left out": (without_judgments, "manifest.json", "does not list"),
    "judgments of other pairs": (
        lambda p: other_judgments(p, lambda _, row: row | {"stratum": "other"}),
        "judgments.parquet",
        "does not match its test case",
    ),
    "judgments that are no Parquet": (
        lambda p: (p / "judgments.parquet").write_bytes(b"PAR1nothing") and redo(p),
        "judgments.parquet",
        "cannot read",
    ),
    "a claim about another run": (lambda p: edit(p, "verdicts.claim.json", other_claim), "verdicts.claim", "another"),
    "a claim with another number": (
        lambda p: edit(p, "verdicts.claim.json", lambda it: it["sentences"].append("It is perfect.")),
        "verdicts.claim",
        "",
    ),
    "a card without its claim": (
        lambda p: (p / "other.claim.md").write_text("It is perfect.") and redo(p),
        "manifest.json",
        "without its claim",
    ),
    "another license": (lambda p: replace(p, "LICENSES.md", "MIT", "CC0"), "LICENSES.md", "differs"),
}
"""How a package is changed, the part that shows it, and what is said about it. Most forgers list the files again."""


@pytest.mark.heavy
def test_no_forged_or_damaged_package_passes(package, tmp_path):
    assert len(FORGERIES) >= 20
    wrong = {}
    for number, (name, (forge, part, words)) in enumerate(FORGERIES.items()):
        forged = shutil.copytree(package, tmp_path / f"{number}")
        forge(forged)
        refused = next((check for check in PackageReader(forged).checks() if not check.holds), None)
        if refused is None or not refused.part.startswith(part) or words not in refused.found:
            wrong[name] = refused
    assert wrong == {}


def test_a_package_is_checked_without_its_run(package, umpirical, tmp_path):
    moved = shutil.copytree(package, tmp_path / "elsewhere")
    code, out, _ = umpirical("verify", moved)
    assert code == 0, out
    assert "336 judgments, counted again: every measure of the record follows" in out
    assert "184 test cases made again" in out
    assert "336 questions, rendered again" in out
    # What it cannot show is said as plainly.
    assert "not checked  replies" in out
    assert "not checked  verdicts.csv" in out
    told = json.loads(umpirical("verify", moved, "--json")[1])
    assert {"replies", "verdicts.csv", "pairs.json"} <= told["not_checked"].keys()
    (moved / "manifest.json").unlink()
    code, out, _ = umpirical("verify", moved)
    assert code == 1
    assert "DAMAGED  manifest.json" in out


STUDY = """\
study: others
seed: 7
judges:
  - {name: mine, callable: "judge.py:judge"}
  - {name: grader, kind: grade, scale: {kind: ordinal, labels: ["1", "2", "3"]}, callable: "judge.py:grade"}
design: {size: screen}
"""

CODE = (
    "def judge(task, first, second): return 'tie' if first == second else '1'\ndef grade(task, response): return '2'\n"
)


@pytest.mark.attack
def test_judges_of_any_kind_and_test_cases_of_any_seed_are_checked(tmp_path):
    (tmp_path / "umpirical.yaml").write_text(STUDY)
    (tmp_path / "judge.py").write_text(CODE)
    for report in front_door.run(tmp_path, trust=True):
        prepare(report.folder).write(tmp_path / report.judge)
        reader = PackageReader(tmp_path / report.judge)
        checks = {check.part: check for check in reader.checks()}
        assert [check for check in checks.values() if not check.holds] == []
        assert "counted again" in checks["judgments.parquet"].found
        assert {"prompts", "fingerprint"} <= reader.not_checked.keys()


@pytest.mark.attack
def test_only_the_run_shows_a_forgery_that_agrees_with_itself(package, tmp_path):
    """The limit that the guide states: with other judgments, and all that follows from them, a package is sound."""
    forged = shutil.copytree(package, tmp_path / "forged")
    other_judgments(forged, swap_verdict)
    refused = [check for check in PackageReader(forged).checks() if not check.holds]
    assert [(check.part, check.found) for check in refused] == [
        ("judgments.parquet", "the measures of the record do not follow from it")
    ]
    record = DATASHEET.parse((forged / RECORD).read_text())
    spec = PackageReader(forged).spec
    publish(forged, DATASHEET.recounted(record, forged / "judgments.parquet", spec))
    for claim in forged.glob("*.claim.*"):
        claim.unlink()
    redo(forged)
    reader = PackageReader(forged)
    assert all(check.holds for check in reader.checks())
    assert "replies" in reader.not_checked
    assert DATASHEET.parse((forged / RECORD).read_text()).measures != record.measures


def test_a_package_of_another_version_says_what_it_could_not_compare(package, tmp_path):
    moved = shutil.copytree(package, tmp_path / "elsewhere")
    edit(moved, "manifest.json", lambda it: it.update(umpirical_version="0.0.1"), redone=False)
    reader = PackageReader(moved)
    assert all(check.holds for check in reader.checks())
    assert {PAGE, CARD} <= reader.not_checked.keys()


def test_what_is_published_is_said_before_and_your_own_texts_stay(pairs, umpirical, tmp_path):
    code, out, _ = umpirical("publish", pairs, tmp_path / "package")
    assert code == 0
    assert "replaced by digests: every text of the your own data" not in out
    assert "replaced by digests: every text of your own data" in out
    texts = [text for row in labelled(60) for text in (row["prompt"], row["chosen"], row["rejected"])]
    published = b"".join(path.read_bytes() for path in (tmp_path / "package").iterdir()).decode("utf-8", "replace")
    assert [text for text in texts if text in published] == []
    assert not (tmp_path / "package" / "prompts.jsonl").exists()
    # The template of the prompt stays, and what was judged is known by its digest.
    assert "[sha256 " in (tmp_path / "package" / "redacted-prompts.jsonl").read_text()
    code, out, _ = umpirical("verify", tmp_path / "package")
    assert code == 0, out
    assert "not checked  test cases" in out
    assert "not checked  measures" in out


@pytest.mark.attack
def test_texts_of_agent_runs_stay_with_their_author(tmp_path):
    study = write_agent_study(tmp_path / "study", "last-message", compare=("last-message",))
    for report in front_door.run(study, trust=True):
        # What the judge got wrong is quoted in the record, in which everything else stays.
        assert LONG in (report.folder / "agent.html").read_text()
        release = prepare(report.folder, judgments=True)
        release.write(tmp_path / report.judge)
        published = b"".join(path.read_bytes() for path in (tmp_path / report.judge).iterdir())
        assert [text for text in (LONG, "You book rooms", "I need a room on day") if text.encode() in published] == []
        assert [check for check in PackageReader(tmp_path / report.judge).checks() if not check.holds] == []


def test_your_own_texts_are_published_if_you_say_so(pairs, umpirical, tmp_path):
    said = umpirical("publish", pairs, tmp_path / "package", "--with-texts", "--with-judgments", "--license", "CC0")[1]
    assert "published: the texts of your own data" in said
    assert "Question 0" in (tmp_path / "package" / "prompts.jsonl").read_text()
    assert "CC0" in (tmp_path / "package" / "LICENSES.md").read_text()
    code, out, _ = umpirical("verify", tmp_path / "package")
    assert code == 0, out
    assert "counted again: every measure of the record follows" in out


def test_a_package_names_no_server_and_no_key():
    model = {"adapter": "openai-compatible", "name": "m", "base_url": "https://10.1.2.3/v1", "api_key_env": "OUR_KEY"}
    judge = JudgeSpec.model_validate(
        {"name": "j", "model": model | {"price": "free"}, "prompts": {"baseline": "{{task}}"}}
    )
    published = published_spec(judge)
    assert published["model"] == {"adapter": "openai-compatible", "name": "m", "base_url": "https://removed.invalid"}
    # It still renders the same questions.
    assert build_renderer(JudgeSpec.model_validate(published)).prompts == judge.prompts
    endpoint = {"name": "j", "http": {"url": "https://10.1.2.3/judge", "body": {"a": "{{first}}", "b": "{{second}}"}}}
    assert published_spec(JudgeSpec.model_validate(endpoint)) is None


def test_a_damaged_run_is_not_published(sound, tmp_path):
    run = copy_study(sound, tmp_path / "study")
    text = (run / "datasheet.json").read_text()
    (run / "datasheet.json").write_text(text.replace('"complete": true', '"complete": false', 1))
    with pytest.raises(StoreError, match="is not the record that"):
        prepare(run)


def test_a_package_replaces_nothing(package, run, umpirical):
    before = sorted(path.name for path in package.iterdir())
    code, _, err = umpirical("publish", run, package)
    assert code == 2
    assert "is not empty" in err
    assert sorted(path.name for path in package.iterdir()) == before


def test_a_claim_about_another_run_is_not_taken_along(run, pairs, tmp_path):
    [claim] = run.glob("*.claim.json")
    claim = shutil.copy(claim, tmp_path / "other.claim.json")
    content = json.loads(claim.read_text())
    other_claim(content)
    claim.write_text(json.dumps(content))
    with pytest.raises(UsageError, match="about another record"):
        prepare(run, claim=claim)
    with pytest.raises(UsageError, match="would be removed"):
        prepare(pairs, claim=next(iter(run.glob("*.claim.json"))))
