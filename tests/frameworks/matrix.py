"""Measures judges of every framework, each in an environment of its own: `just frameworks [NAME …] [--keep]`.

`--page` only writes the table again.

An environment has Umpirical from this checkout and the pinned versions of `versions.toml`. What was found is written to
`docs/connect/frameworks/results.json`, and as a table to `results.md` beside it. Environments are removed afterwards,
unless they are to be kept.
"""

import fcntl
import json
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from umpirical.domain.digests import digest

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "docs" / "connect" / "frameworks" / "results.json"
PATIENCE = 5400
"""Seconds for all judges of one framework, on a busy machine."""


def frameworks() -> dict[str, dict[str, Any]]:
    """Returns what is installed for each framework."""
    told = tomllib.loads((ROOT / "tests" / "frameworks" / "versions.toml").read_text(encoding="utf-8"))
    return {name: entry for name, entry in told.items() if isinstance(entry, dict)}


def environment(name: str) -> Path:
    """Returns the environment of a framework, with Umpirical beside it."""
    # What Umpirical itself needs is part of it, and so is where the checkout is.
    needs = [str(ROOT), (ROOT / "pyproject.toml").read_text(encoding="utf-8")]
    return prepared(name, frameworks()[name], needs, ("-e", str(ROOT)))


def prepared(name: str, entry: Mapping[str, Any], needs: Sequence[str] = (), own: Sequence[str] = ()) -> Path:
    """Returns an environment, installed if there is none. Raises CalledProcessError if that fails."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "umpirical-frameworks"
    folder = cache / f"{name}-{digest('environment', [dict(entry), *needs])[:12]}"
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / f"{name}.lock").open("w") as lock:
        # Two workers may want the same one.
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "complete").exists():
            shutil.rmtree(folder, ignore_errors=True)
            python = str(folder / "bin" / "python")
            _run("uv", "venv", "--quiet", "--python", "3.11", str(folder))
            _run("uv", "pip", "install", "--quiet", "--python", python, *own, *entry.get("install", ()))
            if "npm" in entry:
                # No script of a package is run, and nothing is installed but here.
                _run(
                    "npm",
                    "install",
                    "--prefix",
                    str(folder),
                    "--no-audit",
                    "--no-fund",
                    "--ignore-scripts",
                    *entry["npm"],
                )
            (folder / "complete").touch()
    return folder


def variables() -> dict[str, str]:
    """Returns the environment variables of a process in another environment: nothing of this one's Python."""
    kept = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "VIRTUAL_ENV")}
    return kept | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}


def examined(name: str, *arguments: str) -> list[dict[str, Any]]:
    """Returns a row for each judge of a framework, with an `error` where something was not as it should be."""
    home = environment(name)
    python = home / "bin" / "python"
    settings = variables()
    with TemporaryDirectory(prefix=f"umpirical-{name}-") as folder:
        if "npm" in frameworks()[name]:
            settings["PATH"] = f"{home / 'node_modules' / '.bin'}{os.pathsep}{settings['PATH']}"
            settings["NODE_OPTIONS"] = f"--import={(ROOT / 'tests' / 'frameworks' / 'outside.mjs').as_uri()}"
            settings["UMPIRICAL_OUTSIDE"] = str(Path(folder) / "outside.txt")
        command = [str(python), "-m", "tests.frameworks.examination", name, folder, *arguments]
        done = subprocess.run(
            command, cwd=ROOT, env=settings, check=False, capture_output=True, text=True, timeout=PATIENCE
        )
    last = done.stdout.strip().rpartition("\n")[2]
    try:
        rows: list[dict[str, Any]] = json.loads(last)
    except ValueError:
        return [{"judge": "all", "error": f"exit code {done.returncode}: {done.stderr[-500:]}"}]
    if any("error" in row for row in rows):
        sys.stderr.write(done.stderr)
    return rows


def installed(name: str) -> list[str]:
    """Returns the packages of a framework, with their versions."""
    entry = frameworks()[name]
    return [*entry.get("install", ()), *entry.get("npm", ())]


def _run(*command: str) -> None:
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True, timeout=PATIENCE)


def line(name: str) -> dict[str, Any]:
    """Returns what is written down about a framework."""
    found = {"installed": installed(name), "date": datetime.now(UTC).date().isoformat()}
    try:
        return {**found, "judges": examined(name)}
    except subprocess.CalledProcessError as error:
        return {**found, "error": f"cannot be installed: {error.stderr.strip()[-500:]}"}


def write(lines: dict[str, Any]) -> None:
    """Writes the results of some frameworks; those of the others stay."""
    known = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    known = dict(sorted({**known, **lines}.items()))
    RESULTS.write_text(json.dumps(known, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    RESULTS.with_suffix(".md").write_text(page(known), encoding="utf-8")


def page(lines: dict[str, Any]) -> str:
    """Returns the results as a table."""
    rows = [row for found in lines.values() for row in _rows(found)]
    judges = [row for found in lines.values() for row in found.get("judges", ()) if "missed" in row]
    total = sum(row["measures"] for row in judges)
    right = total - sum(len(row["missed"]) for row in judges)
    return f"""# Framework results

We tested judges with known defects through each framework, against a local model server. {right} of {total} intervals
contain the true value. Every judge with values also passed the adapter conformance kit and the server fault tests,
and made no outside connections.

`just frameworks` writes this page from `results.json`.

| framework | judge | trials | unparsed | correct intervals | true value | measured (95% interval) | checked |
| --- | --- | --- | --- | --- | --- | --- | --- |
{chr(10).join(rows)}
"""


def _rows(found: dict[str, Any]) -> list[str]:
    versions, date = ", ".join(found["installed"]), found["date"]
    if "error" in found:
        return [f"| {versions} | {_cell(found['error'])} | | | | | | {date} |"]
    rows = []
    for row in found["judges"]:
        judge = f"| {versions} | {row['judge']} |"
        if "error" in row:
            rows.append(f"{judge} {_cell(row['error'])} | | | | | {date} |")
            continue
        held = f"{row['measures'] - len(row['missed'])} of {row['measures']}"
        true_value = "; ".join(f"`{key}` {value}" for key, value in row["true_value"].items())
        measured = "; ".join(f"{value} ({low} to {high})" for value, low, high in row["measured"].values())
        rows.append(f"{judge} {row['trials']} | {row['unparsed']} | {held} | {true_value} | {measured} | {date} |")
    return rows


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "/").split())[:300]


def main(arguments: list[str]) -> int:
    if "--page" in arguments:
        write({})
        return 0
    names = [each for each in arguments if not each.startswith("-")] or list(frameworks())
    failed = False
    for name in names:
        found = line(name)
        write({name: found})
        failed |= "error" in found or any("error" in row for row in found["judges"])
        sys.stdout.write("\n".join(_rows(found)) + "\n")
        sys.stdout.flush()
        if "--keep" not in arguments:
            shutil.rmtree(environment(name), ignore_errors=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
