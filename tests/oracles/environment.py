"""The environment of the oracles, and questions to it."""

import json
import subprocess
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from tests.frameworks.matrix import ROOT, prepared, variables

LARGE = {"prediction_powered", "dawid_skene"}
"""Questions to packages that bring hundreds of megabytes: only slow tests ask them."""


@cache
def environment(name: str = "oracles") -> Path:
    told = tomllib.loads((Path(__file__).parent / "packages.toml").read_text(encoding="utf-8"))
    return prepared(name, told[name])


def oracle(question: str, *given: Any) -> Any:
    """Returns what a package answers, by the name of a function in `outside.py`."""
    # By its path: a package there brings a module `tests` of its own.
    home = environment("large-oracles" if question in LARGE else "oracles")
    command = [str(home / "bin" / "python"), str(Path(__file__).parent / "outside.py"), question]
    done = subprocess.run(
        command, input=json.dumps(given), cwd=ROOT, env=variables(), check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.rpartition("\n")[2])
