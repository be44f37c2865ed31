"""Studies with fixed seeds, one for each way through the product, and the records that they come to.

Everything goes through the command line, so that no move of a wall can make them mean something else.
"""

import hashlib
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from tests.protocols.stress.end_to_end.loopback import answer
from tests.servers.chat_server import ChatServer
from tests.trusting import trusting
from umpirical.cli import cli

RECORDS = Path(__file__).parent / "records.json"

WRITERS = ("127.77.13.42", 18377)
"""Where the generator is served. It is always the same address, because it decides which texts are written."""

VERSIONS = ("created", "umpirical_version", "python", "packages")
"""Of a run: what may differ between two records of the same measurement."""

TASKS = (
    "[async-sum.bakery, jam-batch.plums, jam-batch.apricots, thunder-gap.pier, tool-hire.mower, window-dew.attic, "
    "window-dew.bedroom]"
)

COMPARE = """\
study: compare
seed: 5
tasks: {tasks}
design: {{size: {size}, repeats: {repeats}, variants: [{variants}]}}
judges:
  - {{name: careful, model: {{adapter: simulated, name: careful}}, decoding: {{top_logprobs: 3}}}}
  - {{name: mumbling, model: {{adapter: simulated, name: mumbling}}}}
"""

SWAYED = "  - {name: swayed, model: {adapter: simulated, name: surface-swayed}}\n"

GRADE = f"""\
study: grade
seed: 6
tasks: {TASKS}
design: {{size: full}}
judges:
  - name: steady
    kind: grade
    scale: {{kind: ordinal, labels: ["1", "2", "3", "4", "5"]}}
    model: {{adapter: simulated, name: steady-grader}}
  - name: noisy
    kind: grade
    scale: {{kind: interval, low: 0, high: 10}}
    model: {{adapter: simulated, name: noisy-grader}}
"""

CARRIERS = """\
study: carriers
seed: 2
tasks: [jam-batch, thunder-gap]
own_answers: answers.yaml
design: {size: screen}
judges:
  - {name: careful, model: {adapter: simulated, name: careful}}
  - name: steady
    kind: grade
    scale: {kind: ordinal, labels: ["1", "2", "3", "4", "5"]}
    model: {adapter: simulated, name: steady-grader}
"""

STRESS = """\
study: stress
seed: 3
concurrency: 1  # texts are then always reviewed in the same order
dataset:
  path: essays.csv
  columns: {response: text, task: task, label: grade, id: name, strata: [school]}
  scale: {kind: ordinal, labels: ["1", "2", "3", "4", "5", "6"]}
  positive: ["5", "6"]
rubric: rubric.txt
stress:
  tests: [vertical-spacing, inline-spacing, typos, paraphrase, verbosity-long, synthetic-ordinal, stability, seeds]
  repeats: 3
  per_level: 2
  generator: {model: {adapter: openai-compatible, name: writer, base_url: "URL", price: free}}
  validator: {model: {adapter: openai-compatible, name: validator, base_url: "URL", price: free}, max_tokens: 20}
review: {overlap: 2, undecided: exclude}
judges:
  - {name: sound, model: {adapter: simulated, name: sound-examiner}}
  - {name: swayed, model: {adapter: simulated, name: format-swayed}}
"""

PLAIN_STRESS = """\
study: plain
seed: 4
dataset:
  path: essays.csv
  columns: {response: text, task: task, label: KIND, id: name, cluster: school}
  scale: SCALE
  sample: {size: 18}
design: {repeats: 2}
judges:
  - {name: moody, model: {adapter: simulated, name: moody}}
"""

TOWNS = {"Ayr": 1205, "Bath": 1590, "Cork": 1185, "Deal": 1699, "Eton": 1440, "Ford": 1312}

SUBJECTS = ["harbour", "library", "orchard", "railway", "theatre", "workshop"]
VERBS = ["opened", "closed", "grew", "changed", "moved", "stayed"]


def records(folder: Path) -> dict[str, Any]:
    """Every record by name, with what a version may change taken out."""
    found: dict[str, Any] = {}
    for name, make in (
        ("variants", _variants),
        ("full", _full),
        ("grade", _grade),
        ("carriers", _carriers),
        ("against", _against),
        ("binary", _binary),
        ("interval", _interval),
        ("reviewed", _reviewed),
    ):
        place = folder / name
        place.mkdir(parents=True)
        make(place)
        found |= {f"{name}/{key}": record for key, record in _read(place)}
    return found


def digests(record: Any) -> dict[str, str]:
    """Of each part of a record: a difference is then told by where it is."""
    if not isinstance(record, dict):
        return {"": _digest(record)}
    parts = {}
    for key, value in record.items():
        if key in ("measures", "checks", "verdicts", "precision") and isinstance(value, list):
            for place, row in enumerate(value):
                names = [
                    str(row[name])
                    for name in ("measure", "name", "test", "variant", "stratum", "group")
                    if row.get(name)
                ]
                parts[f"{key}[{place}] {' '.join(names)}"] = _digest(row)
        else:
            parts[key] = _digest(value)
    return parts


def _digest(value: Any) -> str:
    """The order of keys is told too. Another processor may round the last digits of a number otherwise."""
    return hashlib.sha256(json.dumps(_rounded(value), ensure_ascii=False).encode()).hexdigest()[:12]


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _rounded(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [_rounded(entry) for entry in value]
    # A difference of equal sums is nothing, or what their order leaves of it.
    return f"{round(value, 12) + 0.0:.6g}" if isinstance(value, float) else value


def _command(*arguments: object) -> str:
    result = CliRunner().invoke(cli, trusting(arguments), standalone_mode=False)
    if result.exception is not None:
        raise result.exception
    return result.stdout


def _read(folder: Path) -> Iterator[tuple[str, Any]]:
    # The documents themselves; what a page of them looks like is not theirs to say.
    for path in sorted(folder.rglob("*.json")):
        # The manifest of a plan has digests of files, which differ with the library that wrote them.
        if path.parent.name != "plan" and path.name in (
            "datasheet.json",
            "stress.json",
            "comparison.json",
            "scoring-methods.json",
            "check.json",
            "plan.json",
        ):
            yield str(path.relative_to(folder)), _without_versions(json.loads(path.read_text(encoding="utf-8")))


def _without_versions(record: Any) -> Any:
    if isinstance(record, list):
        return [_without_versions(entry) for entry in record]
    if not isinstance(record, dict):
        return record
    return {key: None if key in VERSIONS else _without_versions(value) for key, value in record.items()}


def _measure(folder: Path, text: str, *, before: bool = True) -> None:
    (folder / "umpirical.yaml").write_text(text, encoding="utf-8")
    if before:
        for command in ("check", "plan"):
            (folder / f"{command}.json").write_text(_command(command, folder, "--json"), encoding="utf-8")
    _command("run", folder, "--json")


def _variants(folder: Path) -> None:
    text = COMPARE.format(tasks=TASKS, size="screen", repeats=2, variants="baseline, strict, forced-choice")
    _measure(folder, text)
    for run in (folder / "runs").glob("careful-*"):
        _command("rescore", run)


def _full(folder: Path) -> None:
    _measure(folder, COMPARE.format(tasks=TASKS, size="full", repeats=1, variants="baseline") + SWAYED)


def _grade(folder: Path) -> None:
    _measure(folder, GRADE)


def _carriers(folder: Path) -> None:
    entries = [
        {
            "id": town.lower(),
            "task": f"When was {town} founded, and what is there to see?",
            "answer": f"{town} was founded in {year}. Its market is held on Monday. Ada of {town} wrote two books."
            " Many people come to see the walls.\n\n- The tower is 45 metres high.\n- The bridge is older.",
            "facts": [
                f"{town} was founded in {year}.",
                "Its market is held on Monday.",
                "The tower is 45 metres high.",
                f"Ada of {town} wrote two books",
            ],
        }
        for town, year in TOWNS.items()
    ]
    (folder / "answers.yaml").write_text(json.dumps({"answers": entries}), encoding="utf-8")
    _measure(folder, CARRIERS)


def _against(folder: Path) -> None:
    both = ("simulated:careful", "--against", "simulated:short-sighted")
    _command("datasheet", *both, "--size", "screen", "--variant", "strict", "--folder", folder, "--json")


def _binary(folder: Path) -> None:
    _essays(folder)
    text = PLAIN_STRESS.replace("KIND", "passed").replace("SCALE", '{kind: binary, labels: ["no", "yes"]}')
    _measure(folder, text)


def _interval(folder: Path) -> None:
    _essays(folder)
    text = PLAIN_STRESS.replace("KIND", "points").replace("SCALE", "{kind: interval, low: 0, high: 20}")
    _measure(folder, text)


def _reviewed(folder: Path) -> None:
    _essays(folder)
    text = STRESS.replace("URL", f"http://{WRITERS[0]}:{WRITERS[1]}/v1")
    (folder / "umpirical.yaml").write_text(text, encoding="utf-8")
    with ChatServer(answer, address=WRITERS) as server:
        _command("generate", folder)
        assert server.asked
    _decide(folder)
    # What was decided is carried to a second folder by a file, as a team would.
    exported = folder / "review.json"
    _command("review", "export", folder, "--out", exported)
    shutil.rmtree(folder / "review")
    # Only who is an adjudicator there too may settle there.
    _command("review", "invite", "cleo", folder, "--role", "adjudicator")
    _command("review", "import", exported, folder, "--as", "cleo=cleo")
    exported.unlink()
    _measure(folder, text)


def _decide(folder: Path) -> None:
    """Two people go through everything, and an adjudicator settles what they disagree on."""
    from umpirical.protocols.review import ItemFeed, open_review
    from umpirical.review.records import ReviewChoice
    from umpirical.study.file import read_study

    study = read_study(folder)
    opened = open_review(study.protocol.review(study), begin=True)
    try:
        ItemFeed(study.protocol.writing(study)).into(opened.desk)
        items = {item.id: item for item in opened.desk.items()}
        for person in ("ana", "ben"):
            while shown := opened.desk.next(person):
                opened.desk.decide(person, shown.item.id, _choice(person, items[shown.item.id], ReviewChoice))
        while shown := opened.desk.disputed("cleo"):
            item = items[shown.item.id]
            opened.desk.adjudicate("cleo", item.id, ReviewChoice("accept", label=item.target if item.labels else ""))
    finally:
        opened.close()


def _choice(person: str, item: Any, choice: Any) -> Any:
    """By a digest of the text, so that the order in which texts were written does not matter."""
    draw = int(hashlib.sha256(f"{item.test} {item.after}".encode()).hexdigest(), 16)
    label = item.target if item.labels else ""
    if draw % 7 == 0 or (draw % 11 == 0 and person == "ben"):
        return choice("reject", reason="unnatural")
    if draw % 5 == 0 and not item.labels:
        return choice("edit", text=item.after.replace(" the ", " this ", 2))
    if draw % 13 == 0 and item.labels:
        return choice("accept", label=item.labels[0])
    return choice("skip") if draw % 17 == 0 else choice("accept", label=label)


def _essays(folder: Path) -> None:
    """Twenty-four short essays in plain English, with labels on three scales, by rule."""
    lines = ["name,school,task,text,grade,passed,points"]
    for number in range(24):
        subject, verb = SUBJECTS[number % 6], VERBS[number // 4]
        sentences = [
            f"Over the years the {subject} in our town {verb} more often than anybody could remember.",
            "People talked about it in the market and after school, and nobody agreed on the reasons.",
            f"My own view is that the {subject} matters because it brings different families together.",
            "Some say that the money would be better spent on roads; I think that they forget the winter.",
            f"In the end every street had a story about the {subject}, and most of them were true.",
            "That is why I would ask the council to listen before it decides anything else.",
        ]
        text = "\n\n".join(" ".join(sentences[: 2 + (number + part) % 5]) for part in range(2))
        grade = 1 + (number * 5 + number // 6) % 6
        row = (f"essay-{number}", f"school {number % 3}", "Write about your town.", text, str(grade))
        quoted = ",".join(f'"{cell}"' for cell in (*row, "yes" if grade > 3 else "no", str(grade * 3 + number % 3)))
        lines.append(quoted)
    (folder / "essays.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "rubric.txt").write_text(
        "A good essay has a view of its own, reasons for it, and an end.\n", encoding="utf-8"
    )
