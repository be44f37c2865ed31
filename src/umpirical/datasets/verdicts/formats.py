"""Files of verdicts that other programs wrote: a reader for each format, and which format a file has."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from umpirical.datasets.archives import read_archive
from umpirical.datasets.readers import Row
from umpirical.datasets.verdicts.harness import MARKS, read_harness
from umpirical.datasets.verdicts.past_verdicts import (
    Asking,
    Given,
    PastVerdict,
    VerdictFile,
    choice_of,
    content_of,
    entries,
    grade_of,
    item_of,
    parse_document,
    read_document,
    swapped,
    table_rows,
    text_of,
)
from umpirical.datasets.verdicts.tables import read_table
from umpirical.domain.errors import ConfigError, UsageError
from umpirical.domain.judgments import Failed, Unparsed
from umpirical.domain.scales import Choice, GradeScale
from umpirical.domain.trials import Order

# Judges that compare, asked in both orders by a benchmark: MT-Bench, Arena-Hard, JudgeBench. JSON Lines.

CONTENTS = {"model_1": Choice.POSITION_1, "model_2": Choice.POSITION_2, "tie": Choice.TIE}
"""How MT-Bench names a winner: by content, in both orders."""


def read_mt_bench(path: Path, _: Asking) -> VerdictFile:
    """Reads `MODEL_pair.jsonl`. A row has both orders; the winner of the second is already mapped back to a model."""
    return VerdictFile("mt-bench", "compare", tuple(_each(path, _mt_bench)))


def read_arena_hard(path: Path, _: Asking) -> VerdictFile:
    """Reads a file of games. The baseline is answer A in the first game, and answer B in the second."""
    notes = ("A>>B and A>B count as the same verdict: the strength of a preference is not measured.",)
    return VerdictFile("arena-hard", "compare", tuple(_each(path, _arena_hard)), notes=notes)


def read_judgebench(path: Path, _: Asking) -> VerdictFile:
    """Reads a file of judged pairs. A decision names positions, and the second judgment saw the answers exchanged."""
    return VerdictFile("judgebench", "compare", tuple(_each(path, _judgebench)))


def _each(path: Path, read: Any) -> Iterator[PastVerdict]:  # noqa: ANN401  # one of the three below
    for row in table_rows(path, "jsonl"):
        yield from read(row)


def _mt_bench(row: Row) -> Iterator[PastVerdict]:
    found, judge = row.values, row.values.get("judge")
    if isinstance(judge, list):
        judge = " ".join(text_of(part) for part in judge)
    task = text_of(found.get("question_id"))
    item = " ".join(text_of(found.get(name)) for name in ("question_id", "turn", "model_1", "model_2"))
    for name, order in (("g1_winner", Order.AB), ("g2_winner", Order.BA)):
        yield PastVerdict(text_of(judge), item, _winner(found.get(name), order), task, order)


def _winner(value: object, order: Order) -> Given:
    content = CONTENTS.get(value) if isinstance(value, str) else None
    if content is not None:
        return content if order is Order.AB else swapped(content)
    if value == "error":
        return Failed("judge-error", "the file contains an error here")
    return Unparsed(text_of(value)[:400], "it names neither a model nor a tie")


def _arena_hard(row: Row) -> Iterator[PastVerdict]:
    found = row.values
    task = text_of(found.get("question_id") or found.get("uid"))
    item = f"{task} {text_of(found.get('model'))}"
    for game, order in zip(_two(found.get("games"), row), (Order.AB, Order.BA), strict=True):
        yield PastVerdict(text_of(found.get("judge")), item, choice_of(game.get("score")), task, order)


def _judgebench(row: Row) -> Iterator[PastVerdict]:
    found = row.values
    item, gold = text_of(found.get("pair_id")), content_of(found.get("label"))
    judgments = found.get("judgments")
    both = judgments if isinstance(judgments, list) and len(judgments) == 1 else _two(judgments, row)
    for judgment, order in zip(both, (Order.AB, Order.BA), strict=False):
        given: Given = Failed("judge-error", "the judge raised an error")
        if isinstance(judgment, Mapping) and judgment:
            given = choice_of(judgment.get("decision"))
        task = text_of(found.get("original_id")) or item
        yield PastVerdict(text_of(found.get("judge_name")), item, given, task, order, gold=gold)


def _two(found: object, row: Row) -> list[Mapping[str, Any]]:
    """Returns what was said in the two orders; an object without anything stands for none."""
    if not isinstance(found, list) or len(found) != 2:
        raise ConfigError(
            "expected two entries, one for each order", where=row.place, fix="choose another format with --format"
        )
    return [each if isinstance(each, Mapping) else {} for each in found]


# DeepEval's `.latest_test_run.json`: the score of every metric on every test case.


def read_deepeval(path: Path, _: Asking) -> VerdictFile:
    """A metric without a score gave no verdict, although DeepEval calls that a failed test."""
    found = read_document(path)
    whole = found.get("testRunData", found) if isinstance(found, dict) else found
    verdicts = []
    for case in _cases(whole, path.name):
        item = item_of(*(case.get(name) for name in ("input", "actualOutput", "turns")))
        for metric in entries(case.get("metricsData") or [], where=path.name):
            names = (text_of(metric.get("name")), text_of(metric.get("evaluationModel")))
            judge = " by ".join(name for name in names if name)
            verdicts.append(PastVerdict(judge, item, _deepeval_given(metric)))
    return VerdictFile(
        "deepeval",
        "grade",
        tuple(verdicts),
        GradeScale("interval", low=0.0, high=1.0),
        ("`order` contains row numbers, so the order of the answers is unknown.",),
    )


def _cases(found: object, where: str) -> list[Mapping[str, Any]]:
    several = found.get("conversationalTestCases") if isinstance(found, Mapping) else None
    return [*entries(found, "testCases", where=where), *entries(several or [], where=where)]


def _deepeval_given(metric: Mapping[str, Any]) -> Given:
    error = metric.get("error")
    return Failed("judge-error", text_of(error)[:200]) if error else grade_of(metric.get("score"))


# MLflow's traces as JSON: the assessments of judges, and those of people as gold labels.

JUDGES = ("LLM_JUDGE", "AI_JUDGE")
"""Sources of assessments that are models."""


def read_mlflow(path: Path, _: Asking) -> VerdictFile:
    """A trace is an item. A person's assessment of the same name is the gold label of the judge's."""
    found = read_document(path)
    if isinstance(found, dict):
        found = found.get("traces", [found])
    verdicts = []
    for trace in entries(found, where=path.name):
        info = trace.get("info")
        info = info if isinstance(info, Mapping) else {}
        said = [
            each for each in entries(info.get("assessments") or [], where=path.name) if each.get("valid") is not False
        ]
        golds = {_mlflow_name(each): _gold(each) for each in said if _source(each) == "HUMAN"}
        item = text_of(info.get("trace_id") or info.get("request_id"))
        judged = [each for each in said if _source(each) in JUDGES and isinstance(each.get("feedback"), Mapping)]
        verdicts += [
            PastVerdict(
                _mlflow_name(each), item, _mlflow_given(each["feedback"]), gold=golds.get(_mlflow_name(each), "")
            )
            for each in judged
        ]
    return VerdictFile("mlflow", "grade", tuple(verdicts))


def _mlflow_given(feedback: Mapping[str, Any]) -> Given:
    error = feedback.get("error")
    if error:
        code = error.get("error_code") if isinstance(error, Mapping) else error
        return Failed("judge-error", text_of(code)[:200])
    return grade_of(feedback.get("value"))


def _gold(assessment: Mapping[str, Any]) -> str:
    feedback = assessment.get("feedback")
    found = _mlflow_given(feedback) if isinstance(feedback, Mapping) else None
    return found if isinstance(found, str) else ""


def _mlflow_name(assessment: Mapping[str, Any]) -> str:
    return text_of(assessment.get("assessment_name") or assessment.get("name"))


def _source(assessment: Mapping[str, Any]) -> str:
    source = assessment.get("source")
    return text_of(source.get("source_type")).upper() if isinstance(source, Mapping) else ""


# promptfoo's JSON (`promptfoo eval -o FILE`): graded answers, and answers chosen by select-best.

GRADERS = ("llm-rubric", "model-graded-closedqa", "factuality", "model-graded-factuality", "g-eval", "search-rubric")
"""Assertions that a model decides; the others are programs, which are no judges."""

SELECT = "select-best"

Component = tuple[Mapping[str, Any], Mapping[str, Any]]
"""A row, and what one assertion said about it."""


def read_promptfoo(path: Path, asking: Asking) -> VerdictFile:
    """Reads what models graded; or, with the kind `compare` or where nothing else is in it, what they chose."""
    rows = entries(read_document(path), "results", "results", where=path.name)
    said = [(row, component) for row in rows for component in _components(row, path.name)]
    graded = [each for each in said if _type(each[1]) in GRADERS]
    chosen = [each for each in said if _type(each[1]) == SELECT]
    if not graded and not chosen:
        raise UsageError(
            f"{path.name}: no assertion in it uses a model", fix=f"supported assertions: {', '.join(GRADERS)}"
        )
    if graded and asking.kind != "compare":
        notes = ("promptfoo counts an answer without pass or score as passed; the file does not show which ones.",)
        verdicts = tuple(_grade(*each) for each in graded)
        return VerdictFile("promptfoo", "grade", verdicts, GradeScale("binary", ("false", "true")), notes)
    notes = ("select-best has no tie; if no answer was chosen, promptfoo does not give the reason.",)
    return VerdictFile("promptfoo", "compare", tuple(_choices(chosen)), notes=notes)


def _grade(row: Mapping[str, Any], component: Mapping[str, Any]) -> PastVerdict:
    answer = row.get("response")
    item = item_of(row.get("vars"), answer.get("output") if isinstance(answer, Mapping) else answer)
    metadata = component.get("metadata")
    given: Given = grade_of(component.get("pass"))
    if isinstance(metadata, Mapping) and metadata.get("graderError"):
        given = Failed("judge-error", text_of(component.get("reason"))[:200])
    return PastVerdict(_judge(component), item, given)


def _choices(chosen: Sequence[Component]) -> Iterator[PastVerdict]:
    """Puts the rows of one test together: the answers stood in the order of the prompts."""
    tests: dict[tuple[str, ...], list[Component]] = {}
    for row, component in chosen:
        key = (_judge(component), *(text_of(row.get(name)) for name in ("testIdx", "repeatIndex")))
        tests.setdefault(key, []).append((row, component))
    for key, shown in tests.items():
        shown.sort(key=lambda each: int(each[0].get("promptIdx") or 0))
        if len(shown) != 2:
            raise UsageError(
                f"select-best chose among {len(shown)} answers, expected 2", fix="compare two answers at a time"
            )
        texts = [_output(row) for row, _ in shown]
        # Named by the texts in alphabetical order, so that both orders are one pair.
        order = Order.AB if texts == sorted(texts) else Order.BA
        won = [component.get("pass") is True for _, component in shown]
        given: Given = Unparsed("", "no answer was chosen, or both were")
        if won.count(True) == 1:
            given = Choice.POSITION_1 if won[0] else Choice.POSITION_2
        yield PastVerdict(key[0], item_of(*sorted(texts)), given, order=order)


def _components(row: Mapping[str, Any], where: str) -> Sequence[Mapping[str, Any]]:
    grading = row.get("gradingResult")
    found = grading.get("componentResults") if isinstance(grading, Mapping) else None
    return entries(found or [], where=where)


def _type(component: Mapping[str, Any]) -> str:
    assertion = component.get("assertion")
    return text_of(assertion.get("type")) if isinstance(assertion, Mapping) else ""


def _judge(component: Mapping[str, Any]) -> str:
    assertion = component.get("assertion")
    value = text_of(assertion.get("value")) if isinstance(assertion, Mapping) else ""
    return f"{_type(component)}: {value}"[:100] if value else _type(component)


def _output(row: Mapping[str, Any]) -> str:
    answer = row.get("response")
    return text_of(answer.get("output") if isinstance(answer, Mapping) else answer)


# Logs of Inspect AI, `.eval` and `.json`: the scores of every scorer on every sample.


def read_inspect(path: Path, asking: Asking) -> VerdictFile:
    """A sample is an item, and its epochs are repeats. `label` is a key of a sample's metadata with the gold label."""
    if path.suffix == ".eval":
        header, samples = _from_archive(path)
    else:
        found = read_document(path)
        header, samples = found, list(entries(found, "samples", where=path.name))
    if _is_ours(header.get("eval")):
        raise UsageError(
            f"{path.name} is a log of an Umpirical task: its samples are trials of a run that has a report",
            fix="run `umpirical report RUN` with the run named in the metadata of the log",
        )
    verdicts = tuple(_verdicts(samples, asking.columns.get("label", "")))
    notes = (
        "An epoch repeats the answer as well as its grade, so a change of grade may come from a different answer.",
    )
    repeated = any(isinstance(epoch := sample.get("epoch"), int) and epoch > 1 for sample in samples)
    return VerdictFile("inspect", "grade", verdicts, notes=notes if repeated else ())


def _is_ours(spec: object) -> bool:
    """Whether a log is of a task of this package, whose scores are words for outcomes, and no grades."""
    about = spec if isinstance(spec, Mapping) else {}
    names = (text_of(about.get(name)) for name in ("task", "task_registry_name"))
    return any(name.startswith("umpirical/") for name in names)


def _from_archive(path: Path) -> tuple[Mapping[str, Any], list[Mapping[str, Any]]]:
    header: Mapping[str, Any] = {}
    samples: list[Mapping[str, Any]] = []
    for name, text in read_archive(path, wanted=_is_wanted):
        found = parse_document(text, f"{path.name}: {name}")
        if not isinstance(found, Mapping):
            raise ConfigError("not an object", where=f"{path.name}: {name}", fix="check that it is an Inspect log")
        if name.startswith("samples/"):
            samples.append(found)
        elif not header or name == "header.json":
            header = found
    return header, samples


def _is_wanted(name: str) -> bool:
    return name in ("header.json", "_journal/start.json") or (name.startswith("samples/") and name.endswith(".json"))


def _verdicts(samples: Iterable[Mapping[str, Any]], label: str) -> Iterator[PastVerdict]:
    said = [(sample, _scores(sample)) for sample in samples]
    judges = dict.fromkeys(judge for _, scores in said for judge in scores)
    for sample, scores in said:
        failed = Failed("judge-error", "the sample ended with an error" if sample.get("error") else "there is no score")
        for judge in judges:
            metadata = sample.get("metadata")
            gold = grade_of(metadata.get(label)) if label and isinstance(metadata, Mapping) else ""
            yield PastVerdict(
                judge,
                text_of(sample.get("id")),
                scores.get(judge, failed),
                repeat=text_of(sample.get("epoch")),
                gold=gold if isinstance(gold, str) else "",
            )


def _scores(sample: Mapping[str, Any]) -> dict[str, Given]:
    """Returns what each scorer said; one that scores several things is a judge for each."""
    found: dict[str, Given] = {}
    scores = sample.get("scores")
    for name, score in (scores if isinstance(scores, Mapping) else {}).items():
        value = score.get("value") if isinstance(score, Mapping) else None
        if isinstance(value, Mapping):
            found |= {f"{name}.{key}": _inspect_given(part, score) for key, part in value.items()}
        else:
            found[name] = _inspect_given(value, score if isinstance(score, Mapping) else {})
    return found


def _inspect_given(value: object, score: Mapping[str, Any]) -> Given:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return Unparsed(text_of(score.get("answer"))[:400], text_of(score.get("reason")) or "the score is not a number")
    return grade_of(value)


# Which formats there are, and which of them a file has.

FORMATS: Mapping[str, Callable[[Path, Asking], VerdictFile]] = {
    "inspect": read_inspect,
    "deepeval": read_deepeval,
    "promptfoo": read_promptfoo,
    "mlflow": read_mlflow,
    "mt-bench": read_mt_bench,
    "arena-hard": read_arena_hard,
    "judgebench": read_judgebench,
    "harness": read_harness,
    "csv": partial(read_table, form="csv"),
    "jsonl": partial(read_table, form="jsonl"),
    "parquet": partial(read_table, form="parquet"),
    "xlsx": partial(read_table, form="xlsx"),
}


def read_verdicts(path: Path, asking: Asking, form: str | None = None) -> VerdictFile:
    """Reads a file of verdicts, in the format that a person names or that the file shows."""
    if not path.is_file() and not path.is_dir():
        raise UsageError(f"{path} does not exist or is not a file", fix="name a file of verdicts")
    chosen = form or ("harness" if path.is_dir() else _format_of(path))
    if path.is_dir() and chosen != "harness":
        raise UsageError(f"{path} is a folder", fix="name a file of verdicts, or a folder of the harness's results")
    if chosen not in FORMATS:
        raise UsageError(f"unknown format {chosen!r}", fix=f"choose one of: {', '.join(FORMATS)}")
    found = FORMATS[chosen](path, asking)
    if not found.verdicts:
        raise UsageError(
            f"{path.name} contains no verdicts", fix=f"check that the format is {chosen}, or set another with --format"
        )
    return found


def _format_of(path: Path) -> str:
    match path.suffix.casefold():
        case ".eval":
            return "inspect"
        case ".csv" | ".parquet" | ".xlsx" as ending:
            return _format_of_table(path, ending.removeprefix("."))
        case ".jsonl" | ".ndjson":
            return _format_of_lines(path)
        case ".json":
            return _format_of_document(path)
        case _:
            raise UsageError(
                f"{path.name}: unknown file ending", fix=f"set the format with --format: {', '.join(FORMATS)}"
            )


def _format_of_table(path: Path, form: str) -> str:
    """Looks at the columns: those of the harness's results are nobody else's."""
    first = next(iter(table_rows(path, form)), None)
    return "harness" if first is not None and first.values.keys() >= MARKS else form


def _format_of_lines(path: Path) -> str:
    """Looks at the first row. A benchmark's file has columns that nobody else's has."""
    first = next(iter(table_rows(path, "jsonl")), None)
    columns = set(first.values) if first is not None else set()
    marks = {"mt-bench": {"g1_winner"}, "arena-hard": {"games"}, "judgebench": {"judgments", "pair_id"}}
    return next((form for form, marked in marks.items() if marked <= columns), "jsonl")


def _format_of_document(path: Path) -> str:
    found = read_document(path)
    if isinstance(found, list) or (isinstance(found, dict) and ("traces" in found or "info" in found)):
        return "mlflow"
    keys = set(found) if isinstance(found, dict) else set()
    if keys & {"testRunData", "testCases"}:
        return "deepeval"
    if {"eval", "samples"} <= keys:
        return "inspect"
    if isinstance(found, dict) and isinstance(found.get("results"), dict):
        return "promptfoo"
    raise UsageError(
        f"{path.name}: the format cannot be recognized from its keys",
        fix=f"set the format with --format: {', '.join(FORMATS)}",
    )
