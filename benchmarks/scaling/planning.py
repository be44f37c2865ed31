"""Stimuli of a stress study made, and its trials planned, beside the trials of a datasheet."""

import json
import random
import tempfile
from collections.abc import Callable
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

from scaling.cpu import least, timed
from umpirical.protocols.protocol import Study
from umpirical.store.stimulus_sets import StimulusSet
from umpirical.study.file import parse_study
from umpirical.study.prepare import PlanOptions, prepare_run

ITEMS, QUICK_ITEMS = 10_000, 400

TESTS = (
    "vertical-spacing, blank-lines-removed, inline-spacing, indentation, list-or-prose, markdown-or-plain, typos, "
    "stability"
)

STRESS = f"""\
study: stress
dataset:
  path: items.jsonl
  columns: {{task: task, response: response, label: label}}
  scale: {{kind: ordinal, labels: ["1", "2", "3", "4", "5"]}}
stress: {{tests: [{TESTS}]}}
judges:
  - name: sound
    model: MODEL
"""

DATASHEET = """\
study: datasheet
judges:
  - {{name: careful, model: {{adapter: simulated, name: careful}}}}
design: {{size: screen, repeats: {repeats}}}
"""

SCREEN = 336
"""Calls of a datasheet of the size screen with one repeat."""

FEWEST_REPEATS = 120
"""With fewer, rendering would show in what a trial of the datasheet takes, and the comparison would flatter."""

WORDS = """
the report shows that careful planning gives better results because every crew knows what comes next while others wait
for news about supply prices weather routes harbour engines storage paper signal water bridge
"""


def measure(*, quick: bool) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        return measured(Path(folder), QUICK_ITEMS if quick else ITEMS, times=3 if quick else 1)


def measured(folder: Path, items: int, *, times: int) -> dict[str, float]:
    """Returns the CPU of making and planning `items` of a stress study, and what a datasheet's plan takes."""
    # Imports and patterns are loaded once, however large a study is.
    _made(stress_study(folder / "warm", 20))
    stress = stress_study(folder / "stress", items)
    making, stimuli = timed(partial(_made, stress))
    trials = _planned(stress, stimuli, folder / "counted")
    datasheet = _datasheet(folder / "datasheet", repeats=max(FEWEST_REPEATS, round(trials / SCREEN)))
    controlled = _made(datasheet)
    calls = _planned(datasheet, controlled, folder / "counted too")
    numbers = count()

    def plan(study: Study[Any], among: StimulusSet | None) -> Callable[[], float]:
        # As `umpirical plan` does it: the stimuli are looked up, then the trials are planned, each time anew.
        return lambda: timed(lambda: _planned(study, among, folder / f"run-{next(numbers)}"))[0]

    stress_plan, datasheet_plan = least(times, plan(stress, None), plan(datasheet, controlled))
    each = datasheet_plan / calls
    return {
        "stress_stimuli": stimuli.count,
        "stress_trials": trials,
        "stress_make_cpu_per_stimulus": making / stimuli.count,
        "stress_plan_cpu_per_trial": stress_plan / trials,
        "datasheet_plan_cpu_per_trial": each,
        "stress_plan_vs_datasheet_plan": stress_plan / trials / each,
        "stress_make_and_plan_vs_datasheet_plan": (making + stress_plan) / trials / each,
    }


def _made(study: Study[Any]) -> StimulusSet:
    found: StimulusSet = study.protocol.stimuli(study)
    return found


def _planned(study: Study[Any], stimuli: StimulusSet | None, folder: Path) -> int:
    return prepare_run(study, study.spec.judges[0], stimuli=stimuli or _made(study), options=PlanOptions(folder)).trials


def _datasheet(folder: Path, *, repeats: int) -> Study[Any]:
    folder.mkdir(exist_ok=True)
    return parse_study(DATASHEET.format(repeats=repeats), folder)


def stress_study(folder: Path, items: int, model: str = "{adapter: simulated, name: sound-examiner}") -> Study[Any]:
    """Returns a stress study of so many items, in a folder that is made."""
    folder.mkdir()
    rng = random.Random(1)  # noqa: S311  # texts, and nothing secret
    rows = (
        {"task": f"Write note {place} on {_sentence(rng)}", "response": _response(rng), "label": str(1 + place % 5)}
        for place in range(items)
    )
    (folder / "items.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return parse_study(STRESS.replace("MODEL", model), folder)


def _response(rng: random.Random) -> str:
    """A heading, two paragraphs and a list between them: about 120 words."""
    prose = [" ".join(_sentence(rng) for _ in range(4)) for _ in range(2)]
    listed = "\n".join(f"- {_sentence(rng)}" for _ in range(4))
    return f"## What was found\n\n{prose[0]}\n\n{listed}\n\n{prose[1]}"


def _sentence(rng: random.Random) -> str:
    return " ".join(rng.choices(WORDS.split(), k=10)).capitalize() + "."
