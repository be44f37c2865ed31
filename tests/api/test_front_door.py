"""The Python API: every way to name a judge, every result, and judges that would get the better of it."""

import asyncio
import inspect
import json
import re
import subprocess
import sys
import threading
from dataclasses import asdict
from decimal import Decimal
from html import unescape

import pandas as pd
import polars as pl
import pytest

import umpirical
from tests.api.calls import Calls
from tests.cases import each
from tests.docs.reading import ROOT
from tests.runs.loopback import REFUSED, swayed_answer, write_study
from tests.servers.chat_server import ChatServer
from tests.stimuli.built import lend_stimuli
from umpirical.domain.errors import SpendRefused, UsageError
from umpirical.domain.tallies import ChangeTally, PairTally, Tallies, VacuumTally
from umpirical.models.money import CapReached
from umpirical.reports.numbers import rate
from umpirical.runs.workers import RunStopped
from umpirical.stimuli.controlled.datasheet_set import RECIPES

CALLS = RECIPES["screen"].calls
"""Of a datasheet of size screen."""

TENTH = len(range(0, CALLS, 10))
"""How many calls there are if every tenth is counted, the first included."""

SCALE = ("1", "2", "3")


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reported")
    lend_stimuli(folder)
    return umpirical.datasheet("simulated:slot-locked", size="screen", folder=folder, progress=False)


def longer(_task, first, second):
    return "tie" if len(first) == len(second) else "1" if len(first) > len(second) else "2"


async def longer_later(*shown):
    await asyncio.sleep(0)
    return longer(*shown)


class Longer:
    def __call__(self, *shown):
        return longer(*shown)

    def compare(self, *shown):
        return longer(*shown)


def grade(_task, response):
    return str(min(3, 1 + len(response) // 200))


ROWS = [
    {"essay": f"Essay {number}.\n\nIt has {'very ' * number}much to say.\n\nIt ends.", "score": str(number % 3 + 1)}
    for number in range(12)
]


# The public names.


def test_every_public_name_is_sorted_there_and_documented():
    assert umpirical.__all__ == sorted(umpirical.__all__)
    assert dir(umpirical) == umpirical.__all__
    page = (ROOT / "docs" / "reference" / "api.md").read_text(encoding="utf-8")
    names = re.findall(r"^### `(\w+)`$", page, re.MULTILINE)
    assert sorted(names) == umpirical.__all__
    with pytest.raises(AttributeError, match="no attribute 'datasheets'"):
        _ = umpirical.datasheets


def test_the_names_of_the_package_are_those_of_the_front_door():
    from umpirical import api

    assert sorted({*api.__all__, "__version__"}) == umpirical.__all__
    assert all(getattr(umpirical, name) is getattr(api, name) for name in api.__all__)


def public_callables():
    for name in umpirical.__all__:
        found = getattr(umpirical, name)
        if inspect.isclass(found):
            members = inspect.getmembers(found, inspect.isfunction)
            yield from (
                (f"{name}.{each}", member)
                for each, member in members
                if each[0] != "_" and member.__module__.startswith("umpirical.")
            )
        elif callable(found):
            yield name, found


@each("name", [name for name, _ in public_callables()])
def test_every_public_function_and_method_says_what_it_takes_and_gives(name):
    function = dict(public_callables())[name]
    assert inspect.getdoc(function), name
    signature = inspect.signature(function)
    assert signature.return_annotation is not inspect.Signature.empty
    untyped = [each.name for each in signature.parameters.values() if each.annotation is each.empty]
    assert untyped in ([], ["self"])


@each("name", [name for name in umpirical.__all__ if name.endswith("_async")])
def test_a_twin_takes_what_its_function_takes(name):
    function, twin = getattr(umpirical, name.removesuffix("_async")), getattr(umpirical, name)
    assert inspect.signature(twin) == inspect.signature(function)
    assert inspect.iscoroutinefunction(twin)
    assert name.removesuffix("_async") in twin.__doc__


def test_importing_the_package_imports_next_to_nothing():
    script = "import sys, umpirical; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    heavy = {"aiohttp", "asyncio", "duckdb", "jinja2", "numpy", "pandas", "polars", "pyarrow", "pydantic", "scipy"}
    assert not heavy & set(done.stdout.split())
    assert not {name for name in done.stdout.split() if name.startswith("umpirical.")}


# Which judge.


@pytest.mark.parametrize(
    ("judge", "name"),
    [
        (longer, "longer"),
        (longer_later, "longer_later"),
        (Longer(), "Longer"),
        (Longer().compare, "compare"),
        (lambda task, *candidates: longer(task, *candidates[:2]), "lambda"),
        ("simulated:careful", "careful"),
    ],
)
def test_a_judge_may_be_any_function_or_object_or_a_name(settings, judge, name):
    report = umpirical.datasheet(judge, **settings)
    assert (report.judge, report.record.complete, report.record.run.trials) == (name, True, CALLS)
    assert report.measure("failure-rate").result.numerator == 0
    assert report.folder.parent == settings["folder"] / "runs"


def test_judges_that_answer_alike_have_the_same_measures(settings):
    reports = [umpirical.datasheet(judge, **settings) for judge in (longer, longer_later, Longer())]
    assert len({str(report.record.measures) for report in reports}) == 1


@pytest.mark.parametrize("name", ["_judge", "größe", "__", "a b"])
def test_a_function_of_any_name_is_measured(settings, name):
    def judge(*_):
        return "tie"

    judge.__name__ = judge.__qualname__ = name
    assert re.fullmatch(r"[A-Za-z0-9][\w.-]*", umpirical.datasheet(judge, **settings).judge)


def test_a_name_that_no_judge_may_have_is_refused_with_the_name(settings):
    with pytest.raises(UsageError, match="no good name: String should match"):
        umpirical.datasheet(longer, name="no good name", **settings)


def test_a_judge_in_a_file_of_its_own_by_text_and_by_path(settings, monkeypatch):
    (settings["folder"] / "terse.yaml").write_text("model: {adapter: simulated, name: coin}\n")
    monkeypatch.chdir(settings["folder"])
    for judge in ("terse.yaml", settings["folder"] / "terse.yaml"):
        assert umpirical.datasheet(judge, **settings).judge == "terse"


def test_a_judge_in_a_file_where_the_program_runs(settings, tmp_path_factory, monkeypatch):
    here = tmp_path_factory.mktemp("here")
    (here / "plain.yaml").write_text("model: {adapter: simulated, name: coin}\n")
    monkeypatch.chdir(here)
    assert umpirical.datasheet("plain.yaml", **settings).judge == "plain"
    assert umpirical.datasheet("plain.yaml", name="other", **settings).judge == "other"


def test_a_function_by_module_and_name(settings):
    (settings["folder"] / "front_door_judge.py").write_text("def judge(task, first, second):\n    return 'tie'\n")
    report = umpirical.datasheet("front_door_judge:judge", **settings)
    assert report.judge == "front_door_judge-judge"
    assert report.measure("no-preference").result.value == 1
    sys.modules.pop("front_door_judge")


STUDY = """\
study: mine
seed: 1
design: {size: screen}
judges:
  - name: house
    model: {adapter: simulated, name: short-sighted}
  - name: other
    model: {adapter: simulated, name: coin}
"""


def test_a_judge_by_its_name_in_the_study_file(settings):
    (settings["folder"] / "umpirical.yaml").write_text(STUDY)
    report = umpirical.datasheet("house", trust=True, **settings)
    assert (report.judge, "short-sighted" in report.record.judge.model) == ("house", True)
    renamed = umpirical.datasheet("house", name="mine", trust=True, **settings)
    assert (renamed.judge, renamed.record.measures) == ("mine", report.record.measures)


def test_a_judge_that_grades(settings):
    report = umpirical.datasheet(grade, scale=SCALE, **settings)
    assert report.record.judge.kind == "grade"
    assert report.measure("failure-rate").result.numerator == 0
    wide = umpirical.datasheet(lambda _task, response: min(10, len(response) / 100), scale=(0.0, 10.0), **settings)
    assert wide.measure("unparsed-rate").result.numerator == 0


@pytest.mark.parametrize(
    ("judge", "words"),
    [
        ("nobody", "unknown judge 'nobody'"),
        ("no_such_module:judge", "cannot import the judge"),
        ("missing.yaml", "missing.yaml"),
        (3, "expected a function"),
        (None, "the judge is None"),
    ],
)
def test_what_is_no_judge_is_refused(settings, judge, words):
    with pytest.raises((UsageError, OSError), match=re.escape(words)):
        umpirical.datasheet(judge, **settings)


def test_variants_and_repeats_are_those_of_the_command(settings):
    report = umpirical.datasheet("simulated:careful", variants=["strict"], repeats=2, **settings)
    assert (report.record.run.variants, report.record.run.trials) == (["baseline", "strict"], 4 * CALLS)
    assert report.measure("tie-rate", stratum="0", variant="strict").result.value > 0
    with pytest.raises(UsageError, match="no prompt for prompt variant strict"):
        umpirical.datasheet(longer, variants=["strict"], **settings)


# The same engine as the command line.


def test_the_record_is_that_of_the_command(umpirical, tmp_path, settings):
    import umpirical as door

    lend_stimuli(tmp_path / "typed")
    arguments = ("datasheet", "simulated:coin", "--size", "screen", "--folder", tmp_path / "typed", "--json")
    code, out, _ = umpirical(*arguments)
    assert code == REFUSED
    [path] = (tmp_path / "typed").glob("runs/*/datasheet.json")
    typed = json.loads(path.read_text(encoding="utf-8"))
    called = json.loads(door.datasheet("simulated:coin", **settings).json())
    assert typed["run"].pop("created")
    assert called["run"].pop("created")
    assert called == typed
    assert json.loads(out)[0]["findings"] == called["findings"]


def test_what_was_typed_is_gone_on_with_by_the_front_door(umpirical, settings):
    import umpirical as door

    (settings["folder"] / "counted_judge.py").write_text(
        "from pathlib import Path\n"
        f"calls = Path({str(settings['folder'])!r}, 'calls')\n"
        "def judge(task, first, second):\n"
        "    with calls.open('a') as file:\n"
        "        file.write('.')\n"
        "    return 'tie'\n"
    )
    code, _, _ = umpirical(
        "datasheet", "counted_judge:judge", "--size", "screen", "--folder", settings["folder"], "--yes"
    )
    assert code == REFUSED
    assert door.datasheet("counted_judge:judge", **settings).record.complete
    assert len((settings["folder"] / "calls").read_text()) == CALLS
    sys.modules.pop("counted_judge")


def test_a_study_of_two_judges(folder):
    (folder / "umpirical.yaml").write_text(STUDY)
    for place in (folder, folder / "umpirical.yaml"):
        reports = umpirical.run(place, progress=False, trust=True)
        assert [report.judge for report in reports] == ["house", "other"]
    [other] = umpirical.run(folder, judges=["other"], progress=False, trust=True)
    assert other.json() == reports[1].json()
    with pytest.raises(UsageError, match="nobody"):
        umpirical.run(folder, judges=["nobody"], progress=False, trust=True)
    with pytest.raises((UsageError, OSError)):
        umpirical.run(folder / "elsewhere", progress=False, trust=True)


# Stress tests.


@pytest.fixture
def csv(tmp_path):
    path = tmp_path / "data" / "essays.csv"
    path.parent.mkdir()
    pl.DataFrame(ROWS).write_csv(path)
    return path


def test_stress_on_a_file_and_on_the_same_rows_is_the_same_report(tmp_path, csv):
    settings = {"tests": ["vertical-spacing", "stability"], "repeats": 2, "progress": False, "folder": tmp_path / "r"}
    filed = umpirical.stress(grade, csv, **settings)
    given = umpirical.stress(grade, ROWS, **settings)
    assert (filed.judge, filed.decision, filed.record.complete) == ("grade", "not-enough-data", True)
    assert {measure.stratum for measure in filed.measures} >= {"vertical-spacing", "stability"}
    assert filed.record.measures == given.record.measures
    assert filed.findings == given.findings
    assert umpirical.stress(grade, iter(ROWS), **settings).json() == given.json()


def test_stress_takes_what_it_is_told_about_columns_scale_and_size(tmp_path):
    rows = [{"a": row["essay"], "b": row["score"], "c": f"Task {number}"} for number, row in enumerate(ROWS)]
    report = umpirical.stress(
        grade,
        rows,
        response="a",
        label="b",
        task="c",
        scale=SCALE,
        sample=6,
        tests=["stability"],
        rubric="3 is best.",
        instruction="Grade the essay.",
        folder=tmp_path,
        progress=False,
        name="graded",
    )
    assert (report.judge, report.record.scale.labels) == ("graded", list(SCALE))
    assert report.measure("flip-rate", stratum="stability").result.denominator == 6


def test_a_judge_of_the_study_file_is_stressed_by_its_name(tmp_path):
    entry = "{name: examiner, callable: 'stressed_judge:grade'}"
    (tmp_path / "umpirical.yaml").write_text(f"study: mine\njudges: [{entry}]\n")
    (tmp_path / "stressed_judge.py").write_text("def grade(task, response):\n    return '2'\n")
    report = umpirical.stress("examiner", ROWS, tests=["stability"], folder=tmp_path, progress=False, trust=True)
    assert report.judge == "examiner"
    sys.modules.pop("stressed_judge")


@pytest.mark.parametrize(
    ("data", "changed", "words"),
    [
        ("nowhere.csv", {}, "nowhere.csv"),
        ([], {}, "no rows"),
        (ROWS, {"tests": ["no-such-test"]}, "no-such-test"),
        (ROWS, {"response": "prose"}, "prose"),
        (ROWS, {"name": "no good name"}, "String should match"),
    ],
)
def test_stress_refuses_what_it_cannot_use(tmp_path, data, changed, words):
    with pytest.raises(UsageError, match=re.escape(words)):
        umpirical.stress(grade, data, folder=tmp_path, progress=False, **changed)


# Stored records.


def test_what_is_saved_is_loaded_again_to_the_byte(report, tmp_path):
    documents = report.save(tmp_path / "saved")
    assert documents.json.read_text(encoding="utf-8") == report.json()
    for place in (documents.json, tmp_path / "saved", report.folder, str(report.folder / "datasheet.json")):
        loaded = umpirical.load(place)
        assert (loaded.json(), loaded.html(), loaded.markdown()) == (report.json(), report.html(), report.markdown())
        assert loaded.findings == report.findings
    assert umpirical.load(report.folder).folder == report.folder
    assert umpirical.load(documents.json).folder is None
    again = umpirical.load(documents.json).save(tmp_path / "again")
    for one, other in zip((again.json, again.html, again.markdown), vars_of(documents), strict=True):
        assert one.read_bytes() == other.read_bytes()


def vars_of(documents):
    return documents.json, documents.html, documents.markdown


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, "holds no record"),
        ("", "is not a record"),
        ("not json", "is not a record"),
        ("[1]", "is not a record"),
        ("7", "is not a record"),
        ("{}", "format None, which is not known"),
        ('{"format": "umpirical-horoscope/1"}', "umpirical-horoscope/1"),
        ('{"format": ["a"]}', "which is not known"),
        ("\xff", "is not a record"),
    ],
)
def test_what_is_no_record_is_refused(tmp_path, text, words):
    path = tmp_path / "some.json"
    if text is not None:
        path.write_bytes(text.encode("latin-1"))
    with pytest.raises(UsageError, match=re.escape(words)):
        umpirical.load(path)


def test_a_record_with_a_part_missing_is_refused(report, tmp_path):
    record = json.loads(report.json())
    del record["judge"]
    (tmp_path / "cut.json").write_text(json.dumps(record))
    with pytest.raises(UsageError, match=r"cut\.json"):
        umpirical.load(tmp_path / "cut.json")


# Measures from counts.


PAIRS = {"variant": "baseline", "family": "equal", "delta": 0.0, "pairs": 10}
COUNTS = {
    "vacuum": [
        {"cluster": f"t{each}", "variant": "baseline", "stratum": "empty", "prompts": 4, "false_preferences": 1.0,
         "unanswered": 0}
        for each in range(5)
    ],
    "pairs": [
        {"cluster": "t1", **PAIRS, "stable": 2, "positional": 3, "one_sided": 1, "no_preference": 4, "tie_calls": 9},
        {"cluster": "t2", **PAIRS, "stable": 1, "positional": 5, "one_sided": 2, "no_preference": 2, "tie_calls": 6},
    ],
}  # fmt: skip


def test_counts_are_measured_as_by_hand():
    measures = umpirical.measure(COUNTS)
    # 5 of 20 vacuum prompts; of 20 pairs 3 stable, 8 positional, 3 one-sided, 6 without a preference.
    values = {
        "dark-current": (5, 20, 0.25),
        "stable-cross-sensitivity": (3, 20, 0.15),
        "positional-false-preference": (8, 20, 0.4),
        "one-sided-commit": (3, 20, 0.15),
        "no-preference": (6, 20, 0.3),
        "raw-false-preference": (3 + 8 + 3 / 2, 20, 0.625),
    }
    for name, (numerator, denominator, value) in values.items():
        result = measures.get(name).result
        assert (result.numerator, result.denominator) == (numerator, denominator), name
        assert result.value == pytest.approx(value), name
        assert result.interval.low < value < result.interval.high
    assert measures.get("failure-rate").result.reason == "no call was made"


def test_tallies_and_a_mapping_of_the_same_counts_are_the_same():
    tallies = Tallies(
        vacuum=tuple(VacuumTally(**each) for each in COUNTS["vacuum"]),
        pairs=tuple(PairTally(**each) for each in COUNTS["pairs"]),
    )
    assert list(umpirical.measure(tallies)) == list(umpirical.measure(asdict(tallies)))


def test_a_count_that_is_not_given_is_not_taken_for_0():
    measures = umpirical.measure(COUNTS)
    for name, missing in (("one-sided-slot", "one_sided_position_1"), ("one-sided-content", "one_sided_a")):
        assert measures.get(name).result.reason == f"it depends on counts that are not given: {missing}"
    given = {"pairs": [{**each, "one_sided_position_1": 1} for each in COUNTS["pairs"]]}
    found = umpirical.measure(given).get("one-sided-slot").result
    assert (found.numerator, found.denominator) == (2, 3)
    assert (
        umpirical.measure({"pairs": [PairTally(**each) for each in given["pairs"]]}).get("one-sided-slot").result
        == found
    )
    # In one row of two, it is not known either.
    given["pairs"][0].pop("one_sided_position_1")
    assert "one_sided_position_1" in umpirical.measure(given).get("one-sided-slot").result.reason


def test_the_command_of_a_record_says_all_that_decides_it(settings):
    report = umpirical.datasheet(longer, seed=5, repeats=2, **settings)
    assert report.record.run.command == "umpirical.datasheet(longer, size='screen', repeats=2, seed=5)"
    report = umpirical.datasheet("simulated:coin", seed=5, **settings)
    assert report.record.run.command == "umpirical.datasheet('simulated:coin', size='screen', seed=5)"


async def test_counts_are_measured_by_the_twin_too():
    assert list(await umpirical.measure_async(COUNTS)) == list(umpirical.measure(COUNTS))


@pytest.mark.parametrize(
    ("counts", "words"),
    [
        ({"pair": []}, "unknown count 'pair'"),
        ({"pairs": [{**COUNTS["pairs"][0], "positonal": 3}]}, "unknown count 'positonal'"),
        ({"pairs": [{"cluster": "t"}]}, "pairs.0.variant: this key is missing"),
        ({"pairs": [{**COUNTS["pairs"][0], "stable": "many"}]}, "pairs.0.stable"),
        ({"pairs": 3}, "pairs"),
        ({"pairs": [3]}, "pairs.0"),
    ],
)
def test_a_count_that_is_misspelt_is_refused_and_never_taken_for_0(counts, words):
    with pytest.raises(UsageError, match=re.escape(words)):
        umpirical.measure(counts)


def test_counts_of_a_stress_test_need_no_calls_to_be_measured():
    changes = tuple(
        ChangeTally(str(each), "baseline", "spacing", "", "same-verdict", 10, changed=float(each % 2))
        for each in range(8)
    )
    measures = umpirical.measure(Tallies(changes=changes), kind="grade", protocol="stress")
    assert any(measure.stratum == "spacing" for measure in measures)


def test_measures_are_a_sequence(report):
    measures = report.measures
    assert len(measures) == len(report.record.measures)
    assert (measures[0], list(measures[:2])) == (report.record.measures[0], list(report.record.measures[:2]))
    assert repr(measures).count("\n") == len(measures) - 1
    assert f"Blank-input preference: {rate(measures[0].result.value)} [" in repr(measures)


# One measure by name.


def test_a_measure_by_its_name_and_stratum(report):
    assert report.measure("dark-current").result.value > 0.9
    assert report.measure("target-sensitivity", stratum="1") in report.record.measures


@pytest.mark.parametrize(
    ("name", "where", "words"),
    [
        ("charm", {}, ["unknown measure 'charm'", "choose one of: dark-current, raw-false-preference"]),
        (
            "target-sensitivity",
            {},
            ["no target-sensitivity at stratum ''", "strata: '0.5'", "prompt variants: 'baseline'"],
        ),
        ("dark-current", {"variant": "strict"}, ["prompt variant 'strict'", "prompt variants: 'baseline'"]),
    ],
)
def test_a_measure_that_is_not_there_is_refused_with_what_there_is(report, name, where, words):
    with pytest.raises(UsageError) as refused:
        report.measure(name, **where)
    said = f"{refused.value} {refused.value.fix}"
    assert [each for each in words if each not in said] == []


def test_where_there_is_no_measure_at_all_that_is_said():
    with pytest.raises(UsageError) as refused:
        umpirical.measure({}).get("dark-current")
    assert refused.value.fix == "choose one of: none"


# Data frames.


def test_a_data_frame_of_either_kind_has_the_numbers_of_the_record(report):
    in_pandas, in_polars = report.to_pandas(), report.to_polars()
    assert list(in_pandas.columns) == in_polars.columns
    assert len(in_pandas) == len(in_polars) == len(report.record.measures)
    rows = zip(report.record.measures, in_pandas.to_dict("records"), in_polars.to_dicts(), strict=True)
    undefined = 0
    for measure, *found in rows:
        for row in found:
            assert (row["measure"], row["variant"], row["stratum"]) == (measure.name, measure.variant, measure.stratum)
            if measure.result.kind == "undefined":
                undefined += 1
                assert row["undefined"] == measure.result.reason
                for name in (
                    "value",
                    "low",
                    "high",
                    "interval_level",
                    "method",
                    "numerator",
                    "denominator",
                    "unit",
                    "clusters",
                ):
                    assert row[name] is None or row[name] is pd.NA, name
            else:
                assert row["value"] == measure.result.value
                assert (row["numerator"], row["denominator"]) == (measure.result.numerator, measure.result.denominator)
                assert row["undefined"] is None or row["undefined"] is pd.NA
    assert undefined


@pytest.mark.parametrize(
    "measures", [umpirical.measure({}), umpirical.measure({"calls": []}), umpirical.measure(COUNTS)]
)
def test_a_data_frame_has_the_same_types_whatever_is_in_it(report, measures):
    assert measures.to_polars().schema == report.to_polars().schema
    assert list(measures.to_pandas().dtypes) == list(report.to_pandas().dtypes)


def test_what_is_missing_is_null_and_not_a_number():
    in_polars, in_pandas = umpirical.measure(COUNTS).to_polars(), umpirical.measure(COUNTS).to_pandas()
    missing = in_polars.filter(pl.col("undefined").is_not_null())
    assert missing["value"].null_count() == len(missing) > 0
    assert not in_polars["value"].is_nan().any()
    assert in_pandas["value"].isna().sum() == len(missing)
    assert in_pandas.loc[in_pandas["undefined"].notna(), "value"].sum() == 0
    assert in_pandas["value"].dtype == "Float64"


# What a notebook shows.


HOSTILE = "</iframe><script>alert(1)</script>\"'><img src=x onerror=alert(1)>"


def test_the_page_of_a_report_is_in_a_frame_that_nothing_gets_out_of(report, tmp_path):
    record = json.loads(report.json())
    record["judge"]["name"] = HOSTILE
    record["findings"][0] = HOSTILE
    record["judge"]["model"] = HOSTILE
    (tmp_path / "hostile.json").write_text(json.dumps(record))
    shown = umpirical.load(tmp_path / "hostile.json")._repr_html_()
    assert re.fullmatch(r'<iframe sandbox srcdoc="[^"<>]*" style="[^"<>]*" title="[^"<>]*"></iframe>', shown)
    page = unescape(re.search(r'srcdoc="([^"]*)"', shown)[1])
    assert page.casefold().startswith("<!doctype html>")
    assert not re.search(r"<script|<img|<iframe|onerror=(?!alert\(1\)&gt;)", page)
    assert "&lt;script&gt;" in page


def test_the_table_of_measures_is_inert():
    name = {
        "cluster": "t",
        "variant": HOSTILE,
        "stratum": HOSTILE,
        "prompts": 1,
        "false_preferences": 1,
        "unanswered": 0,
    }
    measures = umpirical.measure({"vacuum": [name]})
    shown = measures._repr_html_()
    assert re.sub(r"</?(table|thead|tbody|tr|th|td)>", "", shown).count("<") == 0
    assert "&lt;script&gt;" in shown


def test_a_report_says_in_a_line_what_it_is(report):
    assert repr(report) == f"<datasheet of slot-locked, {report.decision}: {len(report.measures)} measures>"
    assert report.decision == "do-not-use"


# Spending.


@pytest.fixture
def server():
    with ChatServer(swayed_answer) as server:
        yield server


PRICE = "{input: 1.0, output: 2.0}"


def test_nothing_is_sent_before_somebody_has_agreed_to_the_price(tmp_path, server):
    study = write_study(tmp_path, server.base_url, price=PRICE)
    with pytest.raises(SpendRefused, match=rf"{CALLS} calls may cost up to \$") as refused:
        umpirical.run(study, progress=False, trust=True)
    assert server.asked.total() == 0
    bound = Decimal(re.search(r"max_cost=([\d.]+)", refused.value.fix)[1])
    assert bound > 0
    [report] = umpirical.run(study, max_cost=bound, progress=False, trust=True)
    assert report.record.complete
    assert server.asked.total() == CALLS
    # What is paid for is not asked again, and costs nothing.
    assert umpirical.run(study, progress=False, trust=True)[0].json() == report.json()
    assert server.asked.total() == CALLS


def test_the_judge_of_a_study_file_is_priced_in_a_datasheet_too(tmp_path, server):
    write_study(tmp_path, server.base_url, price=PRICE)
    settings = {"size": "screen", "folder": tmp_path, "progress": False}
    with pytest.raises(SpendRefused):
        umpirical.datasheet("loopback", trust=True, **settings)
    assert server.asked.total() == 0
    assert umpirical.datasheet("loopback", max_cost=5, trust=True, **settings).record.complete


def test_a_cap_that_is_reached_stops_the_run_and_a_higher_one_goes_on(tmp_path, server):
    study = write_study(tmp_path, server.base_url, price=PRICE, concurrency=1)
    with pytest.raises(CapReached):
        umpirical.run(study, max_cost="0.05", progress=False, trust=True)
    some = server.asked.total()
    assert 0 < some < CALLS
    [report] = umpirical.run(study, max_cost=5.0, progress=False, trust=True)
    assert report.record.complete
    assert server.asked.total() == CALLS


@pytest.mark.parametrize("cap", [float("nan"), "nan", "much", -1, float("inf")])
def test_a_cap_that_is_no_amount_is_refused_and_nothing_is_sent(tmp_path, server, cap):
    study = write_study(tmp_path, server.base_url, price=PRICE)
    with pytest.raises(UsageError, match="max_cost"):
        umpirical.run(study, max_cost=cap, progress=False, trust=True)
    assert server.asked.total() == 0


def test_a_model_without_a_price_is_refused_until_it_is_given_one(tmp_path, server):
    study = write_study(tmp_path, server.base_url)
    study.write_text(study.read_text().replace("      price: free\n", ""))
    with pytest.raises(SpendRefused):
        umpirical.run(study, max_cost=5, progress=False, trust=True)
    assert server.asked.total() == 0
    with pytest.raises(SpendRefused, match="may cost up to"):
        umpirical.run(study, prices={"swayed": (1.0, 2.0)}, progress=False, trust=True)
    assert server.asked.total() == 0
    assert umpirical.run(study, prices={"swayed": (1.0, 2.0)}, max_cost=5, progress=False, trust=True)[
        0
    ].record.complete


def test_fresh_takes_over_nothing(tmp_path, server):
    study = write_study(tmp_path, server.base_url)
    umpirical.run(study, progress=False, trust=True)
    umpirical.run(study, fresh=True, progress=False, trust=True)
    assert server.asked.total() == 2 * CALLS


def test_an_executor_that_is_not_there_is_refused_before_anything_is_asked(settings):
    calls = Calls()
    with pytest.raises(UsageError, match="unknown executor"):
        umpirical.datasheet(calls.note, executor="nowhere", **settings)
    assert calls.total() == 0


# Judges that would get the better of it.


def now_and_then(calls, bad):
    """A judge that answers, except that every tenth call does something else."""

    def judge(*shown):
        return bad() if calls.note(*shown) % 10 == 0 else "tie"

    return judge


def raises(error):
    def bad():
        raise error

    return bad


BROKEN = {
    "an exception": raises(ValueError("broken")),
    "sys.exit": lambda: sys.exit(0),
    "an interrupt of its own": raises(KeyboardInterrupt()),
    "a cancellation of its own": raises(asyncio.CancelledError()),
    "what is no exception": raises(BaseException("b")),
    "the end of an iteration": raises(StopIteration("1")),
    "an object": object,
}


@pytest.mark.parametrize("way", BROKEN)
def test_a_call_that_ends_in_anything_but_an_answer_is_counted_as_failed(settings, way):
    calls = Calls()
    report = umpirical.datasheet(now_and_then(calls, BROKEN[way]), **settings)
    result = report.measure("failure-rate").result
    assert (result.numerator, result.denominator) == (TENTH, CALLS)
    assert calls.total() == CALLS
    audit = report.record.audit
    assert sum(row.failed for row in audit) == TENTH
    assert sum(row.tie for row in audit) == CALLS - TENTH
    assert sum(row.unasked for row in audit) == 0


@pytest.mark.parametrize("answer", [7, None, True, float("nan")])
def test_an_answer_off_the_scale_is_counted_as_unparsed(settings, answer):
    report = umpirical.datasheet(now_and_then(Calls(), lambda: answer), **settings)
    assert report.measure("unparsed-rate").result.numerator == TENTH
    assert report.measure("failure-rate").result.numerator == 0


def test_a_judge_that_always_fails_is_given_up_and_the_reason_is_told(settings):
    def broken(*_):
        raise ValueError("no key")

    with pytest.raises(RunStopped, match="calls in a row failed, the last with judge-error: ValueError: no key"):
        umpirical.datasheet(broken, **settings)


def test_a_judge_that_hangs_is_an_outcome_and_its_late_answer_is_none(settings):
    release = threading.Event()
    calls = Calls()

    def hangs(*shown):
        if calls.note(*shown) % 100 == 0:
            release.wait(60)
            return "1"
        return "tie"

    report = umpirical.datasheet(hangs, deadline=3, **settings)
    release.set()
    assert report.measure("failure-rate").result.numerator == len(range(0, CALLS, 100))
    assert sum(row.position_1 for row in report.record.audit) == 0
    [trouble] = report.record.trouble
    assert "timeout" in str(trouble)


def test_failed_calls_are_asked_again_by_the_same_call(settings):
    calls = Calls()

    def judge(*shown):
        if calls.note(*shown) < 3:
            raise ValueError
        return "tie"

    assert umpirical.datasheet(judge, **settings).measure("failure-rate").result.numerator == 3
    assert umpirical.datasheet(judge, **settings).measure("failure-rate").result.numerator == 0
    assert calls.total() == CALLS + 3


def test_what_a_judge_prints_is_printed_and_nothing_else(settings, capsys):
    def chatty(*_):
        print("hm")  # noqa: T201  # that is what is tested
        return "tie"

    report = umpirical.datasheet(chatty, **settings)
    assert capsys.readouterr().out == "hm\n" * CALLS
    assert report.record.complete


def test_a_judge_that_changes_what_it_returned_changes_no_answer(settings):
    answer = {"verdict": "tie"}
    lock = threading.Lock()

    def judge(*_):
        with lock:
            answer["verdict"] = "tie"
            return dict(answer)

    first = umpirical.datasheet(judge, **settings)
    answer["verdict"] = "1"
    assert umpirical.load(first.folder).json() == first.json()


def test_a_judge_that_measures_itself_is_an_error_of_that_call_and_not_a_deadlock(settings):
    calls = Calls()

    async def inward(*shown):
        if calls.note(*shown) == 0:
            umpirical.datasheet("simulated:coin", **settings)
        return "tie"

    assert umpirical.datasheet(inward, **settings).measure("failure-rate").result.numerator == 1


def test_a_synchronous_judge_may_use_the_front_door_itself(settings):
    calls = Calls()

    def inward(*shown):
        if calls.note(*shown) == 0:
            assert umpirical.datasheet("simulated:coin", **settings).record.complete
        return "tie"

    assert umpirical.datasheet(inward, **settings).measure("failure-rate").result.numerator == 0


def test_progress_goes_to_standard_error_and_can_be_excluded(settings, capsys):
    umpirical.datasheet(longer, **{**settings, "progress": True})
    shown = capsys.readouterr()
    assert f"longer  {CALLS}/{CALLS}  100%" in shown.err
    assert shown.out == ""
    umpirical.datasheet("simulated:coin", **settings)
    assert capsys.readouterr() == ("", "")
