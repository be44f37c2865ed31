"""The study of examples/local-judge, asked of a server that a test has started."""

import shutil
import subprocess
import sys
from pathlib import Path

from tests.trusting import trusting
from umpirical.domain.stimuli import Stimulus
from umpirical.domain.trials import Order, Presented
from umpirical.runs.plan import shown
from umpirical.stimuli.controlled.datasheet_set import RECIPES, datasheet_stimuli
from umpirical.stimuli.controlled.family_files import Family, load_family
from umpirical.stimuli.controlled.materials import Materials, crossed_materials
from umpirical.store.parquet import read_rows

EXAMPLE = Path(__file__).parents[2] / "examples" / "local-judge"


def write_study(folder: Path, base_url: str, *, families: int = 5) -> Path:
    """The example's files in `folder`, with the server's address in place of the one in them."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(EXAMPLE / "umpirical.yaml", folder)
    shutil.copytree(EXAMPLE / "tasks", folder / "tasks")
    study = folder / "umpirical.yaml"
    text = study.read_text()
    assert text.count("http://127.0.0.1:8080/v1") == 1
    text = text.replace("http://127.0.0.1:8080/v1", base_url)
    listed = [line for line in text.splitlines(keepends=True) if line.startswith("  - tasks/")]
    for line in listed[families:]:
        text = text.replace(line, "")
    study.write_text(text)
    return folder


def umpirical(*arguments: object, folder: Path) -> "subprocess.CompletedProcess[str]":
    """The command, as a person would run it."""
    command = [sys.executable, "-m", "umpirical", *trusting(arguments)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def rows(run: Path, part: str) -> list[dict]:
    """All rows of the plan, the responses or the judgments of a run."""
    files = sorted((run / part).glob("*.parquet")) or [run / f"{part}.parquet"]
    return [row for path in files for row in read_rows(path)]


def example_materials() -> Materials:
    """The families of the example, each at its only set of parameters."""
    families = map(load_family, sorted((EXAMPLE / "tasks").glob("*.yaml")))
    return crossed_materials([(family, 0) for family in families if isinstance(family, Family)])


def pairs(count: int) -> list[Presented]:
    """The first pairs of answers of the example, in both orders."""
    materials = example_materials()
    made: list[Stimulus] = [
        made for seed in (1, 2) for made in datasheet_stimuli(materials, RECIPES["screen"], seed=seed)
    ]
    answered = [stimulus for stimulus in made if stimulus.family != "blank"]
    both = [shown(stimulus, order) for stimulus in answered for order in (Order.AB, Order.BA)]
    assert len(both) >= count
    return both[:count]
