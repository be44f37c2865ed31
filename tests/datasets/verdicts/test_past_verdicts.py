"""Verdicts of the past: every format as its program writes it, and every figure counted by hand."""

import json
import math
import struct
import zipfile
import zlib

import pytest

import umpirical
from tests.datasets.verdicts.samples import TABLE
from umpirical.cli import main
from umpirical.datasets.archives import ArchiveLimits, read_archive
from umpirical.datasets.verdicts.past_verdicts import parse_scale, scale_of
from umpirical.domain.errors import ConfigError, UsageError
from umpirical.domain.scales import GradeScale


def figures(found) -> dict[str, tuple[float, int] | str]:
    """Maps each measure to its numerator and denominator, or to why it has none."""
    return {
        each.name: (each.result.numerator, each.result.denominator)
        if each.result.kind == "estimate"
        else each.result.reason
        for each in found.measures
    }


def lines(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


# Judges that compare.


def test_a_table_of_pairs_in_both_orders(tmp_path):
    file = tmp_path / "verdicts.csv"
    file.write_text(TABLE)
    [found] = umpirical.measure_verdicts(file)
    said = figures(found)
    assert (found.judge, found.kind) == ("j", "compare")
    # p1 keeps to u, p2 to slot 1, p3 has a winner once, p4 none; p5 has no verdict in one order, and is left out.
    assert said["same-answer-rate"] == (1, 4)
    assert said["same-slot-rate"] == (1, 4)
    assert said["one-order-rate"] == (1, 4)
    assert said["no-winner-rate"] == (1, 4)
    assert said["named-slot-1-rate"] == (3, 8)
    assert said["named-slot-2-rate"] == (2, 8)
    # Right: p1 twice, p2 once, p3 once, p4 twice, p5 once.
    assert said["accuracy"] == (7, 9)
    assert said["failure-rate"] == (1, 10)
    assert said["unparsed-rate"] == (0, 10)
    assert "no item was judged twice" in said["flip-rate"]
    excluded = found.measures.get("same-slot-rate").result.excluded
    assert excluded == {"without an answer in both orders": 1}
    assert found.counts["verdict"] == 9
    assert found.counts["failed"] == 1
    assert any("Blank-input preference" in line for line in found.cannot_tell)
    assert any("Order effects: 5 of 5" in line for line in found.can_tell)
    for measure in found.measures:
        assert measure.result.kind == "undefined" or (measure.result.interval and measure.result.interval.method)


def test_one_order_tells_nothing_about_orders(tmp_path):
    file = tmp_path / "verdicts.csv"
    file.write_text("\n".join(line for line in TABLE.splitlines() if ",vu," not in line) + "\n")
    [found] = umpirical.measure_verdicts(file)
    said = figures(found)
    assert "both orders" in said["same-slot-rate"]
    assert any(line.startswith("Order effects: no pair") for line in found.cannot_tell)
    # p1 and p5 are right, p2 is wrong, p3 says tie and p4 too, where that is right.
    assert said["accuracy"] == (3, 5)


def test_a_table_without_orders_names_answers_as_its_labels_do(tmp_path):
    file = tmp_path / "verdicts.csv"
    file.write_text("item,verdict,label\na,1,1\nb,2,1\nc,tie,tie\n")
    [found] = umpirical.measure_verdicts(file, kind="compare")
    said = figures(found)
    assert "both orders" in said["named-slot-1-rate"]
    assert said["accuracy"] == (2, 3)
    assert said["unparsed-rate"] == (0, 3)
    assert any("the order of the answers" in note for note in found.notes)


def test_a_row_without_an_order_is_a_call_of_which_nothing_else_is_known(tmp_path):
    file = tmp_path / "verdicts.csv"
    file.write_text("item,order,verdict,label\na,uv,1,1\na,vu,2,1\nb,uv,1,2\nb,vu,2,2\nc,,1,1\n")
    [found] = umpirical.measure_verdicts(file)
    said = figures(found)
    assert said["same-answer-rate"] == (2, 2)
    assert said["accuracy"] == (2, 4)
    assert said["unparsed-rate"] == (0, 5)


def test_repeats_are_paired_as_the_file_counts_them(tmp_path):
    rows = ["item,order,repeat,verdict"]
    for item in "ab":
        # In repeat 1 slot 1 wins in both orders; in repeat 2 slot 2 does. As the rows stand, u and then v would win.
        rows += [f"{item},uv,1,1", f"{item},uv,2,2", f"{item},vu,2,2", f"{item},vu,1,1"]
    file = tmp_path / "verdicts.csv"
    file.write_text("\n".join(rows) + "\n")
    [found] = umpirical.measure_verdicts(file)
    said = figures(found)
    assert said["same-slot-rate"] == (2, 2)
    assert said["same-answer-rate"] == (0, 2)
    # Each pair in each order was answered once by u and once by v.
    assert said["flip-rate"] == (4, 4)


def test_the_same_repeat_twice_is_refused(tmp_path):
    file = tmp_path / "verdicts.csv"
    file.write_text("item,repeat,score\na,1,3\na,1,4\n")
    with pytest.raises(UsageError, match="has two verdicts in repeat '1'"):
        umpirical.measure_verdicts(file)


def test_mt_bench(tmp_path):
    def row(question, first, second, **more):
        return {
            "question_id": question,
            "model_1": "a",
            "model_2": "b",
            "g1_winner": first,
            "g2_winner": second,
            "judge": ["gpt-4", "pair-v2"],
            "turn": 1,
            "g1_user_prompt": "...",
            **more,
        }

    file = lines(
        tmp_path / "gpt-4_pair.jsonl",
        [
            row(81, "model_1", "model_1"),
            # The winner is mapped back to a model, so another model in the other order is the same slot.
            row(82, "model_1", "model_2"),
            row(83, "model_2", "tie"),
            row(84, "error", "model_1"),
        ],
    )
    [found] = umpirical.measure_verdicts(file)
    said = figures(found)
    assert (found.format, found.judge) == ("mt-bench", "gpt-4 pair-v2")
    assert said["same-answer-rate"] == (1, 3)
    assert said["same-slot-rate"] == (1, 3)
    assert said["one-order-rate"] == (1, 3)
    assert said["no-winner-rate"] == (0, 3)
    # Slot 1: 81 in the first order, 82 in both. Slot 2: 81 in the second, 83 in the first.
    assert said["named-slot-1-rate"] == (3, 6)
    assert said["named-slot-2-rate"] == (2, 6)
    assert said["failure-rate"] == (1, 8)
    assert said["accuracy"] == "no item has a gold label"


def test_arena_hard(tmp_path):
    def row(question, first, second):
        games = [{"user_prompt": "...", "judgment": "...", "score": score} for score in (first, second)]
        return {"question_id": question, "model": "m", "judge": "gpt-4.1", "games": games}

    file = lines(
        tmp_path / "m.jsonl",
        [row("q1", "A>>B", "B>A"), row("q2", "A>B", "A>>B"), row("q3", "A=B", "A=B"), row("q4", None, "A>B")],
    )
    [found] = umpirical.measure_verdicts(file)
    said = figures(found)
    # q1: the baseline wins in both games; q2: the first slot; q3: nobody; q4 has no verdict in one game.
    assert said["same-answer-rate"] == (1, 3)
    assert said["same-slot-rate"] == (1, 3)
    assert said["no-winner-rate"] == (1, 3)
    assert said["unparsed-rate"] == (1, 8)


def test_judgebench(tmp_path):
    def row(pair, label, first, second):
        said = [None if each == "raised" else {"judgment": {}, "decision": each} for each in (first, second)]
        return {"pair_id": pair, "label": label, "judge_name": "vanilla", "judgments": said, "response_A": "x"}

    file = lines(
        tmp_path / "dataset.jsonl",
        [
            row("p1", "A>B", "A>B", "B>A"),
            row("p2", "B>A", "A>B", "A>B"),
            row("p3", "A>B", None, "raised"),
            row("p4", "B>A", "A>B", "B>A"),
        ],
    )
    [found] = umpirical.measure_verdicts(file)
    said = figures(found)
    # p1 is right twice; p2 follows the slot, and is right once; p4 is wrong twice.
    assert said["same-answer-rate"] == (2, 3)
    assert said["same-slot-rate"] == (1, 3)
    assert said["accuracy"] == (3, 6)
    assert said["unparsed-rate"] == (1, 8)
    assert said["failure-rate"] == (1, 8)


# Judges that grade.


def test_a_table_of_grades_with_repeats_and_labels(tmp_path):
    rows = [
        {"id": "a", "repeat": 0, "score": 4, "gold": 4},
        {"id": "a", "repeat": 1, "score": 4, "gold": 4},
        {"id": "b", "repeat": 0, "score": 2, "gold": 4},
        {"id": "b", "repeat": 1, "score": 4, "gold": 4},
        {"id": "c", "repeat": 0, "score": 1, "gold": 1},
        {"id": "c", "repeat": 1, "score": None, "gold": 1},
    ]
    [found] = umpirical.measure_verdicts(lines(tmp_path / "grades.jsonl", rows), scale="1..5")
    said = figures(found)
    assert found.scale == GradeScale("ordinal", ("1", "2", "3", "4", "5"))
    # a flips never, b always; c was answered once.
    assert said["flip-rate"] == (1, 2)
    # a is right, b half of the time, c is right in the one verdict there is.
    assert said["accuracy"] == (2.5, 3)
    # b is off by 2 grades half of the time.
    assert found.measures.get("mean-absolute-error", stratum="original").result.value == pytest.approx(1 / 3)
    assert said["unparsed-rate"] == (1, 6)
    assert any(line.startswith("Noise: 3 of 3") for line in found.can_tell)


def test_a_grade_that_is_not_on_the_scale_is_no_verdict(tmp_path):
    rows = [{"item": name, "score": score, "label": 1} for name, score in (("a", 1), ("b", 99), ("c", 2))]
    [found] = umpirical.measure_verdicts(lines(tmp_path / "grades.jsonl", rows), scale="1..5")
    assert figures(found)["accuracy"] == (1, 2)
    assert found.counts["unparsed"] == 1


def test_deepeval(tmp_path):
    def case(number, score, **more):
        metric = {"name": "Correctness [GEval]", "threshold": 0.5, "success": False, "evaluationModel": "gpt-4o"}
        return {
            "name": f"test_case_{number}",
            "input": f"question {number % 2}",
            "actualOutput": "answer",
            "order": number,
            "metricsData": [metric | more | ({} if score is None else {"score": score})],
        }

    cases = [case(n, s) for n, s in enumerate((0.7, 0.0, 0.7, None, 0.1))]
    cases += [case(5, 9.9), case(7, None, error="ValueError: no JSON")]
    data = {"testRunData": {"testCases": cases, "conversationalTestCases": []}}
    file = tmp_path / ".latest_test_run.json"
    file.write_text(json.dumps(data))
    [found] = umpirical.measure_verdicts(file)
    said = figures(found)
    assert (found.format, found.judge) == ("deepeval", "Correctness [GEval] by gpt-4o")
    assert found.scale == GradeScale("interval", low=0.0, high=1.0)
    # Two items. One was scored 0.7, 0.7 and 0.1: two of three pairs of answers differ. The other was scored once.
    assert said["flip-rate"] == "only one cluster of items was measured; an interval needs at least two"
    # No score at all; and 9.9, which DeepEval makes of a 99 and calls a success.
    assert said["unparsed-rate"] == (2, 7)
    assert said["failure-rate"] == (1, 7)
    assert said["accuracy"] == "no item has a gold label"
    assert found.can_tell[0] == "Missing verdicts: 3 of 7 rows."


def promptfoo(path, results):
    path.write_text(json.dumps({"evalId": "e", "results": {"version": 3, "results": results, "stats": {}}}))
    return path


def test_promptfoo_llm_rubric(tmp_path):
    def row(number, passed, **more):
        rubric = {
            "pass": passed,
            "score": float(passed),
            "reason": "r",
            "assertion": {"type": "llm-rubric", "value": "ok"},
        }
        program = {"pass": True, "score": 1, "assertion": {"type": "contains", "value": "x"}}
        return {
            "promptIdx": 0,
            "testIdx": number,
            "vars": {"q": f"q{number}"},
            "response": {"output": "a"},
            "gradingResult": {"pass": passed, "componentResults": [rubric | more, program]},
        }

    file = promptfoo(
        tmp_path / "out.json",
        [row(0, True), row(1, False), row(2, False, metadata={"graderError": True}), row(0, False)],
    )
    [found] = umpirical.measure_verdicts(file)
    assert (found.format, found.judge) == ("promptfoo", "llm-rubric: ok")
    # A grader that failed is promptfoo's failed test, and here no verdict.
    assert found.counts == {
        "rows": 4, "items": 3, "verdict": 3, "abstained": 0, "unparsed": 0, "failed": 1, "repeated": 1, "with_gold": 0,
    }  # fmt: skip
    assert figures(found)["failure-rate"] == (1, 4)
    assert any("counts an answer" in note for note in found.notes)


def test_promptfoo_select_best(tmp_path):
    def test(number, outputs, winner):
        return [
            {
                "promptIdx": place,
                "testIdx": number,
                "vars": {},
                "response": {"output": output},
                "score": 0,
                "gradingResult": {
                    "componentResults": [
                        {"pass": place == winner, "assertion": {"type": "select-best", "value": "the better"}}
                    ]
                },
            }
            for place, output in enumerate(outputs)
        ]

    rows = [
        *test(0, ("x", "y"), 0),
        *test(1, ("y", "x"), 1),
        *test(2, ("k", "l"), 0),
        *test(3, ("l", "k"), 0),
        *test(4, ("m", "n"), 1),
        *test(5, ("n", "m"), None),
    ]
    [found] = umpirical.measure_verdicts(promptfoo(tmp_path / "out.json", rows))
    said = figures(found)
    assert said["same-answer-rate"] == (1, 2)
    assert said["same-slot-rate"] == (1, 2)
    assert said["unparsed-rate"] == (1, 6)


def test_mlflow(tmp_path):
    def assessment(source, value=None, error=None):
        feedback = {"value": value} if error is None else {"error": {"error_code": error}}
        return {"assessment_name": "correct", "source": {"source_type": source}, "feedback": feedback}

    def trace(number, *assessments):
        return {"info": {"trace_id": f"tr-{number}", "assessments": list(assessments)}, "data": {}}

    data = [
        trace(1, assessment("LLM_JUDGE", "yes"), assessment("HUMAN", "yes")),
        trace(2, assessment("LLM_JUDGE", "yes"), assessment("HUMAN", "no")),
        trace(3, assessment("LLM_JUDGE", error="SCORER_ERROR"), assessment("HUMAN", "no")),
        trace(4, assessment("CODE", "yes")),
    ]
    file = tmp_path / "traces.json"
    file.write_text(json.dumps(data))
    [found] = umpirical.measure_verdicts(file)
    assert found.scale == GradeScale("binary", ("no", "yes"))
    assert figures(found)["accuracy"] == (1, 2)
    assert figures(found)["failure-rate"] == (1, 3)
    assert found.measures.get("accuracy", stratum="original").result.excluded == {"without a verdict": 1}


def inspect_log(path, values, *, task="arithmetic"):
    """Writes a log with Inspect's own writer. A value is a score; an error is a sample that ended with one."""
    from inspect_ai.log import EvalConfig, EvalDataset, EvalError, EvalLog, EvalSample, EvalSpec, write_eval_log
    from inspect_ai.scorer import Score

    samples = []
    for (name, epoch), value in values.items():
        error = EvalError(message="boom", traceback="", traceback_ansi="") if isinstance(value, Exception) else None
        reason = "grader_failed" if isinstance(value, float) else None
        scores = {} if error else {"model_graded_qa": Score(value=value, reason=reason)}
        samples.append(
            EvalSample(
                id=name,
                epoch=epoch,
                input="q",
                target="t",
                scores=scores,
                error=error,
                metadata={"human": name[0].upper()},
            )
        )
    spec = EvalSpec(
        created="2026-01-01T00:00:00+00:00",
        task=task,
        dataset=EvalDataset(name="d", samples=len(samples), sample_ids=sorted({s.id for s in samples})),
        model="none/none",
        config=EvalConfig(),
    )
    log = EvalLog(eval=spec, samples=samples, status="success")
    write_eval_log(log, str(path))
    return path


VALUES = {
    ("c1", 1): "C",
    ("c1", 2): "C",
    ("i1", 1): "C",
    ("i1", 2): "I",
    ("c2", 1): math.nan,
    ("c2", 2): ValueError(),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("ending", ["eval", "json"])
def test_an_inspect_log(tmp_path, ending):
    file = inspect_log(tmp_path / f"log.{ending}", VALUES)
    [found] = umpirical.measure_verdicts(file, columns={"label": "human"})
    said = figures(found)
    assert (found.format, found.judge) == ("inspect", "model_graded_qa")
    assert found.scale == GradeScale("binary", ("I", "C"))
    # c1 agrees with itself, i1 does not; c2 has no verdict at all.
    assert said["flip-rate"] == (1, 2)
    assert said["accuracy"] == (1.5, 2)
    assert said["unparsed-rate"] == (1, 6)
    assert said["failure-rate"] == (1, 6)
    assert any("epoch" in note for note in found.notes)


@pytest.mark.filterwarnings("ignore")
def test_a_log_of_our_own_task_is_not_measured_as_if_its_words_were_grades(tmp_path):
    file = inspect_log(tmp_path / "log.eval", VALUES, task="umpirical/datasheet")
    with pytest.raises(UsageError, match="of a run that has a report"):
        umpirical.measure_verdicts(file)


# Files of strangers.


def archive(path, entries, *, method=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(path, "w", method) as opened:
        for name, text in entries.items():
            opened.writestr(name, text)
    return path


def test_an_archive_that_unpacks_to_too_much_is_refused_by_what_it_says(tmp_path):
    file = archive(tmp_path / "log.eval", {"samples/a_epoch_1.json": b" " * 50_000_000})
    with pytest.raises(ConfigError, match="unpacks to more than"):
        umpirical.measure_verdicts(file)


def test_an_archive_that_says_less_than_it_holds_is_refused(tmp_path):
    file = archive(tmp_path / "log.eval", {"samples/a_epoch_1.json": b" " * 5_000_000})
    data = bytearray(file.read_bytes())
    # The unpacked size in the central directory, which is what the sizes are checked by.
    place = data.rindex(b"PK\x01\x02") + 24
    data[place : place + 4] = struct.pack("<I", 1000)
    file.write_bytes(data)
    with pytest.raises(ConfigError, match="do not match the archive listing"):
        umpirical.measure_verdicts(file)


def test_an_archive_with_too_many_files_is_refused(tmp_path):
    file = archive(tmp_path / "log.eval", {f"samples/{n}_epoch_1.json": b"{}" for n in range(4)})
    with pytest.raises(ConfigError, match="4 files"):
        list(read_archive(file, wanted=lambda _: True, limits=ArchiveLimits(entries=3)))
    assert len(list(read_archive(file, wanted=lambda _: True, limits=ArchiveLimits(entries=4)))) == 4


@pytest.mark.parametrize("data", [b"", b"PK", b"not a zip at all", zlib.compress(b"x")])
def test_what_is_no_archive_is_said_to_be_none(tmp_path, data):
    file = tmp_path / "log.eval"
    file.write_bytes(data)
    with pytest.raises(ConfigError, match="not a valid archive"):
        umpirical.measure_verdicts(file)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[" * 200_000, "nested too deeply"),
        ('{"results": {"results": 3}}', "not a list of objects"),
        ('{"testCases": [], "testCases": []}', "twice"),
        ('{"testCases": []}', "contains no verdicts"),
        ('{"other": 1}', "the format cannot be recognized"),
        ("{", "not valid JSON"),
    ],
)
def test_documents_that_are_none_of_ours_are_refused(tmp_path, text, message):
    file = tmp_path / "out.json"
    file.write_text(text)
    with pytest.raises(UsageError, match=message):
        umpirical.measure_verdicts(file)


def test_the_command_prints_both_for_people_and_for_programs(tmp_path, capsys):
    file = tmp_path / "verdicts.csv"
    file.write_text(TABLE.replace(",j\n", ",\x1b]0;owned\x07\n"))
    for options in ([], ["--json"]):
        with pytest.raises(SystemExit) as ended:
            main(["measure", str(file), *options])
        assert ended.value.code == 0
        said = capsys.readouterr().out
        assert "\x1b" not in said
        if options:
            [found] = json.loads(said)
            assert found["counts"]["failed"] == 1
            assert {each["name"] for each in found["measures"]} >= {"same-slot-rate", "accuracy", "failure-rate"}
        else:
            assert "Same position in both orders: 25%" in said
            assert "These verdicts cannot tell you:" in said


def test_a_column_that_is_not_there_is_named(tmp_path):
    file = tmp_path / "verdicts.csv"
    file.write_text(TABLE)
    with pytest.raises(UsageError, match="no column 'verdikt'"):
        umpirical.measure_verdicts(file, columns={"verdict": "verdikt"})
    file.write_text("a,b\n1,2\n")
    with pytest.raises(UsageError, match="no column found for the verdict"):
        umpirical.measure_verdicts(file)


def test_orders_with_unknown_names_are_not_guessed(tmp_path):
    file = tmp_path / "verdicts.csv"
    file.write_text("item,order,verdict\na,left,1\na,right,2\n")
    with pytest.raises(UsageError, match="which is which"):
        umpirical.measure_verdicts(file)


# Scales.


@pytest.mark.parametrize(
    ("grades", "scale"),
    [
        (["1", "3"], GradeScale("ordinal", ("1", "2", "3"))),
        (["4.0", "5"], GradeScale("binary", ("4", "5"))),
        (["0.25", "0.5"], GradeScale("interval", low=0.25, high=0.5)),
        (["7", "7"], GradeScale("interval", low=7.0, high=8.0)),
        (["C", "I"], GradeScale("binary", ("I", "C"))),
        (["C", "P"], GradeScale("ordinal", ("I", "P", "C"))),
        (["C", "N"], GradeScale("nominal", ("C", "N"))),
        (["red"], GradeScale("nominal", ("red", "(any other)"))),
        ([], GradeScale("nominal", ("(any other)", ""))),
    ],
)
def test_the_scale_of_grades_that_nobody_has_described(grades, scale):
    assert scale_of(grades) == scale


def test_a_scale_that_a_person_types():
    assert parse_scale("1..5") == GradeScale("ordinal", ("1", "2", "3", "4", "5"))
    assert parse_scale("0..1") == GradeScale("interval", low=0.0, high=1.0)
    assert parse_scale("bad, good") == GradeScale("binary", ("bad", "good"))
    for text in ("5..1", "good", "a..b", "x,x"):
        with pytest.raises(UsageError):
            parse_scale(text)


# Words that mean two things.


@pytest.mark.parametrize("word", ["failed", "Failure"])
@pytest.mark.parametrize("column", ["verdict", "label"])
def test_failed_beside_passes_is_refused_as_correct_refuses_it(tmp_path, word, column):
    """Who would cheat: a table in which every fail is taken for a call that did not work, and left out."""
    rows = [{"item": 1, "verdict": "pass", "label": "pass"}, {"item": 2, "verdict": "pass", "label": "pass"}]
    rows[1][column] = word
    file = lines(tmp_path / "passes.jsonl", rows)
    said = []
    for read in (umpirical.measure_verdicts, lambda path: umpirical.correct(path, estimate="pass-rate")):
        with pytest.raises(ConfigError, match=rf"{word.casefold()!r} could be a verdict or a failed call") as raised:
            read(file)
        said.append((str(raised.value), raised.value.fix))
    assert said[0] == said[1]


def test_failed_beside_grades_is_a_call_that_failed(tmp_path):
    rows = [{"item": 1, "verdict": "3", "label": "3"}, {"item": 2, "verdict": "failed", "label": "2"}]
    [found] = umpirical.measure_verdicts(lines(tmp_path / "grades.jsonl", rows))
    assert figures(found)["failure-rate"] == (1, 2)


def test_words_that_no_label_has_are_said(tmp_path):
    rows = [{"item": number, "verdict": "passed", "label": ("pass", "fail")[number % 2]} for number in range(4)]
    [found] = umpirical.measure_verdicts(lines(tmp_path / "words.jsonl", rows))
    assert "No verdict is one of the labels: verdicts are 'passed', labels are 'pass', 'fail'." in found.notes[-1]
    rows[0]["verdict"] = "fail"
    [found] = umpirical.measure_verdicts(lines(tmp_path / "words.jsonl", rows))
    assert not any("No verdict is one" in note for note in found.notes)
